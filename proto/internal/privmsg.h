/*
 * The protocol between the daemon and the spawner, the only program with privileges.
 *
 * They use a SOCK_SEQPACKET pair, with one message per packet.  The table in privmsg.c has the size
 * of each operation, its number of descriptors, and the phase in which it is allowed.  The daemon
 * has one request open at a time, and the spawner answers it with the same sequence number.  EXITED
 * may come at any time.  The spawner checks every number and path against its own limits and does
 * not trust the daemon.  After a message of the wrong shape or phase it kills ced and every jail,
 * and exits.
 *
 *	GREETING --HELLO--> CONFIGURING --SEAL--> SERVING
 *	                       RUNTIME               ZYGOTE  SLOT  INSPECTOR  KILL
 *
 * RUNTIME is allowed only before SEAL.  At that time the daemon has read its configuration and has
 * not yet read a byte from a client.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "proto/base/err.h"

#define PRIV_MAGIC        0x43455001U
#define PRIV_NAME_MAX     32
#define PRIV_PATH_MAX     256
#define PRIV_BINDS_MAX    40
#define PRIV_PRELOAD_MAX  1024
#define PRIV_RUNTIMES_MAX 48 /* of each kind, with its twins */
#define PRIV_SLOTS_MAX    64 /* slots of one zygote */
#define PRIV_LEAVES_MAX   18 /* cgroups of one slot: what runs, kept states, what dies */
#define PRIV_CHILDREN_MAX 64 /* zygotes and inspectors alive together */
#define PRIV_FDS_MAX      24

enum priv_op {
	PRIV_NONE = 0,
	PRIV_HELLO,   /* -> struct priv_host */
	PRIV_RUNTIME, /* struct priv_runtime -> empty; the answer's `id` is the runtime's number */
	PRIV_SEAL,    /* -> empty; the request's id: 1 if ced-egress may be asked for, else 0 */
	/* struct priv_zygote + 1 fd (zygote's end of its socket) -> id = child; fd: pidfd */
	PRIV_ZYGOTE,
	/* struct priv_slot -> struct priv_knobs + their fds: a cgroup leaf for one slot */
	PRIV_SLOT,
	PRIV_INSPECTOR, /* struct priv_inspector + 1 fd -> id = child; fd: pidfd; the request's id: 1 for ced-egress */
	PRIV_KILL,   /* id = child -> empty; EXITED later reports the exit */
	PRIV_EXITED, /* spawner -> daemon, without a request: id = child, status = wait status */
	PRIV_OP_COUNT,
};

enum priv_mode {
	PRIV_MODE_ROOT = 1,
	PRIV_MODE_USER = 2
};

/* How this host can enforce a kind of limit. */
enum priv_cgroup {
	PRIV_CGROUP_NONE = 0,
	PRIV_CGROUP_V1 = 1,
	PRIV_CGROUP_V2 = 2
};

struct priv_host {
	uint32_t mode;   /* enum priv_mode */
	uint32_t memory; /* enum priv_cgroup, each */
	uint32_t pids;
	uint32_t cpu;
	uint32_t cgroup_kill; /* a v2 hierarchy whose leaves have cgroup.kill */
	/* or minus the errno: -ENOSYS when the kernel does not have Landlock */
	int32_t landlock_abi;
	char why_not[256]; /* when a cgroup is missing: the reason, for the administrator */
};

enum priv_runtime_kind {
	PRIV_RUNTIME_PYTHON = 1,
	PRIV_RUNTIME_COMMAND = 2
};

struct priv_bind {
	/* absolute, the same path inside the jail; read-only, nosuid, nodev */
	char path[PRIV_PATH_MAX];
	char place[PRIV_NAME_MAX + 8]; /* "", or /sets/NAME: its path inside, of a package set */
	uint32_t optional;             /* skipped when the host has no such path */
};

struct priv_runtime {
	char name[PRIV_NAME_MAX];
	uint32_t kind;
	/* its jobs generate machine code and run it, and need a filter that allows that */
	uint32_t makes_code;
	uint32_t networked; /* its workers have a network of their own */
	uint32_t bind_count;
	char interpreter[PRIV_PATH_MAX]; /* absolute; started inside the jail */
	char harness[PRIV_PATH_MAX];     /* absolute folder on the host, bound at /ced inside */
	char preload[PRIV_PRELOAD_MAX];  /* words for the zygote: modules, or tools and arguments */
	struct priv_bind binds[PRIV_BINDS_MAX];
};

struct priv_zygote {
	uint32_t runtime; /* the number from RUNTIME's answer */
	uint32_t slots;   /* how many slots it may open; the spawner maps one host uid for each */
};

struct priv_slot {
	uint32_t zygote; /* child */
	uint32_t slot;   /* index; or n * slots + index: its further leaf n */
};

/*
 * Files of a slot's cgroup leaves, which the spawner opens and sends.  `which[i]` is the kind of
 * descriptor i.  A knob that the host does not have is absent.  A leaf exists until its zygote has
 * ended.  The daemon resets the knobs for each worker.
 */
enum priv_knob {
	KNOB_NONE = 0,
	KNOB_JOIN, /* a process writes "0" to join; there may be several (v1: one per controller) */
	KNOB_MEMORY_MAX,    /* v1 memory.limit_in_bytes, v2 memory.max */
	KNOB_MEMORY_PEAK,   /* v1 memory.max_usage_in_bytes (write 0 resets), v2 memory.peak */
	KNOB_MEMORY_NOW,    /* v1 memory.usage_in_bytes, v2 memory.current */
	KNOB_MEMORY_EMPTY,  /* v1 memory.force_empty, v2 memory.reclaim: write a number of bytes */
	KNOB_MEMORY_EVENTS, /* v1 memory.oom_control, v2 memory.events: "oom_kill N" in both */
	KNOB_SWAP_MAX,      /* v1 memory.memsw.limit_in_bytes, memory and swap together */
	KNOB_SWAP_OFF,      /* v1 memory.swappiness, v2 memory.swap.max: always 0 */
	/* v2 memory.oom.group: 1, so an OOM kill ends all processes of the leaf */
	KNOB_OOM_GROUP,
	KNOB_PIDS_MAX,
	KNOB_PIDS_NOW,
	KNOB_PIDS_EVENTS, /* "max N" in both */
	KNOB_CPU_MAX,     /* v1 cpu.cfs_quota_us (period 100000), v2 cpu.max */
	KNOB_CPU_USAGE,   /* v1 cpuacct.usage (ns), v2 cpu.stat (usage_usec …) */
	KNOB_KILL,        /* v2 cgroup.kill: write "1" */
	KNOB_FREEZE,      /* v2 cgroup.freeze: write "1" or "0" */
	KNOB_FROZEN,      /* v2 cgroup.events: "frozen 1" when every process stands still */
	KNOB_COUNT,
};

struct priv_knobs {
	uint32_t count;
	uint32_t which[PRIV_FDS_MAX];
};

struct priv_inspector {
	uint64_t memory_bytes; /* RLIMIT_AS */
	uint64_t cpu_s;        /* RLIMIT_CPU over its whole life */
};

struct priv_msg {
	uint32_t magic;
	uint32_t op;
	uint32_t sequence;
	int32_t error; /* answers: 0, or an enum err_code; text says more */
	uint32_t id;
	int32_t status;
	uint32_t body_len; /* size of the operation's member of `body` */
	uint32_t is_answer;
	char text[256];
	union {
		struct priv_host host;
		struct priv_runtime runtime;
		struct priv_zygote zygote;
		struct priv_slot slot;
		struct priv_knobs knobs;
		struct priv_inspector inspector;
	} body;
};

/* The phases of the protocol.  The spawner calls priv_op_in_turn() for each request. */
enum priv_phase {
	PRIV_GREETING,
	PRIV_CONFIGURING,
	PRIV_SERVING
};

bool priv_op_in_turn(uint32_t op, enum priv_phase phase);

/* Returns the phase after `op` was answered without an error. */
enum priv_phase priv_phase_after(uint32_t op, enum priv_phase phase);

/*
 * Sends head and body, and sets body_len from the table.  The caller keeps its descriptors.
 *
 * An answer with error != 0 has neither body nor descriptors, whatever its operation.
 */
int priv_send(int sock, struct priv_msg *msg, const int *fds, unsigned fd_count, struct err *err);

/*
 * Receives one message and checks it against the table: magic, operation, direction, size,
 * terminators and descriptor count.  Returns 1, 0 when the peer has closed the socket, -1 on
 * failure (ERR_BUSY: nothing has arrived yet).  The caller owns the descriptors, at most
 * PRIV_FDS_MAX.
 */
int priv_recv(int sock, bool from_daemon, struct priv_msg *ret_msg, int *ret_fds,
	unsigned *ret_fd_count, struct err *err);

const char *priv_op_word(uint32_t op);
