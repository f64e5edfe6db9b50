import importlib
import os
import sys

os.makedirs("pkg/sub", exist_ok=True)
files = {
    "pkg/__init__.py": "from .one import ONE\n__all__ = ['ONE', 'two']\n",
    "pkg/one.py": "ONE = 1\nprint('one is imported', __name__)\n",
    "pkg/two.py": "from . import ONE\nfrom .sub import deep\nTWO = ONE + deep.VALUE\n",
    "pkg/sub/__init__.py": "",
    "pkg/sub/deep.py": "VALUE = 41\n",
    "loop_a.py": "import loop_b\nX = 1\n",
    "loop_b.py": "from loop_a import X\n",
    "wrong.py": "def f(:\n",
    "data.py": "raise RuntimeError('while importing')\n",
}
for path, text in files.items():
    with open(path, "w") as file:
        file.write(text)
sys.path.insert(0, os.getcwd())
importlib.invalidate_caches()
import pkg.two
print(pkg.two.TWO, pkg.__all__, pkg.two.__file__.endswith("pkg/two.py"))
for name in "loop_a", "data", "absent":
    try:
        importlib.import_module(name)
    except (ImportError, RuntimeError) as error:
        print(type(error).__name__, str(error).split(" (")[0])
print(importlib.util.find_spec("pkg.one").name, importlib.reload(pkg.one).ONE, "pkg.sub.deep" in sys.modules)
import wrong
