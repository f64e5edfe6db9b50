import dataclasses
from dataclasses import dataclass, field
from typing import ClassVar


@dataclass(frozen=True, order=True)
class Item:
    sort: int = field(init=False, repr=False)
    name: str
    price: float = 0.0
    tags: list = field(default_factory=list, compare=False)
    count: ClassVar[int] = 0

    def __post_init__(self):
        object.__setattr__(self, "sort", len(self.name))


items = sorted([Item("pear", 2), Item("fig", 3.5, ["sweet"]), Item("apple")])
print(items, dataclasses.asdict(items[0]), dataclasses.replace(items[1], price=9))
try:
    items[0].name = "x"
except dataclasses.FrozenInstanceError as error:
    print(type(error).__name__, error)
Made = dataclasses.make_dataclass("Made", [("x", int), ("y", int, 5)])
print(Made(1), [f.name for f in dataclasses.fields(Made)], Made(1) == Made(1, 5))
try:
    @dataclass
    class Wrong:
        a: int = 1
        b: str
except TypeError as error:
    print(error)


@dataclass(slots=True, kw_only=True)
class Slim:
    a: int
    b: int = 2


print(Slim(a=1), Slim.__slots__)
Slim(1)
