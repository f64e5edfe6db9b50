#!/bin/bash
# Any msgpack-rpc client works: one that is a few lines of Python, and Neovim.
. "$(dirname "$0")/lib.sh"
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

if command -v nvim >/dev/null; then
	cat >"$work/ced.vim" <<'VIM'
let channel = sockconnect('pipe', $CED_SOCKET, {'rpc': v:true})
let result = rpcrequest(channel, 'run', {'language': 'python', 'code': 'print(6 * 7)'})
call writefile([result.outcome, trim(result.stdout), result.ran], "nvim.out")
let hello = rpcrequest(channel, 'hello', {'client': 'nvim'})
call writefile([hello.server, string(hello.protocol)], "nvim.out", 'a')
try
  call rpcrequest(channel, 'run', {'language': 'python', 'code': '1', 'limitz': {}})
catch
  call writefile([match(v:exception, "Error invoking") >= 0 ? "refused" : v:exception], "nvim.out", "a")
endtry
qall!
VIM
	exits 0 "Neovim connects" timeout 30 nvim --headless --clean -S "$work/ced.vim"
	is "$(paste -sd' ' "$work/nvim.out")" "ok 42 yes ced 1 refused" "and runs, asks and is refused"
else
	bail "nvim is not here: ./dev setup test installs it"
fi
done_testing
