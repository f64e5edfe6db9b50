"""The parts that need no daemon: messages, methods, schemas, files, results."""

import ast
import enum
import inspect
import io
import json
import pathlib
import random
import re
import signal
import socket
import tempfile
import threading
import typing
import unittest
from dataclasses import dataclass, field

import msgpack

import ced
from ced import schemas
from ced.core import Core
from ced.errors import error_from
from ced.files import files_param
from ced.methods import METHODS, Methods, function_name, sent_params
from ced.params import CellParams, RunParams, SessionParams
from ced.results import read
from ced.tools import tools_by_name
from support import REPOSITORY

SCHEMAS = REPOSITORY / "proto/method/schemas"


def table():
    """Rows of the daemon's table: the method and the file with the schema of its params."""
    text = (REPOSITORY / "proto/method/method_table.h").read_text(encoding="utf-8")
    return re.findall(r'X\(\w+,\s+"([\w.]+)",\s+\w+,\s+"([\w.]+)"', text)


def keys(schema):
    return set(json.loads((SCHEMAS / schema).read_text(encoding="utf-8")).get("properties", {}))


class TheTableOfMethods(unittest.TestCase):
    def test_is_the_daemons(self):
        self.assertGreater(len(table()), 40)
        self.assertEqual([name for name, _ in table()], list(METHODS))

    def test_each_client_has_a_function_for_each_method(self):
        for client in (ced.Client, ced.AsyncClient):
            for method in METHODS:
                self.assertTrue(callable(getattr(client, function_name(method), None)), f"{client.__name__}: {method}")

    def test_functions_take_the_params_of_the_schemas(self):
        for method, schema in table():
            function = getattr(Methods, function_name(method), None)
            if function is None:  # run, check, wait and runs.replay are written by hand
                continue
            names = {name.rstrip("_") for name in inspect.signature(function).parameters} - {"self"}
            self.assertEqual(names, keys(schema), method)

    def test_the_types_of_run_name_all_params(self):
        ours = {name.rstrip("_") for name in RunParams.__annotations__} - {"on_parked"}
        by_hand = {"code", "language", "schema", "stream", "detach"}
        self.assertEqual(ours | by_hand, keys("run.json"))
        self.assertLessEqual(set(CellParams.__annotations__), set(RunParams.__annotations__))

    def test_the_types_of_sessions_name_all_params(self):
        self.assertEqual(set(SessionParams.__annotations__) | {"language"}, keys("session.open.json"))

    def test_the_result_has_a_field_for_each_key(self):
        fields = set(ced.Result.__dataclass_fields__)
        few = {"display_broken", "connections_others", "connections_others_bytes", "connections_lost",
               "refused_others"}  # in `raw`
        self.assertEqual(keys("result.json") - few, fields & keys("result.json"))

    def test_none_is_not_sent_but_where_it_is_a_value(self):
        self.assertEqual(sent_params({"a": None, "from_": 3, "input": None}), {"from": 3, "input": None})


class TheCore(unittest.TestCase):
    def test_puts_messages_together_from_single_bytes(self):
        core = Core()
        one, _ = core.request("hello", {})
        two, _ = core.request("runtimes", {})
        packed = b"".join(msgpack.packb([1, each.msgid, None, {"n": each.msgid}]) for each in (two, one))
        for at in range(len(packed)):
            core.feed(packed[at:at + 1])
        self.assertEqual((one.result(), two.result()), ({"n": one.msgid}, {"n": two.msgid}))
        self.assertEqual(core.waiting, 0)

    def test_gives_back_what_belongs_to_no_request(self):
        core = Core()
        notices = core.feed(msgpack.packb([2, "event", [{"kind": "started"}]]) + msgpack.packb([2, "new.word", []]))
        self.assertEqual(notices, [("event", {"kind": "started"}), ("new.word", {})])
        self.assertEqual(core.feed(msgpack.packb([1, 99, None, {}])), [], "an answer that nobody waits for")

    def test_gives_events_to_the_run_that_they_are_about(self):
        core = Core()
        runs = [core.request("run", {}, True)[0] for _ in range(2)]
        for each in runs:
            core.feed(msgpack.packb([2, "run.started", [{"run_id": f"R{each.msgid}", "msgid": each.msgid}]]))
        core.feed(msgpack.packb([2, "run.output", [{"run_id": "R2", "stream": "stdout", "offset": 0, "data": "two"}]]))
        self.assertEqual([len(each.events) for each in runs], [1, 2])
        self.assertEqual(runs[1].events[1].text, "two")

    def test_a_lost_connection_ends_all_requests(self):
        core = Core()
        one, _ = core.request("run", {}, True)
        core.feed(msgpack.packb([2, "run.started", [{"run_id": "R", "msgid": one.msgid}]]))
        core.lost("it broke")
        with self.assertRaises(ced.ConnectionLost) as caught:
            one.result()
        self.assertEqual((caught.exception.sent, caught.exception.run_id), (True, "R"))

    def test_loses_no_message_to_a_signal(self):
        class Interrupted(Exception):
            pass

        def interrupt(*_):
            raise Interrupted

        ours, theirs = socket.socketpair()
        core = Core(ours.recv)
        asked = [core.request("hello", {})[0] for _ in range(3000)]
        answers = b"".join(msgpack.packb([1, each.msgid, None, {"n": each.msgid}]) for each in asked)
        writer = threading.Thread(target=lambda: [theirs.sendall(answers[at:at + 7]) for at in range(0, len(answers), 7)])
        before = signal.signal(signal.SIGALRM, interrupt)
        times, chance = 0, random.Random(1)
        try:
            writer.start()
            while core.waiting:
                try:
                    signal.setitimer(signal.ITIMER_REAL, chance.uniform(1e-6, 2e-4))
                    while core.waiting and core.receive():
                        core.take()
                    signal.setitimer(signal.ITIMER_REAL, 0)
                except Interrupted:
                    times += 1
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, before)
            ours.close()
            writer.join()
            theirs.close()
        self.assertEqual([each.result()["n"] for each in asked], [each.msgid for each in asked])
        self.assertGreater(times, 10)

    def test_text_of_a_piece_ends_at_a_whole_character(self):
        core = Core()
        one, _ = core.request("run", {}, True)
        core.feed(msgpack.packb([2, "run.started", [{"run_id": "R", "msgid": one.msgid}]]))
        for data in ("é€".encode()[:3], "é€".encode()[3:]):
            core.feed(msgpack.packb([2, "run.output", [{"run_id": "R", "stream": "stdout", "offset": 0, "data": data}]]))
        self.assertEqual([event.text for event in list(one.events)[1:]], ["é", "€"])

    def test_each_code_has_a_class_and_an_unknown_one_is_a_protocol_error(self):
        page = (REPOSITORY / "docs/PROTOCOL.md").read_text(encoding="utf-8")
        rows = page.split("\n## Errors\n")[1].split("\n| `reason` |")[0]
        codes = set(re.findall(r"^\| `(\w+)` \|", rows, re.M)) - {"code"}
        self.assertGreater(len(codes), 8)
        for code in codes:
            error = error_from({"code": code, "message": "m", "data": {"pointer": "/a", "reason": "r"}})
            self.assertIsNot(type(error), ced.ProtocolError, code)
            self.assertEqual((error.code, error.pointer, error.reason, error.run_id), (code, "/a", "r", None))
        self.assertIs(type(error_from({"code": "new", "message": "m"})), ced.ProtocolError)


class Colour(enum.Enum):
    RED = "red"


@dataclass
class Point:
    x: int
    y: typing.Optional[float] = None
    tags: typing.List[str] = field(default_factory=list)


class Options(typing.TypedDict):
    deep: bool


class Schemas(unittest.TestCase):
    def test_of_types(self):
        for kind, schema in (
                (int, {"type": "integer"}), (typing.Any, True), (None, {"type": "null"}), (object, True),
                (typing.List[int], {"type": "array", "items": {"type": "integer"}}),
                (typing.Dict[str, bool], {"type": "object", "additionalProperties": {"type": "boolean"}}),
                (typing.Optional[str], {"anyOf": [{"type": "string"}, {"type": "null"}]}),
                (typing.Literal["a", 1], {"enum": ["a", 1]}), (Colour, {"enum": ["red"]}),
                (typing.Tuple[int, str], {"type": "array", "prefixItems": [{"type": "integer"}, {"type": "string"}],
                                          "minItems": 2, "maxItems": 2}),
                (typing.Tuple[int, ...], {"type": "array", "items": {"type": "integer"}}),
                (Options, {"type": "object", "properties": {"deep": {"type": "boolean"}}, "required": ["deep"],
                           "additionalProperties": False}),
                (typing.Callable[[], None], True)):
            self.assertEqual(schemas.schema_of(kind), schema, kind)
        self.assertEqual(schemas.schema_of(Point)["required"], ["x"])

    def test_values_come_back_as_their_types(self):
        point = schemas.value_of(Point, {"x": 1, "tags": ["a"]})
        self.assertEqual(point, Point(1, None, ["a"]))
        self.assertEqual(schemas.value_of(typing.List[Point], [{"x": 2}]), [Point(2)])
        self.assertEqual(schemas.value_of(typing.Dict[str, Colour], {"a": "red"}), {"a": Colour.RED})
        self.assertEqual(schemas.value_of(typing.Tuple[Colour, int], ["red", 1]), (Colour.RED, 1))
        self.assertEqual(schemas.value_of(typing.Tuple[int, ...], [1, 2]), (1, 2))
        self.assertIsNone(schemas.value_of(typing.Optional[Point], None))
        self.assertEqual(schemas.value_of(typing.Optional[Point], {"x": 1}), Point(1))

    def test_what_functions_give_becomes_json(self):
        self.assertEqual(schemas.json_of({"a": (Point(1), Colour.RED)}),
                         {"a": [{"x": 1, "y": None, "tags": []}, "red"]})

    def test_a_schema_that_is_none_is_refused_in_words(self):
        with self.assertRaisesRegex(TypeError, "give a JSON Schema"):
            schemas.output_schema(3)


class Tools(unittest.TestCase):
    def test_come_from_hints_and_docstrings(self):
        @ced.tool(effects=True, calls=3)
        def move(point: Point, by: float = 1.0, **more: int) -> typing.List[float]:
            """Moves a point."""
            return [point.x + by, *more.values()]

        param = move.param()
        self.assertEqual((param["name"], param["description"], param["effects"], param["calls"]),
                         ("move", "Moves a point.", True, 3))
        self.assertEqual(param["input_schema"]["required"], ["point"])
        self.assertEqual(param["input_schema"]["additionalProperties"], {"type": "integer"})
        self.assertEqual(param["output_schema"], {"type": "array", "items": {"type": "number"}})
        self.assertEqual(move.invoke({"point": {"x": 1}, "by": 2.0}), [3.0])
        self.assertEqual(move(Point(1)), [2.0])

    def test_that_cannot_be_called_by_name_are_refused(self):
        with self.assertRaisesRegex(TypeError, "by position"):
            ced.tool(lambda *args: None)
        with self.assertRaisesRegex(ValueError, "two tools"):
            tools_by_name([ced.tool(name="a")(len_of), ced.tool(name="a")(len_of)])

        def unknown(x: "Nowhere") -> None:  # noqa: F821
            pass

        with self.assertRaisesRegex(TypeError, "is not known where it was defined"):
            ced.tool(unknown)
        self.assertEqual(list(tools_by_name({"size": len_of})), ["size"])

    def test_have_the_names_of_a_dict(self):
        for given in (len_of, ced.tool(len_of), ced.tool(name="other", calls=2)(len_of)):
            tool = tools_by_name({"size": given})["size"]
            self.assertEqual((tool.param()["name"], tool("abc")), ("size", 3))
        self.assertEqual((tool.calls, given.name), (2, "other"))


def len_of(text: str) -> int:
    return len(text)


class FilesAndResults(unittest.TestCase):
    def test_files_from_contents_paths_and_open_files(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "run.sh")
            path.write_bytes(b"#!")
            path.chmod(0o755)
            param = files_param({"a": "text", "b": b"bytes", "c": bytearray(b"array"), "d": path, "e": io.StringIO("open")})
        self.assertEqual(param, [{"path": "a", "data": "text"}, {"path": "b", "data": b"bytes"},
                                 {"path": "c", "data": b"array"}, {"path": "d", "data": b"#!", "mode": 0o755},
                                 {"path": "e", "data": "open"}])
        self.assertEqual(files_param([{"path": "a", "blob": "sha256:1"}]), [{"path": "a", "blob": "sha256:1"}])
        with self.assertRaisesRegex(TypeError, "the content of the file 'a' is a int"):
            files_param({"a": 3})

    def test_keys_that_no_field_has_stay_reachable(self):
        result = read(ced.Result, {"run_id": "R", "outcome": "new_word", "ok": False, "brand_new": 1, "error": None,
                                   "stdout": b"\xff", "policy": {"name": "p", "findings": [{"rule": "r", "odd": 2}]}})
        self.assertEqual((result.outcome, result.raw["brand_new"], result.error), ("new_word", 1, None))
        self.assertEqual((result.text, result.policy.findings[0].raw["odd"]), ("\ufffd", 2))

    def test_an_artifact_is_not_written_outside_of_its_folder(self):
        with tempfile.TemporaryDirectory() as folder:
            good = read(ced.Artifact, {"path": "a/b.txt", "data": "x"}).save(folder)
            self.assertEqual(good.read_text(), "x")
            pathlib.Path(folder, "out").symlink_to("/tmp")
            for path in ("../c", "/c", "out/c", "."):
                with self.assertRaisesRegex(ValueError, "outside"):
                    read(ced.Artifact, {"path": path, "data": "x"}).save(folder)


class TheSource(unittest.TestCase):
    def test_is_python_3_9(self):
        for path in (REPOSITORY / "clients/python/src/ced").glob("*.py"):
            ast.parse(path.read_text(encoding="utf-8"), feature_version=(3, 9))

    def test_optional_modules_are_imported_when_they_are_used(self):
        self.assertIs(ced.e2b.Sandbox, __import__("ced.e2b").e2b.Sandbox)
        with self.assertRaisesRegex(AttributeError, "no attribute 'nothing'"):
            ced.nothing


if __name__ == "__main__":
    unittest.main()
