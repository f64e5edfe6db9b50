"""Programs that must behave in a worker as they do in an ordinary interpreter.

Each runs twice, in /usr/bin/python3 in an empty folder and in a worker.  stdout, stderr and exit status must
be equal, after the folder's name is replaced by /work.  Prints TAP.
"""

import os
import re
import subprocess
import sys
import tempfile

import warm

PYTHON = os.environ.get("CED_TEST_PYTHON", "/usr/bin/python3")
ENV = {
    "PATH": "/usr/bin:/bin", "HOME": "/work", "LANG": "C.UTF-8", "TZ": "UTC", "TMPDIR": "/tmp",
    # added by zygote.py
    "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1",
    "NUMEXPR_NUM_THREADS": "1", "MPLCONFIGDIR": "/tmp",
}
PRELOAD = "json re random collections datetime math statistics itertools functools threading " \
    "logging dataclasses typing decimal traceback"

PROGRAMS = {}


def program(title, code, **job):
    PROGRAMS[title] = (code if isinstance(code, bytes) else code.encode(), job)


# ---- printing and ending -----------------------------------------------------------------------

program("prints a number", "print(1)")
program("prints nothing", "")
program("prints without a newline", "print('x', end='')")
program("prints to both streams", "import sys\nprint('a'); print('b', file=sys.stderr)")
program("leaves output unflushed", "import sys\nsys.stdout.write('tail')")
program("writes bytes", "import sys\nsys.stdout.buffer.write(bytes(range(256)))")
program("writes with os.write", "import os\nprint('first', flush=True)\nos.write(1, b'second\\n')")
program("prints text that is no ASCII", "print('äöü 日本 \\U0001f600')")
program("prints a surrogate", "print('a'); print('\\ud800')")
program("prints much", "for i in range(20000): print(i, 'x' * 20)")
program("exits with 3", "import sys\nsys.exit(3)")
program("exits with 0", "import sys\nprint('x'); sys.exit()")
program("exits with None", "raise SystemExit(None)")
program("exits with a text", "import sys\nprint('out'); sys.exit('the reason')")
program("exits with a list", "import sys\nsys.exit([1, 2])")
program("exits with True", "import sys\nsys.exit(True)")
program("exits with 256", "import sys\nsys.exit(256)")
program("exits with -1", "import sys\nsys.exit(-1)")
program("exits with a huge number", "import sys\nsys.exit(10**30)")
program("exits with a float", "import sys\nsys.exit(1.5)")
program("exits with an object that cannot be printed",
        "class X:\n  def __str__(self): raise ValueError('no')\nraise SystemExit(X())")
program("exits in the middle of a try", "import sys\ntry:\n  sys.exit(4)\nfinally:\n  print('finally')")
program("exits by os._exit", "import os\nprint('kept'); os._exit(5)", unbuffered=True)
program("exits by os._exit after a flush", "import os\nprint('kept', flush=True); os._exit(0)")
program("aborts", "import os\nprint('x', flush=True); os.abort()")
program("kills itself with SIGTERM", "import os, signal\nos.kill(os.getpid(), signal.SIGTERM)")
program("kills itself with SIGKILL", "import os, signal\nos.kill(os.getpid(), signal.SIGKILL)")
program("handles a signal", "import os, signal\nsignal.signal(signal.SIGUSR1, lambda *a: print('got'))\n"
        "os.kill(os.getpid(), signal.SIGUSR1)\nprint('on')")
program("raises KeyboardInterrupt", "raise KeyboardInterrupt")
program("is interrupted", "import signal\nsignal.raise_signal(signal.SIGINT)\nprint('never')")
program("catches an interrupt", "import signal\ntry: signal.raise_signal(signal.SIGINT)\n"
        "except KeyboardInterrupt: print('caught')")
program("ignores SIGPIPE like the interpreter", "import signal\nprint(signal.getsignal(signal.SIGPIPE), "
        "signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGXFSZ), signal.pthread_sigmask(0, []))")
program("closes stdout", "import sys\nprint('x'); sys.stdout.close()")
program("closes stdout and prints", "import sys\nsys.stdout.close()\nprint('x')")
program("closes descriptor 1", "import os\nprint('x')\nos.close(1)", unbuffered=True)
program("prints to a descriptor that it has closed", "import os\nos.close(1)\nprint('x')")
program("replaces stdout", "import sys, io\nsys.stdout = io.StringIO()\nprint('x')\nsys.stderr.write(sys.stdout.getvalue())")
program("sets stdout to None", "import sys\nsys.stdout = None\nprint('x')")
program("has a stdout that fails to flush",
        "import sys\nclass F:\n  def write(self, s): pass\n  def flush(self): raise OSError('flush')\nsys.stdout = F()")
program("closes stderr and raises", "import sys\nsys.stderr.close()\n1/0")

# ---- exceptions --------------------------------------------------------------------------------

program("divides by zero", "def f(x):\n  return 1 / x\n\ndef g():\n  return f(0)\n\nprint('before')\ng()\nprint('after')")
program("raises an exception of its own", "class Mine(Exception): pass\nraise Mine('text')")
program("raises with a cause", "try:\n  {}['a']\nexcept KeyError as e:\n  raise ValueError('b') from e")
program("raises in an except", "try:\n  {}['a']\nexcept KeyError:\n  int('x')")
program("raises a group", "raise ExceptionGroup('several', [ValueError(1), TypeError('two')])")
program("raises with notes", "e = ValueError('x')\ne.add_note('a note')\nraise e")
program("raises with a text of many lines", "raise ValueError('a\\nb\\nc')")
program("raises with a huge text", "raise ValueError('x' * 300000)")
program("raises what cannot be printed", "class E(Exception):\n  def __str__(self): raise RuntimeError('no')\nraise E()")
program("raises an exception whose repr is odd", "class E(Exception):\n  def __repr__(self): return 5\nraise E('a')")
program("recurses too deep", "def f(n): return f(n + 1)\ntry:\n  f(0)\nexcept RecursionError as e: print(e)")
program("asserts", "assert 1 == 2, 'not equal'")
program("has an excepthook", "import sys\nsys.excepthook = lambda t, v, tb: print('hook', t.__name__, v)\n1/0")
program("has a failing excepthook", "import sys\ndef hook(t, v, tb): raise KeyError('hook')\nsys.excepthook = hook\n1/0")
program("prints its own traceback", "import traceback\ntry: 1/0\nexcept ZeroDivisionError: traceback.print_exc()")
program("fails in a long line", "x = {'a': [1, 2, {'b': None}]}\nprint(x['a'][2]['b']['c'] + 1)")
program("fails in eval", "eval('1 +')")
program("fails in exec", "exec('def f():\\n  raise ValueError(1)\\nf()')")
program("runs out of memory", "try:\n  x = bytearray(1 << 62)\nexcept (MemoryError, OverflowError) as e: print(type(e))")
program("raises in a generator", "def g():\n  yield 1\n  raise KeyError('k')\nlist(g())")
program("raises StopIteration", "next(iter([]))")
program("raises in __del__", "class D:\n  def __del__(self): raise ValueError('del')\nd = D()\ndel d\nprint('on')")

# ---- syntax ------------------------------------------------------------------------------------

program("has a bracket open", "x = (1, 2\nprint(x)")
program("is badly indented", "def f():\nreturn 1")
program("mixes tabs and spaces", "if 1:\n\tx = 1\n        y = 2\n")
program("returns outside of a function", "return 1")
program("uses a name of Python 2", "print 'hello'")
program("has an f-string that is broken", "f'{a b}'")
program("has a string open", "x = 'abc")
program("has an invalid character", "x = 1 € 2")
program("warns about a comparison", "x = 5\nif x is 5: print('is')")
program("warns about an escape", "print('\\d')")
program("has a coding cookie", "# -*- coding: latin-1 -*-\nprint('\xe4')".encode("latin-1"))
program("has a byte order mark", b"\xef\xbb\xbfprint('bom')")
program("has CRLF line ends", b"x = 1\r\nif x:\r\n    print('crlf')\r\n")
program("ends without a newline in a block", "if 1:\n    print('x')")
program("imports from the future", "from __future__ import annotations\ndef f(x: not_there): pass\nprint(f.__annotations__)")
program("starts with a shebang", "#!/usr/bin/env python3\n'''doc'''\nprint(__doc__)")
program("nests too deep", "(" * 300 + ")" * 300)

# ---- being a script ----------------------------------------------------------------------------

program("knows its names", "print(__name__, __file__, __spec__, __package__, __cached__, __doc__, type(__loader__).__name__)")
program("has a main guard", "if __name__ == '__main__': print('main')")
program("lists its globals", "print(sorted(globals()))")
program("has builtins as a module", "print(type(__builtins__), __builtins__.__name__)")
program("annotates", "x: int = 1\nprint(__annotations__)")
program("is the main module", "import sys, __main__\nx = 5\nprint(__main__.x, sys.modules['__main__'].__dict__ is globals())")
program("gets arguments", "import sys\nprint(sys.argv)", args=["a b", "--flag", "ü", ""])
program("gets an environment", "import os\nprint(sorted(os.environ.items()), os.getenv('A'))", env=["A=1", "B=x=y", "E=ü"])
program("gets a time zone", "import time\nprint(time.tzname, time.strftime('%H', time.localtime(0)))", env=["TZ=Asia/Tokyo"])
program("has a path of its own", "import sys\nprint(sys.path)")
program("has an encoding", "import sys, locale\nprint(sys.stdout.encoding, sys.stdout.errors, sys.stderr.errors, sys.stdin.errors, "
        "sys.getfilesystemencoding(), locale.getpreferredencoding())")
program("has ordinary streams", "import sys\nfor s in sys.stdin, sys.stdout, sys.stderr:\n"
        "  print(s.name, s.mode, s.fileno(), s.seekable(), s.isatty(), s.line_buffering, s.newlines, s.buffer.raw, s is not None)\n"
        "print(sys.stdout is sys.__stdout__, sys.stdin is sys.__stdin__)")
program("reads itself", "print(open(__file__).read())")
program("inspects itself", "import inspect\ndef f():\n  return 1  # one\nprint(inspect.getsource(f))")
program("pickles its classes", "import pickle\nclass A:\n  def __init__(self): self.x = 1\nprint(pickle.loads(pickle.dumps(A())).x, A.__module__)")
program("has dataclasses", "from dataclasses import dataclass, field\n@dataclass(order=True)\nclass P:\n  x: int\n  y: list = field(default_factory=list)\nprint(P(1), P(1) < P(2))")
program("has type hints", "import typing\ndef f(a: 'int', b: 'list[str]') -> None: pass\nprint(typing.get_type_hints(f))")
program("defines an enum", "import enum\nclass E(enum.Enum):\n  A = 1\nprint(E.A, E('x') if 0 else '')")
program("imports a neighbour", "import helper\nprint(helper.f(2), helper.__file__)", files=[("helper.py", b"def f(x): return x * 2\n", 0o644)])
program("imports a package", "from pkg.sub import x\nprint(x)", files=[("pkg/__init__.py", b"", 0o644), ("pkg/sub.py", b"x = 'sub'\n", 0o644)])
program("imports a neighbour that is broken", "import broken", files=[("broken.py", b"def f(:\n", 0o644)])
program("imports a neighbour that raises", "import bad", files=[("bad.py", b"\n\nraise ValueError('bad')\n", 0o644)])
program("shadows a module", "import string\nprint(string.x)", files=[("string.py", b"x = 1\n", 0o644)])
program("imports what is not there", "import not_there")
program("reads a data file", "print(open('data/in.txt').read())", files=[("data/in.txt", b"content", 0o600)])
program("writes and reads a file", "import os\nopen('out.txt', 'w').write('x' * 10)\nprint(os.path.getsize('out.txt'), sorted(os.listdir('.')))", entrypoint="run.py")
program("has another name", "print(__file__)\nraise ValueError", entrypoint="a name.py")
program("is not called .py", "print(__file__)\n1/0", entrypoint="script")
program("warns about something old", "import warnings\nwarnings.warn('old', DeprecationWarning)\nwarnings.warn('user')\nprint([f[:3] for f in warnings.filters])")
program("runs runpy", "import runpy\nrunpy.run_path('other.py', run_name='__main__')", files=[("other.py", b"print(__name__, __file__)", 0o644)])
program("has a docstring", "'''The doc.'''\nprint(__doc__)")
program("deletes main", "import sys\ndel sys.modules['__main__']\nprint('x')")
program("looks at frames", "import sys\nprint(sys._getframe().f_code.co_name, sys._getframe().f_lineno)")
program("logs", "import logging\nlogging.warning('careful')\nlogging.basicConfig(level=10)\nlogging.info('i')")
program("uses asyncio", "import asyncio\nasync def f():\n  await asyncio.sleep(0.01)\n  return 5\nprint(asyncio.run(f()))")
program("uses contextvars", "import contextvars\nv = contextvars.ContextVar('v', default=1)\nprint(v.get(), len(contextvars.copy_context()))")

# ---- stdin -------------------------------------------------------------------------------------

program("reads input without stdin", "input()")
program("reads input", "print(input('? '), input())", stdin="one\ntwo\n")
program("reads past the end", "print(input())\ninput()", stdin="one\n")
program("reads all of stdin", "import sys\nprint(len(sys.stdin.read()), sys.stdin.read() == '')", stdin="x" * 200000)
program("reads bytes of stdin", "import sys\nprint(sys.stdin.buffer.read())", stdin=b"\xff\x00\n")
program("iterates over stdin", "import sys\nfor line in sys.stdin: print(repr(line))", stdin="a\nb\r\nc")

# ---- threads and the end -----------------------------------------------------------------------

program("has an atexit", "import atexit\natexit.register(print, 'bye')\nprint('hi')")
program("has a failing atexit", "import atexit\natexit.register(lambda: 1/0)\natexit.register(print, 'second')\nprint('hi')")
program("has an atexit after an exception", "import atexit\natexit.register(print, 'bye')\n1/0")
program("exits in an atexit", "import atexit, sys\natexit.register(sys.exit, 3)\nprint('hi')")
program("registers in an atexit", "import atexit\natexit.register(lambda: atexit.register(print, 'inner'))")
program("joins threads", "import threading, time\ndef f(): time.sleep(0.05); print('thread')\nthreading.Thread(target=f).start()\nprint('main')")
program("leaves a daemon thread", "import threading, time\nthreading.Thread(target=time.sleep, args=(30,), daemon=True).start()\nprint('main')")
program("raises in a thread", "import threading\nt = threading.Thread(target=lambda: 1/0, name='T')\nt.start(); t.join()\nprint('main')")
program("exits in a thread", "import threading, sys\nt = threading.Thread(target=lambda: sys.exit(3))\nt.start(); t.join()\nprint('main')")
program("counts threads", "import threading\nprint(threading.active_count(), threading.current_thread(), "
        "threading.main_thread().native_id == threading.get_native_id())".replace(", threading.current_thread()", ""))
program("uses a pool", "from concurrent.futures import ThreadPoolExecutor\nwith ThreadPoolExecutor(4) as p: print(list(p.map(lambda x: x * x, range(5))))")
program("leaves a pool", "from concurrent.futures import ThreadPoolExecutor\np = ThreadPoolExecutor(2)\np.submit(print, 'late')\nprint('main', flush=True)")
program("uses a queue and a lock", "import queue, threading\nq = queue.Queue()\nt = threading.Thread(target=lambda: q.put(1))\nt.start()\nprint(q.get())\nl = threading.RLock()\nwith l: print(2)")
program("has a timer", "import threading\nthreading.Timer(0.02, print, ['timer']).start()")
program("has a __del__ of a global", "class D:\n  def __del__(self): print('del')\nd = D()\nprint('end')")
program("has a __del__ in a cycle", "class D:\n  def __del__(self): print('del')\nd = D(); d.d = d\ndef f(): return d\nprint('end')")
program("has a __del__ after an exception", "class D:\n  def __del__(self): print('del')\nd = D()\n1/0")
program("has a __del__ in a local of an exception", "class D:\n  def __del__(self): print('del')\ndef f():\n  d = D()\n  1/0\nf()")
program("has a finalizer", "import weakref\nclass D: pass\nd = D()\nweakref.finalize(d, print, 'final')\nprint('end')")
program("has a neighbour with a __del__", "import helper\nprint('end')", files=[("helper.py", b"class D:\n  def __del__(self): print('helper del')\nd = D()\n", 0o644)])
program("leaves a generator open", "def g():\n  try:\n    yield 1\n  finally:\n    print('closed')\nx = g(); next(x)\nprint('end')")
program("leaves a file open", "f = open('x.txt', 'w')\nf.write('data')\nprint('end')")
program("prints in the teardown of a module", "import sys\nclass D:\n  def __del__(self): sys.stdout.write('del\\n')\nsys.d = D()\nprint('end')")
program("collects garbage", "import gc\nprint(gc.isenabled(), gc.get_threshold())\nclass A: pass\nfor i in range(2000):\n  a = A(); a.a = a\nprint(gc.collect() >= 0)")
program("has a recursion limit", "import sys\nprint(sys.getrecursionlimit(), sys.getswitchinterval())")
program("seeds random", "import random\nrandom.seed(5)\nprint(random.random(), random.sample(range(100), 5))")
program("uses decimal", "from decimal import Decimal, getcontext\ngetcontext().prec = 5\nprint(Decimal(1) / Decimal(3))")
program("formats a date", "import datetime\nprint(datetime.datetime(2024, 2, 29, 12).isoformat())")
program("raises and leaves a thread", "import threading, time\ndef f(): time.sleep(0.05); print('thread')\nthreading.Thread(target=f).start()\n1/0")
program("sends a signal to a thread's main", "import signal, os, time\nsignal.setitimer(signal.ITIMER_REAL, 0.02)\nsignal.signal(signal.SIGALRM, lambda *a: (_ for _ in ()).throw(ValueError('alarm')))\ntime.sleep(1)")
program("has faulthandler", "import faulthandler\nfaulthandler.enable()\nprint(faulthandler.is_enabled())")
program("crashes", "import ctypes\nctypes.string_at(0)")
program("calls back from C", "import ctypes\nCB = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(ctypes.c_int), ctypes.POINTER(ctypes.c_int))\na = (ctypes.c_int * 3)(3, 1, 2)\nctypes.CDLL(None).qsort(a, 3, 4, CB(lambda x, y: x[0] - y[0]))\nprint(list(a))")

# ---- the frames below the program --------------------------------------------------------------

program("sees nothing below it", "import sys, inspect\nprint(sys._getframe().f_back, len(inspect.stack()))\ntry: sys._getframe(1)\nexcept ValueError as e: print(e)")
program("has all of the recursion limit", "def f(n):\n  try: return f(n + 1)\n  except RecursionError: return n\nprint(f(0))")
program("prints its stack", "import traceback\ndef f(): traceback.print_stack()\nf()")
program("warns at a stack level", "import warnings\ndef f(): warnings.warn('w', stacklevel=2)\nf()\nwarnings.warn('top', stacklevel=3)")
program("dumps tracebacks", "import faulthandler, sys\nfaulthandler.dump_traceback(all_threads=False)")
program("has thread locals", "import threading\nl = threading.local()\nl.x = 1\nprint(l.x, threading.current_thread() is threading.main_thread())")
program("calls back from a C thread", "import ctypes, threading\nCB = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p)\n@CB\ndef f(x): print('in', threading.active_count()); return 0\nlibc = ctypes.CDLL(None)\nt = ctypes.c_ulong()\nlibc.pthread_create(ctypes.byref(t), None, f, None)\nlibc.pthread_join(t, None)\nprint('out')")
program("traces itself", "import sys\nn = []\nsys.settrace(lambda f, e, a: n.append(e))\ndef f(): return 1\nf()\nsys.settrace(None)\nprint(n)")


# These need memory that is writable and executable, which the base filter refuses.
NEEDS_CODE = {"calls back from C", "calls back from a C thread"}

# Output that differs between two ordinary runs too.
VAGUE = [(rb"0x[0-9a-f]{6,}", b"0xADDRESS"), (rb"object refcount : \d+", b"object refcount : N")]


def plain(text, folder=b"/work"):
    text = text.replace(folder, b"/work")
    for pattern, word in VAGUE:
        text = re.sub(pattern, word, text)
    return text


def ordinary(code, args=(), env=(), files=(), stdin=None, entrypoint="main.py", unbuffered=False):
    with tempfile.TemporaryDirectory() as folder:
        for path, data, mode in [(entrypoint, code, 0o644)] + list(files):
            path = os.path.join(folder, path)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "wb") as file:
                file.write(data)
        done = subprocess.run(
            [PYTHON, "-B", "-s", *["-u"] * unbuffered, entrypoint, *args], cwd=folder,
            env=ENV | dict(entry.split("=", 1) for entry in env),
            input=None if stdin is None else warm.as_bytes(stdin), capture_output=True, timeout=30,
            stdin=subprocess.DEVNULL if stdin is None else None)
        there = folder.encode()
        return plain(done.stdout, there), plain(done.stderr, there), done.returncode


def piped(stdin):
    """The read end of a pipe that a child process writes to."""
    ours, theirs = os.pipe()
    if os.fork() == 0:
        os.close(ours)
        with open(theirs, "wb") as file:
            file.write(warm.as_bytes(stdin))
        os._exit(0)
    os.close(theirs)
    return ours


# A worker's output is never delayed; if a program can notice that, the comparison uses -u.
def in_worker(slot, code, stdin=None, unbuffered=False, **job):
    if stdin is not None:
        job["stdin"] = piped(stdin)
    run = slot.run(code, **job)
    if stdin is not None:
        os.wait()
    return plain(run.stdout), plain(run.stderr), run.code


def compare(number, slot, title, code, job):
    if warm.BASE_FILTER and title in NEEDS_CODE:
        print(f"ok {number} - {title} # SKIP memory is never written and run here")
        return True
    there = ordinary(code, **job)
    try:
        here = in_worker(slot, code, **job)
    except TimeoutError as error:
        here = (b"", str(error).encode(), None)
    if here == there:
        print(f"ok {number} - {title}")
        return True
    print(f"not ok {number} - {title}")
    for what, a, b in zip(("stdout", "stderr", "status"), there, here):
        if a != b:
            print(f"# {what}: ordinarily {a!r:.600}\n# {what}: in a worker {b!r:.600}")
    return False


def main(wanted):
    chosen = {title: it for title, it in PROGRAMS.items() if not wanted or wanted in title}
    print(f"1..{len(chosen)}")
    failed = 0
    with warm.Zygote(preload=PRELOAD) as zygote:
        slot = zygote.open_slot(0)
        for number, (title, (code, job)) in enumerate(chosen.items(), 1):
            failed += not compare(number, slot, title, code, job)
    return failed > 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1] if len(sys.argv) > 1 else ""))
