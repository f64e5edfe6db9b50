"""A client that offers tools, for scenarios: it answers each run.call with a function of its own."""

import msgpack

from wire import Client

ANY = {"type": "object"}


def tool(name, schema=ANY, **more):
    return dict(name=name, input_schema=schema, **more)


class Failed(Exception):
    """What a tool raises to fail; a second argument goes along as data."""


class Silence(Exception):
    """What a tool raises not to answer."""


class Toolbox(Client):
    """`calls` has the params of each run.call, `over` those of each run.call_over, `answers` what
    call.reply was told: (call, error or None)."""

    def __init__(self, *args, **more):
        super().__init__(*args, **more)
        self.calls, self.over, self.answers, self.asked = [], [], [], {}

    def reply(self, call, **answer):
        """Sends a call.reply and does not wait for what is said to it."""
        msgid = self.send("call.reply", run_id=call["run_id"], call=call["call"], **answer)
        self.asked[msgid] = call["call"]
        return msgid

    def answer(self, call, function):
        try:
            self.reply(call, result=function(**call["args"]))
        except Failed as failed:
            error = {"message": failed.args[0]}
            if len(failed.args) > 1:
                error["data"] = failed.args[1]
            self.reply(call, error=error)
        except Silence:
            pass

    def next(self):
        """The next message."""
        while True:
            for message in self.unpacker:
                return message
            data = self.sock.recv(1 << 16)
            if not data:
                raise EOFError("the daemon closed the connection")
            self.unpacker.feed(data)

    def take(self, message, functions):
        """Notes a message, and answers it if it is a call."""
        if message[0] == 1 and message[1] in self.asked:
            self.answers.append((self.asked.pop(message[1]), message[2]))
        elif message[0] == 1:
            self.replies[message[1]] = message[2:]
        elif message[1] == "run.call":
            self.calls.append(message[2][0])
            if functions is not None:
                self.answer(message[2][0], functions[message[2][0]["tool"]])
        elif message[1] == "run.call_over":
            self.over.append(message[2][0])
        else:
            self.notices.append(message[1:])

    def wait_for_call(self):
        """The next call, unanswered."""
        before = len(self.calls)
        while len(self.calls) == before:
            self.take(self.next(), None)
        return self.calls[-1]

    def start(self, code, tools, language="python", **params):
        return self.send("run", language=language, code=code, tools=tools, **params)

    def finish(self, msgid, functions=None):
        """The result, with all calls answered by these functions.  None: by nobody."""
        while msgid not in self.replies:
            self.take(self.next(), functions)
        while self.asked:
            self.take(self.next(), functions)
        error, result = self.replies.pop(msgid)
        if error is not None:
            raise RuntimeError(error)
        return result

    def work(self, code, tools, functions=None, **params):
        return self.finish(self.start(code, tools, **params), functions)

    def record(self, result):
        """The calls of a run as the store has them."""
        return self.call("runs.get", run_id=result["run_id"]).get("tool_calls", [])


def raw(message):
    return msgpack.packb(message)
