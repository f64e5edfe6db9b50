"""The data of charts, with the names that E2B's code interpreter has for it.

A figure of matplotlib comes as numbers beside its picture; docs/PROTOCOL.md says which. They come from the
program.
"""

from __future__ import annotations

import enum
import re
from dataclasses import dataclass, field
from typing import Any, Callable, Dict, List, Optional, Tuple, Union

from .events import Map

MEDIA_TYPE = "application/vnd.ced.chart+json"


class ChartType(str, enum.Enum):
    """What kind of chart it is."""

    LINE = "line"
    SCATTER = "scatter"
    BAR = "bar"
    PIE = "pie"
    SUPERCHART = "superchart"
    UNKNOWN = "unknown"


@dataclass
class PointData:
    """A line, or points of one colour."""

    label: Optional[str]
    points: List[Tuple[Any, Any]]


@dataclass
class BarData:
    """One bar. Bars that were drawn at once are a group."""

    label: Union[str, float]
    group: Optional[str]
    value: Any


@dataclass
class PieData:
    """One piece of a pie; its angle is in degrees."""

    label: Optional[str]
    angle: float
    radius: float


@dataclass
class Chart:
    """What a picture shows. `elements` depends on its type."""

    type: ChartType
    title: Optional[str]
    elements: List[Any] = field(default_factory=list)
    raw: Map = field(default_factory=dict, repr=False)

    def to_dict(self) -> Map:
        """As the program made it."""
        return self.raw


@dataclass
class Chart2D(Chart):
    """A chart with two axes. The unit is what a label has in parentheses at its end."""

    x_label: Optional[str] = None
    y_label: Optional[str] = None
    x_scale: Optional[str] = None
    y_scale: Optional[str] = None
    x_ticks: List[Any] = field(default_factory=list)
    y_ticks: List[Any] = field(default_factory=list)
    x_tick_labels: List[str] = field(default_factory=list)
    y_tick_labels: List[str] = field(default_factory=list)

    @property
    def x_unit(self) -> Optional[str]:
        """The unit of the x axis."""
        return _unit(self.x_label)

    @property
    def y_unit(self) -> Optional[str]:
        """The unit of the y axis."""
        return _unit(self.y_label)


class LineChart(Chart2D):
    """Its elements are PointData."""


class ScatterChart(Chart2D):
    """Its elements are PointData."""


class BarChart(Chart2D):
    """Its elements are BarData."""


class PieChart(Chart):
    """Its elements are PieData."""


class SuperChart(Chart):
    """A figure with several charts, which are its elements."""


def _unit(label: Optional[str]) -> Optional[str]:
    found = re.search(r"\(([^()]+)\)\s*$", label or "")
    return found[1] if found else None


def _points(raw: Map) -> PointData:
    return PointData(raw["label"], [(x, y) for x, y in raw["points"]])


def _no_element(raw: Map) -> Any:
    return raw


_Kind = Tuple[Callable[..., Chart], Callable[[Map], Any]]
_KINDS: Dict[ChartType, _Kind] = {
    ChartType.LINE: (LineChart, _points),
    ChartType.SCATTER: (ScatterChart, _points),
    ChartType.BAR: (BarChart, lambda raw: BarData(raw["label"], raw["group"], raw["value"])),
    ChartType.PIE: (PieChart, lambda raw: PieData(raw["label"], raw["angle"], raw["radius"])),
    ChartType.SUPERCHART: (SuperChart, lambda raw: _chart(raw)),
    ChartType.UNKNOWN: (Chart2D, _no_element),
}
_AXES = [f"{axis}_{what}" for axis in "xy" for what in ("label", "scale", "ticks", "tick_labels")]


def _chart(raw: Map) -> Chart:
    kind = ChartType(raw["type"])
    make, element = _KINDS[kind]
    axes = {name: raw[name] for name in _AXES if name in raw}
    return make(kind, raw["title"], [element(each) for each in raw["elements"]], raw, **axes)


def chart_of(data: Map) -> Optional[Chart]:
    """The chart of an item that was displayed. None if it has none, or one that the program itself made up wrongly."""
    try:
        return _chart(data[MEDIA_TYPE])
    except (KeyError, TypeError, ValueError, RecursionError):
        return None
