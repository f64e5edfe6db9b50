#!/bin/bash
# What an interpreter and ordinary tools do by themselves is not told as what the program wanted.
# shellcheck disable=SC2016 # what stands in single quotes is for the program
. "$(dirname "$0")/lib.sh"
daemon_start

# refused LANGUAGE CODE: the calls that the record tells of, as "call kind" lines.
refused() {
	json "$(cectl run --json -p observe -l "$1" -c "$2" 2>/dev/null)" \
		'sorted({call["call"] + " " + call.get("kind", "") for call in it.get("refused_calls", [])})'
}

is "$(refused bash ':')" '[]' "bash starts"
is "$(refused bash 'echo hi; cat main.sh; x=$(date); read -r -t 0.1 y; echo ~ ~root "$x" "$y"')" '[]' "bash looks around"
is "$(refused bash 'ls -l; stat .; id; whoami; test -O main.sh; touch a; cp -p a b; mv b c; chmod 600 c; rm c')" '[]' "tools look up who owns what"
is "$(refused bash 'for tool in /usr/bin/*; do case $tool in */bash|*/sh) ;; *) timeout 5 "$tool" --version;; esac; done </dev/null >/dev/null 2>&1')" \
	'[]' "each tool says its version"
is "$(refused python 'import getpass, grp, os, pwd
print(pwd.getpwuid(os.getuid()), grp.getgrgid(os.getgid()), getpass.getuser(), os.path.expanduser("~root"))')" '[]' "Python looks up who it is"
is "$(refused javascript 'console.log(require("os").homedir(), process.uptime(), new Date())')" '[]' "node starts"

# And what is wanted is told.
is "$(refused bash 'echo x >/dev/tcp/127.0.0.1/80')" '["socket AF_INET"]' "a connection of bash is told"
is "$(refused python 'import socket
for family in socket.AF_UNIX, socket.AF_INET:
	try: socket.socket(family)
	except OSError: pass')" '["socket AF_INET", "socket AF_UNIX"]' "a local socket of Python is told"
like "$(refused python 'import socket
try: socket.getaddrinfo("example.org", 80)
except OSError: pass')" 'AF_INET' "and that a name is looked up in the network"
is "$(refused javascript 'require("net").connect("/var/run/docker.sock").on("error", () => 0)')" '["socket AF_UNIX"]' "and one of node"
is "$(refused bash 'touch a; ln -s a b || ln a c' 2>/dev/null)" '["linkat ", "symlinkat "]' "links are told"
done_testing
