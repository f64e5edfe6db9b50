import sys


def shoot(action):
    try:
        action()
    except Exception as error:
        print(f"{type(error).__mro__[-4].__name__ if len(type(error).__mro__) > 4 else '-'} {type(error).__name__}: {error} {error.args}")


class Slots:
    __slots__ = ()


actions = [
    lambda: 1 / 0, lambda: [][1], lambda: {}["k"], lambda: None.x, lambda: int("x"), lambda: "a" + 1, lambda: undefined,
    lambda: open("/no/such"), lambda: open("/", "w"), lambda: b"\xff".decode(), lambda: "\ud800".encode(),
    lambda: __import__("nothing"), lambda: exec("1 +"), lambda: exec("if 1:\nx"), lambda: exec("\tx\n        y"), lambda: next(iter([])),
    lambda: (lambda a: a)(), lambda: (lambda: 0)(1), lambda: setattr(Slots(), "x", 1), lambda: 2 ** -1 ** 0.5 + [] , lambda: [1] * (1 << 62),
    lambda: sum(["a"]), lambda: range(10**30)[10**31], lambda: iter(5), lambda: len(3), lambda: object() < object(), lambda: max([]),
    lambda: bytes([256]), lambda: chr(-1), lambda: (1).to_bytes(0, "big"), lambda: float(10**400), lambda: exec("assert 0, 'why'"),
    lambda: exec("from os import nothing"), lambda: exec("raise NotImplementedError('later')"), lambda: (_ for _ in ()).throw(LookupError("l")),
    lambda: sys.stdout.buffer.write("text"), lambda: "%d" % "x", lambda: "{}{1}".format(1, 2), lambda: dict([(1, 2, 3)]), lambda: exec("a, b = 1,"),
]
for action in actions:
    shoot(action)
try:
    raise ExceptionGroup("group", [ValueError(1), ExceptionGroup("inner", [KeyError(2), OSError(3, "three")])])
except* ValueError as group:
    print(group.exceptions)
except* (KeyError, OSError) as group:
    print(repr(group))
import unclear_module_name_that_is_missing
