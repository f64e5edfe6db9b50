#!/bin/bash
# Any msgpack-rpc client works: one that is a few lines of Python, and Neovim.
. "$(dirname "$0")/lib.sh"
only python
daemon_start

exits 0 "a raw client on python3-msgpack talks to it" /usr/bin/python3 -c '
import socket, msgpack, os
sock = socket.socket(socket.AF_UNIX)
sock.connect(os.environ["CED_SOCKET"])
sock.sendall(msgpack.packb([0, 7, "run", [{"language": "python", "code": "print(6 * 7)"}]]))
unpacker = msgpack.Unpacker(raw=False)
message = None
while message is None:
    unpacker.feed(sock.recv(65536))
    message = next(unpacker, None)
kind, msgid, error, result = message
print(kind, msgid, error, result["outcome"], result["stdout"].strip())'
is "$out" "1 7 None ok 42" "and is answered as the protocol says"

# Its parts are within their limits, and together they are more than waits for a slow client.
exits 0 "a reply larger than what may wait for a slow client is told" /usr/bin/python3 -c '
import os, socket, msgpack
sock = socket.socket(socket.AF_UNIX)
sock.connect(os.environ["CED_SOCKET"])
sock.sendall(msgpack.packb([0, 7, "run", [{"language": "python", "artifacts": ["*"],
    "code": "import sys\nopen(\"a\", \"wb\").write(bytes(60 << 20))\nsys.stdout.write(\"x\" * (15 << 20))",
    "limits": {"artifact_bytes": 64 << 20, "disk_bytes": 128 << 20, "memory_bytes": 512 << 20,
        "stdout_bytes": 16 << 20, "wall_ms": 60000, "cpu_ms": 60000}}]]))
unpacker = msgpack.Unpacker(raw=False, max_buffer_size=0)
message = None
while message is None:
    data = sock.recv(1 << 20)
    if not data:
        break
    unpacker.feed(data)
    message = next(unpacker, None)
result = message and (message[2] or message[3])
if not message or result.get("outcome") != "ok":
    raise SystemExit(str(result)[:500])
print((len(result["stdout"]) >> 20, len(result["artifacts"][0]["data"]) >> 20))'
is "$out" "(15, 60)" "whole"

if command -v nvim >/dev/null; then
	cat >"$work/ced.vim" <<'VIM'
let channel = sockconnect('pipe', $CED_SOCKET, {'rpc': v:true})
let result = rpcrequest(channel, 'run', {'language': 'python', 'code': 'print(6 * 7)'})
call writefile([result.outcome, trim(result.stdout), result.ran], "nvim.out")
let hello = rpcrequest(channel, 'hello', {'client': 'nvim'})
call writefile([hello.server, string(hello.protocol)], "nvim.out", 'a')
call rpcrequest(channel, 'events.subscribe', {})
let asked = {'language': 'python', 'code': 'import ctypes', 'policy': 'review', 'detach': v:true}
let parked = rpcrequest(channel, 'run', asked)
let after = rpcrequest(channel, 'run', {'language': 'python', 'code': 'print(7)'})
call writefile([parked.state, parked.policy.decision, trim(after.stdout)], "nvim.out", 'a')
try
  call rpcrequest(channel, 'run', {'language': 'python', 'code': '1', 'limitz': {}})
catch
  call writefile([match(v:exception, "Error invoking") >= 0 ? "refused" : v:exception], "nvim.out", "a")
endtry
qall!
VIM
	exits 0 "Neovim connects" timeout 30 nvim --headless --clean -S "$work/ced.vim"
	is "$(paste -sd' ' "$work/nvim.out")" "ok 42 yes ced 1 parked ask 7 refused" "and runs, asks, waits, hears events, and is refused"
else
	bail "nvim is not here: ./dev setup test installs it"
fi
done_testing
