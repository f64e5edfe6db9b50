"""Tools: functions of the client that a program calls.  The program finds them as the module `tools`.

All threads and tasks of a program share the job socket.  Of the threads that wait, one reads the
answers for all (it leads); when it has its own, another one leads.  Tasks let their loop watch the
socket.
"""

import _ced
import builtins
import os
import sys
from _thread import allocate_lock
from json.decoder import JSONDecoder
from json.encoder import JSONEncoder

WORK = "/work"
SOCKET = 3
BUFFERED, POLL, WAIT = 0, 1, 2  # how long _ced.tool_receive() waits

encode = JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode
decode = JSONDecoder().decode


class ToolError(Exception):
    """A call failed.  `code` says why, `data` is what the client adds."""

    def __init__(self, code, message, data=None):
        super().__init__(f"{code}: {message}")
        self.code = code
        self.message = message
        self.data = data


ToolError.__module__ = "tools"
ToolError.__qualname__ = "ToolError"


class Waiter:
    """A thread that waits at its lock, or a task that waits for a future of its loop."""

    __slots__ = "answer", "lock", "woken", "loop", "future"

    def __init__(self, loop=None, future=None):
        self.answer = None
        self.loop = loop
        self.future = future
        self.woken = False
        self.lock = allocate_lock()
        self.lock.acquire()


class Link:
    """The calls of a run, or of the cells of a session one after the other."""

    def __init__(self):
        self.sending = allocate_lock()
        self.mutex = allocate_lock()  # of everything below, and of waiters
        self.leads = False
        self.watched = {}  # loop -> number of its tasks that wait
        self.calls = 0
        self.unanswered = 0
        self.waiting = {}
        self.rests = True

    def begin(self, most_calls, most_bytes):
        _ced.tool_begin()
        self.most_calls = most_calls
        self.most_bytes = most_bytes
        self.calls = 0
        self.rests = False

    def rest(self):
        """The next cell reads the socket itself, so nothing may be on its way to this one."""
        with self.sending:
            self.rests = True
        waiter = self.waiting[None] = Waiter()
        while self.unanswered:
            if self.take_lead():
                try:
                    self.read(WAIT)
                finally:
                    self.leave_lead()
            else:
                self.follow(waiter)
        self.waiting.pop(None, None)

    # ---- out

    def post(self, name, args, waiter):
        """Sends a call; returns its number."""
        try:
            text = encode(args).encode()
        except (TypeError, ValueError, RecursionError) as error:
            raise ToolError("bad_arguments", str(error)) from None
        if len(text) > self.most_bytes:
            raise ToolError("too_large", f"the arguments have more than {self.most_bytes} bytes")
        with self.sending:
            if self.rests:
                raise ToolError("unknown_tool", "no tools are offered to this cell")
            if self.calls >= self.most_calls:
                raise ToolError("too_many", "the run may make no more calls")
            self.calls += 1
            number = self.calls
            self.waiting[number] = waiter
            with self.mutex:
                self.unanswered += 1
            try:
                _ced.tool_send(number, name.encode() + b"\0" + text)
            except EOFError as error:
                del self.waiting[number]
                with self.mutex:
                    self.unanswered -= 1
                raise ToolError("gone", str(error)) from None
        return number

    # ---- in

    def wake(self, waiter):
        """Under the mutex."""
        if not waiter.woken:
            waiter.woken = True
            waiter.lock.release()

    def give(self, waiter, answer):
        with self.mutex:
            waiter.answer = answer
            if waiter.loop is None:
                self.wake(waiter)
                return
        try:
            waiter.loop.call_soon_threadsafe(finish, waiter)
        except RuntimeError:
            pass  # the loop is closed

    def deliver(self, message):
        number, *answer = message
        with self.mutex:
            self.unanswered -= 1
        waiter = self.waiting.pop(number, None)
        if waiter is not None:
            self.give(waiter, answer)

    def give_up(self, error):
        """Nobody is there any more: no call gets an answer."""
        body = encode({"code": "gone", "message": str(error)}).encode()
        for number in list(self.waiting):
            self.deliver((number, False, body))
        self.unanswered = 0

    def read(self, how):
        """Reads one answer, as the leader.  False: there is none now."""
        try:
            message = _ced.tool_receive(how)
        except EOFError as error:
            self.give_up(error)
            return False
        if message is not None:
            self.deliver(message)
        return message is not None

    def take_lead(self):
        with self.mutex:
            led, self.leads = self.leads, True
        return not led

    def leave_lead(self):
        with self.mutex:
            self.leads = False
        self.pass_on()

    def pass_on(self):
        """Another thread that waits leads now, if none does."""
        with self.mutex:
            if self.leads:
                return
            for waiter in list(self.waiting.values()):
                if waiter.loop is None:
                    self.wake(waiter)
                    return

    # ---- threads

    def call(self, name, args):
        waiter = Waiter()
        number = self.post(name, args, waiter)
        try:
            while waiter.answer is None:
                if self.take_lead():
                    self.lead(waiter)
                else:
                    self.follow(waiter)
        finally:
            self.waiting.pop(number, None)
            self.pass_on()
        return open_answer(waiter.answer)

    def lead(self, waiter):
        try:
            while waiter.answer is None:
                self.read(WAIT)
        finally:
            # Answers that were read with this one: no loop would see that they are there.
            while self.read(BUFFERED):
                pass
            self.leave_lead()

    def follow(self, waiter):
        waiter.lock.acquire()
        with self.mutex:
            waiter.woken = False

    # ---- tasks

    async def call_async(self, name, args):
        loop = sys.modules["asyncio.events"].get_running_loop()
        waiter = Waiter(loop, loop.create_future())
        number = self.post(name, args, waiter)
        self.watch(loop, 1)
        try:
            await waiter.future
        finally:
            self.watch(loop, -1)
            self.waiting.pop(number, None)
        return open_answer(waiter.answer)

    def watch(self, loop, change):
        count = self.watched.get(loop, 0) + change
        if count:
            self.watched[loop] = count
        else:
            del self.watched[loop]
        if change > 0 and count == 1:
            loop.add_reader(SOCKET, self.on_readable)
        elif not count:
            loop.remove_reader(SOCKET)

    def on_readable(self):
        if not self.take_lead():
            return  # a thread reads it
        try:
            while self.waiting and self.read(POLL):
                pass
        finally:
            self.leave_lead()


def finish(waiter):
    if not waiter.future.done():
        waiter.future.set_result(None)


def open_answer(answer):
    is_result, body = answer
    value = decode(body.decode())
    if is_result:
        return value
    raise ToolError(value["code"], value["message"], value.get("data"))


# ---- what the program sees ---------------------------------------------------------------------


def named(tool, params, args, kwargs):
    """Arguments without a name get those of the schema's properties, in their order."""
    if not args:
        return kwargs
    if len(args) > len(params):
        raise TypeError(f"{tool}() takes {len(params)} arguments by position, not {len(args)}")
    given = dict(zip(params, args))
    for name in kwargs:
        if name in given:
            raise TypeError(f"{tool}() got two values for {name!r}")
    given.update(kwargs)
    return given


def function_of(link, name, params):
    def call(*args, **kwargs):
        return link.call(name, named(name, params, args, kwargs))

    async def aio(*args, **kwargs):
        return await link.call_async(name, named(name, params, args, kwargs))

    for function in call, aio:
        function.__name__ = function.__qualname__ = name
        function.__module__ = "tools"
    call.aio = aio
    return call


def run_async(result):
    """Runs a program that awaits something outside of its functions."""
    if result is not None:
        import asyncio

        async def main():
            return await result

        asyncio.run(main())


link = Link()


def rest():
    """After a cell: what it has called is answered.  Tools that it keeps fail until some are offered."""
    if not link.rests:
        link.rest()


def offer(text, scope):
    """Gives the program its tools.  Returns what runs it if it is a coroutine, or None."""
    spec = decode(text.decode())
    link.begin(spec["calls"], spec["bytes"])
    functions = {name: function_of(link, name, params) for name, params in spec["tools"]}
    module = type(sys)("tools", "Functions of the client that started this program.")
    module.__dict__.update(functions, ToolError=ToolError)
    builtins.tools = module
    if not {"tools", "tools.py"}.intersection(os.listdir(WORK)):
        sys.modules["tools"] = module
    if spec["as"] == "module":
        return None
    scope["ToolError"] = ToolError
    if spec["as"] == "functions":
        scope.update(functions)
        return None
    scope.update((name, function.aio) for name, function in functions.items())
    return run_async
