"""The methods of the protocol: one table, and one function for each with its params by name.

A test compares both with the daemon's own table and schemas. Params and results have the names of
docs/PROTOCOL.md; a name that Python has taken ends with an underscore (`from_`, `for_`). None stands for
a param that is not sent.
"""

from __future__ import annotations

from typing import Any, Dict, Generic, Optional, Sequence, TypeVar, Union

from .events import Map

Answer = TypeVar("Answer")

METHODS: Dict[str, bool] = {
    # name: whether a request may be sent a second time after the connection was lost, since it changes nothing
    "hello": True,
    "run": False,
    "check": True,
    "wait": True,
    "cancel": False,
    "call.reply": False,
    "session.open": False,
    "session.list": True,
    "session.rollback": False,
    "session.keep": False,
    "session.drop": False,
    "session.close": False,
    "runtimes": True,
    "blob.put": False,
    "blob.get": True,
    "runs.list": True,
    "runs.get": True,
    "runs.output": True,
    "runs.replay": False,
    "stats": True,
    "events.subscribe": False,
    "policies.list": True,
    "policies.show": True,
    "policies.test": True,
    "approvals.list": True,
    "approvals.approve": False,
    "approvals.deny": False,
    "approvals.revoke": False,
    "admin.status": True,
    "health": True,
    "admin.metrics": True,
    "config.show": True,
    "admin.acts": True,
    "admin.drain": False,
    "admin.resume": False,
    "admin.reload": False,
    "admin.kill_all": False,
    "admin.block": False,
    "admin.unblock": False,
    "admin.gc": False,
    "admin.reset_budget": False,
    "budgets.list": True,
    "audit.backup": False,
    "audit.export": True,
    "audit.verify": True,
    "audit.checkpoint": False,
    "audit.key": True,
}

_NULL_IS_A_VALUE = {"input", "result"}


def sent_params(params: Map) -> Map:
    """The params as they travel: without those that are None, and with the names of the protocol."""
    return {key.rstrip("_"): value for key, value in params.items() if value is not None or key in _NULL_IS_A_VALUE}


def function_name(method: str) -> str:
    """`runs.list` as a function is called `runs_list`."""
    return method.replace(".", "_")


class Methods(Generic[Answer]):
    """One function for each method. `Answer` is a map, or for an AsyncClient what is awaited for it.

    What a method is about may come by position, as in `runs_get(run_id)`; all other params go by their names.
    """

    def call(self, method: str, params: Map) -> Answer:
        """Sends any method with these params."""
        raise NotImplementedError

    def hello(self, *, client: Optional[str] = None, protocol: Optional[int] = None) -> Answer:
        """What this daemon is and offers."""
        return self.call("hello", {"client": client, "protocol": protocol})

    def cancel(self, run_id: Optional[str] = None, *, id: Optional[str] = None,
               msgid: Optional[int] = None) -> Answer:
        """Kills a run. It is named by `run_id`, by your own `id`, or by the `msgid` of its message on this connection."""
        return self.call("cancel", {"run_id": run_id, "id": id, "msgid": msgid})

    def call_reply(self, *, run_id: str, call: int, result: Any = None, error: Optional[Map] = None) -> Answer:
        """Answers a call of a tool. The client does this by itself for the functions in `tools`."""
        answer = {"result": result} if error is None else {"error": error}
        return self.call("call.reply", {"run_id": run_id, "call": call, **answer})

    def session_open(self, *, language: str, policy: Optional[str] = None, env: Optional[Map] = None,
                     secrets: Optional[Sequence[Any]] = None, packages: Optional[Sequence[Any]] = None,
                     network: Optional[Union[Map, str]] = None, limits: Optional[Map] = None,
                     agent: Optional[str] = None, task: Optional[str] = None, labels: Optional[Map] = None,
                     states: Optional[int] = None, idle_ms: Optional[int] = None) -> Answer:
        """Opens a session and gives its map; `session()` gives an object that closes it."""
        return self.call("session.open", {"language": language, "policy": policy, "env": env, "secrets": secrets,
                                          "packages": packages, "network": network, "limits": limits, "agent": agent,
                                          "task": task, "labels": labels, "states": states, "idle_ms": idle_ms})

    def session_list(self) -> Answer:
        """The open sessions."""
        return self.call("session.list", {})

    def session_rollback(self, session: str, state: int) -> Answer:
        """Goes back to a kept state of a session."""
        return self.call("session.rollback", {"session": session, "state": state})

    def session_keep(self, session: str, *, name: Optional[str] = None) -> Answer:
        """Pins the state in which a session stands."""
        return self.call("session.keep", {"session": session, "name": name})

    def session_drop(self, session: str, state: int) -> Answer:
        """Gives up a kept state of a session."""
        return self.call("session.drop", {"session": session, "state": state})

    def session_close(self, session: str) -> Answer:
        """Ends a session."""
        return self.call("session.close", {"session": session})

    def runtimes(self) -> Answer:
        """Languages and their workers."""
        return self.call("runtimes", {})

    def blob_put(self, *, data: Union[str, bytes], sha256: Optional[str] = None, offset: Optional[int] = None,
                 total: Optional[int] = None) -> Answer:
        """Sends a content ahead, which `files` may name by its hash."""
        return self.call("blob.put", {"data": data, "sha256": sha256, "offset": offset, "total": total})

    def blob_get(self, sha256: str, *, offset: Optional[int] = None, length: Optional[int] = None) -> Answer:
        """Reads a content that was sent ahead."""
        return self.call("blob.get", {"sha256": sha256, "offset": offset, "length": length})

    def runs_list(self, *, since: Optional[int] = None, until: Optional[int] = None, outcome: Optional[str] = None,
                  language: Optional[str] = None, uid: Optional[int] = None, agent: Optional[str] = None,
                  task: Optional[str] = None, policy: Optional[str] = None, session: Optional[str] = None,
                  rule: Optional[str] = None, text: Optional[str] = None, code_hash: Optional[str] = None,
                  label: Optional[Map] = None, before: Optional[str] = None, limit: Optional[int] = None) -> Answer:
        """A page of runs, the newest first."""
        return self.call("runs.list", {"since": since, "until": until, "outcome": outcome, "language": language,
                                       "uid": uid, "agent": agent, "task": task, "policy": policy, "session": session,
                                       "rule": rule, "text": text, "code_hash": code_hash, "label": label,
                                       "before": before, "limit": limit})

    def runs_get(self, run_id: str) -> Answer:
        """The whole record of one run."""
        return self.call("runs.get", {"run_id": run_id})

    def runs_output(self, run_id: str, stream: str, *, offset: Optional[int] = None,
                    length: Optional[int] = None) -> Answer:
        """A page of what a run left."""
        return self.call("runs.output", {"run_id": run_id, "stream": stream, "offset": offset, "length": length})

    def stats(self, *, since: Optional[int] = None, until: Optional[int] = None, outcome: Optional[str] = None,
              language: Optional[str] = None, uid: Optional[int] = None, agent: Optional[str] = None,
              task: Optional[str] = None, policy: Optional[str] = None, session: Optional[str] = None,
              rule: Optional[str] = None, text: Optional[str] = None, code_hash: Optional[str] = None,
              label: Optional[Map] = None, by: Optional[str] = None) -> Answer:
        """Counts and percentiles of runs."""
        return self.call("stats", {"since": since, "until": until, "outcome": outcome, "language": language,
                                   "uid": uid, "agent": agent, "task": task, "policy": policy, "session": session,
                                   "rule": rule, "text": text, "code_hash": code_hash, "label": label, "by": by})

    def events_subscribe(self, *, kinds: Optional[Sequence[Any]] = None, uid: Optional[int] = None,
                         agent: Optional[str] = None, task: Optional[str] = None) -> Answer:
        """Subscribes this connection: events go to `on_notice`. `events()` iterates over them on a connection of its own."""
        return self.call("events.subscribe", {"kinds": kinds, "uid": uid, "agent": agent, "task": task})

    def policies_list(self) -> Answer:
        """The policies."""
        return self.call("policies.list", {})

    def policies_show(self, name: str) -> Answer:
        """All of one policy."""
        return self.call("policies.show", {"name": name})

    def policies_test(self, cases: Sequence[Map], *, fresh: Optional[bool] = None) -> Answer:
        """Verdicts on examples; nothing is run."""
        return self.call("policies.test", {"cases": cases, "fresh": fresh})

    def approvals_list(self, *, run_id: Optional[str] = None, call: Optional[int] = None, after: Optional[str] = None,
                       limit: Optional[int] = None) -> Answer:
        """What waits for a person."""
        return self.call("approvals.list", {"run_id": run_id, "call": call, "after": after, "limit": limit})

    def approvals_approve(self, run_id: str, *, call: Optional[int] = None, for_: Optional[str] = None,
                          ttl_ms: Optional[int] = None, count: Optional[int] = None,
                          masked: Optional[bool] = None, reason: Optional[str] = None) -> Answer:
        """Allows a run, or a call of a tool, that waits for a person."""
        return self.call("approvals.approve", {"run_id": run_id, "call": call, "for_": for_, "ttl_ms": ttl_ms,
                                               "count": count, "masked": masked, "reason": reason})

    def approvals_deny(self, run_id: str, *, call: Optional[int] = None, reason: Optional[str] = None) -> Answer:
        """Refuses a run, or a call of a tool, that waits for a person."""
        return self.call("approvals.deny", {"run_id": run_id, "call": call, "reason": reason})

    def approvals_revoke(self, grant: int, *, reason: Optional[str] = None) -> Answer:
        """Takes back the approval of a program."""
        return self.call("approvals.revoke", {"grant": grant, "reason": reason})

    def admin_status(self) -> Answer:
        """The state of the daemon."""
        return self.call("admin.status", {})

    def health(self) -> Answer:
        """Which parts of the daemon have a fault, and since when."""
        return self.call("health", {})

    def admin_metrics(self) -> Answer:
        """Counters, gauges and histograms since the daemon's start."""
        return self.call("admin.metrics", {})

    def config_show(self) -> Answer:
        """The settings in force, and where each comes from."""
        return self.call("config.show", {})

    def admin_acts(self, *, before: Optional[int] = None, limit: Optional[int] = None) -> Answer:
        """The recorded acts of administrators and approvers."""
        return self.call("admin.acts", {"before": before, "limit": limit})

    def admin_drain(self, *, reason: Optional[str] = None) -> Answer:
        """Takes no new runs from now on."""
        return self.call("admin.drain", {"reason": reason})

    def admin_resume(self, *, reason: Optional[str] = None) -> Answer:
        """Takes runs again."""
        return self.call("admin.resume", {"reason": reason})

    def admin_reload(self, *, reason: Optional[str] = None) -> Answer:
        """Reads settings and policies again, without ending a run."""
        return self.call("admin.reload", {"reason": reason})

    def admin_kill_all(self, *, reason: Optional[str] = None) -> Answer:
        """Kills everything that runs or waits, and takes no new runs."""
        return self.call("admin.kill_all", {"reason": reason})

    def admin_block(self, uid: int, *, reason: Optional[str] = None) -> Answer:
        """Refuses new runs of a user."""
        return self.call("admin.block", {"uid": uid, "reason": reason})

    def admin_unblock(self, uid: int, *, reason: Optional[str] = None) -> Answer:
        """Takes runs of a user again."""
        return self.call("admin.unblock", {"uid": uid, "reason": reason})

    def admin_gc(self, *, older_than_s: Optional[int] = None, keep_runs: Optional[int] = None,
                 keep_bytes: Optional[int] = None, dry_run: Optional[bool] = None,
                 reason: Optional[str] = None) -> Answer:
        """Deletes contents of old runs."""
        return self.call("admin.gc", {"older_than_s": older_than_s, "keep_runs": keep_runs, "keep_bytes": keep_bytes,
                                      "dry_run": dry_run, "reason": reason})

    def admin_reset_budget(self, *, uid: Optional[int] = None, agent: Optional[str] = None,
                           task: Optional[str] = None, reason: Optional[str] = None) -> Answer:
        """Forgets what a budget has counted."""
        return self.call("admin.reset_budget", {"uid": uid, "agent": agent, "task": task, "reason": reason})

    def budgets_list(self, *, uid: Optional[int] = None) -> Answer:
        """The budgets and their use."""
        return self.call("budgets.list", {"uid": uid})

    def audit_backup(self, *, backup: Optional[int] = None, offset: Optional[int] = None,
                     end: Optional[bool] = None) -> Answer:
        """Makes, reads or deletes a copy of the store."""
        return self.call("audit.backup", {"backup": backup, "offset": offset, "end": end})

    def audit_export(self, *, since: Optional[int] = None, until: Optional[int] = None, after: Optional[str] = None,
                     limit: Optional[int] = None, stream_bytes: Optional[int] = None, contents: Optional[bool] = None,
                     count: Optional[bool] = None) -> Answer:
        """Whole records, the oldest first, a page at a time."""
        return self.call("audit.export", {"since": since, "until": until, "after": after, "limit": limit,
                                          "stream_bytes": stream_bytes, "contents": contents, "count": count})

    def audit_verify(self, *, part: Optional[str] = None, from_: Optional[int] = None, count: Optional[int] = None,
                     key: Optional[str] = None, second: Optional[str] = None) -> Answer:
        """Finds what somebody changed in the record."""
        return self.call("audit.verify", {"part": part, "from_": from_, "count": count, "key": key, "second": second})

    def audit_checkpoint(self) -> Answer:
        """Signs the record as it stands."""
        return self.call("audit.checkpoint", {})

    def audit_key(self) -> Answer:
        """The public key of the checkpoints."""
        return self.call("audit.key", {})
