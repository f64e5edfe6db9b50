"""What reaches a listed host, and what the result and the record say about it."""

import json
import os
import subprocess
import sys
import zipfile

from wire import Client, done, eq, ok

FOLDER = sys.argv[1]
with open(os.path.join(FOLDER, "ports"), encoding="ascii") as file:
    PORTS = {name: int(port) for name, port in (line.split() for line in file)}
with open(os.path.join(FOLDER, "cert.pem"), encoding="ascii") as file:
    CERTIFICATE = file.read()
HTTP, HTTPS = PORTS["http"], PORTS["https"]
TRUST = {name: "/work/ca.pem" for name in ("SSL_CERT_FILE", "CURL_CA_BUNDLE", "REQUESTS_CA_BUNDLE", "GIT_SSL_CAINFO",
                                           "NODE_EXTRA_CA_CERTS", "PIP_CERT")}
SECURE = {"host": "api.test", "ports": [HTTPS], "tls": True}
PLAIN = f"api.test:{HTTP}"
client = Client()


def run(code, allow=None, language="python", network=None, **params):
    network = network or ({"allow": allow} if allow else None)
    return client.call("run", language=language, code=code, limits={"wall_ms": 30000, "cpu_ms": 30000},
                       files=[{"path": "ca.pem", "data": CERTIFICATE}], env=TRUST,
                       **({"network": network} if network else {}), **params)


def refused(**params):
    try:
        client.call("run", language="python", code="print(1)", **params)
    except RuntimeError as error:
        told = error.args[0]
        told = told.get("data", told) if isinstance(told, dict) else told
        return told.get("pointer"), told.get("reason")
    return None


def only(result):
    rows = result.get("connections") or []
    ok(len(rows) == 1, f"one row of connections: {rows}")
    return rows[0] if rows else {}


# ---- clients that know nothing of a proxy ------------------------------------------------------

GET = "import urllib.request; print(urllib.request.urlopen('%s').read().decode())"
result = run(GET % f"http://api.test:{HTTP}/x", [PLAIN])
eq(result["stdout"], "GET /x of api.test\n", "urllib gets a page")
row = only(result)
eq([row[key] for key in ("host", "port", "way", "verdict", "address", "count")],
   ["api.test", HTTP, "address", "allowed", "127.0.0.1", 1], "the row says where it went, and how")
ok(row["up"] > 50 and row["down"] > 100 and row["took_us"] > 0, "with its bytes and its time")
ok("sni" not in row and "why" not in row, "and nothing that there was not")

result = run(GET % f"https://api.test:{HTTPS}/s", [SECURE])
eq(result["stdout"], "GET /s of api.test\n", "urllib gets a page over TLS")
eq(only(result)["sni"], "api.test", "the row has the server name of the greeting")

result = run("import requests; print(requests.get('https://api.test:%d/r').text)" % HTTPS, [SECURE])
eq(result["stdout"], "GET /r of api.test\n", "requests too")

result = run("import asyncio\nasync def main():\n"
             f"    r, w = await asyncio.open_connection('api.test', {PORTS['echo']})\n"
             "    w.write(b'ping'); await w.drain(); print(await r.read(4)); w.close()\nasyncio.run(main())",
             [f"api.test:{PORTS['echo']}"])
eq(result["stdout"], "b'ping'\n", "asyncio talks to a server that is none of HTTP")

names = [runtime["name"] for runtime in client.call("admin.status")["runtimes"]]
if "javascript" in names:
    result = run("process.env.NODE_TLS_REJECT_UNAUTHORIZED = '0';"  # node reads the names of certificates at its start
                 f"fetch('https://api.test:{HTTPS}/n').then(r => r.text()).then(console.log)", [SECURE], "javascript")
    eq(result["stdout"], "GET /n of api.test\n", "fetch of node too: " + result["stderr"][-200:])
if "fetch" in names and os.path.exists("/usr/bin/curl"):
    result = run(f"curl -sS https://api.test:{HTTPS}/c", [SECURE], "fetch")
    eq(result["stdout"], "GET /c of api.test", "curl too: " + result["stderr"][-200:])

repository = os.path.join(FOLDER, "www", "made")
if "fetch" in names and os.path.exists("/usr/bin/git"):
    result = run(f"git ls-remote http://api.test:{HTTP}/files/ 2>&1; echo end", [PLAIN], "fetch")
    ok(any(row["verdict"] == "allowed" for row in result["connections"]),
       "git asks the server for a repository: " + result["stdout"][-200:])

wheel = os.path.join(FOLDER, "www", "dummy-1.0-py3-none-any.whl")
with zipfile.ZipFile(wheel, "w") as archive:
    archive.writestr("dummy.py", "VALUE = 42\n")
    archive.writestr("dummy-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: dummy\nVersion: 1.0\n")
    archive.writestr("dummy-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
    archive.writestr("dummy-1.0.dist-info/RECORD", "")
result = run(
    "import runpy, sys\n"
    f"sys.argv = ['pip', '--no-cache-dir', '--disable-pip-version-check', 'install', '--no-deps', '--target', '/work/t',"
    f" 'http://api.test:{HTTP}/files/dummy-1.0-py3-none-any.whl', '--trusted-host', 'api.test:{HTTP}']\n"
    "try: runpy.run_module('pip', run_name='__main__')\n"
    "except SystemExit: pass\n"
    "sys.path.insert(0, '/work/t')\nimport dummy; print('value', dummy.VALUE)", [PLAIN])
ok("value 42" in result["stdout"], "pip installs a wheel: " + (result["stdout"] + result["stderr"])[-300:])

# ---- what a run that has a network is told about the rest -----------------------------------------

NAMED_ONLY = "this run may reach only the hosts that it named, and those of a pattern by the proxy"


def advice(result):
    told = subprocess.run(["cectl", "explain", result["run_id"], "--json"], capture_output=True, text=True, check=True)
    return json.loads(told.stdout)


for language, code in {"python": f"import socket; socket.create_connection(('other.test', {HTTP}))",
                       "javascript": f"fetch('http://other.test:{HTTP}')",
                       "bash": f"exec 3<>/dev/tcp/other.test/{HTTP} || exit 1"}.items():
    if language in names:
        result = run(code, [PLAIN], language)
        ok(NAMED_ONLY in result["stderr"] and "no network" not in result["stderr"],
           f"{language}: a name that the run did not list: " + result["stderr"][-300:])
        ok(any("--allow-host" in text for text in advice(result)["change"])
           and not any("no network" in text or text.startswith("Change line") for text in advice(result)["change"]),
           f"explain says what to do: {advice(result)['change']}")
result = run("import socket; socket.create_connection(('192.0.2.1', 80))", [PLAIN])
ok(any("--allow-host" in text for text in advice(result)["change"]), f"an address: {advice(result)['change']}")

# ---- explain knows the connections ----------------------------------------------------------------

for host, why, change in (("absent.test", "failed, name_not_found", "egress.resolvers"),
                          ("meta.test", "denied, closed_address", "egress.private"),
                          ("127.0.0.1", "denied, not_listed", "network.allow")):
    listed = [PLAIN] if host == "127.0.0.1" else [f"{host}:{HTTP}"]
    told = advice(run(f"import socket\nwith socket.create_connection(('{host}', {HTTP})) as s: s.recv(1)", listed))
    ok(any(text.startswith(f"Connection to {host}:{HTTP}: {why}") for text in told["known"]), f"explain says {why}: {told['known']}")
    ok(any(change in text for text in told["change"]), f"and what to change: {told['change']}")

# ---- a pattern: the proxy ----------------------------------------------------------------------

deep = {"host": "*.pages.test", "ports": [HTTP]}
result = run(GET % f"http://deep.pages.test:{HTTP}/p", [deep])
eq(result["stdout"], "GET /p of deep.pages.test\n", "a pattern is reached by the proxy: " + result["stderr"][-300:])
eq(only(result)["way"], "proxy", "and the row says so")
result = run(GET % f"https://deep.pages.test:{HTTPS}/q", [{"host": "*.pages.test", "ports": [HTTPS], "tls": True}])
eq(result["stdout"], "GET /q of deep.pages.test\n", "with CONNECT for TLS: " + result["stderr"][-300:])
result = run("import os; print(os.environ.get('HTTP_PROXY'), os.environ.get('https_proxy'), os.environ['NO_PROXY'])",
             [deep, PLAIN])
eq(result["stdout"], "http://127.0.0.1:3128 http://127.0.0.1:3128 localhost,127.0.0.1,api.test\n",
   "the variables of a proxy are there")
result = run("import os; print(os.environ.get('HTTP_PROXY'))", [PLAIN])
eq(result["stdout"], "None\n", "and not where no rule needs it")

# ---- what may be asked -------------------------------------------------------------------------

eq(refused(network={"allow": ["api.elsewhere:443"]}), ("/network/allow/0", "not_allowed"), "a host that is not allowed")
eq(refused(network={"allow": [PLAIN, "api.test:22"]}), ("/network/allow/1", "not_allowed"), "a port that is not")
eq(refused(network={"allow": ["*:%d" % HTTP]}), ("/network/allow/0", "not_allowed"), "a pattern wider than allowed")
eq(refused(network={"allow": [PLAIN]}, policy="strict"), ("/network/allow/0", "not_allowed"), "a policy that allows none")
eq(refused(network={"allow": [PLAIN]}, deterministic=True), ("/network", "conflict"), "a deterministic run has none")
eq(refused(network={"allow": [PLAIN]}, cache="use"), ("/network", "conflict"), "nor one from the cache")
eq(refused(network={"allow": [PLAIN], "up_bytes": 1 << 50}), ("/network/up_bytes", "range"), "an amount above the most")
eq(refused(network={"allow": [PLAIN, PLAIN]}), ("/network/allow/1", "duplicate"), "the same twice")
for host in ("127.0.0.1", "0x7f.1", "[::1]:80", "a b", "-a.test", "a..test", "x" * 254, "a" * 64 + ".test", "\u00fc.test",
             "api.test:0", "api.test:65536", "a\x00b", "*", "*.*.test", "a*.test", "api.test:3128"):
    found = refused(network={"allow": [host]})
    ok(found and found[0] == "/network/allow/0", f"{host[:20]!r} is no host that can be asked for: {found}")
for host, words in ("http://api.test:80", "without"), ("127.0.0.1:80", "address"), ("api.elsewhere", "443 is meant"):
    told = subprocess.run(["cectl", "run", "--allow-host", host, "-c", "1"], capture_output=True, text=True, check=False)
    ok("/network/allow/0" in told.stderr and words in told.stderr, f"{host}: what to write is said: {told.stderr}")
result = run(GET % f"http://api.test:{HTTP}/x", [f"API.Test.:{HTTP}"])
eq(result["outcome"], "ok", "case and a dot at the end do not matter")
eq(client.call("run", language="python", code="print(1)", network="denied")["outcome"], "ok", "denied may be said")

# ---- the record --------------------------------------------------------------------------------

result = run(GET % f"http://api.test:{HTTP}/x", [PLAIN])
record = client.call("runs.get", run_id=result["run_id"])
eq(record["connections"], result["connections"], "the record has the connections")
eq(record["request"]["network"], {"allow": [PLAIN]}, "and what was asked for")
shown = subprocess.run(["cectl", "show", result["run_id"]], capture_output=True, text=True, check=False).stdout
ok(f"api.test:{HTTP}" in shown and "network" in shown, "cectl shows them")
exported = subprocess.run(["cectl", "audit", "export"], capture_output=True, text=True, check=False).stdout
ok(any(json.loads(line).get("connections") == result["connections"] for line in exported.splitlines()),
   "they are in an export")
eq(subprocess.run(["cectl", "audit", "verify"], capture_output=True, check=False).returncode, 0, "and in the chain")
asked = subprocess.run(["cectl", "run", "--allow-host", PLAIN, "--json", "-c", GET % f"http://api.test:{HTTP}/y"],
                       capture_output=True, text=True, check=False)
ok("GET /y of api.test" in asked.stdout and '"connections"' in asked.stdout, "cectl run --allow-host: " + asked.stderr)
done()
