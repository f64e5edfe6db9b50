#include "proto/callname.h"

#include <sys/socket.h>
#include <sys/syscall.h>

#include "proto/base/container.h"

#define OPEN_TREE_ATTR 467 /* newer than the system's headers */

/* clang-format off */
#define CALL(name, wish) { SYS_##name, #name, wish }
static const struct {
	uint32_t nr;
	const char *name;
	const char *wish;
} calls[] = {
	CALL(socket,            "open a socket"),
	CALL(connect,           "connect a socket"),
	CALL(bind,              "give a socket an address"),
	CALL(listen,            "listen for connections"),
	CALL(accept,            "accept a connection"),
	CALL(accept4,           "accept a connection"),
	CALL(execve,            "start a program"),
	CALL(execveat,          "start a program"),
	CALL(fork,              "start a process"),
	CALL(vfork,             "start a process"),
	CALL(clone,             "start a process"),
	CALL(shmget,            "get System V shared memory"),
	CALL(shmat,             "map System V shared memory"),
	CALL(semget,            "get System V semaphores"),
	CALL(msgget,            "get a System V message queue"),
	CALL(mq_open,           "open a message queue"),
	CALL(mq_unlink,         "remove a message queue"),
	CALL(setuid,            "become another user"),
	CALL(setgid,            "join another group"),
	CALL(setreuid,          "become another user"),
	CALL(setregid,          "join another group"),
	CALL(setresuid,         "become another user"),
	CALL(setresgid,         "join another group"),
	CALL(setgroups,         "join other groups"),
	CALL(capset,            "change its capabilities"),
	CALL(symlink,           "make a symbolic link"),
	CALL(symlinkat,         "make a symbolic link"),
	CALL(link,              "make a hard link"),
	CALL(linkat,            "make a hard link"),
	CALL(mknod,             "make a device or special file"),
	CALL(mknodat,           "make a device or special file"),
	CALL(name_to_handle_at, "get a handle of a file"),
	CALL(pidfd_send_signal, "signal a process by descriptor"),
	CALL(ptrace,            "trace a process"),
	CALL(process_vm_readv,  "read another process's memory"),
	CALL(process_vm_writev, "write another process's memory"),
	CALL(kcmp,              "compare processes in the kernel"),
	CALL(pidfd_getfd,       "take a descriptor of another process"),
	CALL(bpf,               "load a program into the kernel"),
	CALL(userfaultfd,       "handle page faults itself"),
	CALL(perf_event_open,   "watch the processor's counters"),
	CALL(io_uring_enter,    "use io_uring"),
	CALL(io_uring_register, "use io_uring"),
	CALL(keyctl,            "use the kernel's keys"),
	CALL(add_key,           "add a key to the kernel's"),
	CALL(request_key,       "ask for one of the kernel's keys"),
	CALL(mount,             "mount a file system"),
	CALL(umount2,           "unmount a file system"),
	CALL(pivot_root,        "change the root of the file system"),
	CALL(chroot,            "change its root folder"),
	CALL(fsopen,            "mount a file system"),
	CALL(fsconfig,          "mount a file system"),
	CALL(fsmount,           "mount a file system"),
	CALL(fspick,            "change a mounted file system"),
	CALL(move_mount,        "move a mount"),
	CALL(open_tree,         "copy mounts"),
	CALL(mount_setattr,     "change a mount"),
	CALL(setns,             "enter a namespace"),
	CALL(unshare,           "make a namespace"),
	CALL(open_by_handle_at, "open a file by handle"),
	CALL(init_module,       "load a kernel module"),
	CALL(finit_module,      "load a kernel module"),
	CALL(delete_module,     "remove a kernel module"),
	CALL(kexec_load,        "start another kernel"),
	CALL(kexec_file_load,   "start another kernel"),
	CALL(reboot,            "reboot the host"),
	CALL(swapon,            "change the host's swap"),
	CALL(swapoff,           "change the host's swap"),
	CALL(acct,              "change process accounting"),
	CALL(iopl,              "reach I/O ports"),
	CALL(ioperm,            "reach I/O ports"),
	CALL(modify_ldt,        "change its segment table"),
	CALL(personality,       "change how the kernel treats it"),
	CALL(seccomp,           "load a system call filter"),
	CALL(fanotify_init,     "watch the file system"),
	CALL(fanotify_mark,     "watch the file system"),
	CALL(quotactl,          "change quotas"),
	CALL(quotactl_fd,       "change quotas"),
	CALL(syslog,            "read the kernel's log"),
	CALL(sethostname,       "change the host name"),
	CALL(setdomainname,     "change the domain name"),
	CALL(clock_settime,     "set the clock"),
	CALL(clock_adjtime,     "set the clock"),
	CALL(settimeofday,      "set the clock"),
	CALL(adjtimex,          "set the clock"),
	{ OPEN_TREE_ATTR, "open_tree_attr", "copy mounts" },
};

#define FAMILY(name, wish) { AF_##name, "AF_" #name, wish }
static const struct {
	uint32_t number;
	const char *name;
	const char *wish;
} families[] = {
	FAMILY(UNIX,      "open a local socket"),
	FAMILY(INET,      "open an internet socket"),
	FAMILY(INET6,     "open an internet socket"),
	FAMILY(NETLINK,   "open a socket to the kernel"),
	FAMILY(PACKET,    "open a socket for raw packets"),
	FAMILY(KEY,       "open a socket to the kernel"),
	FAMILY(ALG,       "use the kernel's ciphers"),
	FAMILY(BLUETOOTH, "open a Bluetooth socket"),
	FAMILY(VSOCK,     "open a socket to a virtual machine's host"),
	FAMILY(XDP,       "open a socket for raw packets"),
	FAMILY(CAN,       "open a socket of a bus"),
	FAMILY(TIPC,      "open a cluster socket"),
	FAMILY(RDS,       "open a cluster socket"),
};
/* clang-format on */

const char *call_name(uint32_t nr)
{
	for (size_t i = 0; i < COUNT_OF(calls); i++)
		if (calls[i].nr == nr)
			return calls[i].name;
	return NULL;
}

const char *call_name_or_number(struct arena *arena, uint32_t nr)
{
	const char *name = call_name(nr);

	return name ? name : arena_printf(arena, "call %u", nr);
}

const char *call_wish(uint32_t nr, uint32_t kind)
{
	for (size_t i = 0; nr == SYS_socket && i < COUNT_OF(families); i++)
		if (families[i].number == kind)
			return families[i].wish;
	for (size_t i = 0; i < COUNT_OF(calls); i++)
		if (calls[i].nr == nr)
			return calls[i].wish;
	return "do what no program needs here";
}

const char *call_kind(struct arena *arena, uint32_t nr, uint32_t kind)
{
	if (nr != SYS_socket)
		return NULL;
	for (size_t i = 0; i < COUNT_OF(families); i++)
		if (families[i].number == kind)
			return families[i].name;
	return arena_printf(arena, "AF_%u", kind);
}
