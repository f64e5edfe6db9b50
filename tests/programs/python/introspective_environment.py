# env: GREETING=hällo wörld
# env: EMPTY=
# args: 'two words' ''
import os
import platform
import sys

print(os.environ["GREETING"], repr(os.environ["EMPTY"]), os.getenv("NONE", "default"), os.environb[b"GREETING"])
print(sys.argv, sys.flags.isolated, sys.flags.utf8_mode, sys.byteorder, sys.maxsize, sys.implementation.name)
print(sys.version_info[:3], platform.python_version(), platform.machine(), platform.system(), sys.platform)
os.environ["NEW"] = "set"
os.putenv("PUT", "x")
del os.environ["EMPTY"]
print(os.path.expandvars("$NEW/${GREETING}/$NONE"), "EMPTY" in os.environ, os.path.expanduser("~") == os.environ["HOME"])
print(sys.executable, sys.prefix, sys.getfilesystemencoding(), sys.getdefaultencoding(), sys.dont_write_bytecode in (True, False))
print(sys.stdout.line_buffering, sys.getswitchinterval(), sys.hexversion > 0, sys.api_version, sys.float_repr_style, sys.hash_info.width)
print(len(os.urandom(16)), os.cpu_count() >= 1, len(os.sched_getaffinity(0)) >= 1, os.getpid() > 0, os.getppid() >= 0)
