import os
import sys

from kills import PATIENCE, end, kill, start, wait_for_daemon
from wire import Client, PATH, done, eq, ok, wait_until

COUNT = 400  # more than may wait for an inspector at a time
TABLE = "table = [\n" + "    ('name', 1, 2.5, None, {'key': [1, 2, 3]}),\n" * 500 + "]\n"  # takes long to inspect
USER, APPROVER = 4001, 4002


def connect(uid):
    os.seteuid(uid)
    try:
        return Client(timeout=PATIENCE)
    finally:
        os.seteuid(0)


def is_up():
    try:
        os.chmod(os.path.dirname(PATH), 0o777)
        os.chmod(PATH, 0o666)
        connect(0).call("admin.status")
        return True
    except Exception:
        return False


spawner = start(sys.argv[1])
ok(wait_until(is_up, PATIENCE), "the daemon is up")
user, approver = connect(USER), connect(APPROVER)
runs = [user.run(f"import ctypes\n{TABLE}print({number})", policy="review", detach=True)["run_id"] for number in range(COUNT)]

# They are approved far faster than two workers run them.
approvals = {approver.send("approvals.approve", run_id=run): run for run in runs}
approved = [run for msgid, run in approvals.items() if approver.receive(msgid)[0] is None]
eq(len(approved), COUNT, "all are approved")
eq(kill(spawner, wait_for_daemon(spawner)), [], "the daemon is killed")

spawner = start(sys.argv[1])
ok(wait_until(is_up, PATIENCE), "the daemon is up again")
root = connect(0)
left = root.call("admin.status")["parked"]
ok(left > 300, f"and finds {left} approved runs")


def all_have_ended():
    return all(root.call("runs.get", run_id=run)["outcome"] for run in runs)


ok(wait_until(all_have_ended, 3 * PATIENCE), "all of them end")
outcomes = [root.call("runs.get", run_id=run)["outcome"] for run in runs]
counts = {outcome: outcomes.count(outcome) for outcome in set(outcomes)}
eq({outcome: count for outcome, count in counts.items() if outcome not in ("ok", "lost")}, {}, "none was refused")
ok(counts.get("lost", 0) <= 4, "and only what ran when the daemon was killed is lost", counts)
eq(end(spawner), 0, "the daemon ends")
done()
