"""A policy decides about runs that ask for a network: it denies, or a person is asked and sees the hosts."""

import os
import sys

from wire import Client, done, eq, ok, wait_until

with open(os.path.join(sys.argv[1], "ports"), encoding="ascii") as file:
    PORTS = {name: int(port) for name, port in (line.split() for line in file)}
HOST = f"api.test:{PORTS['echo']}"
CODE = f"import socket\ns = socket.create_connection(('api.test', {PORTS['echo']}))\ns.sendall(b'x')\nprint(s.recv(1))"
LIMITS = {"wall_ms": 60000, "cpu_ms": 60000}
USER, APPROVER = 4001, 4002


def connect(uid):
    os.seteuid(uid)
    client = Client()
    os.seteuid(0)
    return client


user, approver = map(connect, (USER, APPROVER))


def run(policy, code=CODE, **params):
    return user.call("run", language="python", code=code, policy=policy, limits=LIMITS, **params)


def asked(allow, **network):
    """Parks a run. Returns its id."""
    answer = run("nets-ask", network={"allow": allow, **network}, detach=True)
    eq(answer["state"], "parked", f"a run that asks for {allow} waits for a person")
    return answer["run_id"]


def ended(run_id):
    wait_until(lambda: user.call("runs.get", run_id=run_id).get("outcome"))
    return user.call("runs.get", run_id=run_id)


result = run("nets-deny", network={"allow": [HOST]})
eq((result["outcome"], [found["text"] for found in result["policy"]["findings"] if found["rule"] == "policy.network"]),
   ("policy_denied", [HOST]), "a policy denies a network, and the finding names the host")
eq(run("nets-deny", "print(1)")["outcome"], "ok", "who asks for none is not denied")
eq(run("nets-deny", "print(1)", network="denied")["outcome"], "ok", "nor who says so")
eq(run("nets-allow", network={"allow": [HOST]})["stdout"], "b'x'\n", "a policy above the one that asks may allow it")
eq(user.call("check", language="python", code=CODE, policy="nets-ask", network={"allow": [HOST]})["would"], "ask",
   "check says that it would ask")

waiting = asked([HOST])
page = approver.call("approvals.list")["waiting"]
eq([row["request"]["network"] for row in page if row["run_id"] == waiting], [{"allow": [HOST]}], "the person sees the hosts")
approver.call("approvals.approve", run_id=waiting, reason="known", **{"for": "code"})
record = ended(waiting)
eq((record["outcome"], record["stdout"]), ("ok", "b'x'\n"), "approved, it runs with its network")
eq([(row["host"], row["verdict"]) for row in record["connections"]], [("api.test", "allowed")], "and tells its connections")
eq(run("nets-ask", network={"allow": [HOST]})["stdout"], "b'x'\n", "the same code with the same hosts is approved from then on")
more = asked([HOST], connections=7)
approver.call("approvals.deny", run_id=more, reason="no")
eq(ended(more)["outcome"], "approval_denied", "more of the network is asked for again")
more = asked([HOST, f"other.test:{PORTS['echo']}"])
approver.call("approvals.deny", run_id=more, reason="no")
eq(ended(more)["outcome"], "approval_denied", "another list of hosts is asked for again, and may be denied")
ok(run("nets-ask", "print(1)")["outcome"] == "ok", "without a network nobody is asked")

# ---- TLS that names the host, whether the request wants it or not -----------------------------------


def why_not(port, **more):
    error, _ = user.receive(user.send("run", language="python", code="print(1)", policy="observe", limits=LIMITS,
                                      network={"allow": [{"host": "api.test", "ports": [port], **more}]}))
    return error and (error["data"]["pointer"], error["message"])


def reload(word):
    with open(sys.argv[2], encoding="ascii") as file:
        text = file.read()
    with open(sys.argv[2], "w", encoding="ascii") as file:
        file.write(text.replace("egress {", f'egress {{ server_names = "{word}"', 1))
    approver.call("admin.reload")
    return text


PLAIN = '/network/allow/0: the setting egress.server_names wants TLS that names api.test at port %d: say "tls": true'
eq(why_not(443, tls=False), ("/network/allow/0", PLAIN % 443), "on port 443 no request does without the server name")
eq((why_not(443), why_not(443, tls=True), why_not(80)), (None, None, None), "which it has unless it says otherwise; other ports need none")
before = reload("always")
eq((why_not(80), why_not(80, tls=True)), (("/network/allow/0", PLAIN % 80), None), "unless the administrator wants it everywhere")
with open(sys.argv[2], "w", encoding="ascii") as file:
    file.write(before)
reload("asked")
eq((why_not(443, tls=False), why_not(80)), (None, None), "or leaves it to the request")
done()
