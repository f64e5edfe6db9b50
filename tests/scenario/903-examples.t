#!/bin/bash
# What docs/ and examples/ show does what they say.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
. "$here/pages.sh"
source=${CED_SOURCE:-$(cd "$(dirname "$0")/../.." && pwd)}
daemon_start

# --- the pages for authors of clients ------------------------------------------------------------

command -v nvim >/dev/null || bail "nvim is not here: ./dev setup test installs it"
page_places=(['"examples"']="\"$source/examples\"")
type_page "$source/docs/PROTOCOL.md" --only python,lua
is "$page_typed" 3 "PROTOCOL.md has its programs, two in Python and one for Neovim"
export PYTHONPATH=$source/clients/python/src
type_page "$source/docs/CLIENTS.md" --only python
is "$page_typed" 8 "CLIENTS.md has its eight programs"
unset PYTHONPATH

# --- the words of ./dev -----------------------------------------------------------------------

exits 0 "a word of ./dev has help and does nothing then" "$source/dev" run --help
like "$out" 'CED_SOCKET.*--config FILE|--config FILE.*CED_SOCKET' "with its options and places"
exits 1 "an option that it does not know is refused" "$source/dev" run --confg x
like "$err" 'it knows --config FILE' "with those that it knows"

# --- the client --------------------------------------------------------------------------------

client=$source/examples/client.py
printf 'import time\nfor i in range(3):\n    print(i, flush=True)\n' >job.py
exits 0 "the example client runs a file" /usr/bin/python3 "$client" job.py
is "$out" "$(printf '0\n1\n2')" "and streams what it prints"
printf '1/0\n' >job.py
exits 1 "it fails with the program" /usr/bin/python3 "$client" job.py
like "$err" "exception: Uncaught ZeroDivisionError at line 1" "and says how"
exits 0 "it knows refusals from results, and has several in flight" \
	env PYTHONPATH="$source/examples" /usr/bin/python3 -c '
from client import Client, Refused
with Client() as ced:
    ids = [ced.send("run", language="python", code=f"print({i})") for i in range(4)]
    print([ced.receive(msgid)["stdout"] for msgid in reversed(ids)])
    try:
        ced.run("1", limits={"pids": 100000})
    except Refused as why:
        print(why.code, why.data["pointer"], why.data["reason"])'
is "$out" "['3\n', '2\n', '1\n', '0\n']
bad_request /limits/pids range" "as the protocol says"

cat >asks.py <<'PY'
import sys

from client import Client

with Client() as ced:
    result = ced.run("import ctypes; print(1)", policy="review")
    print(result["outcome"])
PY
PYTHONPATH="$source/examples" /usr/bin/python3 asks.py >asks.out 2>asks.err &
asks=$!
for _ in {1..300}; do
	grep -q 'waits for approval' asks.err && break
	sleep 0.1
done
like "$(cat asks.err)" '^run [0-9A-Z]{26} waits for approval, for at most [0-9]+ min \(cectl approve [0-9A-Z]{26}\)' "it says that a person is asked"
cectl cancel "$(cut -d ' ' -f 2 asks.err)"
wait "$asks"
is "$(cat asks.out)" canceled "and has the result in the end"

# --- Neovim ------------------------------------------------------------------------------------

cat >try.lua <<'LUA'
local ced = dofile(vim.env.EXAMPLE)
vim.api.nvim_buf_set_lines(0, 0, -1, true, { 'import os', 'print(6 * 7)', '1 / 0' })
vim.cmd('Ced')
local qf = vim.fn.getqflist()
local shown = vim.fn.getbufline(vim.fn.bufnr('$'), 1, '$')
local good, why = pcall(ced.run, '1', { limitz = {} })
vim.fn.writefile({ shown[1], shown[#shown], qf[#qf].lnum .. ' ' .. qf[#qf].text,
	good and 'ran' or vim.split(why, ';')[1] }, 'nvim.out')
vim.cmd('2Ced')
vim.fn.writefile({ vim.fn.getbufline(vim.fn.bufnr('$'), 1, '$')[1] }, 'nvim.out', 'a')
vim.cmd('qall!')
LUA
EXAMPLE=$source/examples/ced.lua exits 0 "the example for Neovim loads" \
	timeout 30 nvim --headless --clean -c 'luafile try.lua' -c 'cquit'
is "$(cat nvim.out 2>&1)" "42
exception: Uncaught ZeroDivisionError at line 3: division by zero
3 ZeroDivisionError: division by zero
/limitz: this key is not known here
42" "runs the buffer and a range, points to the line, and tells why it was refused"
done_testing
