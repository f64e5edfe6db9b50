"""A worker's life: rehearse, wait, run one program as the interpreter would, say how it ended.

The code that runs between the arrival of a job and its last word is small on purpose, imports
nothing, and has been run once before, in the rehearsal, so that its pages are the worker's own.
"""

import _ced
import atexit
import builtins
import gc
import importlib.machinery
import io
import itertools
import os
import signal
import stat
import sys
import time
from json.encoder import encode_basestring_ascii as quoted

WORK = "/work"
MESSAGE_MAX = 16384  # characters of a message or a line in a report
FRAMES_MAX = 50

real = {}  # what the rehearsal must leave as it was


# ---- in the zygote -----------------------------------------------------------------------------


def prepare():
    """Everything that can be done before the first fork."""
    folder = os.path.dirname(os.path.abspath(__file__))
    with open(os.path.join(folder, "rehearsal.py"), "rb") as file:
        real["rehearsal"] = file.read()
    for name in [name for name in os.environ if name.startswith("CED_")]:
        del os.environ[name]
    sys.path[:] = [path for path in sys.path if path != folder]
    sys.path_importer_cache.pop(folder, None)
    for name in "_ced", "harness":
        sys.modules.pop(name, None)
    sys.path.insert(0, WORK)
    real["modules"] = frozenset(sys.modules)
    rehearse()


# ---- streams -----------------------------------------------------------------------------------


def stream(fd, mode, name, like, line_buffering):
    """A standard stream as the interpreter makes it at its start, for what `fd` is now."""
    buffer = io.open(fd, mode + "b", -1, None, None, None, False)
    buffer.raw.name = name
    text = io.TextIOWrapper(buffer, like.encoding, like.errors, "\n", line_buffering)
    text.mode = mode
    return text


def open_stdin(like=sys.__stdin__):
    sys.stdin = sys.__stdin__ = stream(0, "r", "<stdin>", like, False)


def open_outputs(out, error, like_out=sys.__stdout__, like_error=sys.__stderr__):
    sys.stdout = sys.__stdout__ = stream(out, "w", "<stdout>", like_out, False)
    sys.stderr = sys.__stderr__ = stream(error, "w", "<stderr>", like_error, True)


# ---- reports -----------------------------------------------------------------------------------


def safe_text(make, value):
    """A text of `value` that can be quoted, however hard the program made that."""
    try:
        text = make(value)
        if len(text) > MESSAGE_MAX:
            text = text[:MESSAGE_MAX] + "..."
        return text.encode("utf-8", "backslashreplace").decode()
    except BaseException:
        return "<%s without a text>" % type(value).__name__


def type_name(value):
    kind = type(value)
    if kind.__module__ in ("builtins", "__main__"):
        return kind.__qualname__
    return kind.__module__ + "." + kind.__qualname__


def column_of(traceback):
    """The byte where the failing expression begins, from Python 3.11 on; -1: unknown."""
    index = traceback.tb_lasti // 2
    positions = getattr(traceback.tb_frame.f_code, "co_positions", None)
    if positions is None or not 0 <= index < 100000:
        return -1
    place = next(itertools.islice(positions(), index, None), None)
    return -1 if not place or place[2] is None else place[2]


def frames_of(traceback):
    frames = []
    while traceback is not None:
        frames.append(traceback)
        traceback = traceback.tb_next
    return frames


def json_of_frame(traceback):
    code = traceback.tb_frame.f_code
    return '{"file":%s,"line":%d,"name":%s}' % (
        quoted(safe_text(str, code.co_filename)),
        traceback.tb_lineno or 0,
        quoted(safe_text(str, code.co_name)),
    )


def line_of(source, number):
    lines = source.split(b"\n", number)
    return lines[number - 1].rstrip(b"\r") if 0 < number <= len(lines) else b""


def place_of(frames, path, source):
    """(line, column, text) of the last frame of the user; columns count characters from 1."""
    for frame in reversed(frames):
        filename = frame.tb_frame.f_code.co_filename
        if filename == path or filename.startswith(WORK + "/"):
            break
    else:
        return 0, 0, ""
    text = line_of(source, frame.tb_lineno or 0) if filename == path else b""
    column = column_of(frame)
    column = len(text[:column].decode("utf-8", "replace")) + 1 if column >= 0 and text else 0
    return frame.tb_lineno or 0, column, text.decode("utf-8", "replace")


def place_of_syntax(error):
    return (
        error.lineno if isinstance(error.lineno, int) else 0,
        error.offset if isinstance(error.offset, int) else 0,
        (error.text or "").rstrip("\n") if isinstance(error.text, (str, type(None))) else "",
    )


def report(error, path, source, is_syntax):
    """What JOB_ERROR carries, as bytes."""
    frames = [] if is_syntax else frames_of(error.__traceback__)
    if is_syntax and isinstance(error, SyntaxError):
        line, column, text = place_of_syntax(error)
        message = error.msg
    else:
        line, column, text = place_of(frames, path, source)
        message = error
    if len(frames) > FRAMES_MAX:
        frames[FRAMES_MAX // 2 : -FRAMES_MAX // 2] = []
    return (
        '{"type":%s,"message":%s,"line":%d,"column":%d,"frames":[%s],"text":%s,"syntax":%s}'
        % (
            quoted(safe_text(type_name, error)),
            quoted(safe_text(str, message)),
            line,
            column,
            ",".join(map(json_of_frame, frames)),
            quoted(safe_text(str, text)),
            "true" if is_syntax else "false",
        )
    ).encode()


# ---- one program -------------------------------------------------------------------------------


def exit_code_of(error):
    """What SystemExit means, as the interpreter reads it."""
    code = getattr(error, "code", error)
    if code is None:
        return 0
    if isinstance(code, int):
        return code & 0xFF if -(2**63) <= code < 2**63 else 0xFF
    try:
        sys.stdout.flush()
    except BaseException:
        pass
    try:
        print(code, file=sys.stderr)
    except BaseException:
        pass
    return 1


def new_main(path):
    """A module as a script finds itself in."""
    main = type(sys)("__main__")
    scope = main.__dict__
    scope.update(
        __annotations__={},
        __builtins__=builtins,
        __cached__=None,
        __file__=path,
        __loader__=importlib.machinery.SourceFileLoader("__main__", path),
        __package__=None,
        __spec__=None,
    )
    sys.modules["__main__"] = main
    return scope


def play(source, name, tell):
    """Compiles and runs a program.  `tell` sends a report; gives the exit code, or -signal."""
    path = WORK + "/" + name
    try:
        code = compile(source, path, "exec", 0, True)
    except BaseException as caught:
        error = caught.with_traceback(None)
        error.__context__ = None
        _ced.show(error)
        tell(report(error, path, source, True))
        return 1
    if tell is not rehearsed:
        _ced.begun()
    error = _ced.execute(code, new_main(path))
    if error is None:
        return 0
    if isinstance(error, SystemExit):
        return exit_code_of(error)
    body = report(error, path, source, False)
    _ced.show(error)
    tell(body)
    return -signal.SIGINT if isinstance(error, KeyboardInterrupt) else 1


def finish():
    """What the interpreter does at its end, for what belongs to the program."""
    threading = sys.modules.get("threading")
    if threading is not None:
        try:
            threading._shutdown()
        except BaseException as error:
            _ced.unraisable(error, threading)
    try:
        atexit._run_exitfuncs()
    except BaseException:
        pass
    flushed = _ced.flush()
    forget_program()
    return _ced.flush() and flushed


def forget_program():
    """Lets go of the program's modules and of the last exception, so that __del__ runs."""
    for name in "last_type", "last_value", "last_traceback", "last_exc":
        if hasattr(sys, name):
            delattr(sys, name)
    for name in [name for name in sys.modules if name not in real["modules"]]:
        module = sys.modules[name]
        if (getattr(module, "__file__", None) or "").startswith(WORK + "/"):
            del sys.modules[name]
    sys.modules.pop("__main__", None)
    gc.collect()


# ---- a worker's life ---------------------------------------------------------------------------


def rehearsed(body):
    """Where the rehearsal's report goes."""


def rehearse():
    """Runs a program that resembles jobs, so that a job finds its pages already its own."""
    open_stdin()
    open_outputs(0, 0)
    exit_code_of(SystemExit(0))
    play(real["rehearsal"], "rehearsal.py", rehearsed)
    play(b"print(1)", "rehearsal.py", rehearsed)
    atexit._run_exitfuncs()
    _ced.flush()
    forget_program()


def set_environment(entries):
    for entry in entries:
        key, _, value = entry.partition("=")
        os.environ[key] = value
        if key == "TZ":
            time.tzset()


def work(touched):
    if not touched:
        rehearse()
    numpy_random = sys.modules.get("numpy.random")
    if numpy_random is not None:
        numpy_random.seed()
    open_stdin()
    open_outputs(1, 2)
    gc.enable()
    _ced.ready()
    source, name, args, env, kind = _ced.take()
    if kind is not None and kind != stat.S_IFCHR:
        open_stdin()
    try:
        set_environment(env)
    except (OSError, ValueError) as error:
        _ced.failed(("environment: %s" % error).encode("utf-8", "replace"))
        _ced.done(1)
    sys.argv = [name] + args
    code = play(source, name, _ced.error)
    if not finish():
        code = 120
    if code < 0:
        signal.signal(-code, signal.SIG_DFL)
        os.kill(os.getpid(), -code)
    _ced.done(code)
