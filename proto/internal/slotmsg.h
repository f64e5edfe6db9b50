/*
 * What the daemon says to a zygote, a slot and a worker, and what they answer.
 *
 *	ced ──zygote socket──► zygote      one per runtime; opens slots
 *	ced ──slot socket────► slot        one per jail that can hold a worker; makes one at a time
 *	ced ──job socket─────► worker      takes one job, says how it ended, is killed
 *
 * Zygote and slot sockets are SOCK_SEQPACKET: one fixed-size message per packet, with exactly the
 * descriptors that the tables in slotmsg.c name.  The job socket is SOCK_STREAM: a head, then
 * `len` bytes of body.  Everything is in host byte order: both ends are on one machine.
 *
 * Nothing that comes up the job socket is believed beyond what a program could bring about
 * anyway; what comes up the zygote and slot sockets is checked for shape and turn.
 */
#pragma once

#include <stdint.h>
#include <sys/types.h>

#include "proto/base/err.h"

#define SLOTMSG_MAGIC        0x43454401U /* "CED", version 1 */
#define SLOTMSG_TEXT_MAX     192
#define SLOTMSG_BODY_MAX     (64U << 20)  /* a job body, daemon to worker */
#define SLOTMSG_REPORT_MAX   (256U << 10) /* a report body, worker to daemon */
#define SLOTMSG_JOIN_FDS_MAX 6            /* "procs" files of the cgroups that a worker joins */
#define SLOTMSG_REFUSED_MAX  12           /* kinds of refused system calls told of one worker */
#define SLOTMSG_CALLS_MAX    1024         /* numbers of system calls are below it */

/* ---- zygote and slot sockets -------------------------------------------------------------- */

enum slotmsg_kind {
	SLOTMSG_NONE = 0,

	/* zygote -> ced */
	SLOTMSG_ZYGOTE_READY = 1, /* interpreter up, modules imported: text = version */
	SLOTMSG_SLOT_OPENED,      /* slot = index; pid = the slot's pid in the zygote's namespace */
	SLOTMSG_SLOT_FAILED,      /* slot = index; text = why */
	SLOTMSG_SLOT_GONE,        /* slot = index; status = wait status of the slot process */

	/* ced -> zygote */
	SLOTMSG_SLOT_OPEN, /* slot = index; fds: slot socket, then fd_count-1 "procs" files to join */

	/* ced -> slot */
	SLOTMSG_WORKER_MAKE, /* numbers below; fds: job socket, stdout, stderr, lifeline */
	/* change limits of the waiting worker: numbers below; fd: tell there which files it opens */
	SLOTMSG_ADJUST,
	SLOTMSG_COLLECT, /* after the end: send artifacts; fds: pipe, memfd with NUL-ended globs */
	SLOTMSG_WORKER_DROP, /* the run is over: kill what is left, forget the files */

	/* slot -> ced */
	SLOTMSG_WORKER_MADE,   /* pid = worker's pid in the slot's namespace */
	SLOTMSG_WORKER_FAILED, /* text = which step failed and why */
	SLOTMSG_ADJUSTED,
	SLOTMSG_WORKER_ENDED, /* status = wait status, usage; sent once per worker, whenever it dies */
	SLOTMSG_COLLECTED,    /* the collector has ended: status */
	SLOTMSG_DROPPED, /* nothing of the worker is left; disk_bytes, inodes = what its files took */
	SLOTMSG_WORKER_REFUSED, /* the first call was refused that WORKER_ENDED will tell of */
	SLOTMSG_KIND_COUNT,
};

/* Limits of one worker.  0 means "as the profile says". */
struct slotmsg_limits {
	uint64_t
		memory_bytes; /* held by RLIMIT_AS only where no memory cgroup holds it (see flags) */
	uint64_t disk_bytes; /* tmpfs size of /work and /tmp together */
	uint64_t inodes;
	uint64_t cpu_ms;     /* RLIMIT_CPU backstop, rounded up to seconds + 1 */
	uint64_t pids;       /* RLIMIT_NPROC backstop */
	uint64_t open_files; /* RLIMIT_NOFILE */
	uint64_t file_bytes; /* RLIMIT_FSIZE */
};

#define SLOTMSG_FLAG_RLIMIT_MEMORY 1U /* no memory cgroup: RLIMIT_AS holds memory_bytes */
#define SLOTMSG_FLAG_RLIMIT_PIDS   2U /* no pids cgroup: RLIMIT_NPROC holds pids */
#define SLOTMSG_FLAG_DISK_FULL     4U /* WORKER_ENDED, DROPPED: not a byte was left of disk_bytes */
#define SLOTMSG_FLAG_INODES_FULL   8U /* and not an inode */
#define SLOTMSG_FLAG_CPU_LIMIT     16U /* WORKER_ENDED: the slot has killed it for its cpu time */

struct slotmsg_usage {
	uint64_t cpu_user_us;
	uint64_t cpu_sys_us;
	uint64_t max_rss_bytes; /* of the largest process; cgroup readings are better */
	uint64_t ctx_voluntary;
	uint64_t ctx_forced;
};

/* A system call that a worker was refused, by number and kind. */
struct slotmsg_refused {
	uint32_t nr;
	uint32_t kind;    /* socket: the address family; else 0 */
	uint32_t count;   /* how often, and never 0 */
	uint32_t ended;   /* 1: the slot has ended the run for it; of one row at most */
	int64_t first_us; /* when first, by CLOCK_MONOTONIC */
};

/*
 * The file that comes with ADJUST holds the folders of the job's files ("work/a", "work/a/b", each with
 * a NUL behind it).  The slot makes them and writes into the file, before WORKER_ENDED, a head and
 * `count` rows.  Times are how often, at least; `path` begins with "work/" or "tmp/" and ends with a NUL.
 */
#define SLOTMSG_OPENED_MAX      128
#define SLOTMSG_OPENED_PATH_MAX 512

struct slotmsg_opened_head {
	uint32_t magic;
	uint32_t count;
	uint32_t others;     /* what found no row */
	uint32_t incomplete; /* 1: something may have been missed */
};

struct slotmsg_opened {
	uint32_t opens;
	uint32_t writes; /* of those for writing that have been closed */
	uint32_t reads;  /* and of the others */
	uint32_t created;
	uint32_t deleted;
	char path[SLOTMSG_OPENED_PATH_MAX];
};

struct slotmsg {
	uint32_t magic;
	uint32_t kind;
	uint32_t slot; /* index of the slot, given by the daemon */
	uint32_t
		sequence; /* of the worker in its slot, given by the daemon with WORKER_MAKE, echoed */
	uint32_t flags;
	int32_t pid;
	int32_t status;
	uint32_t artifact_count; /* COLLECT: how many files at most */
	uint64_t artifact_bytes; /* COLLECT: how many bytes together at most */
	uint64_t disk_bytes;
	uint64_t inodes;
	struct slotmsg_limits limits;
	struct slotmsg_usage usage;
	uint32_t refused_count;  /* WORKER_ENDED: rows that follow */
	uint32_t refused_others; /* calls that found no row */
	struct slotmsg_refused refused[SLOTMSG_REFUSED_MAX];
	char text[SLOTMSG_TEXT_MAX]; /* always terminated */
};

/* Sends one message with its descriptors (borrowed).  -1 and ERR_BUSY on a full non-blocking socket. */
int slotmsg_send(
	int sock, const struct slotmsg *msg, const int *fds, unsigned fd_count, struct err *err);

/*
 * Receives one message and checks magic, kind, size, terminator and the number of descriptors.
 * `ret_fds` has room for 1 + SLOTMSG_JOIN_FDS_MAX; they are the caller's.  Returns 1, 0 when the peer has
 * gone, -1 on failure (ERR_BUSY: nothing there yet; ERR_PROTOCOL: end the conversation).
 */
int slotmsg_recv(
	int sock, struct slotmsg *ret_msg, int *ret_fds, unsigned *ret_fd_count, struct err *err);

/* A message of this kind with everything else 0. */
struct slotmsg slotmsg_of(enum slotmsg_kind kind);
const char *slotmsg_kind_word(uint32_t kind);

/* ---- job socket --------------------------------------------------------------------------- */

enum job_kind {
	JOB_NONE = 0,
	JOB_START, /* ced -> worker: struct job_head + body; one descriptor (stdin) when has_stdin */
	JOB_READY, /* worker -> ced: warm, waiting; no body; exit_code = cpu us that making it took */
	JOB_FAILED, /* worker -> ced: could not begin the job; body = one sentence */
	JOB_BEGUN,  /* worker -> ced: the program compiled and is about to run; no body */
	JOB_ERROR, /* worker -> ced: body = JSON {type,message,line,column,frames,text,syntax:bool} */
	JOB_DONE, /* worker -> ced: exit_code is what the process would exit with; no body */
	/*
	 * worker -> ced: it broke a rule that came with the job, and waits to be ended; body = JSON
	 * {rule,line,column,text,file}.
	 */
	JOB_DENIED,
	JOB_KIND_COUNT,
};

struct job_head {
	uint32_t magic;
	uint32_t kind;
	uint32_t len; /* bytes of body behind this head */
	int32_t exit_code;
};

/*
 * The body of JOB_START: this struct, then the parts in this order, without padding:
 *	code, entrypoint (a bare file name), rules (text, see runtimes/python/rules.h),
 *	args (each u32 length + bytes),
 *	env (each u32 length + "KEY=VALUE"),
 *	files (each struct job_file, path bytes, data bytes),
 *	stdin (u64 length + bytes), only with JOB_STDIN_INLINE.
 */
enum job_stdin {
	JOB_STDIN_NONE = 0,   /* /dev/null */
	JOB_STDIN_FD = 1,     /* a descriptor came with the head */
	JOB_STDIN_INLINE = 2, /* for workers that cannot receive descriptors */
};

struct job_body {
	uint32_t code_len;
	uint32_t entrypoint_len;
	uint32_t arg_count;
	uint32_t env_count;
	uint32_t file_count;
	uint32_t has_stdin; /* enum job_stdin */
	uint32_t flags;     /* JOB_FLAG_* */
	uint32_t rules_len; /* what the worker holds the program to while it runs; 0: nothing */
};

#define JOB_FLAG_DETERMINISTIC 1U /* chance and clock begin the same in each run */

/* In the second byte: how many processors it may use at a time, when more than one. */
#define JOB_PROCESSORS(count)    ((uint32_t)(count) << 8)
#define JOB_PROCESSORS_OF(flags) ((flags) >> 8 & 0xffU)

struct job_file {
	uint32_t path_len; /* relative, below /work, already checked by the daemon */
	uint32_t mode;     /* permission bits */
	uint64_t data_len;
};

/*
 * What a collector writes to its pipe, entry after entry, until the end of the stream.  path: below the
 * working directory; reason 0: data_len bytes follow the path; else data_len is 0 and the entry was skipped.
 */
enum artifact_reason {
	ARTIFACT_TAKEN = 0,
	ARTIFACT_TOO_MANY, /* path empty: the walk stopped at the ceiling on files */
	ARTIFACT_NOT_REGULAR,
	ARTIFACT_TOO_LARGE,
	ARTIFACT_UNREADABLE,
	ARTIFACT_BAD_NAME,
	ARTIFACT_HARD_LINK,
	ARTIFACT_TOO_DEEP,         /* path empty: the walk stopped at ARTIFACT_DEPTH_MAX */
	ARTIFACT_TOO_MANY_ENTRIES, /* path empty: the walk stopped at ARTIFACT_ENTRIES_MAX */
	ARTIFACT_REASON_COUNT,
};

#define ARTIFACT_ENTRIES_MAX 10000
#define ARTIFACT_DEPTH_MAX   32

struct artifact_head {
	uint32_t magic;
	uint32_t reason;
	uint32_t path_len; /* at most 4096 */
	uint32_t mode;
	uint64_t data_len;
};
