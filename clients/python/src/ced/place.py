"""Where the daemon listens, and a socket that is connected to it."""

from __future__ import annotations

import os
import socket
from typing import Optional, Union

from .errors import ConnectionLost, NoPermission

Path = Union[str, "os.PathLike[str]"]


def socket_path(path: Optional[Path] = None) -> str:
    """The path that the caller gave, else `CED_SOCKET`, else that of a private daemon, else the host's."""
    if path is not None:
        return os.fspath(path)
    if os.environ.get("CED_SOCKET"):
        return os.environ["CED_SOCKET"]
    own = os.path.join(os.environ.get("XDG_RUNTIME_DIR", ""), "ced/ced.sock")
    return own if os.path.isabs(own) and os.path.exists(own) else "/run/ced/ced.sock"


def _lost(path: str, error: OSError) -> ConnectionLost:
    if isinstance(error, PermissionError):
        return NoPermission(f"you may not use the daemon's socket {path}: its owner or group must let you. For the "
                            "host's service: sudo usermod -aG ced YOU, then log in again")
    return ConnectionLost(f"no daemon answers at {path}: {error.strerror or error}. Start the host's service "
                          "(systemctl start ced) or a private daemon (./dev run in the source folder). For another "
                          "socket: export CED_SOCKET=PATH, or give PATH to the client")


def connect(path: str) -> socket.socket:
    """A connected socket that blocks."""
    made = socket.socket(socket.AF_UNIX)
    try:
        made.connect(path)
    except OSError as error:
        made.close()
        raise _lost(path, error) from error
    return made
