"""What an interpreter runs to become a zygote: imports, then C, which does not return.

Everything here runs once, in the zygote.
"""

import gc
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import _ced
import harness
import libraries
import samples

# These modules register hooks that repair locks and threads after a fork.  When a worker is forked,
# there is one thread and no lock is held, so the hooks would only write to a hundred shared pages.
IDLE_HOOKS = {"threading", "logging", "concurrent.futures.thread"}


def register_at_fork(*, register=os.register_at_fork, **hooks):
    """As os.register_at_fork(), whose hooks are for forks of the program.  Others are called in workers, too."""
    if sys._getframe(1).f_globals.get("__name__") not in IDLE_HOOKS:
        harness.keep_hooks(**hooks)
    register(**hooks)


# Numeric libraries read harness.POOLS when they are imported.  No thread may exist at a fork.
ENVIRONMENT = {**dict.fromkeys(harness.POOLS, "1"), "MPLCONFIGDIR": "/tmp"}


absent = []  # modules that the daemon must not list


def preload(names):
    """Imports the configured modules.  A module that is missing is reported, and jobs find out."""
    original = os.register_at_fork
    if keeps_hooks:
        os.register_at_fork = register_at_fork
    for name in names:
        try:
            __import__(name)
        except ImportError as error:
            absent.append(name)
            print(f'<4>ced-zygote preload.failed module="{name}" error="{error}"', file=sys.stderr)
    os.register_at_fork = original


wanted = os.environ.get("CED_PRELOAD", "").split()
modules = [name for name in wanted if not name.startswith("+")]
if "+steady" in wanted:
    if "LD_PRELOAD" not in os.environ:
        _ced.start_steady(os.fsencode(sys.executable), os.path.abspath(__file__).encode())
    del os.environ["LD_PRELOAD"], os.environ["PYTHONHASHSEED"]
    modules.append("random")
os.environ.update(ENVIRONMENT)
keeps_hooks = _ced.settle("+processes" in wanted)
_ced.scratch(True)
libraries.before(modules)
preload(modules)
libraries.after()
_ced.scratch(False)
sys.stderr.flush()
harness.prepare_zygote("+steady" in wanted)

# Objects that exist now live as long as the zygote.  The collector ignores them from now on, which
# keeps their pages shared with every worker.
gc.collect()
gc.disable()
gc.freeze()

VERSION = "%s %d.%d.%d" % ((sys.implementation.name,) + sys.version_info[:3])
harness.serve(samples.SAMPLES, " ".join([VERSION + "\n"] + absent).encode())
