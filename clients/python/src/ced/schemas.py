"""JSON Schemas from Python types, and values of those types from JSON.

Known are the types of JSON, `list`, `dict`, `tuple`, `Optional` and `Union`, `Literal`, enums,
dataclasses, typed dicts and, where pydantic is installed, its models (version 1 and 2). Nothing is
imported for that.
"""

from __future__ import annotations

import dataclasses
import enum
import typing
from typing import Any, Callable, Dict, Optional, Tuple

from .events import Map

Schema = Any  # a map or a bool, as JSON Schema has it

_PLAIN: Dict[Any, Map] = {
    str: {"type": "string"}, int: {"type": "integer"}, float: {"type": "number"}, bool: {"type": "boolean"},
    type(None): {"type": "null"}, None: {"type": "null"}, list: {"type": "array"}, tuple: {"type": "array"},
    dict: {"type": "object"},
}


def is_model(kind: Any) -> bool:
    """Whether it is a model class of pydantic, of version 1 or 2."""
    return isinstance(kind, type) and (hasattr(kind, "model_validate") or hasattr(kind, "parse_obj"))


def model_schema(kind: Any) -> Map:
    """The JSON Schema of a model class."""
    schema: Map = kind.model_json_schema() if hasattr(kind, "model_json_schema") else kind.schema()
    return schema


def model_value(kind: Any, value: Any) -> Any:
    """A model from JSON."""
    return kind.model_validate(value) if hasattr(kind, "model_validate") else kind.parse_obj(value)


def _is_union(origin: Any) -> bool:
    return origin is typing.Union or getattr(origin, "__name__", "") == "UnionType"


def schema_of(kind: Any) -> Schema:
    """The JSON Schema of a type. What is not known accepts everything."""
    if kind is Any or isinstance(kind, typing.TypeVar):
        return True
    if kind in _PLAIN:
        return dict(_PLAIN[kind])
    origin, args = typing.get_origin(kind), typing.get_args(kind)
    if origin is not None:
        return _generic(origin, args)
    if is_model(kind):
        return model_schema(kind)
    if isinstance(kind, type) and issubclass(kind, enum.Enum):
        return {"enum": [each.value for each in kind]}
    if dataclasses.is_dataclass(kind) or hasattr(kind, "__required_keys__"):
        return _fields_schema(kind)
    return True


def rooted(schema: Schema) -> Schema:
    """The schema with the definitions of models that lie deeper in it moved to its root, where their references point."""
    found: Dict[str, Map] = {}
    moved = _without_definitions(schema, found)
    for key, definitions in found.items():
        moved[key] = definitions
    return moved


def _without_definitions(schema: Schema, found: Dict[str, Map]) -> Any:
    if isinstance(schema, list):
        return [_without_definitions(item, found) for item in schema]
    if not isinstance(schema, dict):
        return schema
    rest = {}
    for key, item in schema.items():
        if key not in ("$defs", "definitions") or "properties" not in schema and "$ref" not in schema:
            rest[key] = _without_definitions(item, found)
            continue
        for name, definition in item.items():
            if found.setdefault(key, {}).setdefault(name, definition) != definition:
                raise TypeError(f"two different models are called {name}: give the schemas of the tool by hand")
    return rest


def _generic(origin: Any, args: Tuple[Any, ...]) -> Schema:
    if _is_union(origin):
        return {"anyOf": [schema_of(arg) for arg in args]}
    if origin is typing.Literal:
        return {"enum": list(args)}
    if origin is tuple and not (len(args) == 2 and args[1] is Ellipsis):
        return {"type": "array", "prefixItems": [schema_of(arg) for arg in args], "minItems": len(args),
                "maxItems": len(args)}
    if isinstance(origin, type) and issubclass(origin, typing.Mapping):
        return {"type": "object", "additionalProperties": schema_of(args[1])}
    if isinstance(origin, type) and issubclass(origin, typing.Iterable):
        return {"type": "array", "items": schema_of(args[0])}
    return True


def _fields_schema(kind: Any) -> Map:
    """Of a dataclass or a typed dict."""
    hints = typing.get_type_hints(kind)
    if dataclasses.is_dataclass(kind):
        required = [each.name for each in dataclasses.fields(kind)
                    if each.default is dataclasses.MISSING and each.default_factory is dataclasses.MISSING]
    else:
        required = sorted(getattr(kind, "__required_keys__", hints))
    return {"type": "object", "properties": {name: schema_of(hint) for name, hint in hints.items()},
            "required": required, "additionalProperties": False}


def value_of(kind: Any, value: Any) -> Any:
    """The Python value that a type names, from JSON that satisfies its schema."""
    origin, args = typing.get_origin(kind), typing.get_args(kind)
    if is_model(kind):
        return model_value(kind, value)
    if isinstance(kind, type) and issubclass(kind, enum.Enum):
        return kind(value)
    if dataclasses.is_dataclass(kind) and isinstance(value, dict):
        hints = typing.get_type_hints(kind)
        make: Callable[..., Any] = kind
        return make(**{name: value_of(hints.get(name, Any), item) for name, item in value.items()})
    if isinstance(value, list) and origin in (list, tuple, set, frozenset):
        return _collection(origin, args, value)
    if isinstance(value, dict) and origin is dict:
        return {key: value_of(args[1], item) for key, item in value.items()}
    if _is_union(origin) and len([arg for arg in args if arg is not type(None)]) == 1:
        return None if value is None else value_of(next(arg for arg in args if arg is not type(None)), value)
    return value


def _collection(origin: Any, args: Tuple[Any, ...], value: Any) -> Any:
    if origin is tuple and not (len(args) == 2 and args[1] is Ellipsis):
        return tuple(value_of(kind, item) for kind, item in zip(args, value))
    return origin(value_of(args[0], item) for item in value)


def json_of(value: Any) -> Any:
    """JSON from what a function gave: models, dataclasses, enums and tuples become maps, values and lists."""
    if hasattr(value, "model_dump"):
        return value.model_dump(mode="json")
    if is_model(type(value)):
        return json_of(value.dict())
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {each.name: json_of(getattr(value, each.name)) for each in dataclasses.fields(value)}
    if isinstance(value, enum.Enum):
        return json_of(value.value)
    if isinstance(value, dict):
        return {key: json_of(item) for key, item in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [json_of(item) for item in value]
    return value


def output_schema(schema: Any) -> Schema:
    """The param `schema` of a run, from a map, a bool or a model class."""
    if isinstance(schema, (dict, bool)):
        return schema
    if is_model(schema):
        return model_schema(schema)
    raise TypeError(f"schema is {schema!r}: give a JSON Schema (a dict or a bool) or a model class of pydantic")
