"""Plays the cases of clients/conformance with Client, or with AsyncClient (--async).  Prints TAP.

    conformance.py [--async] FILE.json...
"""

import asyncio
import base64
import json
import keyword
import re
import sys

import ced
from ced.methods import function_name

MISSING = object()

# --- patterns ----------------------------------------------------------------------------------

TYPES = {
    "string": lambda value: isinstance(value, str), "bytes": lambda value: isinstance(value, bytes),
    "int": lambda value: isinstance(value, int) and not isinstance(value, bool),
    "number": lambda value: isinstance(value, (int, float)) and not isinstance(value, bool),
    "bool": lambda value: isinstance(value, bool), "list": lambda value: isinstance(value, list),
    "map": lambda value: isinstance(value, dict), "null": lambda value: value is None,
}


def is_bytes(encoded, value):
    value = value.encode() if isinstance(value, str) else value
    return isinstance(value, bytes) and value == base64.b64decode(encoded)


SPECIAL = {
    "$any": lambda _, value: value is not MISSING,
    "$absent": lambda _, value: value is MISSING,
    "$type": lambda words, value: any(TYPES[word](value) for word in words.split("|")),
    "$matches": lambda regex, value: isinstance(value, str) and re.search(regex, value) is not None,
    "$contains": lambda text, value: isinstance(value, str) and text in value,
    "$bytes": is_bytes,
    "$min": lambda least, value: TYPES["number"](value) and value >= least,
    "$each": lambda pattern, value: isinstance(value, list) and all(matches(pattern, item) for item in value),
}


def special(pattern):
    """The word of a map with one key that begins with a dollar."""
    if isinstance(pattern, dict) and len(pattern) == 1:
        key = next(iter(pattern))
        return key if key.startswith("$") else None
    return None


def matches(pattern, value):
    word = special(pattern)
    if word:
        return SPECIAL[word](pattern[word], value)
    if isinstance(pattern, list):
        return isinstance(value, list) and len(pattern) == len(value) and all(map(matches, pattern, value))
    if isinstance(pattern, dict):
        return isinstance(value, dict) and all(matches(item, value.get(key, MISSING)) for key, item in pattern.items())
    return isinstance(pattern, bool) == isinstance(value, bool) and pattern == value


def expect(what, pattern, value):
    if not matches(pattern, value):
        if isinstance(pattern, dict) and isinstance(value, dict) and not special(pattern):
            for key, item in pattern.items():
                expect(f"{what}/{key}", item, value.get(key, MISSING))
        raise AssertionError(f"{what}: wanted {pattern!r}, got {value!r}"[:2000])


def filled(params, saved):
    """Params with what earlier steps have saved, and with bytes."""
    word = special(params)
    if word == "$saved":
        return saved[params[word]]
    if word == "$bytes":
        return base64.b64decode(params[word])
    if isinstance(params, dict):
        return {key: filled(item, saved) for key, item in params.items()}
    return [filled(item, saved) for item in params] if isinstance(params, list) else params


def pointed(value, pointer):
    for part in pointer.split("/")[1:]:
        key = part.replace("~1", "/").replace("~0", "~")
        value = value[int(key)] if isinstance(value, list) else value[key]
    return value


# --- one step ----------------------------------------------------------------------------------

EVENTS = {"output", "display", "parked", "call"}


def event_map(event):
    """An event as the cases name its parts."""
    return {key: getattr(event, key) for key in ("type", "run_id", "stream", "offset", "data", "main", "policy",
                                                 "until_us", "call", "tool", "args") if hasattr(event, key)}


def joined(events):
    """Adjacent pieces of one stream as one, as text where they are UTF-8."""
    made = []
    for event in map(event_map, events):
        last = made[-1] if made else {}
        if event["type"] == last.get("type") == "output" and event["stream"] == last["stream"]:
            last["data"] += event["data"]
        elif event["type"] in EVENTS:
            made.append(event)
    for event in made:
        if event["type"] == "output":
            try:
                event["data"] = event["data"].decode()
            except UnicodeDecodeError:
                pass
    return made


def host_tools(described, calls):
    """The tools of a step: each answers with what the case says, and notes its calls."""
    made = []
    for each in described:
        made.append(host_tool(each, calls))
    return made


def host_tool(each, calls):
    left = list(each["answers"])

    def function(**args):
        calls.append({"tool": each["name"], "args": args})
        answer = left.pop(0) if len(left) > 1 else left[0]
        if "error" in answer:
            raise ced.ToolError(answer["error"])
        return answer["result"]

    return ced.tool(name=each["name"], description=each.get("about", ""), params=each.get("params", True),
                    result=each.get("result", True))(function)


class Player:
    """The steps of one case over one client."""

    def __init__(self, client):
        self.client = client
        self.saved = {}

    def step(self, step):
        params = filled(step.get("params", {}), self.saved)
        calls, events = [], []
        if "tools" in step:
            params["tools"] = host_tools(step["tools"], calls)
        try:
            answer = self.answer(step, params, events)
        except ced.ProtocolError as error:
            if "error" not in step:
                raise
            expect("error", step["error"], {"code": error.code, "message": error.message, "data": error.data})
            expect("class of the error", True, type(error) is not ced.ProtocolError)
        else:
            if "error" in step:
                raise AssertionError(f"wanted an error, got {answer!r}"[:2000])
            expect("result", step.get("result", {}), answer)
            self.saved.update({name: pointed(answer, pointer) for name, pointer in step.get("save", {}).items()})
        expect("events", step.get("events", {"$any": True}), joined(events))
        expect("calls", step.get("calls", {"$any": True}), calls)

    def answer(self, step, params, events):
        if step["call"] == "run" and ("events" in step or "cancel_when" in step):
            return self.streamed(step, params, events)
        function = "start" if step["call"] == "run" and params.pop("detach", False) else function_name(step["call"])
        named = {key + "_" if keyword.iskeyword(key) else key: value for key, value in params.items()}
        answer = getattr(self.client, function)(**named)
        return getattr(answer, "raw", answer)

    def streamed(self, step, params, events):
        with self.client.stream(**params) as stream:
            for event in stream:
                events.append(event)
                if "cancel_when" in step and any(matches(step["cancel_when"], each) for each in joined(events)):
                    stream.cancel()
            return stream.result.raw


# --- AsyncClient with the shape of Client ------------------------------------------------------


class Blocking:
    """Calls an AsyncClient and waits for what it gives."""

    def __init__(self, loop):
        self.loop = loop
        self.client = ced.AsyncClient()

    def __getattr__(self, name):
        def function(**params):
            return self.loop.run_until_complete(getattr(self.client, name)(**params))

        return function

    def stream(self, **params):
        return BlockingStream(self.loop, self.client.stream(**params))

    def close(self):
        self.loop.run_until_complete(self.client.close())


class BlockingStream:
    def __init__(self, loop, stream):
        self.loop, self.stream, self.cancel = loop, stream, stream.cancel

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stream.close()

    def __iter__(self):
        return self

    def __next__(self):
        try:
            return self.loop.run_until_complete(self.stream.__anext__())
        except StopAsyncIteration:
            raise StopIteration from None

    @property
    def result(self):
        return self.loop.run_until_complete(self.stream.result())


# --- all of them -------------------------------------------------------------------------------


def play(case, make, there):
    """What is wrong with a case, or None; and why it was skipped, or None."""
    lacking = [need for need in case.get("needs", []) if need not in there]
    if lacking:
        return None, f"this daemon has no runtime {lacking[0]}"
    client = make()
    try:
        player = Player(client)
        for number, step in enumerate(case["steps"], 1):
            try:
                player.step(step)
            except Exception as error:
                return f"step {number} ({step['call']}): {type(error).__name__}: {error}", None
    finally:
        client.close()
    return None, None


def main(arguments):
    loop = asyncio.new_event_loop()
    make = (lambda: Blocking(loop)) if "--async" in arguments else ced.Client
    with ced.Client() as client:
        there = {runtime["name"] for runtime in client.runtimes()["runtimes"]}
    count = failed = 0
    for path in [argument for argument in arguments if argument != "--async"]:
        with open(path, encoding="utf-8") as file:
            cases = json.load(file)["cases"]
        for case in cases:
            count += 1
            wrong, skipped = play(case, make, there)
            failed += wrong is not None
            print(f"{'not ok' if wrong else 'ok'} {count} - {case['name']}{' # SKIP ' + skipped if skipped else ''}")
            if wrong:
                print("# " + wrong.replace("\n", "\n# "))
    loop.close()
    print(f"1..{count}")
    return 1 if failed or not count else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
