"""Plays the cases of clients/conformance with `cectl call`.  Prints TAP.

    cectl_conformance.py FILE.json...

Patterns, and what they are held against, are those of the runner for Python.  A run that is streamed
is a call with --events; a signal to cectl cancels it.
"""

import base64
import json
import pathlib
import signal
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "clients/python/tests"))
from conformance import expect, filled, matches, pointed

EVENTS = {"run.output", "run.display", "run.parked", "run.call"}


def why_skipped(case, there):
    """Why a command line cannot play this case, or None."""
    lacking = [need for need in case.get("needs", []) if need not in there]
    if lacking:
        return f"this daemon has no runtime {lacking[0]}"
    if any("tools" in step for step in case["steps"]):
        return "cectl offers commands as tools (cectl run --tool), not functions"
    if '"$bytes"' in json.dumps([step.get("params", {}) for step in case["steps"]]):
        return "JSON on a command line has no bytes"
    if any(step["call"] == "audit.backup" and "params" in step for step in case["steps"]):
        return "a copy of the store belongs to its connection, and each call of cectl has its own (cectl backup)"
    return None


def with_bytes(value):
    """What `cectl` writes as {"base64": ...} as bytes."""
    if isinstance(value, dict) and list(value) == ["base64"]:
        return base64.b64decode(value["base64"])
    if isinstance(value, dict):
        return {key: with_bytes(item) for key, item in value.items()}
    return [with_bytes(item) for item in value] if isinstance(value, list) else value


def as_bytes(data):
    return data.encode() if isinstance(data, str) else data


def add_event(events, method, params):
    """Notes an event as the cases name it; pieces of one stream that follow one another are one."""
    event = {"type": method.split(".")[1], **params}
    last = events[-1] if events else {}
    if event["type"] == last.get("type") == "output" and event["stream"] == last["stream"]:
        event = events.pop()
        event["data"] = as_bytes(event["data"]) + as_bytes(params["data"])
    if event["type"] == "output":
        try:
            event["data"] = as_bytes(event["data"]).decode()
        except UnicodeDecodeError:
            pass
    events.append(event)


def call(step, params, events):
    """One call of cectl: its answer, which has the key `error` if it is one."""
    streamed = "events" in step or "cancel_when" in step
    if streamed:
        params = {**params, "stream": True, "announce": True}
    command = ["cectl", "call", step["call"], "-", "--json"] + ["--events"] * streamed
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          text=True) as process:
        process.stdin.write(json.dumps(params))
        process.stdin.close()
        canceled, rest = False, ""
        for line in process.stdout if streamed else ():
            said = with_bytes(json.loads(line)) if line.startswith('{"event":') else None
            if said is None:
                rest += line
            elif said["event"] in EVENTS:
                add_event(events, said["event"], said["params"])
            if not canceled and "cancel_when" in step and any(matches(step["cancel_when"], each) for each in events):
                process.send_signal(signal.SIGINT)
                canceled = True
        rest += process.stdout.read()
        complaint = process.stderr.read()
    if not rest:
        raise AssertionError(f"cectl said nothing but: {complaint}")
    return with_bytes(json.loads(rest)), process.returncode, canceled


def play_step(step, saved):
    events = []
    answer, status, canceled = call(step, filled(step.get("params", {}), saved), events)
    if "error" in step:
        expect("exit status", {"$min": 1}, status)
        expect("error", step["error"], answer.get("error"))
    else:
        if status and not canceled:  # a signal that was noted ends cectl after the answer
            raise AssertionError(f"wanted a result, got {answer!r}"[:2000])
        expect("result", step.get("result", {}), answer)
        saved.update({name: pointed(answer, pointer) for name, pointer in step.get("save", {}).items()})
    expect("events", step.get("events", {"$any": True}), events)


def play(case):
    """What is wrong with the case, or None."""
    saved = {}
    for number, step in enumerate(case["steps"], 1):
        try:
            play_step(step, saved)
        except Exception as error:
            return f"step {number} ({step['call']}): {type(error).__name__}: {error}"
    return None


def main(paths):
    there = {runtime["name"] for runtime in json.loads(subprocess.check_output(["cectl", "call", "runtimes"]))["runtimes"]}
    cases = [case for path in paths for case in json.loads(pathlib.Path(path).read_text(encoding="utf-8"))["cases"]]
    failed = 0
    for number, case in enumerate(cases, 1):
        skipped = why_skipped(case, there)
        wrong = None if skipped else play(case)
        failed += wrong is not None
        print(f"{'not ok' if wrong else 'ok'} {number} - {case['name']}{' # SKIP ' + skipped if skipped else ''}", flush=True)
        if wrong:
            print("# " + wrong.replace("\n", "\n# "))
    print(f"1..{len(cases)}")
    return 1 if failed or not cases else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
