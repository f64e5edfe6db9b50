"""The E2B face, the tools for APIs of models, and the fixtures for pytest, against a daemon."""

import asyncio
import base64
import io
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import types
import unittest
import unittest.mock

import ced
from ced import charts, e2b
from ced.results import read

try:
    import matplotlib
    import pandas
except ImportError:
    matplotlib = pandas = None


class TheFaceOfE2BForAsyncio(unittest.IsolatedAsyncioTestCase):
    async def test_a_program(self):
        async with await e2b.AsyncSandbox.create() as sandbox:
            again = await e2b.AsyncSandbox.connect(sandbox.sandbox_id)
            self.assertEqual((await again.get_info()).sandbox_id, sandbox.sandbox_id)
            await sandbox.files.write("a.txt", "one")
            heard, shown = [], []

            async def hear(message):
                await asyncio.sleep(0)
                heard.append(message.line)

            execution = await sandbox.run_code("print(open('a.txt').read())\n6 * 7", on_stdout=hear,
                                               on_result=lambda result: shown.append(result.text))
            self.assertEqual((execution.text, heard, shown), ("42", ["one\n"], ["42"]))
            self.assertEqual((await sandbox.files.read("a.txt"), await sandbox.is_running()), ("one", True))
            self.assertEqual((await sandbox.commands.run("cat a.txt", on_stdout=heard.append)).stdout, "one")
            self.assertEqual(heard, ["one\n", "one"])
            self.assertRegex(sandbox.sandbox_id, "^[0-9A-Z]{26}$")
        self.assertFalse(await sandbox.kill())
        for function in (sandbox.run_code, sandbox.commands.run):
            with self.assertRaisesRegex(e2b.NotFoundException, "this sandbox is closed"):
                await function("x")

    async def test_a_task_that_is_cancelled_cancels_its_code(self):
        async with await e2b.AsyncSandbox.create() as sandbox:
            begun = asyncio.Event()
            task = asyncio.ensure_future(sandbox.run_code("print(1, flush=True)\nwhile True: pass",
                                                          on_stdout=lambda message: begun.set()))
            await begun.wait()
            task.cancel()
            with self.assertRaises(asyncio.CancelledError):
                await task
            self.assertEqual((await sandbox.run_code("1 + 1")).text, "2", "the next code does not wait for it")
            recorded = [each["outcome"] for each in sandbox._client.runs_list(limit=5)["runs"]]
            self.assertIn("canceled", recorded)

    async def test_what_a_callback_raises_comes_out(self):
        def fail(_):
            raise LookupError("of the callback")

        async with await e2b.AsyncSandbox.create() as sandbox:
            with self.assertRaisesRegex(LookupError, "of the callback"):
                await sandbox.run_code("print(1)", on_stdout=fail)


class TheFaceOfE2B(unittest.TestCase):
    def setUp(self):
        self.sandbox = e2b.Sandbox()
        self.addCleanup(self.sandbox.kill)

    def test_callbacks_hear_what_the_execution_has(self):
        out, err, results, errors = [], [], [], []
        execution = self.sandbox.run_code(
            "import sys\nprint('one')\nprint('two', file=sys.stderr)\ndisplay('shown')\n{}['key']",
            on_stdout=lambda message: out.append(message.line), on_stderr=lambda message: err.append(str(message)),
            on_result=results.append, on_error=errors.append)
        self.assertEqual((out, execution.logs.stdout), (["one\n"], ["one\n"]))
        self.assertEqual(err, execution.logs.stderr)
        self.assertIn("two\n", "".join(err))
        self.assertEqual(([each.text for each in results], execution.text), (["shown"], None))
        self.assertEqual((errors, execution.error.name, execution.error.value), ([execution.error], "KeyError", "'key'"))
        self.assertRegex(execution.error.traceback, r"(?s)^Traceback.*line 5.*KeyError: 'key'\n$")
        self.assertEqual(json.loads(execution.error.to_json())["name"], "KeyError")
        document = json.loads(execution.to_json())
        self.assertEqual((document["results"], json.loads(document["logs"])["stdout"], json.loads(document["error"])["name"]),
                         ([{"text": "shown"}], ["one\n"], "KeyError"))
        self.assertEqual(json.loads(execution.logs.to_json())["stdout"], ["one\n"])

    def test_code_builds_on_earlier_code(self):
        self.sandbox.run_code("x = [20]")
        execution = self.sandbox.run_code("x[0] * 2")
        self.assertEqual((execution.text, execution.execution_count, execution.error), ("40", 2, None))
        self.assertEqual(self.sandbox.run_code("x").results[0].json, [20])
        self.assertEqual(self.sandbox.run_code("1;").results, [])

    @unittest.skipIf(matplotlib is None, "matplotlib and pandas are not installed")
    def test_charts_and_tables(self):
        execution = self.sandbox.run_code("import matplotlib.pyplot as plt\nplt.plot([1, 2])\nplt.show()")
        self.assertIsNone(execution.error)
        chart = execution.results[0]
        self.assertTrue(base64.b64decode(chart.png).startswith(b"\x89PNG"))
        self.assertEqual((chart["png"], chart._repr_png_(), chart["chart"]), (chart.png, chart.png, chart.chart))
        self.assertIn("chart", chart.formats())
        self.assertEqual(json.loads(execution.to_json())["results"][0]["chart"]["type"], "line")
        table = self.sandbox.run_code("import pandas\npandas.DataFrame({'a': [1, 2], 'b': ['x', 'y']})").results[0]
        self.assertEqual(table.data, {"a": [1, 2], "b": ["x", "y"]})
        self.assertIn("<table", table._repr_html_())
        self.assertEqual(sorted(set(table.formats()) & {"text", "html", "data"}), ["data", "html", "text"])

    @unittest.skipIf(matplotlib is None, "matplotlib and pandas are not installed")
    def test_the_data_of_charts(self):
        def chart(code):
            execution = self.sandbox.run_code(f"import matplotlib.pyplot as plt\n{code}\nplt.show()")
            self.assertIsNone(execution.error)
            return execution.results[0].chart

        line = chart("plt.plot([1, 2], [3, float('nan')], label='a')\nplt.title('T')\nplt.xlabel('time (s)')")
        self.assertEqual((type(line), line.type, line.title, line.x_label, line.x_unit, line.y_unit, line.x_scale),
                         (charts.LineChart, charts.ChartType.LINE, "T", "time (s)", "s", None, "linear"))
        self.assertEqual(line.elements, [charts.PointData("a", [(1, 3), (2, None)])])
        self.assertEqual(len(line.x_ticks), len(line.x_tick_labels))
        bars = chart("plt.bar(['a', 'b'], [3, 4], label='g')\nplt.axhline(2)")
        self.assertEqual(bars.elements, [charts.BarData("a", "g", 3), charts.BarData("b", "g", 4)])
        self.assertEqual(chart("plt.barh([1, 2.5], [3, 4])").elements,
                         [charts.BarData(1.0, None, 3), charts.BarData(2.5, None, 4)])
        self.assertEqual(chart("plt.scatter([1], [2])").elements, [charts.PointData(None, [(1, 2)])])
        pie = chart("plt.pie([1, 3], labels=['x', 'y'])")
        self.assertEqual((type(pie), [round(each.angle) for each in pie.elements]), (charts.PieChart, [90, 270]))
        both = chart("figure, (a, b) = plt.subplots(2)\na.plot([1])\nb.imshow([[1]])\nfigure.suptitle('S')")
        self.assertEqual((both.type, both.title, [each.type.value for each in both.elements]),
                         ("superchart", "S", ["line", "unknown"]))
        self.assertEqual(both.to_dict()["elements"][1]["elements"], [])
        dates = chart("import datetime\nplt.plot([datetime.date(2026, 1, 2)], [1])")
        self.assertEqual(dates.elements[0].points, [("2026-01-02", 1)])
        self.assertIsNone(chart("plt.plot(range(10001))"), "of too many points there is the picture only")

    def test_charts_that_a_program_makes_up(self):
        for made in ({}, [], {"type": "cake"}, {"type": "pie", "title": 1, "elements": [{}]}, {"type": "line", "title": None}):
            shown = self.sandbox.run_code(f"display.mime({{'application/vnd.ced.chart+json': {made!r}}})")
            self.assertIsNone(shown.results[0].chart, made)

    def test_the_environment_of_one_run(self):
        for language, change, show in (
                ("javascript", "process.env.A = 'old'", "console.log(process.env.A ?? 'None', process.env.B ?? 'None')"),
                ("bash", "export A=old", 'echo "${A-None}" "${B-None}"'),
                ("python", "import os\nos.environ['A'] = 'old'", "import os\nprint(os.environ.get('A'), os.environ.get('B'))")):
            context = self.sandbox._default if language == "python" else self.sandbox.create_code_context(language=language)
            self.sandbox.run_code(change, context=context)
            envs = {"A": "it's \"new\"", "B": "b $c"}
            self.assertEqual(self.sandbox.run_code(show, context=context, envs=envs).logs.stdout, ["it's \"new\" b $c\n"])
            self.assertEqual(self.sandbox.run_code(show, context=context).logs.stdout, ["old None\n"], "and then it is as it was")
            if language != "python":
                self.sandbox.remove_code_context(context)
        with self.assertRaises(e2b.TimeoutException):
            self.sandbox.run_code("while True: pass", envs={"A": "x"}, timeout=0.3)
        self.assertEqual(self.sandbox.run_code("os.environ['A']").text, "old", "after a kill, too")
        for envs in ({"A B": "c"}, {"A=": "c"}):
            with self.assertRaisesRegex(e2b.InvalidArgumentException, "is no name of a variable"):
                self.sandbox.run_code("1", envs=envs)

    def test_a_sandbox_is_found_again(self):
        self.sandbox.run_code("x = 42")
        info = self.sandbox.get_info()
        self.assertEqual((info.sandbox_id, info.state, info.metadata), (self.sandbox.sandbox_id, "running", {}))
        self.assertLess(info.started_at, info.end_at)
        again = e2b.Sandbox.connect(self.sandbox.sandbox_id)
        self.assertEqual(again.run_code("x").text, "42")
        self.assertEqual(again.get_info().started_at, info.started_at)
        self.assertTrue(again.kill())
        for lost in (lambda: e2b.Sandbox.connect(self.sandbox.sandbox_id), self.sandbox.get_info):
            with self.assertRaises(e2b.NotFoundException):
                lost()
        self.assertFalse(again.is_running())
        for closed in (lambda: again.run_code("x"), lambda: again.run_code("1", language="javascript"), again.get_info,
                       lambda: again.files.write("a", "x"), lambda: again.create_code_context(language="python")):
            with self.assertRaisesRegex(e2b.NotFoundException, "this sandbox is closed"):
                closed()

    def test_media_types(self):
        shown = self.sandbox.run_code("display.mime({'text/markdown': '*a*', 'application/vnd.odd': b'b', 'image/jpeg': b'j'})")
        result = shown.results[0]
        self.assertEqual((result.markdown, result.jpeg, result.extra), ("*a*", "ag==", {"application/vnd.odd": "Yg=="}))
        self.assertEqual((str(result), repr(result)), ("Result(Formats: markdown, jpeg, application/vnd.odd)",) * 2)
        self.assertEqual((result["application/vnd.odd"], result._repr_markdown_(), result._repr_svg_()), ("Yg==", "*a*", None))
        self.assertEqual(json.loads(shown.to_json())["results"][0]["application/vnd.odd"], "Yg==")

    def test_files(self):
        files = self.sandbox.files
        self.assertEqual(files.write("in/rows[1].csv", "1,2\n"), e2b.EntryInfo("rows[1].csv", "file", "/work/in/rows[1].csv", 4))
        files.write_files([{"path": "raw", "data": b"\xff"}, {"path": "/work/open", "data": io.BytesIO(b"o")}])
        self.sandbox.run_code("open('out.txt', 'w').write(open('in/rows[1].csv').read() * 2)")
        self.assertEqual(files.read("out.txt"), "1,2\n1,2\n")
        self.assertEqual((files.read("raw", format="bytes"), b"".join(files.read("open", format="stream"))),
                         (bytearray(b"\xff"), b"o"))
        self.assertEqual([(entry.name, entry.type) for entry in files.list(".")],
                         [("in", "dir"), ("open", "file"), ("out.txt", "file"), ("raw", "file")])
        self.assertEqual((files.exists("in/rows[1].csv"), files.exists("in/none"), files.exists("none/none")),
                         (True, False, False))
        self.assertEqual((files.make_dir("a/b"), files.make_dir("a/b")), (True, False))
        self.assertEqual(files.rename("out.txt", "a/b/moved").path, "/work/a/b/moved")
        files.remove("a")
        self.assertFalse(files.exists("a"))
        for look in (lambda: files.read("none"), lambda: files.list("none"), lambda: files.remove("none"),
                     lambda: files.get_info("none")):
            with self.assertRaises(e2b.NotFoundException):
                look()
        with self.assertRaises(e2b.InvalidArgumentException):
            files.read("/etc/passwd")
        with self.assertRaises(e2b.SandboxException):
            files.rename("raw", "in")

    def test_contexts(self):
        self.sandbox.files.write("common.txt", "all")
        self.sandbox.run_code("x = 1")
        context = self.sandbox.create_code_context(cwd="sub")
        self.assertEqual(self.sandbox.run_code("'x' in globals()", context=context).text, "False")
        self.assertEqual(self.sandbox.run_code("open('../common.txt').read()", context=context).text, "all")
        self.assertEqual(len(self.sandbox.list_code_contexts()), 2)
        self.sandbox.remove_code_context(context)
        with self.assertRaises(e2b.NotFoundException):
            self.sandbox.run_code("1", context=context)
        with self.assertRaises(e2b.SandboxException):
            self.sandbox.create_code_context(cwd="common.txt")

    def test_a_context_begins_anew(self):
        self.sandbox.files.write("common.txt", "all")
        self.sandbox.run_code("x = 1")
        self.sandbox.restart_code_context(self.sandbox._default)
        self.assertEqual(self.sandbox.run_code("'x' in globals(), open('common.txt').read()").text, "(False, 'all')")

    def test_commands(self):
        self.sandbox.files.write("in/a.txt", "one\ntwo\n")
        heard = []
        result = self.sandbox.commands.run("wc -l <a.txt && echo $B >&2", cwd="in", envs={"B": "b c"}, on_stdout=heard.append)
        self.assertEqual(result, e2b.CommandResult("2\n", "b c\n", 0, None))
        self.assertEqual(heard, ["2\n"])
        for command, code in (("echo no >&2; exit 3", 3), ("false", 1)):
            with self.assertRaises(e2b.CommandExitException) as caught:
                self.sandbox.commands.run(command)
            self.assertEqual(caught.exception.exit_code, code)
        self.assertEqual(self.sandbox.commands.run("pwd; echo $B").stdout, "/work\n\n", "a command changes no other")
        with self.assertRaisesRegex(e2b.InvalidArgumentException, "nothing runs between"):
            self.sandbox.commands.run("sleep 9", background=True)
        with self.assertRaises(e2b.TimeoutException):
            self.sandbox.commands.run("while :; do :; done", timeout=0.3)
        self.assertEqual(self.sandbox.run_code("echo hello", language="SH").logs.stdout, ["hello\n"])

    def test_a_timeout_holds_for_contexts_that_are_opened_later(self):
        self.sandbox.set_timeout(1234)
        context = self.sandbox.create_code_context()
        self.assertEqual(self.sandbox._sessions[context.id].raw["idle_ms"], 1234000)

    def test_languages(self):
        self.assertEqual(self.sandbox.run_code("echo $((6 * 7))", language="bash").logs.stdout, ["42\n"])
        bash = self.sandbox._of_language.pop("bash")
        self.sandbox.remove_code_context(bash.id)
        script = self.sandbox.create_code_context(language="javascript", cwd="js")
        self.assertEqual(self.sandbox.run_code("process.cwd()", context=script).text, "/work/js")
        self.sandbox.remove_code_context(script)
        shell = self.sandbox.create_code_context(language="bash", cwd="sh")
        self.assertEqual(self.sandbox.run_code("pwd", context=shell).logs.stdout, ["/work/sh\n"])

    def test_time(self):
        with self.assertRaisesRegex(e2b.TimeoutException, "Give run_code a longer timeout, up to 60 s"):
            self.sandbox.run_code("x = 1\nwhile True: pass", timeout=0.3)
        self.assertEqual(self.sandbox.run_code("'x' in globals()").text, "False", "it was undone")
        self.assertEqual(self.sandbox.run_code("1 + 1", timeout=100000).text, "2")
        script = self.sandbox.create_code_context(language="javascript")
        with self.assertRaises(e2b.TimeoutException):
            self.sandbox.run_code("while (true);", context=script, timeout=0.3)
        self.assertEqual(self.sandbox.run_code("1 + 1", context=script).text, "2", "a context without states begins anew")
        flood = self.sandbox.run_code("print('x' * (2 << 20))")
        self.assertEqual((flood.error.name, flood.raw.outcome), ("output_limit", "output_limit"))

    def test_what_cannot_be_used_is_said(self):
        with self.assertRaisesRegex(e2b.InvalidArgumentException, "and not both"):
            self.sandbox.run_code("1", language="python", context=self.sandbox._default)
        with self.assertRaisesRegex(e2b.InvalidArgumentException, r"does not know \['colour'\]"):
            e2b.Sandbox(colour="red")
        with self.assertRaises(ced.BadRequest):
            e2b.Sandbox(template="nowhere")

    def test_options_and_the_end(self):
        self.assertTrue(self.sandbox.is_running())
        with e2b.Sandbox.create(timeout=60, metadata={"of": "test"}, envs={"A": "b"}, api_key="unused") as sandbox:
            self.assertEqual(sandbox.run_code("import os; os.environ['A']").text, "b")
            self.assertEqual(sandbox.sandbox_id, sandbox.list_code_contexts()[0].id)
        self.assertFalse(sandbox.kill())
        self.assertTrue(self.sandbox.kill())

    def test_a_policy_that_denies_what_files_need_is_named(self):
        self.sandbox._client.session_close(session=self.sandbox.sandbox_id)
        strict = self.sandbox._client.session(policy="strict")
        self.sandbox._sessions[self.sandbox._default.id] = strict
        with self.assertRaisesRegex(e2b.SandboxException, "the policy of this host denies it"):
            self.sandbox.files.list(".")
        self.sandbox.files.write("a", "b")
        self.assertEqual(self.sandbox.files.read("a"), "b", "what needs no code works")


class SandboxWithPackagesAndNetwork(unittest.TestCase):
    def test_they_go_to_its_sessions(self):
        for option, pointer in (("packages", "/packages"), ("network", "/network")):
            value = ["no-such-set"] if option == "packages" else {"allow": ["no.such.host:1"]}
            with self.assertRaises(ced.BadRequest) as caught:
                e2b.Sandbox(**{option: value})
            self.assertIn(pointer, caught.exception.message)


class GivenTool:
    """A tool as smolagents has them."""

    def __init__(self, inputs, function):
        self.description, self.inputs, self.function = "A tool.", inputs, function

    def __call__(self, *args, **kwargs):
        return self.function(*args, **kwargs)


class TheExecutorOfSmolagents(unittest.TestCase):
    """It is called in the order in which a CodeAgent calls it."""

    def setUp(self):
        self.asked = []
        self.executor = ced.smolagents.Executor()
        self.addCleanup(self.executor.cleanup)
        self.executor.send_variables({"topic": "cats"})
        self.executor.send_tools({
            "search": GivenTool({"query": {"type": "string", "description": "what"},
                                 "most": {"type": "integer", "description": "", "nullable": True}}, self.search),
            "final_answer": GivenTool({"answer": {"type": "any", "description": ""}}, lambda answer: answer)})

    def search(self, query, most=None):
        self.asked.append((query, most))
        return [query] * (most or 1)

    def test_programs_build_on_one_another_and_call_tools(self):
        first = self.executor("x = search(topic, most=2)\nprint(x)\nlen(x)")
        self.assertEqual((first.output, first.logs, first.is_final_answer), ("2", "['cats', 'cats']\n", False))
        self.executor("x.append(search(query='dogs'))")
        last = self.executor("print('before')\nfinal_answer({'n': len(x)})\nprint('not here')")
        self.assertEqual((last.output, last.logs, last.is_final_answer), ({"n": 3}, "before\n", True))
        self.assertEqual(self.asked, [("cats", 2), ("dogs", None)])
        self.assertFalse(self.executor("1").is_final_answer)

    def test_what_fails_is_raised_for_the_model(self):
        for code, said in (("1/0", "division by zero"), ("search(1)", "must be string"), ("final_answer({1, 2})", "not JSON"),
                           ("search('a', 1, 2)", "takes 2 arguments"), ("print('said'); None.x", "(?s)NoneType.*said")):
            with self.assertRaisesRegex(RuntimeError, said):
                self.executor(code)
        with self.assertRaisesRegex(TypeError, "the variable state cannot be sent"):
            self.executor.send_variables({"state": object()})

    def test_a_session_that_ended_begins_anew_with_tools_and_variables(self):
        self.executor("x = 1")
        self.executor._session.close()
        self.executor._session.ended = "idle"
        self.assertEqual(self.executor("'x' in globals(), search(topic)").output, "(False, ['cats'])")


class TheToolOfLangChain(unittest.TestCase):
    def test_is_made_by_the_function_of_its_package(self):
        made = {}

        class StructuredTool:
            @classmethod
            def from_function(cls, func=None, coroutine=None, name=None, description=None, return_direct=False,
                              args_schema=None, infer_schema=True, *, response_format="content", **kwargs):
                made.update(func=func, name=name, description=description, response_format=response_format)
                return cls()

        try:
            import langchain_core.tools
        except ImportError:  # a stand-in with the signature of langchain-core 0.2 to 1.0
            module = types.ModuleType("langchain_core.tools")
            module.StructuredTool = StructuredTool
            with unittest.mock.patch.dict(sys.modules, {"langchain_core": types.ModuleType("langchain_core"),
                                                        "langchain_core.tools": module}):
                with ced.tools_for.langchain() as kit:
                    self.assertIsInstance(kit.tools[0], StructuredTool)
                    self.assertEqual((made["name"], made["response_format"]), ("run_code", "content_and_artifact"))
                    text, result = made["func"](code="print(6 * 7)")
                    self.assertEqual((text, result.text), ("stdout:\n42\n", "42\n"))
            return
        with ced.tools_for.langchain() as kit:
            call = {"name": "run_code", "args": {"code": "print(6 * 7)"}, "id": "1", "type": "tool_call"}
            message = kit.tools[0].invoke(call)
            self.assertEqual((message.content, message.artifact.text), ("stdout:\n42\n", "42\n"))


class ToolsForModels(unittest.TestCase):
    def test_a_model_of_anthropic_corrects_its_program(self):
        with ced.tools_for.anthropic(session=True) as kit:
            definition = kit.definitions[0]
            self.assertEqual((definition["name"], definition["input_schema"]["required"]), ("run_code", ["code"]))
            self.assertIn("earlier calls are there", definition["description"])
            content = [{"type": "text", "text": "Let me see."},
                       {"type": "tool_use", "id": "t1", "name": "run_code", "input": {"code": "rows = [1, 2]\nrows[2]"}},
                       types.SimpleNamespace(type="tool_use", id="t2", name="run_code", input={"code": "print('n'); sum(rows)"}),
                       {"type": "tool_use", "id": "t3", "name": "other", "input": {}},
                       {"type": "tool_use", "id": "t4", "name": "run_code", "input": {"program": "1"}}]
            one, two, three, four = kit.replies(content)
        self.assertEqual((one["type"], one["tool_use_id"], one["is_error"]), ("tool_result", "t1", True))
        self.assertIn("IndexError", one["content"])
        self.assertIn("line 2", one["content"])
        self.assertEqual((two["tool_use_id"], two["is_error"], two["content"]), ("t2", False, "3\nstdout:\nn\n"))
        self.assertEqual((three["is_error"], four["is_error"]), (True, True))
        self.assertIn("there is run_code", three["content"])
        self.assertIn("one key, code", four["content"])
        self.assertEqual([result.ok for result in kit.results], [False, True])

    def test_a_model_of_openai(self):
        with ced.Client() as client, ced.tools_for.openai(client, policy="strict", characters=100) as kit:
            self.assertEqual(kit.definitions[0]["function"]["name"], "run_code")

            def call(arguments, name="run_code"):
                calls = [{"id": "c1", "type": "function", "function": {"name": name, "arguments": arguments}}]
                return kit.replies({"role": "assistant", "tool_calls": calls})[0]

            reply = call('{"code": "print(6 * 7)"}')
            self.assertEqual(reply, {"role": "tool", "tool_call_id": "c1", "content": "stdout:\n42\n"})
            self.assertIn("line 1", call('{"code": "import socket"}')["content"])
            self.assertIn("one key, code", call("{not json")["content"])
            self.assertIn("there is run_code", call("{}", "other")["content"])
            self.assertIn("bad_request", call(json.dumps({"code": "#" * (300 << 10)}))["content"])
            long = call('{"code": "print(\'ab\' * 500)"}')["content"]
            self.assertRegex(long, r"^stdout:\n(ab){25}\n\[\.\.\. 901 characters left out \.\.\.\]\n")
            self.assertEqual(call('{"code": "1"}')["content"], "The program ended well and printed nothing.")
            self.assertEqual(kit.replies({"role": "assistant", "content": "done"}), [])
            self.assertEqual(client.run("print(1)").text, "1\n", "the client is the caller's")

    def test_a_kit_takes_what_the_apis_give(self):
        with ced.Client() as client:
            kit = ced.tools_for.openai(client)
            call = types.SimpleNamespace(id="c1", type="function", function=types.SimpleNamespace(
                name="run_code", arguments='{"code": "print(1)"}'))
            message = types.SimpleNamespace(role="assistant", tool_calls=[call])
            response = types.SimpleNamespace(choices=[types.SimpleNamespace(message=message)])
            for given in message, [call], response:
                self.assertEqual([reply["content"] for reply in kit.replies(given)], ["stdout:\n1\n"])
            self.assertEqual(kit.replies(types.SimpleNamespace(role="assistant", tool_calls=None)), [])
            for wrong in "text", [{"type": "function_call", "name": "run_code"}], {"tools": 1}, [5]:
                with self.assertRaisesRegex(TypeError, r"replies\(\) takes a message of the assistant"):
                    kit.replies(wrong)
            kit = ced.tools_for.anthropic(client)
            block = {"type": "tool_use", "id": "t1", "name": "run_code", "input": {"code": "print(1)"}}
            for message in [block], {"role": "assistant", "content": [block]}, types.SimpleNamespace(role="assistant", content=[block]):
                self.assertEqual([reply["content"] for reply in kit.replies(message)], ["stdout:\n1\n"])
            self.assertEqual(kit.replies({"role": "assistant", "content": "no tool is wanted"}), [])

    def test_a_kit_with_files_in_and_out_of_its_session(self):
        with ced.tools_for.anthropic(session=True, files={"a": "in"}, artifacts=["*.txt"], states=4) as kit:
            kit.run_code({"code": "open('b.txt', 'w').write(open('a').read())\nopen('a', 'w').write('changed')"})
            self.assertEqual(kit.results[0].artifact("b.txt").text, "in")
            self.assertEqual(kit.run_code({"code": "print(open('a').read())"}), ("stdout:\nchanged\n", True))

    def test_a_kit_of_bash(self):
        with ced.tools_for.anthropic(language="bash", session=True) as kit:
            self.assertEqual(kit.run_code({"code": "n=3"}), ("The program ended well and printed nothing.", True))
            self.assertEqual(kit.run_code({"code": "echo $n"}), ("stdout:\n3\n", True))

    def test_bytes_are_shown_as_text(self):
        result = read(ced.Result, {"ok": True, "stdout": b"\xffa"})
        self.assertEqual(ced.tools_for.summary(result), "stdout:\n\ufffda")


class FixturesOfPytest(unittest.TestCase):
    def test_tests_get_a_client_and_a_session(self):
        test = ("def test_client(ced_client):\n    assert ced_client.run('print(1)').text == '1\\n'\n"
                "def test_cells(ced_session):\n    ced_session.run('n = 3')\n    assert ced_session.run('print(n)').text == '3\\n'\n"
                "def test_apart(ced_session):\n    assert ced_session.run('n').outcome == 'exception'\n")
        environment = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
        path = environment.pop("CED_SOCKET")
        with tempfile.TemporaryDirectory() as folder:
            pathlib.Path(folder, "test_it.py").write_text(test)
            said = subprocess.run([sys.executable, "-m", "pytest", "-q", "-p", "ced.pytest_plugin", "-p", "no:cacheprovider",
                                   "--ced-socket", path, folder], env=environment, capture_output=True, text=True)
        self.assertIn("3 passed", said.stdout, said.stdout + said.stderr)


if __name__ == "__main__":
    unittest.main()
