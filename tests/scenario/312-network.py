"""A program that tries to use a network gets the message that a run has none, and advice."""

import json
import subprocess

from wire import Client, done, eq, ok

client = Client()
SENTENCE = "this run has no network; send what it needs with the run, in files or stdin"


def explained(result):
    told = subprocess.run(["cectl", "explain", result["run_id"], "--json"], capture_output=True, text=True, check=True)
    return json.loads(told.stdout)["change"]


def fails(language, code, name):
    """The message is on stderr, whatever the program tries, and the advice is not to change a line."""
    result = client.call("run", language=language, code=code)
    ok(result["stderr"].count(SENTENCE) >= 1 and result["outcome"] in ("exception", "exit"), f"{name} says so", result["stderr"])
    change = explained(result)
    ok(any("no network" in text for text in change) and not any(text.startswith("Change line") for text in change),
       f"explain of {name} says what to do", change)
    return result


for name, code in {
    "a name": "import socket; socket.getaddrinfo('example.com', 80)",
    "an address": "import socket; socket.create_connection(('192.0.2.1', 80))",
    "a socket of IPv6": "import socket; socket.socket(family=socket.AF_INET6)",
    "gethostbyname": "import socket; socket.gethostbyname('example.com')",
    "urllib": "import urllib.request; urllib.request.urlopen('https://example.com')",
    "asyncio": "import asyncio\nasync def main(): await asyncio.open_connection('example.com', 443)\nasyncio.run(main())",
    "an interpreter's other way": "import _socket; _socket.socket().connect(('192.0.2.1', 80))",
}.items():
    result = fails("python", code, name)
    ok(SENTENCE in result["error"]["message"], f"so does the exception of {name}", result["error"])
for name, code in {
    "fetch": "fetch('http://example.com').then(console.log)",
    "https": "require('https').get('https://example.com')",
    "an address in node": "require('net').connect(80, '192.0.2.1')",
    "dns": "require('dns').promises.lookup('example.com').then(console.log)",
}.items():
    result = fails("javascript", code, name)
    eq(result["stderr"].count(SENTENCE), 1, f"{name} says it once")
for name, code in {
    "a name in bash": "exec 3<>/dev/tcp/example.com/80 || exit 1",
    "an address in bash": "echo > /dev/tcp/192.0.2.1/80 || exit 1",
}.items():
    fails("bash", code, name)

# ---- calls that need no network ---------------------------------------------------------------------

result = client.run("import socket, sys\nfrom socket import SocketType\na, b = socket.socketpair()\na.send(b'x')\nprint(b.recv(9))\n"
                    "print(isinstance(a, SocketType), socket.getaddrinfo('127.0.0.1', 80)[0][4])\n"
                    "try: socket.socket('x')\nexcept TypeError as error: print('type')\n"
                    "try: socket.getaddrinfo('127.0.0.1', 'no such service')\nexcept socket.gaierror as error: print(error)\n"
                    "try: socket.socket(socket.AF_UNIX)\nexcept PermissionError as error: print(error)")
eq((result["outcome"], result["stderr"]), ("ok", ""), "a program that uses a pair of sockets hears nothing of it")
eq(result["stdout"].splitlines(), ["b'x'", "True ('127.0.0.1', 80)", "type", "[Errno -8] Servname not supported for ai_socktype",
                                   "[Errno 1] Operation not permitted"], "and what is wrong for other reasons says those")
for language, code in ("javascript", "console.log(1)"), ("bash", "echo 1; ls /work; cat /dev/null; id -u >/dev/null"):
    result = client.call("run", language=language, code=code)
    eq((result["outcome"], result["stderr"]), ("ok", ""), f"{language} says nothing of it unasked")
result = client.call("run", language="python", code="raise ValueError('x')")
ok(any(text.startswith("Change line 1") for text in explained(result)), "who has another trouble is told to change the line")
result = client.call("run", language="javascript", code="setTimeout(() => { throw new TypeError('late') }, 1)")
ok(not any("line 0" in text for text in explained(result)), "nobody is told to change line 0", explained(result))
done()
