"""The client that blocks, against a daemon."""

import io
import logging
import os
import pathlib
import signal
import socket
import subprocess
import sys
import tempfile
import textwrap
import threading
import typing
import unittest
from unittest import mock

import msgpack

import ced
from support import FOREVER, FOR_LONG, Proxy, ended, unsendable, until

try:
    import pydantic
except ImportError:
    pydantic = None


class WithClient(unittest.TestCase):
    def setUp(self):
        self.client = ced.Client()
        self.addCleanup(self.client.close)


class Runs(WithClient):
    def test_one_line_is_enough(self):
        self.assertEqual(ced.run("print(6 * 7)").text, "42\n")

    def test_a_result_has_what_the_protocol_says(self):
        result = self.client.run("import json\nopen('a.txt', 'w').write('x')\nprint(json.dumps([1]))", output="json",
                                 artifacts=["*.txt"], labels={"a": "b"})
        self.assertEqual((result.ok, result.outcome, result.value, result.ran), (True, "ok", [1], "yes"))
        self.assertEqual((result.artifact("a.txt").text, result.artifact("a.txt").bytes), ("x", 1))
        self.assertEqual(result.policy.name, "standard")
        self.assertGreater(result.metrics["total_us"], 0)
        with self.assertRaisesRegex(KeyError, "has no artifact 'b.txt'; it has"):
            result.artifact("b.txt")
        with tempfile.TemporaryDirectory() as folder:
            self.assertEqual([path.read_bytes() for path in result.save_artifacts(folder)], [b"x"])

    def test_files_come_from_this_machine(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "rows")
            path.write_text("1 2 3")
            with open(path, "rb") as file:
                result = self.client.run("print(open('a').read(), open('b').read(), open('c').read())",
                                         files={"a": path, "b": file, "c": io.BytesIO(b"4")})
        self.assertEqual(result.text, "1 2 3 1 2 3 4\n")

    def test_errors_of_the_protocol_are_raised(self):
        with self.assertRaises(ced.BadRequest) as caught:
            self.client.run("1", limits={"pids": 100000})
        self.assertEqual((caught.exception.pointer, caught.exception.reason), ("/limits/pids", "range"))
        self.assertEqual(self.client.runs_get(caught.exception.run_id)["outcome"], "refused")
        self.assertEqual(self.client.runs_get(run_id=caught.exception.run_id)["outcome"], "refused")
        with self.assertRaises(ced.UnknownMethod):
            self.client.call("runs.nothing")

    def test_what_no_message_can_hold_is_refused_before_it_is_sent(self):
        with self.assertRaises(TypeError):
            self.client.run("1", input=object())
        with self.assertRaises(OverflowError):
            self.client.run("1", input=1 << 70)
        self.assertEqual(self.client.run("print(1)").text, "1\n", "and the connection is as it was")

    def test_a_message_that_is_too_large_is_answered(self):
        def put():
            with self.assertRaises(ced.TooLarge):
                self.client.blob_put(data=bytes(17 << 20))
            return "put"

        result = self.client.run("print(tools.put())", tools={"put": put}, limits=FOR_LONG)
        self.assertEqual(result.text, "put\n", "and ends no other run of its connection")
        self.assertEqual(self.client.run("print(1)").text, "1\n")

    def test_check_and_replay_and_detached_runs(self):
        self.assertEqual(self.client.check("import socket", policy="strict").would, "deny")
        started = self.client.start("print('late')")
        self.assertIsInstance(started, ced.Pending)
        result = self.client.wait(started)
        self.assertEqual((result.outcome, result.text), ("ok", "late\n"))
        again = self.client.wait(started.run_id)  # of the record: it may have more than what came while it ran
        self.assertEqual((again.run_id, again.outcome, again.stdout), (result.run_id, result.outcome, result.stdout))
        replay = self.client.runs_replay(started.run_id)
        self.assertEqual((replay.same, replay.result.text), (True, "late\n"))
        denied = self.client.start("import socket", policy="strict")
        self.assertEqual((type(denied), denied.outcome), (ced.Result, "policy_denied"))
        self.assertIs(self.client.wait(denied), denied)
        slow = self.client.start(FOREVER, limits=FOR_LONG)
        going = self.client.wait(slow, timeout_ms=0)
        self.assertEqual((going.run_id, going.state), (slow.run_id, "running"))
        self.client.cancel(slow.run_id)
        self.assertEqual(ended(self.client, slow.run_id), "canceled")

    def test_a_daemon_that_is_not_there_is_said_in_words(self):
        with self.assertRaisesRegex(ced.ConnectionLost, "no daemon answers at /nowhere: No such file.*CED_SOCKET"):
            ced.Client("/nowhere").hello()

    @unittest.skipIf(os.geteuid() != 0, "only root can become somebody else")
    def test_a_socket_that_may_not_be_used_is_said_in_words(self):
        with tempfile.TemporaryDirectory() as folder, socket.socket(socket.AF_UNIX) as listening:
            os.chmod(folder, 0o755)
            path = os.path.join(folder, "ced.sock")
            listening.bind(path)
            listening.listen()
            os.chmod(path, 0o600)
            os.seteuid(65534)
            try:
                with self.assertRaisesRegex(ced.errors.NoPermission, "may not use.*usermod -aG ced") as caught:
                    ced.Client(path).hello()
            finally:
                os.seteuid(0)
        self.assertIsInstance(caught.exception, PermissionError)
        self.assertIsInstance(caught.exception, ced.ConnectionLost)

    def test_params_of_other_packages_are_told_what_does_that_here(self):
        for name, said in (("timeout", "wall_ms"), ("on_stdout", "stream"), ("on_result", "display")):
            with self.assertRaisesRegex(TypeError, f"has no {name}.*{said}"):
                self.client.run("1", **{name: 3})

    def test_where_the_daemon_is_looked_for(self):
        from ced.place import socket_path
        self.assertEqual(socket_path(pathlib.Path("/a")), "/a")
        self.assertEqual(socket_path(), os.environ["CED_SOCKET"])
        with tempfile.TemporaryDirectory() as folder, mock.patch.dict(os.environ, {"XDG_RUNTIME_DIR": folder}):
            del os.environ["CED_SOCKET"]
            self.assertEqual(socket_path(), "/run/ced/ced.sock")
            pathlib.Path(folder, "ced").mkdir()
            pathlib.Path(folder, "ced/ced.sock").touch()
            self.assertEqual(socket_path(), folder + "/ced/ced.sock")

    @unittest.skipIf(pydantic is None, "pydantic is not installed")
    def test_a_model_class_is_a_schema_and_the_value_its_instance(self):
        class Line(pydantic.BaseModel):
            item: str
            count: int

        class Order(pydantic.BaseModel):
            lines: typing.List[Line]

        printed = 'print(\'{"lines": [{"item": "tea", "count": 2}]}\')'
        result = self.client.run(printed, schema=Order)
        self.assertEqual((type(result.value), result.value.lines[0].count), (Order, 2))
        late = self.client.wait(self.client.start(printed, schema=Order))
        self.assertEqual((type(late.value), late.value), (Order, result.value), "the same of a run that is waited for")
        broken = self.client.run("print('{}')", schema=Order)
        self.assertEqual((broken.outcome, broken.value), ("output_invalid", None))

        class Picky(Order):
            def __init__(self, **data):
                raise ValueError("never")

        if hasattr(Order, "parse_obj") and not hasattr(Order, "model_validate"):
            with self.assertRaisesRegex(ced.ValueRefused, "the class refuses it: never") as caught:
                self.client.run(printed, schema=Picky)
            self.assertEqual(caught.exception.result.outcome, "ok")

        def total(order: Order) -> Line:
            return Line(item="all", count=sum(line.count for line in order.lines))

        result = self.client.run("print(tools.total(order={'lines': [{'item': 'a', 'count': 3}]})['count'])", tools=[total])
        self.assertEqual(result.text, "3\n", result.error)


class Streams(WithClient):
    def test_events_come_while_the_program_runs(self):
        with self.client.stream("print('first')\ntools.go()\nprint('second')", tools={"go": lambda: None}) as stream:
            kinds = []
            for event in stream:
                kinds.append(event.type)
                if isinstance(event, ced.Called):
                    self.assertEqual(event.run_id, stream.run_id)
            self.assertEqual(stream.result.text, "first\nsecond\n")
        self.assertEqual(kinds[0], "started")
        self.assertIn("call", kinds)
        self.assertEqual(list(stream), [])

    def test_the_result_passes_over_events(self):
        self.assertEqual(self.client.stream("print(1)").result.outcome, "ok")

    def test_leaving_a_stream_cancels_its_run(self):
        for leave in ("break", "forget", "raise"):
            with self.subTest(leave):
                try:
                    run_id = self.leave(leave)
                except ZeroDivisionError:
                    run_id = self.run_id
                self.assertEqual(ended(self.client, run_id), "canceled")

    def leave(self, how):
        if how == "forget":
            stream = self.client.stream(FOREVER, limits=FOR_LONG)
            next(stream)
            return stream.run_id
        with self.client.stream(FOREVER, limits=FOR_LONG) as stream:
            for _ in stream:
                self.run_id = stream.run_id
                if how == "raise":
                    raise ZeroDivisionError
                break
        return stream.run_id

    def test_cancel_gives_the_result(self):
        stream = self.client.stream(FOREVER, limits=FOR_LONG)
        stream.cancel()  # before it was sent
        self.assertEqual(stream.result.outcome, "canceled")

    def test_two_streams_at_once(self):
        one, two = (self.client.stream(f"print({n}); tools.meet(); print({n})", tools={"meet": lambda: None})
                    for n in range(2))
        events = list(zip(one, two))
        self.assertGreaterEqual(len(events), 2)
        self.assertEqual((one.result.text, two.result.text), ("0\n0\n", "1\n1\n"))

    def test_events_of_the_daemon(self):
        events = self.client.events(kinds=["finished"], task="watched")
        came = []
        thread = threading.Thread(target=lambda: came.append(next(events)))
        thread.start()
        until(lambda: self.client.admin_status()["subscriptions"], "the subscription")
        self.client.run("1", task="watched")
        thread.join()
        self.assertEqual((came[0]["kind"], came[0]["task"]), ("finished", "watched"))
        events.close()
        with Proxy() as proxy:
            lost = ced.Client(proxy.path).events()
            thread = threading.Thread(target=lambda: self.assertRaises(ced.ConnectionLost, next, lost))
            thread.start()
            until(lambda: "events.subscribe" in proxy.requests, "the subscription")
            proxy.cut()
            thread.join()

    def test_notifications_that_belong_to_no_run(self):
        heard = []
        client = ced.Client(on_notice=lambda method, params: heard.append((method, params.get("why"))))
        session = client.session()
        client.session_close(session=session.id)
        until(lambda: client.hello() and heard, "the notification")
        self.assertEqual((heard, session.ended), ([("session.ended", "closed")], "closed"))
        client.close()

    def test_a_session_says_why_it_has_ended(self):
        with self.client.session() as session:
            self.assertIsNone(session.ended)
        self.assertEqual(session.ended, "closed")
        idle = self.client.session(idle_ms=1000)
        until(lambda: self.client.hello() and idle.ended, "its end")
        self.assertEqual(idle.ended, "idle")
        self.assertRaises(ced.NotFound, idle.run, "1")

    def test_values_that_cannot_be_sent_are_named(self):
        self.assertRaisesRegex(TypeError, "/input/rows/1: .*set", self.client.run, "1", input={"rows": [1, {2}]})
        self.assertRaisesRegex(OverflowError, "/input", self.client.run, "1", input=1 << 70)
        self.assertRaisesRegex(TypeError, "name the path in the run", self.client.run, "1", files="a.csv")
        self.assertRaisesRegex(TypeError, r"limits=\{'wall_ms'", self.client.run, "1", wall_ms=5)
        self.assertTrue(self.client.run("1").ok)


class Tools(WithClient):
    def test_functions_of_all_kinds(self):
        async def later(n: int) -> int:
            return n + 1

        def fails(why: str) -> None:
            raise ced.ToolError(why, {"n": 3})

        def broken() -> None:
            raise KeyError("inside")

        code = """
        import tools
        print(tools.later(n=1))
        for name, args in (("fails", {"why": "so"}), ("broken", {}), ("odd", {})):
            try:
                getattr(tools, name)(**args)
            except tools.ToolError as error:
                print(error.code, error.message, error.data)
        """
        result = self.client.run(textwrap.dedent(code), tools=[later, fails, broken, ced.tool(name="odd")(lambda: object())])
        lines = result.text.splitlines()
        self.assertEqual(lines[:3], ["2", "failed so {'n': 3}", "failed KeyError: 'inside' None"], result.error)
        self.assertTrue(lines[3].startswith("failed the tool's result cannot be sent: TypeError: /result: "), lines)

    def test_an_answer_that_cannot_be_sent_is_an_error_of_the_program_at_once(self):
        tools, code, said = unsendable()
        self.assertRegex(self.client.run(code, tools=tools, limits=FOR_LONG).text, said)

    def test_a_replay_calls_tools_too(self):
        result = self.client.run("print(tools.one())", tools={"one": lambda: 1})
        replay = self.client.runs_replay(result.run_id, tools={"one": lambda: 2})
        self.assertEqual((replay.same, replay.result.text), (False, "2\n"))
        missing = self.client.runs_replay(result.run_id, tools={"other": lambda: 2})
        self.assertIn("the client has no tool one", missing.result.text + missing.result.error.message)

    def test_calls_that_are_over_are_events(self):
        with self.client.stream("try:\n    tools.slow()\nexcept tools.ToolError as error:\n    print(error.code)",
                                tools=[ced.tool(name="slow", timeout_ms=50)(self.until_over)]) as stream:
            kinds = [event.type for event in stream]
        self.assertIn("call_over", kinds)
        self.assertEqual(stream.result.text, "timeout\n")

    def until_over(self):
        with ced.Client() as other:
            until(lambda: other.runs_list(limit=1)["runs"][0]["state"] == "ended", "the end of the run")


class Sessions(WithClient):
    def test_cells_states_and_the_end(self):
        with self.client.session(states=4, env={"A": "b"}) as session:
            self.assertEqual((session.language, session.state, session.ended), ("python", 0, None))
            session.run("n = 1")
            self.assertEqual(session.state, 1)
            self.assertEqual(session.keep("first")["state"], 1)
            session.run("n = 2")
            self.assertEqual(session.stream("print(n)").result.text, "2\n")
            self.assertEqual(session.state, 3)
            session.rollback(1)
            self.assertEqual((session.state, session.run("print(n)", from_=1).text), (1, "1\n"))
            self.assertNotIn(1, session.drop(1)["kept"])
        with self.assertRaises(ced.NotFound):
            session.run("1")
        self.assertIsNone(session.close(), "it was closed")

    def test_a_session_that_ended_says_why(self):
        session = self.client.session("javascript")
        session.run("process.exit()")
        self.assertEqual((session.state, session.ended), (0, None), "before its first cell there is nothing to lose")
        session.run("1")
        session.run("process.exit()")
        self.assertEqual((session.state, session.ended), (None, "killed"))

    def test_a_session_does_not_end_with_its_connection(self):
        with self.client.session() as session:
            session.run("n = 7")
            self.client.close()
            self.assertEqual(session.run("print(n)").text, "7\n")


class Connections(WithClient):
    def test_a_connection_that_was_lost_between_two_runs_is_made_anew(self):
        with Proxy() as proxy, ced.Client(proxy.path) as client:
            client.run("1")
            proxy.cut()
            self.assertEqual(client.run("print(2)").text, "2\n")

    def test_a_run_that_may_have_been_sent_is_not_sent_again(self):
        for answered in (False, True):
            with Proxy("run", answered) as proxy, ced.Client(proxy.path) as client:
                with self.assertRaisesRegex(ced.ConnectionLost, "before the answer to run came") as caught:
                    client.run("1")
                self.assertTrue(caught.exception.sent)
                self.assertEqual(proxy.requests.count("run"), 1)

    def test_a_run_with_an_id_is_sent_again_and_done_once(self):
        with Proxy("run", answered=True, times=2) as proxy, ced.Client(proxy.path) as client:
            result = client.run("print('once')", id=f"once-{os.getpid()}")
            self.assertEqual((result.text, result.cached, proxy.requests.count("run")), ("once\n", True, 3))

    def test_a_stream_that_has_begun_is_not_sent_again(self):
        with Proxy("cancel") as proxy, ced.Client(proxy.path) as client:
            stream = client.stream("print(1)\n" + FOREVER, limits=FOR_LONG, id=f"begun-{os.getpid()}")
            while not isinstance(next(stream), ced.Output):
                pass
            run_id = stream.run_id
            proxy.cut()
            with self.assertRaises(ced.ConnectionLost) as caught:
                for _ in stream:
                    pass
            self.assertEqual((caught.exception.run_id, proxy.requests.count("run")), (run_id, 1))
            self.assertEqual(ended(self.client, run_id), "canceled")

    def test_what_only_reads_is_asked_again(self):
        with Proxy("runs.list") as proxy, ced.Client(proxy.path) as client:
            self.assertIn("runs", client.runs_list(limit=1))
            self.assertEqual(proxy.requests.count("runs.list"), 2)

    def test_patience_ends(self):
        with Proxy("runs.list", times=1000) as proxy, ced.Client(proxy.path, busy_s=3) as client:
            with self.assertRaises(ced.ConnectionLost):
                client.runs_list(limit=1)
            self.assertGreater(proxy.requests.count("runs.list"), 1)

    def test_what_is_no_message_ends_the_connection(self):
        with tempfile.TemporaryDirectory() as folder, socket.socket(socket.AF_UNIX) as listener:
            listener.bind(folder + "/s")
            listener.listen()

            def answers():
                with listener.accept()[0] as one:
                    one.recv(1000)
                    one.sendall(b"\xc1")

            thread = threading.Thread(target=answers)
            thread.start()
            with self.assertRaisesRegex(ced.ConnectionLost, "what came is no message"):
                ced.Client(folder + "/s").run("1")
            thread.join()

    def test_threads_share_a_client(self):
        texts = {}

        def runs(n):
            for m in range(5):
                texts[n, m] = self.client.run(f"print({n}, {m})").text

        threads = [threading.Thread(target=runs, args=(n,)) for n in range(8)]
        for each in threads:
            each.start()
        for each in threads:
            each.join()
        self.assertEqual(texts, {(n, m): f"{n} {m}\n" for n in range(8) for m in range(5)})
        self.assertEqual(self.client._connection._core.waiting, 0)

    def test_closing_ends_what_other_threads_wait_for(self):
        caught = []

        def runs():
            try:
                self.client.run(FOREVER, limits=FOR_LONG, task="closed")
            except ced.ConnectionLost as lost:
                caught.append(lost)

        thread = threading.Thread(target=runs)
        thread.start()
        with ced.Client() as other:
            run = until(lambda: [each for each in other.runs_list(task="closed")["runs"] if each["state"] == "running"])[0]
            self.client.close()
            thread.join()
            self.assertEqual((len(caught), ended(other, run["run_id"])), (1, "canceled"))

    def test_busy_is_repeated_until_there_is_room(self):
        sessions = [self.client.session(states=0) for _ in range(2)]
        with ced.Client(busy_s=0.3) as hasty, self.assertRaises(ced.Busy) as caught:
            hasty.session(states=0)
        self.assertGreater(caught.exception.retry_after_s, 0)
        opened = []
        with self.assertLogs("ced", logging.INFO) as said:
            thread = threading.Thread(target=lambda: opened.append(ced.Client(busy_s=60).session(states=0)))
            thread.start()
            until(lambda: said.output, "the first attempt")
            sessions.pop().close()
            thread.join()
        sessions += opened
        self.assertIn("session.open is sent again", said.output[0])
        for each in sessions:
            each.close()

    def test_ctrl_c_cancels_the_run_and_the_client_goes_on(self):
        program = textwrap.dedent("""
            import ced
            client = ced.Client()
            try:
                client.run("while True: pass", limits={"wall_ms": 60000, "cpu_ms": 60000}, task="interrupted")
            except KeyboardInterrupt:
                print(client.run("print('goes on')").text, end="")
        """)
        child = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True)
        run = until(lambda: [each for each in self.client.runs_list(task="interrupted")["runs"]
                             if each["state"] == "running"], "the run")[0]
        child.send_signal(signal.SIGINT)
        self.assertEqual(child.communicate()[0], "goes on\n")
        self.assertEqual(ended(self.client, run["run_id"]), "canceled")


class Interruptions(WithClient):
    """What comes to a client from the side: forks, garbage collections, signals, callbacks, other daemons."""

    def test_a_child_connects_anew(self):
        self.client.run("1")
        readable, writable = os.pipe()
        pid = os.fork()
        if not pid:
            code = 1
            try:
                os.write(writable, "".join(self.client.run(f"print({n})").text for n in range(20)).encode())
                self.client.close()
                code = 0
            finally:
                os._exit(code)
        os.close(writable)
        ours = [self.client.run(f"print('ours', {n})").text for n in range(20)]
        with open(readable, "rb") as file:
            theirs = file.read().decode()
        self.assertEqual(os.waitpid(pid, 0)[1], 0)
        self.assertEqual(ours, [f"ours {n}\n" for n in range(20)])
        self.assertEqual(theirs, "".join(f"{n}\n" for n in range(20)))
        self.assertEqual(self.client.run("print('still')").text, "still\n")

    def test_a_stream_that_is_dropped_anywhere_blocks_nothing(self):
        """Cancelling it comes while the thread has the locks of the connection."""
        self.client.run("1")
        connection = self.client._connection
        stream = self.client.stream("while True: pass", limits=FOR_LONG)
        next(stream)
        run_id = stream.run_id
        with connection._lock, connection._sending:
            del stream
        self.client.run("1")
        self.assertEqual(ended(self.client, run_id), "canceled")

    def test_a_signals_function_is_told_to_use_another_client(self):
        said = []

        def use(*_):
            try:
                self.client.run("1")
            except RuntimeError as error:
                said.append(str(error))

        before = signal.signal(signal.SIGALRM, use)
        try:
            signal.setitimer(signal.ITIMER_REAL, 0.3)
            self.assertEqual(self.client.run("import time; time.sleep(1); print(1)").text, "1\n")
        finally:
            signal.signal(signal.SIGALRM, before)
        self.assertRegex(said[0], "needs a Client of its own")

    def test_messages_that_are_none_of_the_protocol_end_the_connection(self):
        for sent in (b"\x01", b"\x90", b"\x93\x02\xa1x\x01", b"\x94\x01\x01\xa3boo\xc0", b"HTTP/1.1 400 Bad Request\r\n"):
            with tempfile.TemporaryDirectory() as folder, socket.socket(socket.AF_UNIX) as listener:
                listener.bind(folder + "/s")
                listener.listen()

                def answers(sent=sent, listener=listener):
                    for _ in range(2):
                        with listener.accept()[0] as one:
                            one.recv(1000)
                            one.sendall(sent)

                thread = threading.Thread(target=answers)
                thread.start()
                client = ced.Client(folder + "/s")
                for _ in range(2):
                    with self.assertRaises(ced.ConnectionLost, msg=sent):
                        client.run("1")
                thread.join()

    def test_a_callback_that_fails_fails_no_run(self):
        def fails(*_):
            raise LookupError("of the callback")

        with ced.Client(on_notice=fails) as client:
            client.events_subscribe()
            with self.assertLogs("ced", "ERROR") as logged:
                self.assertEqual(client.run("print(1)").text, "1\n")
                until(lambda: logged.output or client.hello(), "the log")
        self.assertIn("of the callback", logged.output[0])

    def test_what_nests_too_deep_ends_no_other_run(self):
        deep = []
        for _ in range(40):
            deep = [deep]
        stream = self.client.stream("import time; time.sleep(0.5); print('whole')")
        with self.assertRaisesRegex(ced.BadRequest, "nests deeper"):
            self.client.run("1", input=deep)
        self.assertEqual(stream.result.text, "whole\n")

    def test_a_stream_that_was_left_has_no_result(self):
        with self.client.stream(FOREVER, limits=FOR_LONG) as stream:
            next(stream)
        with self.assertRaisesRegex(RuntimeError, "was cancelled"):
            _ = stream.result


class Approvals(WithClient):
    CODE = "import ctypes; print('approved')"

    def approve(self, parked):
        """Another user decides, since nobody decides about their own runs."""
        call = ["--call", str(parked.call)] if parked.call else []
        subprocess.run(["setpriv", "--reuid", "4002", "--regid", "4002", "--clear-groups", "cectl", "approve",
                        parked.run_id, *call], check=True, stdout=subprocess.DEVNULL)

    def test_a_callback_of_the_run_hears_of_it(self):
        heard = []

        def on_parked(parked):
            heard.append(parked.policy["name"])
            self.approve(parked)

        result = self.client.run(self.CODE, policy="review", on_parked=on_parked)
        self.assertEqual((result.text, heard, result.approval["decision"]), ("approved\n", ["review"], "approved"))

    def test_a_callback_of_the_client_hears_of_it(self):
        with ced.Client(on_parked=self.approve) as client:
            self.assertEqual(client.run(self.CODE, policy="review").text, "approved\n")

    def test_a_call_of_a_tool_that_waits_is_heard_of_in_the_same_ways(self):
        heard = []

        def on_parked(parked):
            heard.append((parked.call, parked.tool, parked.rule, parked.policy["name"]))
            self.approve(parked)

        result = self.client.run("print(tools.send())", tools={"send": lambda: 3}, policy="asks", on_parked=on_parked)
        self.assertEqual((result.text, heard), ("3\n", [(1, "send", "tools.ask send", "asks")]))
        with self.client.stream("print(tools.send())", tools={"send": lambda: 4}, policy="asks", on_parked=self.approve) as stream:
            kinds = [event.type for event in stream]
        self.assertEqual((kinds[:3], stream.result.text), (["started", "parked", "call"], "4\n"))
        with self.assertLogs("ced", logging.WARNING) as said:
            late = self.client.run("try: tools.send()\nexcept tools.ToolError as error: print(error.code)", policy="asks",
                                   tools={"send": lambda: 5}, limits={"calls_ms": 1000})
        self.assertEqual(late.text, "timeout\n")
        self.assertRegex(said.output[0], r"run \w{26}, call 1 of send, waits until .*policy asks.*at most 1 s: cectl approve \w{26} --call 1")

    def test_without_a_callback_the_log_says_it(self):
        for streamed in (False, True):
            with self.assertLogs("ced", logging.WARNING) as said:
                found = []
                thread = threading.Thread(target=lambda: found.append(
                    self.client.stream(self.CODE, policy="review").result if streamed else
                    self.client.run(self.CODE, policy="review")))
                thread.start()
                line = until(lambda: said.output, "the warning")[0]
                self.assertRegex(line, r"run \w{26} waits until a person approves it \(policy review\).*cectl approve")
                self.client.cancel(run_id=line.split()[1])
                thread.join()
            self.assertEqual(found[0].outcome, "canceled")


if __name__ == "__main__":
    unittest.main()
