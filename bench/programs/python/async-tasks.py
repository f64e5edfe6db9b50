import asyncio

NUMBER = 0


async def worker(name, queue, results):
    while True:
        job = await queue.get()
        if job is None:
            queue.task_done()
            return
        await asyncio.sleep(0)
        results.append((job, job * job + NUMBER % 10, name))
        queue.task_done()


async def main():
    queue = asyncio.Queue()
    results = []
    workers = [asyncio.create_task(worker(f"w{i}", queue, results)) for i in range(3)]
    for job in range(12):
        queue.put_nowait(job)
    for _ in workers:
        queue.put_nowait(None)
    await queue.join()
    await asyncio.gather(*workers)
    print(sorted(results)[:6])
    try:
        await asyncio.wait_for(asyncio.sleep(5), 0.001)
    except asyncio.TimeoutError:
        print("timed out")
    values = await asyncio.gather(*(asyncio.sleep(0, i) for i in range(4)), return_exceptions=True)
    print(values)


asyncio.run(main())
