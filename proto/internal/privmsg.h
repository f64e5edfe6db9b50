/*
 * The conversation between the daemon and the spawner, the only program with rights.
 *
 * A SOCK_SEQPACKET pair; one fixed-size message per packet; the table in privmsg.c says for each
 * operation its size, its number of descriptors and in which phase it may come.  The daemon asks
 * one question at a time and the spawner answers each with the same sequence number; EXITED may
 * come at any time.  The spawner re-checks every number and path against limits of its own and
 * believes nothing because the daemon said it.  A message out of shape or turn ends the
 * conversation: every jail is killed and the spawner leaves.
 *
 *	CONFIGURING --SEAL--> SERVING
 *	   RUNTIME               ZYGOTE  SLOT  INSPECTOR  KILL
 *	   HELLO (first)
 *
 * RUNTIME comes only before SEAL, when the daemon has read its configuration and not yet a single
 * byte from a client.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "proto/base/err.h"

#define PRIV_MAGIC        0x43455001U
#define PRIV_NAME_MAX     32
#define PRIV_PATH_MAX     256
#define PRIV_BINDS_MAX    24
#define PRIV_PRELOAD_MAX  1024
#define PRIV_RUNTIMES_MAX 32
#define PRIV_SLOTS_MAX    64 /* slots of one zygote */
#define PRIV_CHILDREN_MAX 64 /* zygotes and inspectors alive together */
#define PRIV_FDS_MAX      24

enum priv_op {
	PRIV_NONE = 0,
	PRIV_HELLO,   /* -> struct priv_host */
	PRIV_RUNTIME, /* struct priv_runtime -> empty; the answer's `id` is the runtime's number */
	PRIV_SEAL,    /* -> empty */
	PRIV_ZYGOTE, /* struct priv_zygote + 1 fd (zygote's end of its socket) -> id = child; fd: pidfd */
	PRIV_SLOT, /* struct priv_slot -> struct priv_knobs + their fds: a cgroup leaf for one slot */
	PRIV_INSPECTOR, /* struct priv_inspector + 1 fd -> id = child; fd: pidfd */
	PRIV_KILL,      /* id = child -> empty; the exit itself is told by EXITED */
	PRIV_EXITED,    /* spawner -> daemon, unasked: id = child, status = wait status */
	PRIV_OP_COUNT,
};

enum priv_mode {
	PRIV_MODE_ROOT = 1,
	PRIV_MODE_USER = 2
};

/* How a kind of limit can be held on this host. */
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
	int32_t landlock_abi; /* or minus the errno: -ENOSYS when the kernel was built without */
	uint32_t slots_max;   /* over all zygotes */
	char why_not[256];    /* when a cgroup is missing: why, for the operator */
};

enum priv_runtime_kind {
	PRIV_RUNTIME_PYTHON = 1,
	PRIV_RUNTIME_COMMAND = 2
};

struct priv_bind {
	char path[PRIV_PATH_MAX]; /* absolute, same place inside; read-only, nosuid, nodev */
	uint32_t optional;        /* skipped when the host has no such path */
};

struct priv_runtime {
	char name[PRIV_NAME_MAX];
	uint32_t kind;
	uint32_t makes_code; /* its jobs write machine code and run it: a filter that lets them */
	uint32_t bind_count;
	char interpreter[PRIV_PATH_MAX]; /* absolute; started inside the jail */
	char harness[PRIV_PATH_MAX];     /* absolute folder on the host, bound at /ced inside */
	char preload[PRIV_PRELOAD_MAX];  /* words for the zygote: modules, or tools and arguments */
	struct priv_bind binds[PRIV_BINDS_MAX];
};

struct priv_zygote {
	uint32_t runtime; /* number given by RUNTIME's answer */
	uint32_t slots;   /* how many slots it may open: as many host uids are mapped for it */
};

struct priv_slot {
	uint32_t zygote; /* child */
	uint32_t slot;   /* index, 0 .. slots-1 */
};

/*
 * Files of a slot's cgroup leaves, opened by the spawner and handed over.  `which[i]` says what
 * descriptor i is; a knob that the host does not have is absent.  A leaf lives until its zygote has
 * gone; the daemon resets the knobs for each worker.
 */
enum priv_knob {
	KNOB_NONE = 0,
	KNOB_JOIN, /* write "0" to move oneself in; there may be several (v1: one a controller) */
	KNOB_MEMORY_MAX,    /* v1 memory.limit_in_bytes, v2 memory.max */
	KNOB_MEMORY_PEAK,   /* v1 memory.max_usage_in_bytes (write 0 resets), v2 memory.peak */
	KNOB_MEMORY_NOW,    /* v1 memory.usage_in_bytes, v2 memory.current */
	KNOB_MEMORY_EMPTY,  /* v1 memory.force_empty, v2 memory.reclaim: write a number of bytes */
	KNOB_MEMORY_EVENTS, /* v1 memory.oom_control, v2 memory.events: "oom_kill N" in both */
	KNOB_SWAP_MAX,      /* v1 memory.memsw.limit_in_bytes, memory and swap together */
	KNOB_SWAP_OFF,      /* v1 memory.swappiness, v2 memory.swap.max: 0 once and for all */
	KNOB_OOM_GROUP,     /* v2 memory.oom.group: 1, who is out of memory dies whole */
	KNOB_PIDS_MAX,
	KNOB_PIDS_EVENTS, /* "max N" in both */
	KNOB_CPU_MAX,     /* v1 cpu.cfs_quota_us (period 100000), v2 cpu.max */
	KNOB_CPU_USAGE,   /* v1 cpuacct.usage (ns), v2 cpu.stat (usage_usec …) */
	KNOB_KILL,        /* v2 cgroup.kill: write "1" */
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
	uint32_t body_len; /* of the member of `body` that the operation carries */
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

/* How far a conversation is.  The spawner asks priv_op_in_turn() about each request. */
enum priv_phase {
	PRIV_GREETING,
	PRIV_CONFIGURING,
	PRIV_SERVING
};

bool priv_op_in_turn(uint32_t op, enum priv_phase phase);

/* The phase after `op` was answered without an error. */
enum priv_phase priv_phase_after(uint32_t op, enum priv_phase phase);

/*
 * An answer with error != 0 carries neither body nor descriptors, whatever its operation.
 *
 * Sends head and body (body_len is set from the table).  Descriptors are borrowed.
 */
int priv_send(int sock, struct priv_msg *msg, const int *fds, unsigned fd_count, struct err *err);

/*
 * Receives one message and checks magic, operation, direction, size, terminators and descriptor
 * count against the table.  Returns 1, 0 when the peer has gone, -1 on failure (ERR_BUSY: nothing
 * there yet).  Descriptors (at most PRIV_FDS_MAX) are the caller's.
 */
int priv_recv(int sock, bool from_daemon, struct priv_msg *ret_msg, int *ret_fds,
	unsigned *ret_fd_count, struct err *err);

const char *priv_op_word(uint32_t op);
