import inspect
import linecache
import types


def example(a: int, b="x", *args, key=None, **rest) -> str:
    """Does nothing much.

    Second paragraph.
    """
    return inspect.currentframe().f_code.co_name


class Base:
    def method(self):
        pass

    @staticmethod
    def static(): ...

    @property
    def prop(self):
        return 1


print(inspect.signature(example), inspect.getdoc(example), example(1))
print(inspect.getsource(Base), inspect.getsourcelines(example)[1], inspect.getfile(example), inspect.getmodule(Base))
print([n for n, _ in inspect.getmembers(Base, inspect.isfunction)], inspect.isgeneratorfunction(example))
print(inspect.signature(example).bind(1, 2, 3, key=4, z=5).arguments, inspect.getfullargspec(example).kwonlyargs)
print(linecache.getline(__file__, 1), [f.function for f in inspect.stack()], types.SimpleNamespace(a=1))
print(inspect.getattr_static(Base, "prop"), type(inspect.getclosurevars(example)).__name__, inspect.unwrap(example) is example)
