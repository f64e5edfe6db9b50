import builtins
import sys

sys.setswitchinterval(0.01)
sys.ps1 = "x"
builtins.extra = 5
print(extra, sys.getsizeof([]) > 0, sys.intern("abc") is sys.intern("abc"), sys.call_tracing(abs, (-1,)))
calls = []
sys.setprofile(lambda frame, event, arg: calls.append(event))
len([])
sys.setprofile(None)
print(calls)
lines = []


def tracer(frame, event, arg):
    lines.append((event, frame.f_lineno - frame.f_code.co_firstlineno))
    return tracer


def traced():
    x = 1
    return x


sys.settrace(tracer)
traced()
sys.settrace(None)
print(lines)
sys.addaudithook(lambda event, args: print("audit", event) if event == "mine" else None)
sys.audit("mine")
sys.excepthook = lambda kind, value, tb: print("hook:", kind.__name__, value, tb.tb_lineno)
sys.unraisablehook = lambda unraisable: print("unraisable:", unraisable.exc_value)


class Bad:
    def __del__(self):
        raise ValueError("in __del__")


Bad()
undefined_name
