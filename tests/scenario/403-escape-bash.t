#!/bin/bash
# Ways out of the jail that need processes and tools: each is tried, and each must fail.
# shellcheck disable=SC2016 # what stands in single quotes is for the shell in the jail
. "$(dirname "$0")/lib.sh"
[[ -x /usr/bin/bash ]] || skip_all "there is no bash at /usr/bin"
printf 'workers_min = 2\nworkers_max = 2\n' >>"$ced_folder/ced.conf"
# Tools that a host may well allow, and that try more than coreutils can.
cat >>"$ced_folder/ced.conf" <<'END'
runtime bash { tools = {"coreutils", "perl", "mount", "unshare", "setpriv", "nsenter", "dash", "sed"} }
runtime python { off = true }
END
chmod 644 "$ced_folder/ced.conf"
ced_arguments=(--config "$ced_folder/ced.conf")
daemon_start

# A slow machine is no way out: all of it comes to its end.
jailed() {
	cectl run -l bash --limit wall=60s --limit cpu=60s "$@"
}

# tries NAME EXPECTED CODE: what the program prints on stdout.
tries() {
	is "$(jailed -c "$3" 2>/dev/null)" "$2" "$1"
}
# ends NAME OUTCOME CODE
ends() {
	local it
	it=$(jailed --json -c "$3" 2>/dev/null)
	is "$(json "$it" 'it["outcome"]')" "$2" "$1"
}

# --- files -------------------------------------------------------------------------------------
echo canary >"$work/canary"
chmod 644 "$work/canary"
tries "a file of the host by its path" no "cat '$work/canary' 2>/dev/null || echo no"
tries "by the roots of processes" no "cat /proc/1/root$work/canary 2>/dev/null || echo no"
tries "a program that was written is not run" 126 \
	'printf "#!/usr/bin/bash\necho ran\n" >x; chmod 755 x; ./x; echo $?'
tries "nor a copied one" 126 'cp /usr/bin/echo e; chmod 755 e; ./e ran; echo $?'
tries "nor one in /tmp" 126 'cp /usr/bin/echo /tmp/e; chmod 755 /tmp/e; /tmp/e ran; echo $?'
tries "not by the loader either" no \
	'cp /usr/bin/echo e; /lib64/ld-linux-x86-64.so.2 ./e ran 2>/dev/null || echo no'
tries "a device cannot be made" no 'mknod d c 1 1 2>/dev/null && echo made || echo no'
tries "nor a pipe with a name" no 'mkfifo f 2>/dev/null && echo made || echo no'
tries "nor a link to somewhere" no 'ln -s / l 2>/dev/null && echo made || echo no'
tries "the tree of tools cannot be written" no \
	'(echo x >/usr/bin/ls) 2>/dev/null && echo written || echo no'
tries "nor by its owner's rights" no 'chmod u+w /usr/bin/ls 2>/dev/null && echo changed || echo no'

# --- rights ------------------------------------------------------------------------------------
ends "mounting" syscall_denied 'mount -t tmpfs none /tmp 2>/dev/null; sleep 1; echo lived'
ends "asking for a new namespace" syscall_denied 'unshare -U true; sleep 1; echo lived'
tries "becoming another user" no 'setpriv --reuid 0 true 2>/dev/null && echo root || echo no'
tries "raising a limit" no '(ulimit -n 4096) 2>/dev/null && echo raised || echo no'
ends "the clock" syscall_denied 'date -s 2001-01-01 >/dev/null 2>&1; sleep 1; echo lived'
tries "entering other namespaces" no 'nsenter -t 1 -m true 2>/dev/null && echo in || echo no'

# --- system calls by number, from perl, with processes about ------------------------------------
call() { # name, number, arguments
	tries "$1" "no" "perl -e '\$! = 0; print syscall($2) >= 0 ? \"yes\" : \"no\"'"
}
dies() { # whoever makes the call has the whole run ended, and named is the call
	local it
	it=$(jailed --json -c "perl -e 'syscall($2); print \"lived\"'; sleep 1; echo lived" 2>/dev/null)
	is "$(json "$it" 'it["outcome"], it["stdout"], it["evidence"]["syscall"]["nr"]')" \
		"('syscall_denied', '', ${2%%,*})" "$1 ends the run and is named"
}
call "a socket to the network" "41, 2, 1, 0"
call "a socket to the host" "41, 1, 1, 0"
call "a message queue" "68, 1, 0600 | 01000"
call "shared memory" "29, 1, 4096, 0600 | 01000"
call "memory that runs" "9, 0, 4096, 7, 0x22, -1, 0"
call "a program from nowhere" "319, my \$s = \"x\", 0"
call "execveat" "322, -100, my \$s = \"/usr/bin/true\", 0, 0, 0"
call "a child of our parent's" "56, 0x8000 | 17, 0, 0, 0, 0"
call "clone3" "435, 0, 0"
call "the ring of io_uring" "425, 1, 0"
dies "tracing" "101, 0, 0, 0, 0"
dies "a ring of io_uring, which could not be made," "426, 3, 1, 0, 0, 0"
dies "a filter on the filter" "317, 1, 0, 0"
dies "clone into a user namespace" "56, 0x10000000 | 17, 0, 0, 0, 0"
dies "the keyring" "250, 0, -3, 0, 0, 0"
tries "the x32 entry" "died" \
	"perl -e 'syscall(0x40000000 | 39); print \"lived\"'; [[ \$? == 159 ]] && echo died"

# --- other processes and other runs -------------------------------------------------------------
tries "no process of anybody else is there" 1 \
	'count=0; for ((i = 1; i < 3000; i++)); do kill -0 $i 2>/dev/null && ((count++)); done
	echo $((count <= 2))'
jailed -c 'echo left >/work/left; echo left >/tmp/left; (sleep 61.7531 &)' >/dev/null
tries "nothing of another run is there" "" 'cat /work/left /tmp/left 2>/dev/null; true'
sleep 1
is "$(pgrep -c -f 'sleep 61.7531')" 0 "processes that a run left are gone"
ends "an end by kill -1 is its own" signal 'kill -KILL -1; kill -KILL $$'
exits 0 "and nobody else's" jailed -c true

# --- forged words -------------------------------------------------------------------------------
tries "the job socket is closed before the program begins" "closed" \
	'(: >&3) 2>/dev/null && echo open || echo closed'
tries "and so is every other descriptor" "0 1 2 " \
	'for ((i = 0; i < 250; i++)); do (: <&$i) 2>/dev/null && printf "%s " $i; done'

done_testing
