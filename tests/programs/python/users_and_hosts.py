# inside: user user /work
# inside: sandbox sandbox
# inside: 1000 ['user'] True
import getpass
import grp
import os
import platform
import pwd
import socket

entry = pwd.getpwuid(os.getuid())
print(getpass.getuser(), entry.pw_name, entry.pw_dir)
print(socket.gethostname(), platform.node())
print(os.getuid(), [g.gr_name for g in grp.getgrall()], os.uname().nodename == platform.node())
