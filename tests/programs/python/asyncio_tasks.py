import asyncio


async def worker(name, queue, found):
    while True:
        item = await queue.get()
        await asyncio.sleep(0.001 * (item % 3))
        found.append(item)
        queue.task_done()


async def main():
    queue, found = asyncio.Queue(), []
    tasks = [asyncio.create_task(worker(n, queue, found)) for n in range(4)]
    for n in range(30):
        queue.put_nowait(n)
    await queue.join()
    for task in tasks:
        task.cancel()
    print([type(e).__name__ for e in await asyncio.gather(*tasks, return_exceptions=True)], sorted(found) == list(range(30)))
    try:
        await asyncio.wait_for(asyncio.sleep(10), 0.01)
    except asyncio.TimeoutError:
        print("timed out")
    lock, order = asyncio.Lock(), []

    async def one(n):
        async with lock:
            order.append(n)
            await asyncio.sleep(0)

    await asyncio.gather(*(one(n) for n in range(5)))
    print(order)
    print(await asyncio.to_thread(sum, range(100)), await asyncio.get_running_loop().run_in_executor(None, max, 3, 9))
    event = asyncio.Event()
    asyncio.get_running_loop().call_later(0.005, event.set)
    await event.wait()
    print("set")


asyncio.run(main())
print(type(asyncio.new_event_loop()).__name__)
