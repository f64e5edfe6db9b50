import abc
import typing
from typing import Any, Generic, NamedTuple, Optional, Protocol, TypedDict, TypeVar, Union, runtime_checkable

T = TypeVar("T")


class Stack(Generic[T]):
    def __init__(self) -> None:
        self.items: list[T] = []

    def push(self, item: T) -> "Stack[T]":
        self.items.append(item)
        return self


@runtime_checkable
class Sized(Protocol):
    def __len__(self) -> int: ...


class Movie(TypedDict, total=False):
    name: str
    year: int


class Pair(NamedTuple):
    left: int
    right: Optional[str] = None


class Shape(abc.ABC):
    @abc.abstractmethod
    def area(self) -> float: ...


print(Stack[int]().push(1).items, Stack[int], isinstance([], Sized), isinstance(3, Sized), Pair(1), Movie(name="x"))
print(typing.get_type_hints(Stack.push), typing.get_args(Union[int, str, None]), Optional[int], dict[str, Any], int | None)
print(Movie.__optional_keys__ == {"name", "year"}, typing.get_origin(list[int]), typing.cast(int, "x"))
try:
    Shape()
except TypeError as error:
    print(error)
