"""Each module has a unit test of its name, or a row here says which test covers it and why.

A module is a .c file of ours; its test is tests/unit/test_<module>.c, or test_<folder>_<module>.c
where two folders have a file of that name.  A row names tests that exist; a row for a module that
has a test of its name, or is gone, is out of date.
"""

import collections
import fnmatch
import pathlib
import sys

TOPS = ("cli", "daemon", "proto", "sandbox", "store")

ENTRY = "a main(): it is started as it is"
PART = "one of the files of one module, whose test is named after the whole"
STAGE = "a stage is entered through the walk and nothing else"
COMMAND = "a command of cectl: its output is what a user sees"
INSIDE = "runs only inside a jail that a spawner has made"

STORE = ["tests/unit/test_store.c", "tests/unit/test_store_record.c",
         "tests/unit/test_store_query.c", "tests/unit/test_store_crash.c",
         "tests/unit/test_store_damage.c", "tests/unit/test_store_power.c",
         "tests/unit/test_store_search.c", "tests/unit/test_histogram.c",
         "tests/unit/test_store_verify.c"]
INSPECTOR = ["tests/unit/test_syntax.c", "tests/unit/test_policy.c", "tests/cases/cases_policy.c"]
CECTL = ["tests/scenario/002-cli-run.t", "tests/scenario/003-cli-json.t",
         "tests/scenario/004-cli-record.t", "tests/scenario/007-cli-detach.t"]


def each(folder, names, why, tests):
    return {f"{folder}/{name}.c": (why, tests) for name in names.split()}


# Written out where a new file would otherwise be covered by a pattern that knows nothing of it.
LISTED = {
    **each("store", "answers", PART, STORE),
    **each("store/base", "blob canonical chain chain_columns content db fetch pruned record stmt texts wal_file", PART, STORE),
    **each("store/write", "act_write call_write chain_write prune reuse_write run_index "
           "run_json run_write word_index writer writer_open", PART, STORE),
    **each("store/read", "act_read approval_read export reuse_read run_list run_read run_walk stats "
           "word_search", PART, STORE),
    **each("store/verify", "verify verify_blobs verify_chain verify_checkpoints verify_tables "
           "verify_texts", PART, STORE),
    **each("store/maintenance", "backup", PART, STORE + ["tests/unit/test_store_integrity.c"]),
    **each("daemon/inspector", "filter findings imports inspector query rule_match scopes",
           PART, INSPECTOR),
    **each("cli/commands", "admin_ops approvals backup budgets cancel check gc output put policy replay "
           "repl run runs runtimes session show stats status wait watch", COMMAND, CECTL),
    **each("cli/commands", "repl_words session_show state_tree", COMMAND, ["tests/scenario/365-repl.t"]),
    **each("cli/commands", "session_replay", COMMAND, ["tests/scenario/381-session-replay.t"]),
    "cli/terminal/line_input.c": ("it needs a terminal", ["tests/scenario/365-repl.t"]),
    **each("cli/mcp", "answer config jsonrpc methods present progress requests resources server tools", COMMAND,
           ["tests/scenario/160-mcp.t", "tests/scenario/161-mcp-restart.t", "tests/scenario/162-mcp-sdk.t",
            "tests/scenario/163-mcp-inspector.t"]),
    "proto/base/at_once.c": ("the log is its user", ["tests/unit/test_log.c", "tests/scenario/226-unread.t"]),
    "cli/base/link.c": ("cectl mcp and cectl web are its users", ["tests/scenario/161-mcp-restart.t", "tests/scenario/630-web.t"]),
    "cli/commands/web.c": (COMMAND, ["tests/scenario/630-web.t"]),
    **each("cli/web", "answer listen", "what they make is what a browser gets", ["tests/scenario/630-web.t", "tests/scenario/631-web-page.t"]),
    **each("cli/commands", "packages packages_add", COMMAND, ["tests/scenario/350-packages.t"]),
    **each("cli/commands", "config", COMMAND, ["tests/scenario/220-config-commands.t"]),
    **each("cli/commands", "reload", COMMAND, ["tests/scenario/221-reload.t"]),
    **each("cli/commands", "metrics metrics_text", COMMAND, ["tests/scenario/116-metrics.t"]),
    "daemon/runs/canary.c": ("it needs warm workers", ["tests/scenario/225-watchdog.t"]),
    "cli/commands/complete.c": (COMMAND, ["tests/scenario/210-completion.t"]),
    "cli/commands/call.c": (COMMAND, ["tests/scenario/166-cectl-conformance.t"]),
    "cli/commands/otlp.c": (COMMAND, ["tests/scenario/603-export.t"]),
    "cli/commands/trace.c": (COMMAND, ["tests/scenario/335-tools-replayed.t", "tests/scenario/004-cli-record.t"]),
    "daemon/methods/methods_config.c": ("what it answers is the tables of settings", ["tests/scenario/220-config-commands.t"]),
    "daemon/methods/reload.c": ("it changes a whole daemon, with runs in progress", ["tests/scenario/221-reload.t"]),
    "daemon/settings/config_report.c": ("what it makes is what cectl config prints", ["tests/scenario/220-config-commands.t"]),
    "daemon/request/request_packages.c": (STAGE, ["tests/scenario/350-packages.t", "tests/scenario/351-packages-attacks.t"]),
}

# module or pattern: (why there is no test of its name, the tests that cover it)
ELSEWHERE = {
    **LISTED,
    **each("store/write", "file_watch progress_mark", PART, ["tests/unit/test_store_gone.c", "tests/scenario/609-store-gone.t"]),
    "daemon/record/permissions.c": ("a warning at the start, by the modes of files: it is seen from outside",
                                ["tests/scenario/609-store-gone.t"]),
    "store/write/log_readers.c": (PART, ["tests/unit/test_store_held.c"]),
    "store/write/disk_space.c": (PART, ["tests/scenario/610-full-disk.t", "tests/scenario/608-store-faults.t"]),
    "cli/commands/audit_export.c": (COMMAND, ["tests/scenario/603-export.t"]),
    "cli/commands/audit.c": (COMMAND, ["tests/scenario/604-audit.t"]),
    "daemon/record/audit.c": ("what it does is seen in a daemon that is stopped, rolled back and started",
                       ["tests/scenario/604-audit.t", "tests/scenario/802-kills-load.t"]),
    "sandbox/filter/filter_print.c": (ENTRY, ["tests/scenario/604-audit.t"]),
    "daemon/main.c": (ENTRY, ["tests/scenario/lib.sh", "tests/scenario/002-cli-run.t"]),
    "daemon/request/stage_*.c": (STAGE, ["tests/unit/test_stages.c"]),
    "daemon/request/pipeline.c": (STAGE, ["tests/unit/test_stages.c"]),
    "daemon/request/request.c": (STAGE, ["tests/unit/test_stages.c", "tests/unit/test_server.c"]),
    "daemon/request/run_display.c": (STAGE, ["tests/scenario/320-display.t"]),
    "daemon/request/run_events.c": (PART, ["tests/unit/test_events.c"]),
    "daemon/request/record_lookup.c": (STAGE, ["tests/scenario/108-repeats.t", "tests/scenario/109-cache.t"]),
    "daemon/methods/methods_events.c": (PART, ["tests/unit/test_events.c"]),
    "proto/schema/ecmascript.c": ("pattern_compile() is its user", ["tests/unit/test_pattern.c"]),
    "proto/base/err_word.c": (PART, ["tests/unit/test_err.c"]),
    "proto/base/standard_fds.c": ("what it does is seen from outside", ["tests/scenario/015-closed-streams.t"]),
    "daemon/door/other_protocol.c": (PART, ["tests/unit/test_conn.c"]),
    "daemon/door/notification.c": (STAGE, ["tests/unit/test_stages.c", "tests/scenario/109-cache.t"]),
    "daemon/news/alerts.c": (PART, ["tests/scenario/113-alerts.t"]),
    "daemon/news/runner.c": (PART, ["tests/scenario/113-alerts.t"]),
    "daemon/workers/worker_pipes.c": (PART, ["tests/unit/test_worker.c"]),
    "proto/jail_dirs.c": (PART, ["tests/unit/test_mounts.c", "tests/scenario/204-configuration.t"]),
    "daemon/policy/policy_names.c": (PART, ["tests/scenario/204-configuration.t"]),
    "daemon/settings/config_alerts.c": (PART, ["tests/unit/test_config_file.c", "tests/scenario/113-alerts.t"]),
    **each("daemon/settings", "config_allowances config_check config_numbers config_text setting", PART, ["tests/unit/test_config_file.c"]),
    "daemon/record/backups.c": (PART, ["tests/scenario/603-export.t"]),
    "daemon/runs/facts.c": (PART, ["tests/unit/test_outcome.c"]),
    "daemon/record/gc.c": (PART, ["tests/scenario/605-gc.t"]),
    **each("daemon/methods", "call methods_hello methods_status", PART, ["tests/unit/test_methods.c"]),
    **each("daemon/methods", "methods_metrics", PART, ["tests/scenario/116-metrics.t"]),
    "daemon/news/metrics.c": (PART, ["tests/scenario/116-metrics.t"]),
    "daemon/request/recorded_calls.c": (PART, ["tests/scenario/335-tools-replayed.py"]),
    "daemon/runs/shell_display.c": (PART, ["tests/scenario/334-shell-tools.py"]),
    "daemon/methods/methods_record.c": (PART, ["tests/scenario/603-export.t", "tests/scenario/604-audit.t", "tests/scenario/605-gc.t"]),
    "daemon/methods/methods_runs.c": (PART, ["tests/unit/test_methods.c", "tests/scenario/602-replay.t"]),
    "daemon/methods/methods_call_approvals.c": (PART, ["tests/scenario/333-tools-policy.t"]),
    "daemon/methods/methods_calls.c": (PART, ["tests/scenario/330-tools.t", "tests/scenario/331-tools-attacks.t"]),
    "daemon/request/run_calls.c": ("it needs a program in a jail and a client",
                                   ["tests/scenario/330-tools.t", "tests/scenario/331-tools-attacks.t"]),
    "daemon/request/call_approval.c": ("it needs a program in a jail, a client and an approver",
                                       ["tests/scenario/333-tools-policy.t"]),
    "daemon/methods/methods_sessions.c": (PART, ["tests/scenario/360-sessions.py"]),
    "daemon/methods/methods_states.c": (PART, ["tests/scenario/362-states.py", "tests/scenario/370-session-keep.py"]),
    "daemon/request/cell.c": (PART, ["tests/scenario/360-sessions.py", "tests/scenario/361-sessions-attacks.py"]),
    "daemon/sessions/states.c": ("its steps come from a worker, its slot and the spawner", ["tests/scenario/362-states.py"]),
    "daemon/request/known_names.c": (PART, ["tests/unit/test_contract.c", "tests/scenario/360-sessions.py"]),
    "daemon/methods/methods_blobs.c": (PART, ["tests/unit/test_blobs.c", "tests/scenario/110-blobs.t"]),
    "daemon/methods/methods_budgets.c": ("its answers come from the whole daemon", ["tests/scenario/115-budgets.t",
                                                                         "tests/unit/test_budgets.c"]),
    "daemon/methods/methods_approvals.c": (PART, ["tests/unit/test_approvals.c",
                                         "tests/scenario/507-approvals.t"]),
    "daemon/request/restore.c": (PART, ["tests/unit/test_approvals.c",
                               "tests/scenario/508-approvals-kill.t"]),
    "daemon/methods/methods_store.c": (PART, ["tests/unit/test_methods.c"]),
    "daemon/policy/policy_compile.c": (PART, ["tests/unit/test_rulebook.c"]),
    "daemon/request/worker_finding.c": (PART, ["tests/unit/test_stages.c", "tests/scenario/503-caught.py"]),
    "daemon/policy/*_file.c": (PART, ["tests/unit/test_rulebook.c"]),
    "daemon/egress/main.c": (ENTRY, ["tests/scenario/341-network-attacks.py"]),
    "daemon/egress/filter.c": (INSIDE, ["tests/scenario/341-network-attacks.py"]),
    "daemon/egress/conn.c": (PART, ["tests/scenario/341-network-attacks.py"]),
    "daemon/egress/egress.c": (PART, ["tests/scenario/341-network-attacks.py"]),
    "daemon/egress/run.c": (PART, ["tests/scenario/341-network-attacks.py"]),
    "daemon/request/networking.c": (PART, ["tests/scenario/340-network-allowed.py"]),
    "daemon/settings/config_egress.c": (PART, ["tests/unit/test_config_file.c",
                                               "tests/scenario/340-network-allowed.py"]),
    "daemon/workers/egress_link.c": (PART, ["tests/scenario/341-network-attacks.py"]),
    "sandbox/zygote/slot_network.c": (INSIDE, ["tests/scenario/341-network-attacks.py"]),
    "daemon/inspector/main.c": (ENTRY, ["tests/unit/test_policy.c"]),
    "sandbox/spawner/spawner_main.c": (ENTRY, ["tests/jail/jail_spawner.t"]),
    "sandbox/spawner/daemon_start.c": (INSIDE, ["tests/jail/jail_spawner.t", "tests/jail/spawner_daemon.c"]),
    "sandbox/jail/jail.c": (INSIDE, ["tests/jail/jail_spawner.t"]),
    "sandbox/jail/profile.c": (INSIDE, ["tests/unit/test_seccomp.c", "tests/jail/jail_spawner.t"]),
    "sandbox/filter/syscalls*.c": ("a table", ["tests/unit/test_seccomp.c",
                                        "tests/unit/test_tiny_filter.c"]),
    "sandbox/worker/branch.c": (INSIDE, ["tests/scenario/362-states.t"]),
    "sandbox/worker/procfs.c": (INSIDE, ["tests/jail/jail_worker.t"]),
    "sandbox/zygote/slot.c": (INSIDE, ["tests/jail/jail_worker.t", "tests/jail/warm_ends.py"]),
    "sandbox/zygote/zygote.c": (INSIDE, ["tests/jail/jail_worker.t", "tests/jail/warm_ends.py"]),
    **each("sandbox/runtimes/command", "ahead ahead_main constructors", INSIDE,
           ["tests/scenario/302-bash.t", "tests/scenario/319-own-interpreters.t"]),
    "sandbox/runtimes/python/*.c": (INSIDE, ["tests/jail/jail_python.t", "tests/jail/semantics.py"]),
    "sandbox/runtimes/libc/devices.c": ("it stands before the C library in whoever loads it",
                                        ["tests/scenario/311-devices.py"]),
    "sandbox/runtimes/libc/locks.c": ("it stands before the C library in whoever loads it",
                                      ["tests/programs/python/sqlite_connections.py"]),
    "sandbox/runtimes/libc/machine.c": ("it stands before the C library in whoever loads it",
                                        ["tests/scenario/315-machine.t"]),
    "sandbox/runtimes/libc/network.c": ("it stands before the C library in whoever loads it",
                                        ["tests/scenario/312-network.py"]),
    "sandbox/runtimes/steady/steady.c": ("it takes the clock's place in whoever loads it",
                                         ["tests/scenario/308-deterministic.py"]),
    "daemon/request/judged_parts.c": (PART, ["tests/unit/test_approvals.c", "tests/scenario/504-policy-mark.t"]),
    "daemon/request/module_hint.c": (PART, ["tests/scenario/314-modules.t"]),
    "daemon/runs/channels.c": (PART, ["tests/scenario/330-tools.t", "tests/scenario/331-tools-attacks.t"]),
    "sandbox/runtimes/command/cells.c": ("bash loads it before the C library",
        ["tests/scenario/368-sessions-bash.t", "tests/scenario/369-sessions-bash-attacks.t"]),
    "sandbox/runtimes/command/ced_call.c": (ENTRY, ["tests/scenario/330-tools.t"]),
    "sandbox/runtimes/command/ced_display.c": (ENTRY, ["tests/scenario/334-shell-tools.py"]),
    "sandbox/runtimes/command/channel.c": (INSIDE, ["tests/scenario/334-shell-tools.py", "tests/scenario/330-tools.t"]),
    "daemon/runs/opened_files.c": (PART, ["tests/scenario/309-files.py"]),
    "daemon/workers/runtime_orders.c": (PART, ["tests/unit/test_pool.c"]),
    "daemon/workers/zygote.c": (PART, ["tests/unit/test_pool.c"]),
    **each("sandbox/runtimes/node", "ced_node orphans", INSIDE,
           ["tests/scenario/304-javascript.t", "tests/scenario/318-node-threads.t"]),
    "sandbox/runtimes/command/main.c": (ENTRY, ["tests/scenario/302-bash.t"]),
    "sandbox/runtimes/command/tree.c": (INSIDE, ["tests/scenario/302-bash.t",
                                                 "tests/scenario/403-escape-bash.t"]),
    "proto/job/job_*.c": (PART, ["tests/unit/test_job.c", "tests/unit/test_job_spec.c"]),
    "proto/json_write.c": (PART, ["tests/unit/test_json.c"]),
    "proto/schema/schema_*.c": (PART, ["tests/unit/test_schema.c", "tests/cases/cases_schema.c"]),
    "proto/wire/wire_*.c": (PART, ["tests/unit/test_wire.c", "tests/cases/cases_wire.c"]),
    "proto/base/fdpass.c": (PART, ["tests/unit/test_fdio.c"]),
    "daemon/methods/methods_policies.c": (PART, ["tests/scenario/501-policy.t"]),
    "cli/main.c": (ENTRY, ["tests/scenario/001-cli-alone.t"]),
    "cli/session/cli.c": (COMMAND, ["tests/unit/test_refusal.c", "tests/scenario/001-cli-alone.t"]),
    "cli/base/libexec.c": (COMMAND, ["tests/scenario/902-demo.t", "tests/scenario/201-doctor.t"]),
    "cli/commands/mcp.c": (COMMAND, ["tests/scenario/160-mcp.t", "tests/scenario/161-mcp-restart.t"]),
    "cli/commands/explain.c": (COMMAND, ["tests/scenario/004-cli-record.t"]),
    "cli/commands/demo.c": (COMMAND, ["tests/scenario/902-demo.t"]),
    "cli/commands/diff.c": (COMMAND, ["tests/scenario/004-cli-record.t"]),
    "cli/commands/doctor.c": (COMMAND, ["tests/scenario/201-doctor.t"]),
    "cli/doctor/checks.c": (PART, ["tests/unit/test_doctor.c", "tests/scenario/201-doctor.t"]),
    "cli/doctor/repair.c": (PART, ["tests/unit/test_doctor.c", "tests/scenario/201-doctor.t"]),
    "sandbox/spawner/probe.c": (ENTRY, ["tests/unit/test_doctor.c", "tests/scenario/201-doctor.t"]),
    "cli/commands/record.c": (COMMAND, ["tests/scenario/004-cli-record.t"]),
    "cli/commands/results.c": (COMMAND, ["tests/scenario/005-cli-artifacts.t"]),
    "cli/base/source.c": (COMMAND, ["tests/scenario/002-cli-run.t"]),
    "cli/terminal/passthrough.c": (COMMAND, ["tests/scenario/002-cli-run.t"]),
    "cli/terminal/screen.c": (COMMAND, ["tests/scenario/014-top.t"]),
    "cli/commands/tool_commands.c": (COMMAND, ["tests/scenario/332-tools-cectl.t"]),
    "cli/commands/top.c": (COMMAND, ["tests/scenario/014-top.t"]),
    "cli/session/page.c": (COMMAND, ["tests/scenario/006-cli-terminal.t"]),
    "cli/session/offline.c": (COMMAND, ["tests/scenario/004-cli-record.t", "tests/unit/test_store_copy.c"]),
    "cli/terminal/progress.c": (COMMAND, ["tests/scenario/006-cli-terminal.t"]),
}

UNITS = pathlib.Path("tests/unit")
REGISTERED = (UNITS / "CMakeLists.txt").read_text(encoding="utf-8")


def own_test(module):
    """A row decides for a module whose name another folder has too."""
    folder = module.parent.name
    if str(module) in ELSEWHERE and STEMS[module.stem] > 1:
        return None
    for name in (f"test_{module.stem}.c", f"test_{folder}_{module.stem}.c"):
        if (UNITS / name).exists():
            return name
    return None


def rows_for(module):
    return [row for row in ELSEWHERE if fnmatch.fnmatchcase(str(module), row)]


def complaints(modules):
    for module in modules:
        test = own_test(module)
        if test and f"NAME {test[5:-2]} " not in REGISTERED:
            yield f"{UNITS / test} is not in {UNITS}/CMakeLists.txt"
        if not test and not rows_for(module):
            yield f"{module} has no tests/unit/test_{module.stem}.c, and no row in {__file__}"
    for row, (_, tests) in ELSEWHERE.items():
        covered = [module for module in modules if row in rows_for(module) and not own_test(module)]
        if not covered:
            yield f"{row}: no module without a test of its name is meant by this row"
        for test in tests:
            if not pathlib.Path(test).exists():
                yield f"{row}: there is no {test}"


MODULES = sorted(file for top in TOPS for file in pathlib.Path(top).rglob("*.c"))
# tests/unit/test_check.c is the test of the harness.
STEMS = collections.Counter([file.stem for file in MODULES] + ["check"])
found = list(complaints(MODULES))
print("\n".join(found) or f"units: ok, {len(MODULES)} modules")
sys.exit(bool(found))
