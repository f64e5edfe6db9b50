#!/usr/bin/python3
"""A sandbox with the interface that users of other code sandboxes know, over ced's socket.

    from e2b_like import Sandbox

    with Sandbox.create() as sandbox:
        sandbox.run_code("x = 20")
        execution = sandbox.run_code("print('doubling'); x * 2")
        print(execution.text, execution.logs.stdout, execution.error)

A sandbox is a session of ced: variables, imports and files of one run_code() are there in the next.
The value of the last expression is a result, and so is what display() and matplotlib show, each in one
or more media types.  As a program this file shows what it does:

    examples/e2b_like.py

It needs python3-msgpack and client.py, which lies beside it.  Two things differ from other sandboxes:
a program that is killed for a limit has an `error` with the outcome's name, and ced undoes what it
did if it still has the state before it.  And a sandbox has no network.
"""

from dataclasses import dataclass, field

from client import Client, as_bytes


@dataclass
class Result:
    """One thing that was displayed.  It comes from the program: treat HTML and SVG as hostile."""

    is_main_result: bool  # the value of the last expression
    data: dict  # by media type

    @property
    def text(self):
        return self.data.get("text/plain")

    @property
    def html(self):
        return self.data.get("text/html")

    @property
    def png(self):
        return self.data.get("image/png")

    @property
    def json(self):
        return self.data.get("application/json")


@dataclass
class Logs:
    stdout: list = field(default_factory=list)
    stderr: list = field(default_factory=list)


@dataclass
class ExecutionError:
    name: str  # of the exception; else the outcome: wall_limit, memory_limit, policy_denied ...
    value: str
    line: int | None = None


@dataclass
class Execution:
    results: list
    logs: Logs
    error: ExecutionError | None
    execution_count: int

    @property
    def text(self):
        """The value of the last expression, or None."""
        return next((result.text for result in self.results if result.is_main_result), None)


class Sandbox:
    """Use it as a context, or call kill() at the end: else the session ends when it was idle for long."""

    def __init__(self, client, session):
        self._client = client
        self.sandbox_id = session
        self._count = 0

    @classmethod
    def create(cls, path=None, **params):
        """The params are those of session.open in docs/PROTOCOL.md: limits, policy, env, states ..."""
        client = Client(path)
        opened = client.call("session.open", **{"language": "python", **params})
        return cls(client, opened["session"])

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.kill()

    def kill(self):
        """Ends the session and the connection."""
        self._client.call("session.close", session=self.sandbox_id)
        self._client.close()

    def run_code(self, code, on_stdout=None, on_stderr=None, on_result=None, timeout=None):
        """Runs a cell.  Output goes to the callbacks as it comes; `timeout` is in seconds."""
        logs = Logs()
        listeners = {"stdout": (logs.stdout, on_stdout), "stderr": (logs.stderr, on_stderr)}

        def on_output(stream, data):
            pieces, listener = listeners[stream]
            pieces.append(as_bytes(data).decode(errors="replace"))
            if listener:
                listener(pieces[-1])

        self._client.on_output = on_output
        more = {"limits": {"wall_ms": int(timeout * 1000)}} if timeout else {}
        answer = self._client.call("run", session=self.sandbox_id, code=code, stream=True, display=True, **more)
        self._client.on_output = None
        self._count += 1
        results = [Result(item["main"], item["data"]) for item in answer["display"]]
        if on_result:
            for result in results:
                on_result(result)
        return Execution(results, logs, self._error(answer), self._count)

    @staticmethod
    def _error(answer):
        if answer["ok"]:
            return None
        error = answer.get("error") or {}
        return ExecutionError(error.get("type", answer["outcome"]), error.get("message", answer["reason"]),
                              error.get("line"))


def main():
    with Sandbox.create(limits={"wall_ms": 20000}) as sandbox:
        sandbox.run_code("prices = {'tea': 3, 'cake': 5}")
        execution = sandbox.run_code("print('adding up')\nsum(prices.values())", on_stdout=lambda text: print("wrote:", text, end=""),
                                     on_result=lambda result: print("result:", result.text))
        print("execution", execution.execution_count, "gave", execution.text, "and wrote", execution.logs.stdout)
        failed = sandbox.run_code("prices['tea'] = 4\nprices['coffee']")
        print("failed:", failed.error.name, failed.error.value, "in line", failed.error.line)
        killed = sandbox.run_code("prices.clear()\nwhile True: pass", timeout=1)
        print("killed:", killed.error.name)
        print("prices are", sandbox.run_code("prices").text)


if __name__ == "__main__":
    main()
