"""What an interpreter runs to become a zygote: imports, then C, then a worker's life.

Everything up to serve() happens once.  serve() comes back in each worker and nowhere else.
"""

import gc
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import _ced
import harness
import libraries

# These register hooks that put locks and threads right after a fork.  When a worker is forked
# there is one thread and no lock is held, so they would only write to a hundred shared pages.
IDLE_HOOKS = {"threading", "logging", "concurrent.futures.thread"}


def register_at_fork(*, register=os.register_at_fork, **hooks):
    """As os.register_at_fork(), but hooks of those modules rest while the house forks."""
    if sys._getframe(1).f_globals.get("__name__") in IDLE_HOOKS:
        hooks = {when: harness.resting(hook) for when, hook in hooks.items()}
    register(**hooks)


# Libraries of numbers read the first ones when they are imported, and no thread may live at a fork.
ENVIRONMENT = {**dict.fromkeys(harness.POOLS, "1"), "MPLCONFIGDIR": "/tmp"}


absent = []  # the daemon says of no runtime that it has these


def preload(names):
    """Imports what jobs are likely to want.  A module that is not there is the job's business."""
    original = os.register_at_fork
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
_ced.settle("+processes" in wanted)
_ced.scratch(True)
libraries.before(modules)
preload(modules)
libraries.after()
_ced.scratch(False)
sys.stderr.flush()
harness.prepare_zygote("+steady" in wanted)

# What lives now lives as long as the zygote: the collector need not look at it again, and not
# looking keeps its pages shared with every worker.
gc.collect()
gc.disable()
gc.freeze()

harness.learn()
VERSION = "%s %d.%d.%d" % ((sys.implementation.name,) + sys.version_info[:3])
touched = _ced.serve(" ".join([VERSION + "\n"] + absent).encode())
harness.work(touched)
