"""The files of a run, from contents, paths on this machine or open files."""

from __future__ import annotations

import hashlib
import os
from typing import IO, Any, Iterator, List, Mapping, Sequence, Union

from .events import Map

Content = Union[str, bytes, bytearray, memoryview, "os.PathLike[str]", IO[Any]]
PART_BYTES = 8 << 20
Files = Union[Mapping[str, Content], Sequence[Map]]


def files_param(files: Files) -> List[Map]:
    """The param `files`.

    A mapping has the path in the run and its content: text, bytes, a path on this machine
    (pathlib.Path), or an open file. A list is sent as it stands.
    """
    if isinstance(files, (str, bytes, os.PathLike)):
        raise TypeError(f"files is one path or content: name the path in the run, as in files={{'a.csv': pathlib.Path({str(files)!r})}}")
    if not isinstance(files, Mapping):
        return list(files)
    return [_file(path, content) for path, content in files.items()]


def blob_parts(data: Union[str, bytes]) -> Iterator[Map]:
    """The params of each `blob.put` that sends this content ahead."""
    content = data.encode() if isinstance(data, str) else data
    sha256 = f"sha256:{hashlib.sha256(content).hexdigest()}"
    for offset in range(0, len(content) or 1, PART_BYTES):
        yield {"data": content[offset:offset + PART_BYTES], "sha256": sha256, "offset": offset, "total": len(content)}


def _file(path: str, content: Content) -> Map:
    if isinstance(content, (str, bytes)):
        return {"path": path, "data": content}
    if isinstance(content, (bytearray, memoryview)):
        return {"path": path, "data": bytes(content)}
    if isinstance(content, os.PathLike):
        return _from_disk(path, content)
    if hasattr(content, "read"):
        return {"path": path, "data": content.read()}
    raise TypeError(f"the content of the file {path!r} is a {type(content).__name__}: give text, bytes, a "
                    "pathlib.Path or an open file")


def _from_disk(path: str, source: os.PathLike[str]) -> Map:
    with open(source, "rb") as file:
        mode = os.fstat(file.fileno()).st_mode & 0o777
        return {"path": path, "data": file.read(), "mode": mode}
