import importlib.resources
import pkgutil
import runpy
import sys
import zipfile

with zipfile.ZipFile("lib.zip", "w") as archive:
    archive.writestr("zipped/__init__.py", "import pkgutil\nDATA = pkgutil.get_data(__name__, 'data.txt')\n")
    archive.writestr("zipped/data.txt", "inside the archive")
sys.path.insert(0, "lib.zip")
import zipped
print(zipped.DATA, zipped.__file__.endswith("lib.zip/zipped/__init__.py"))
print((importlib.resources.files("zipped") / "data.txt").read_text())
with open("script.py", "w") as file:
    file.write("print('run as', __name__)\nRESULT = 5\n")
print(runpy.run_path("script.py", run_name="__main__")["RESULT"])
print(sorted(m.name for m in pkgutil.iter_modules(["lib.zip"])))
