class Registry(type):
    classes = {}

    def __new__(mcs, name, bases, space, **options):
        cls = super().__new__(mcs, name, bases, space)
        mcs.classes[name] = options
        return cls

    def __init__(cls, name, bases, space, **options):
        super().__init__(name, bases, space)

    @classmethod
    def __prepare__(mcs, name, bases, **options):
        return {"prepared": True}


class A(metaclass=Registry, table="a"):
    def __init_subclass__(cls, /, kind=None, **rest):
        super().__init_subclass__(**rest)
        cls.kind = kind


class Meters:
    def __set_name__(self, owner, name):
        self.name = "_" + name

    def __get__(self, thing, owner=None):
        return self if thing is None else getattr(thing, self.name, 0)

    def __set__(self, thing, value):
        if value < 0:
            raise ValueError(f"{self.name[1:]} is negative")
        setattr(thing, self.name, value)


class Run:
    length = Meters()


run = Run()
run.length = 5
print(run.length, vars(run), Registry.classes, A.prepared)
try:
    run.length = -1
except ValueError as error:
    print(error)


class X: pass
class Y(X): pass
class Z(X): pass
class W(Y, Z):
    def __getattr__(self, name): return f"made {name}"
    def __call__(self, *a): return a
    def __contains__(self, x): return x == 1
    def __matmul__(self, other): return "matmul"
    def __class_getitem__(cls, item): return item


w = W()
print([c.__name__ for c in W.__mro__], w.anything, w(1, 2), 1 in w, w @ w, W[5], type("T", (), {"a": 1}).a)
match {"kind": "point", "at": (1, [2, 3])}:
    case {"kind": "line"}:
        print("line")
    case {"kind": str(kind), "at": (x, [y, *rest])} if x < y:
        print(kind, x, y, rest)
try:
    type("Bad", (X, Y), {})
except TypeError as error:
    print(error)
