"""What an interpreter runs to become a zygote: imports, then C, then a worker's life.

Everything up to serve() happens once.  serve() comes back in each worker and nowhere else.
"""

import gc
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import _ced
import harness


def preload(names):
    """Imports what jobs are likely to want.  A module that is not there is the job's business."""
    for name in names.split():
        try:
            __import__(name)
        except ImportError as error:
            print(f'<4>ced-zygote preload.failed module="{name}" error="{error}"', file=sys.stderr)


wanted = os.environ.get("CED_PRELOAD", "")
_ced.settle()
preload(wanted)
harness.prepare()
sys.stderr.flush()

# What lives now lives as long as the zygote: the collector need not look at it again, and not
# looking keeps its pages shared with every worker.
gc.collect()
gc.disable()
gc.freeze()

if _ced.learn():
    harness.rehearse()
    _ced.learned()
touched = _ced.serve(b"%s %d.%d.%d" % ((sys.implementation.name.encode(),) + sys.version_info[:3]))
harness.work(touched)
