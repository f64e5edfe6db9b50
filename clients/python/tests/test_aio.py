"""The client for asyncio, against a daemon."""

import asyncio
import gc
import logging
import os
import subprocess
import threading
import tracemalloc
import unittest

import ced
from support import FOREVER, FOR_LONG, Proxy, unsendable


class WithClient(unittest.IsolatedAsyncioTestCase):
    async def asyncSetUp(self):
        self.client = ced.AsyncClient()
        self.addAsyncCleanup(self.client.close)

    async def ended(self, run_id):
        return (await self.client.wait(run_id)).outcome

    async def running(self, task):
        """The id of the run of a task, as soon as it runs."""
        while True:
            runs = (await self.client.runs_list(task=task))["runs"]
            if runs and runs[0]["state"] == "running":
                return runs[0]["run_id"]
            await asyncio.sleep(0.01)


class Runs(WithClient):
    async def test_results_and_errors(self):
        self.assertEqual((await self.client.run("print(1)")).text, "1\n")
        with self.assertRaises(ced.BadRequest):
            await self.client.run("1", args=3)
        self.assertEqual((await self.client.check("1")).would, "run")
        started = await self.client.start("print(2)")
        result = await self.client.wait(started)
        self.assertEqual(result.text, "2\n")
        self.assertIs(await self.client.wait(result), result)
        self.assertEqual((await self.client.runs_get(started.run_id))["stdout"], "2\n")
        self.assertTrue((await self.client.runs_replay(result.run_id)).same)
        self.assertEqual((await self.client.run("print('[1]')", schema={"type": "array"})).value, [1])

    async def test_two_hundred_at_once_over_one_connection(self):
        async def one(n):
            result = await self.client.run(f"import sys; print(sys.stdin.read() * 2, {n})", stdin=str(n))
            return result.text

        async def all_of_them():
            texts = await asyncio.gather(*(one(n) for n in range(200)))
            self.assertEqual(texts, [f"{n}{n} {n}\n" for n in range(200)])
            connection = self.client._connection
            self.assertEqual((connection._core.waiting, connection._core._runs, self.client._calls), (0, {}, {}))
            gc.collect()
            return connection, tracemalloc.get_traced_memory()[0]

        tracemalloc.start()
        self.addCleanup(tracemalloc.stop)
        first, _ = await all_of_them()
        sizes = []
        # A buffer may grow once, with how much comes at a time; what is kept for each run grows each time.
        while len(sizes) < 6 and (len(sizes) < 2 or sizes[-1] - sizes[-2] >= 100_000):
            connection, size = await all_of_them()
            self.assertIs(connection, first, "it is one connection")
            sizes.append(size)
        self.assertLess(sizes[-1] - sizes[-2], 100_000, f"memory is level: {sizes}")

    async def test_cancelling_a_task_cancels_its_run_and_no_other(self):
        other = asyncio.create_task(self.client.run("print(tools.go())", tools={"go": self.go}))
        self.gone = asyncio.Event()
        task = asyncio.create_task(self.client.run(FOREVER, limits=FOR_LONG, task="cancelled"))
        run_id = await self.running("cancelled")
        task.cancel()
        with self.assertRaises(asyncio.CancelledError):
            await task
        self.assertEqual(await self.ended(run_id), "canceled")
        self.gone.set()
        self.assertEqual((await other).text, "here\n")

    async def go(self):
        await self.gone.wait()
        return "here"

    async def test_a_timeout_cancels_the_run(self):
        task = asyncio.create_task(self.client.run(FOREVER, limits=FOR_LONG, task="timeout"))
        run_id = await self.running("timeout")
        with self.assertRaises(asyncio.TimeoutError):
            await asyncio.wait_for(task, 0.01)
        self.assertEqual(await self.ended(run_id), "canceled")

    async def test_a_message_that_is_too_large_is_answered(self):
        with self.assertRaises(ced.TooLarge):
            await self.client.blob_put(data=bytes(17 << 20))
        self.assertEqual((await self.client.run("print(1)")).text, "1\n")

    def test_a_client_outlives_its_loop(self):
        async def text(client):
            return (await client.run("print(1)")).text

        client = ced.AsyncClient()
        self.assertEqual([asyncio.run(text(client)) for _ in range(2)], ["1\n", "1\n"])


class Streams(WithClient):
    async def test_events_come_while_the_program_runs(self):
        async def go() -> int:
            return 5

        async with self.client.stream("print('a'); print(tools.go())", tools=[go]) as stream:
            kinds = [event.type async for event in stream]
        result = await stream.result()
        self.assertEqual((result.text, result.run_id), ("a\n5\n", stream.run_id))
        self.assertEqual((kinds[0], kinds.count("call")), ("started", 1))

    async def test_leaving_a_stream_cancels_its_run(self):
        async with self.client.stream(FOREVER, limits=FOR_LONG) as stream:
            async for _ in stream:
                break
        self.assertEqual(await self.ended(stream.run_id), "canceled")
        stream = self.client.stream(FOREVER, limits=FOR_LONG)
        stream.cancel()
        self.assertEqual((await stream.result()).outcome, "canceled")

    async def test_a_slow_reader_loses_nothing(self):
        text = ""
        async for event in self.client.stream("for n in range(2000): print(n)"):
            await asyncio.sleep(0)
            text += event.text if isinstance(event, ced.Output) else ""
        self.assertEqual(text, "".join(f"{n}\n" for n in range(2000)))

    async def test_events_of_the_daemon(self):
        events = self.client.events(kinds=["finished"], task="watched-async")
        first = asyncio.create_task(events.__anext__())
        while not (await self.client.admin_status())["subscriptions"]:
            await asyncio.sleep(0.01)
        await self.client.run("1", task="watched-async")
        self.assertEqual((await first)["task"], "watched-async")
        await events.aclose()
        with Proxy() as proxy:
            lost = asyncio.create_task(ced.AsyncClient(proxy.path).events().__anext__())
            while "events.subscribe" not in proxy.requests:
                await asyncio.sleep(0.01)
            proxy.cut()
            with self.assertRaises(ced.ConnectionLost):
                await lost


class Tools(WithClient):
    async def test_functions_that_block_run_beside_one_another(self):
        meeting = threading.Barrier(4)

        def meet(n: int) -> int:
            meeting.wait(60)
            return n

        code = "import asyncio, tools\nasync def main():\n" \
               "    print(await asyncio.gather(*(tools.meet.aio(n=n) for n in range(4))))\nasyncio.run(main())"
        self.assertEqual((await self.client.run(code, tools=[meet])).text, "[0, 1, 2, 3]\n")

    async def test_errors_reach_the_program(self):
        async def fails() -> None:
            raise ced.ToolError("so")

        code = "try:\n    tools.fails()\nexcept tools.ToolError as error:\n    print(error.message)"
        self.assertEqual((await self.client.run(code, tools=[fails])).text, "so\n")

    async def test_an_answer_that_cannot_be_sent_is_an_error_of_the_program_at_once(self):
        tools, code, said = unsendable()
        self.assertRegex((await self.client.run(code, tools=tools, limits=FOR_LONG)).text, said)

    async def test_a_call_that_is_over_is_cancelled(self):
        over = asyncio.Event()

        async def slow() -> None:
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                over.set()
                raise

        code = "try:\n    tools.slow()\nexcept tools.ToolError as error:\n    print(error.code)"
        result = await self.client.run(code, tools=[ced.tool(timeout_ms=50)(slow)])
        self.assertEqual(result.text, "timeout\n")
        await asyncio.wait_for(over.wait(), 60)
        over.clear()
        task = asyncio.create_task(self.client.run("tools.slow()", tools=[slow], task="slow", limits=FOR_LONG))
        while not self.client._calls:
            await asyncio.sleep(0.01)
        task.cancel()
        await asyncio.wait_for(over.wait(), 60)


class Sessions(WithClient):
    async def test_cells_and_states(self):
        async with self.client.session(states=4) as session:
            await session.run("n = 1")
            await session.keep("one")
            await session.run("n = 2")
            self.assertEqual((await session.stream("print(n)").result()).text, "2\n")
            await session.rollback(1)
            self.assertEqual((await session.run("print(n)")).text, "1\n")
            self.assertNotIn(1, (await session.drop(1))["kept"])
        session = await self.client.session()
        self.assertEqual((await session.close())["cells"], 0)
        self.assertIsNone(await session.close())


class Connections(WithClient):
    async def test_a_tool_that_does_not_let_itself_be_cancelled_ends_when_its_connection_is_lost(self):
        begun = asyncio.Event()

        async def stubborn() -> int:
            begun.set()
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                pass
            return 1

        with Proxy() as proxy:
            client = ced.AsyncClient(proxy.path)
            run = asyncio.create_task(client.run("import tools\ntools.stubborn()", tools=[stubborn]))
            await begun.wait()
            calls = list(client._calls.values())
            proxy.cut()
            with self.assertRaises(ced.ConnectionLost):
                await run
            await asyncio.wait_for(asyncio.gather(*calls), 60)
            self.assertEqual(client._calls, {})
            await client.close()

    async def test_requests_and_lost_connections(self):
        for method, answered, sent in (("run", False, 1), ("run", True, 1), ("runs.list", False, 2)):
            with Proxy(method, answered) as proxy:
                client = ced.AsyncClient(proxy.path)
                if method == "run":
                    with self.assertRaises(ced.ConnectionLost):
                        await client.run("1")
                else:
                    await client.runs_list(limit=1)
                self.assertEqual(proxy.requests.count(method), sent)
                self.assertEqual((await client.run("print(1)")).text, "1\n", "over a new connection")
                await client.close()
        with Proxy("run", answered=True) as proxy:
            client = ced.AsyncClient(proxy.path)
            result = await client.run("print('once')", id=f"once-async-{os.getpid()}")
            self.assertEqual((result.text, result.cached), ("once\n", True))
            await client.close()

    async def test_no_daemon(self):
        with self.assertRaisesRegex(ced.ConnectionLost, "no daemon answers at /nowhere"):
            await ced.AsyncClient("/nowhere").hello()

    async def test_approvals_and_notifications(self):
        heard = []
        command = ["setpriv", "--reuid", "4002", "--regid", "4002", "--clear-groups", "cectl", "approve"]

        def on_parked(parked):
            heard.append(parked.run_id)
            approver = subprocess.Popen([*command, parked.run_id], stdout=subprocess.DEVNULL)
            self.addCleanup(approver.wait)

        async with ced.AsyncClient() as client:
            stream = client.stream("tools.send()", tools={"send": lambda: 1}, policy="asks")
            async for event in stream:
                if event.type == "parked":
                    self.assertEqual((event.call, event.tool), (1, "send"))
                    await stream.cancel()
            self.assertEqual((await stream.result()).outcome, "canceled")
        async with ced.AsyncClient(on_parked=on_parked, on_notice=lambda method, _: heard.append(method)) as client:
            result = await client.run("import ctypes; print('approved')", policy="review")
            self.assertEqual((result.text, heard), ("approved\n", [result.run_id]))
            session = await client.session()
            await session.close()
            while "session.ended" not in heard:
                await client.hello()
        with self.assertLogs("ced", logging.WARNING):
            task = asyncio.create_task(self.client.run("import ctypes", policy="review", task="parked"))
            while not (waiting := (await self.client.approvals_list())["waiting"]):
                await asyncio.sleep(0.01)
            await self.client.cancel(run_id=waiting[0]["run_id"])
            self.assertEqual((await task).outcome, "canceled")


if __name__ == "__main__":
    unittest.main()
