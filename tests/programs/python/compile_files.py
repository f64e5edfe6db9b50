import compileall
import os
import py_compile
import sys
import trace

with open("lib.py", "w") as file:
    file.write("def f(x):\n    if x:\n        return 1\n    return 2\n")
print(os.path.basename(py_compile.compile("lib.py", cfile="lib.pyc")), compileall.compile_file("lib.py", quiet=1, force=True))
print(sorted(os.listdir(".")))
tracer = trace.Trace(count=1, trace=0)
sys.path.insert(0, ".")
import lib
tracer.runfunc(lib.f, 0)
print(sorted(line for (name, line), _ in tracer.results().counts.items() if name.endswith("lib.py")))
try:
    with open("bad.py", "w") as file:
        file.write("x = = 1\n")
    py_compile.compile("bad.py", doraise=True)
except py_compile.PyCompileError as error:
    print(error.exc_type_name)
