import asyncio


async def fail(n):
    await asyncio.sleep(0)
    raise KeyError(n)


async def generator():
    try:
        for n in range(10):
            yield n
    finally:
        print("generator closed")


async def main():
    print([type(r).__name__ for r in await asyncio.gather(fail(1), asyncio.sleep(0, "x"), return_exceptions=True)])
    async for n in generator():
        if n == 2:
            break
    print([n async for n in generator() if n % 4 == 0])
    if hasattr(asyncio, "TaskGroup"):
        try:
            async with asyncio.TaskGroup() as group:
                group.create_task(fail(2))
                group.create_task(asyncio.sleep(10))
        except BaseException as error:
            print(type(error).__name__, [repr(e) for e in error.exceptions])
    asyncio.get_running_loop().set_exception_handler(lambda loop, context: print("handler:", context["message"]))
    asyncio.get_running_loop().call_soon(lambda: 1 / 0)
    await asyncio.sleep(0.001)
    await fail("last")


asyncio.run(main())
