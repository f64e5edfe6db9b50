"""What comes with a run, where its own numbers leave no room for it, and as it was asked for."""

from wire import Client, done, eq, ok

client = Client()


def run(code, language="python", **params):
    params["limits"] = {"wall_ms": 20000, **params.get("limits", {})}
    return client.call("run", language=language, code=code, **params)


# A file gets the permissions that were asked for, none at all too.
MODES = {
    "python": "import os\nprint(*(oct(os.stat(name).st_mode & 0o777) for name in ('none', 'all', 'usual')))",
    "bash": "stat -c 0o%a none all usual | tr '\\n' ' '",
    "javascript": "console.log(...['none', 'all', 'usual'].map((name) => '0o' + (require('fs').statSync(name).mode & 0o777).toString(8)))",
}
FILES = [{"path": "none", "data": "x", "mode": 0}, {"path": "all", "data": "x", "mode": 0o777}, {"path": "usual", "data": "x"}]
for language, code in MODES.items():
    eq(run(code, language, files=FILES)["stdout"].strip(), "0o0 0o777 0o644", f"{language}: files have the mode that was asked for")

done()
