/*
 * The messages between the daemon and a zygote, a slot and a worker.
 *
 *	ced ──zygote socket──► zygote      one per runtime; opens slots
 *	ced ──slot socket────► slot        one per jail that can hold a worker; makes one at a time
 *	ced ──job socket─────► worker      takes one job, reports how it ended, is killed
 *
 * Zygote and slot sockets are SOCK_SEQPACKET.  Each packet has one fixed-size message, with as many
 * descriptors as the table in slotmsg.c allows.  The job socket is SOCK_STREAM: a head, then `len`
 * bytes of body.  Everything is in host byte order, because both ends are on one machine.
 *
 * The program can control its worker.  So the daemon treats a message on the job socket as
 * something that the program could have done itself.  It checks the shape and order of messages on
 * the zygote and slot sockets.
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
/* kinds of refused system calls reported for one worker */
#define SLOTMSG_REFUSED_MAX  12
#define SLOTMSG_CALLS_MAX    1024 /* every system call number is smaller */

/* The folder of node's modules, in a package set and below /work. */
#define SLOTMSG_MODULES "node_modules"

/* ---- zygote and slot sockets -------------------------------------------------------------- */

enum slotmsg_kind {
	SLOTMSG_NONE = 0,

	/* zygote -> ced */
	SLOTMSG_ZYGOTE_READY = 1, /* the interpreter runs, modules are imported: text = version */
	SLOTMSG_SLOT_OPENED,      /* slot = index; pid = the slot's pid in the zygote's namespace */
	SLOTMSG_SLOT_FAILED,      /* slot = index; text = why */
	SLOTMSG_SLOT_GONE,        /* slot = index; status = wait status of the slot process */

	/* ced -> zygote */
	/* slot = index; fds: slot socket, then fd_count-1 "procs" files to join */
	SLOTMSG_SLOT_OPEN,

	/* ced -> slot */
	SLOTMSG_WORKER_MAKE, /* numbers below; fds: job socket, stdout, stderr, lifeline */
	/*
	 * changes limits of the waiting worker: numbers below; fd: the file of struct
	 * slotmsg_opened_head; text: "", or the package set whose modules are at /work/node_modules
	 */
	SLOTMSG_ADJUST,
	/*
	 * after the end: send artifacts; fds: pipe, memfd with NUL-terminated globs.  With
	 * SLOTMSG_FLAG_STANDS the processes live, and stand still
	 */
	SLOTMSG_COLLECT,
	/* the cell of a session is over: report it, and count anew.  limits: of the session */
	SLOTMSG_CELL_END,
	/*
	 * state = its number: permits the worker one fork; fds: where the child says hello, from
	 * which the kernel tells who it is, then "procs" files of the leaf where it is to stand
	 */
	SLOTMSG_KEEP,
	SLOTMSG_PROMOTE,     /* state: it becomes the worker, whose processes are killed */
	SLOTMSG_STATE_DROP,  /* state: kill it */
	SLOTMSG_WORKER_DROP, /* the run is over: kill all remaining processes, delete the files */

	/* slot -> ced */
	SLOTMSG_WORKER_MADE,   /* pid = worker's pid in the slot's namespace */
	SLOTMSG_WORKER_FAILED, /* text = which step failed and why */
	SLOTMSG_ADJUSTED,
	SLOTMSG_WORKER_ENDED, /* status = wait status, usage; sent once per worker, when it dies */
	SLOTMSG_COLLECTED,    /* the collector has ended: status */
	/* nothing of the worker is left; disk_bytes, inodes = the usage of its files */
	SLOTMSG_DROPPED,
	SLOTMSG_WORKER_REFUSED, /* the first of the refused calls that WORKER_ENDED will report */
	/* answers CELL_END: refused calls and disk usage of the cell; status: -1, the worker is dead */
	SLOTMSG_CELL_ENDED,
	SLOTMSG_PERMITTED,  /* state: KEEP was heard, and the worker may fork now */
	SLOTMSG_KEPT,       /* state, pid; status: -1, there is no such state: text */
	SLOTMSG_PROMOTED,   /* state, pid; status: -1, it cannot: text */
	SLOTMSG_STATE_GONE, /* state: it has died; not sent for one that was dropped */

	/*
	 * ced -> slot: opens the network of the waiting worker; fds: struct slotmsg_network, a
	 * socket that leads to ced-egress
	 */
	SLOTMSG_NETWORK,
	SLOTMSG_NETWORKED, /* slot -> ced: status -1: text = why not */
	SLOTMSG_KIND_COUNT,
};

/*
 * The file that comes with NETWORK.  The slot writes `hosts` where the program reads /etc/hosts,
 * listens on each port, and sends the listeners in one packet over the socket that came too.  The
 * addresses of the range are those that `hosts` gives to names; all of them are local to the
 * worker's network.
 */
#define SLOTMSG_NET_PORTS_MAX 17 /* 16 of rules and the proxy's */
#define SLOTMSG_NET_PROXY     3128U
#define SLOTMSG_NET_FIRST     0xc6120001U /* 198.18.0.1 */
#define SLOTMSG_NET_MASK      0xfffe0000U
#define SLOTMSG_NET_HOSTS_MAX ((size_t)20 << 10)

struct slotmsg_network {
	uint32_t magic;
	uint32_t port_count;
	uint16_t ports[SLOTMSG_NET_PORTS_MAX];
	uint16_t padding;
	uint32_t hosts_len;
	char hosts[SLOTMSG_NET_HOSTS_MAX];
};

/* Limits of one worker.  0: the default in worker_limits.c, or no limit if it has none. */
struct slotmsg_limits {
	uint64_t
		memory_bytes; /* RLIMIT_AS enforces it only when there is no memory cgroup: flags */
	uint64_t disk_bytes;  /* tmpfs size of /work and /tmp together */
	uint64_t inodes;
	uint64_t cpu_ms;     /* the slot kills past it; RLIMIT_CPU is later by up to two seconds */
	uint64_t pids;       /* RLIMIT_NPROC backstop */
	uint64_t open_files; /* RLIMIT_NOFILE */
	uint64_t file_bytes; /* RLIMIT_FSIZE */
};

#define SLOTMSG_FLAG_RLIMIT_MEMORY 1U /* no memory cgroup: RLIMIT_AS enforces memory_bytes */
#define SLOTMSG_FLAG_RLIMIT_PIDS   2U /* no pids cgroup: RLIMIT_NPROC enforces pids */
#define SLOTMSG_FLAG_DISK_FULL     4U /* WORKER_ENDED, DROPPED: disk_bytes were used up */
#define SLOTMSG_FLAG_INODES_FULL   8U /* WORKER_ENDED, DROPPED: inodes were used up */
/* WORKER_ENDED: the slot killed the worker because of its CPU time */
#define SLOTMSG_FLAG_CPU_LIMIT     16U
#define SLOTMSG_FLAG_STANDS        32U /* COLLECT: kill nothing; the daemon has frozen the cgroup */

struct slotmsg_usage {
	uint64_t cpu_user_us;
	uint64_t cpu_sys_us;
	uint64_t max_rss_bytes; /* of the largest process; values from a cgroup are better */
	uint64_t ctx_voluntary;
	uint64_t ctx_forced;
};

/* A system call that the jail refused to a worker, by number and kind. */
struct slotmsg_refused {
	uint32_t nr;
	uint32_t kind;    /* socket: the address family; else 0 */
	uint32_t count;   /* how often, at least 1 */
	uint32_t ended;   /* 1: the slot ended the run because of it; at most one row has it */
	int64_t first_us; /* the first time, by CLOCK_MONOTONIC */
};

/*
 * The file that comes with ADJUST has the folders of the job's files ("work/a", "work/a/b"), each
 * followed by a NUL.  The slot creates these folders.  Before WORKER_ENDED it writes a head and
 * `count` rows into the file.  The counters in a row are lower bounds.  `path` begins with "work/"
 * or "tmp/" and ends with a NUL.
 */
#define SLOTMSG_OPENED_MAX      128
#define SLOTMSG_OPENED_PATH_MAX 512

struct slotmsg_opened_head {
	uint32_t magic;
	uint32_t count;
	uint32_t others;     /* events for which there was no row */
	uint32_t incomplete; /* 1: the slot may have missed events */
};

struct slotmsg_opened {
	uint32_t opens;
	uint32_t writes; /* closed opens that could write */
	uint32_t reads;  /* closed opens that could not */
	uint32_t created;
	uint32_t deleted;
	char path[SLOTMSG_OPENED_PATH_MAX];
};

struct slotmsg {
	uint32_t magic;
	uint32_t kind;
	uint32_t slot; /* index of the slot, given by the daemon */
	uint32_t
		sequence; /* from WORKER_MAKE: number of the worker in its slot; answers carry it */
	uint32_t flags;
	uint32_t state; /* KEEP and what follows: a kept state of a session */
	int32_t pid;
	int32_t status;
	uint32_t artifact_count; /* COLLECT: the most files */
	uint64_t artifact_bytes; /* COLLECT: the most bytes of all files together */
	uint64_t disk_bytes;
	uint64_t inodes;
	struct slotmsg_limits limits;
	struct slotmsg_usage usage;
	uint32_t refused_count;  /* WORKER_ENDED: rows in `refused` */
	uint32_t refused_others; /* calls for which there was no row */
	struct slotmsg_refused refused[SLOTMSG_REFUSED_MAX];
	char text[SLOTMSG_TEXT_MAX]; /* always terminated */
};

/*
 * Sends one message.  The caller keeps its descriptors.  -1 and ERR_BUSY on a full non-blocking
 * socket.
 */
int slotmsg_send(
	int sock, const struct slotmsg *msg, const int *fds, unsigned fd_count, struct err *err);

/*
 * Receives one message and checks magic, kind, size, terminator and the number of descriptors.
 * `ret_fds` has room for 1 + SLOTMSG_JOIN_FDS_MAX; the caller owns the descriptors.  Returns 1, 0
 * when the peer has closed the socket, -1 on failure.  ERR_BUSY: nothing has arrived yet.
 * ERR_PROTOCOL: the message is invalid, and the caller must close the connection.
 */
int slotmsg_recv(
	int sock, struct slotmsg *ret_msg, int *ret_fds, unsigned *ret_fd_count, struct err *err);

/* Makes a message of this kind with all other fields 0. */
struct slotmsg slotmsg_of(enum slotmsg_kind kind);
const char *slotmsg_kind_word(uint32_t kind);

/* ---- job socket --------------------------------------------------------------------------- */

enum job_kind {
	JOB_NONE = 0,
	/*
	 * ced -> worker: struct job_head + body; descriptors: stdin when has_stdin is JOB_STDIN_FD,
	 * then a pipe when JOB_FLAG_DISPLAY is set
	 */
	JOB_START,
	/* worker -> ced: waits for a job; no body; exit_code = CPU us that making it took */
	JOB_READY,
	JOB_FAILED, /* worker -> ced: could not begin the job; body = one sentence */
	JOB_BEGUN,  /* worker -> ced: the program compiled and is about to run; no body */
	/*
	 * worker -> ced: body = JSON {type,message,line,column,frames,text,syntax:bool}.  Without
	 * JOB_BEGUN before it, and not `syntax`: why a later cell of a session cannot begin
	 */
	JOB_ERROR,
	/*
	 * worker -> ced: exit_code is what the process would exit with; no body.  Of a cell it is
	 * JOB_TURN_DONE(), and the worker then waits for JOB_CELL
	 */
	JOB_DONE,
	/*
	 * worker -> ced: the program broke a rule that came with the job, and the worker waits to
	 * be killed; body = JSON {rule,line,column,text,file}.
	 */
	JOB_DENIED,
	JOB_GO, /* ced -> worker: the program of a job with JOB_FLAG_GATE may begin; no body */
	/*
	 * worker -> ced: the program calls a tool; exit_code = a number of its choice, which the
	 * answer repeats; body = name, NUL, arguments (JSON)
	 */
	JOB_CALL,
	JOB_RETURN, /* ced -> worker: a call's result; exit_code = its number; body = JSON */
	/* ced -> worker: a call failed; exit_code = its number; body = JSON {code,message,data?} */
	JOB_RAISE,
	/*
	 * worker -> ced, as often as needed, from a worker that cannot receive descriptors and was
	 * told JOB_FLAG_DISPLAY: body = the next bytes of what the program displays.
	 */
	JOB_DISPLAY,
	/*
	 * ced -> worker: the next cell of a session, as JOB_START; descriptors: stdout, stderr, and
	 * those of JOB_START
	 */
	JOB_CELL,
	/*
	 * ced -> worker, between cells: fork, with a copy of the files.  Descriptors: the child's job
	 * socket, and where it says hello.  No body
	 */
	JOB_KEEP,
	/* ced -> a kept state that was promoted: put the files back and say so; no body */
	JOB_WAKE,
	/*
	 * worker -> ced: it has done what JOB_KEEP or JOB_WAKE says; exit_code: 0, or enum kept_why;
	 * body: after JOB_WAKE, the paths of files that were made anew, each with a NUL
	 */
	JOB_AGREED,
	JOB_KIND_COUNT,
};

/* Why a state is not kept, as its own process says.  Other reasons are found outside. */
enum kept_why {
	KEPT_WELL,
	KEPT_NO_FORK,
	KEPT_NO_FILES, /* the files are too large or too many, or there is no memory for them */
	KEPT_NOT_BACK, /* JOB_WAKE: the files could not be put back */
	KEPT_NO_ROOM,  /* JOB_WAKE: the disk has no room for them; it awaits JOB_WAKE again */
	KEPT_WHY_COUNT,
};

#define SESSION_STATES_MAX      16
#define SESSION_FILES_BYTES_MAX (64U << 20) /* of all files of a kept state together */

struct job_head {
	uint32_t magic;
	uint32_t kind;
	uint32_t len; /* bytes of body after this head */
	int32_t exit_code;
};

/*
 * The body of JOB_START is struct job_body and then these parts, in this order and without padding:
 *	code, entrypoint (a bare file name), rules (text, see runtimes/python/rules.h),
 *	tools (JSON, see daemon/runs/job_body.h),
 *	args (each u32 length + bytes),
 *	env (each u32 length + "KEY=VALUE"),
 *	package sets (each u32 length + name), as many as JOB_PACKAGES_OF(flags),
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
	uint32_t rules_len; /* rules that the worker enforces while the program runs; 0: none */
	uint32_t tools_len; /* tools that the program may call; 0: none */
	uint32_t turn;      /* of a cell: its end is told with this number; else 0 */
};

/*
 * A random number for each cell, so that a program which says "done" over and over, or says it for
 * an earlier cell, does not end the next one before that has run.
 */
#define JOB_TURN_MAX              0x7fffffU
#define JOB_TURN_DONE(turn, code) ((int32_t)((turn) << 8 | ((uint32_t)(code)&0xffU)))
#define JOB_TURN_OF(exit_code)    ((uint32_t)(exit_code) >> 8)

#define JOB_FLAG_DETERMINISTIC 1U /* random numbers and the clock start the same in each run */
#define JOB_FLAG_GATE          2U /* compile, then report and run nothing before JOB_GO */
#define JOB_FLAG_SESSION       8U /* the first cell of a session; no file is made of its code */
/*
 * Show the value of the last expression, and let the program display others.  They go through a
 * pipe, whose writing end comes with the head, behind a descriptor for stdin; or as JOB_DISPLAY.
 */
#define JOB_FLAG_DISPLAY       4U
#define JOB_FLAG_NETWORK       16U /* it may connect, by what the session or the run asked for */

/* In the second byte: how many processors the run may use at a time, when more than one. */
#define JOB_PROCESSORS(count)    ((uint32_t)(count) << 8)
#define JOB_PROCESSORS_OF(flags) ((flags) >> 8 & 0xffU)

/* In the third byte: for how many package sets the worker must prepare the program. */
#define JOB_PACKAGES_MAX       8
#define JOB_PACKAGES(count)    ((uint32_t)(count) << 16)
#define JOB_PACKAGES_OF(flags) ((flags) >> 16 & 0xffU)

struct job_file {
	uint32_t path_len; /* relative, below /work, already checked by the daemon */
	uint32_t mode;     /* permission bits */
	uint64_t data_len;
};

/*
 * A collector writes entries to its pipe until the end of the stream.  An entry is a struct
 * artifact_head and a path below the working directory.  With reason 0, data_len bytes follow the
 * path.  With any other reason the collector skipped the file, and data_len is 0.
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
