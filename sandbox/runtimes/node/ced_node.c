/*
 * The addon that makes a zygote of node, as _ced.c does of CPython.  V8 has threads, and its memory is
 * not copied by a fork unless one asks for it; orphans.h has what a copy does without.
 *
 *	begin()		before everything else: reads the spawner's settings from the environment, and
 *			makes stdout and stderr pipes, as those of a worker are
 *	scratch(there)	a /work and a /tmp for rehearsals
 *	serve(version, samples)
 *			forks the process that is the zygote from now on, with one thread.  This one
 *			stays, as pid 1 and with node's threads, and waits for the other's end.
 *			Returns in each learner of a sample program (footprint.h): -1, -2 ...;
 *			then in each worker: a random number
 *	learned()	in a learner: its program is over.  Does nothing in a worker
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/random.h>
#include <sys/wait.h>
#include <unistd.h>

#include "proto/base/container.h"
#include "proto/base/fdpass.h"
#include "sandbox/child_exit.h"
#include "sandbox/jail_env.h"
#include "sandbox/runtimes/node/node_api.h"
#include "sandbox/runtimes/node/orphans.h"
#include "sandbox/worker/procfs.h"
#include "sandbox/worker/worker_limits.h"
#include "sandbox/zygote/zygote.h"

#define VERSION_MAX 64
#define OWN_BYTES   ((uint64_t)128 << 20) /* stacks of threads, and a heap that is warm */

static struct zygote zygote;
static int real_stderr = -1;
static int held_ends[2]; /* of the pipes at descriptors 1 and 2 */
static bool learns;      /* this process is a learner */

__attribute__((noreturn)) static void fail(const struct err *err)
{
	(void)dprintf(real_stderr >= 0 ? real_stderr : STDERR_FILENO,
		"<3>ced-zygote zygote.failed error=\"%s\"\n", err->text);
	child_exit(1);
}

/* ---- beginning ------------------------------------------------------------------------------- */

/* Node makes a stream of the kind that it finds, once. */
static int be_piped(struct err *err)
{
	real_stderr = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, JAIL_PROC_FD + 1);
	if (real_stderr < 0)
		return err_sys(err, "dup of stderr");
	for (int i = 0; i < 2; i++) {
		int ends[2];

		if (pipe2(ends, O_CLOEXEC) < 0 || dup2(ends[1], STDOUT_FILENO + i) < 0)
			return err_sys(err, "pipe");
		close(ends[1]);
		held_ends[i] = ends[0];
	}
	return 0;
}

static int be_plain(struct err *err)
{
	close_fds(held_ends, 2);
	if (dup2(STDIN_FILENO, STDOUT_FILENO) < 0 || dup2(real_stderr, STDERR_FILENO) < 0)
		return err_sys(err, "dup2");
	close_fds(&real_stderr, 1);
	return 0;
}

static napi_value begin(napi_env env, napi_callback_info info)
{
	struct err err = ERR_INIT;

	(void)env;
	(void)info;
	orphans_begin();
	(void)unsetenv("LD_PRELOAD");
	if (zygote_init(&zygote, &err) < 0 || be_piped(&err) < 0)
		fail(&err);
	zygote.small_pages = true;
	worker_limits_count_data(OWN_BYTES);
	return NULL;
}

static void change_scratch(bool there)
{
	static const char *const folders[] = { JAIL_WORK_DIR, JAIL_TMP_DIR };
	struct err err = ERR_INIT;

	for (size_t i = 0; i < COUNT_OF(folders); i++) {
		int result = there ? mount("tmpfs", folders[i], "tmpfs",
					     MS_NOSUID | MS_NODEV | MS_NOEXEC,
					     "size=4m,nr_inodes=256,mode=0700")
				   : umount2(folders[i], MNT_DETACH);

		if (result < 0) {
			(void)err_sys(&err, "scratch %s", folders[i]);
			fail(&err);
		}
	}
}

static napi_value scratch(napi_env env, napi_callback_info info)
{
	napi_value argument = NULL;
	size_t count = 1;
	bool there = false;

	if (napi_get_cb_info(env, info, &count, &argument, NULL, NULL) == 0 &&
		napi_get_value_bool(env, argument, &there) == 0)
		change_scratch(there);
	return NULL;
}

/* ---- serving --------------------------------------------------------------------------------- */

/* The line is "start-end perms ...".  V8 marks its memory so that a fork leaves it out. */
static int let_fork(void *context, const char *line, struct err *err)
{
	char *end = NULL;
	uintptr_t from = strtoull(line, &end, 16);
	uintptr_t to = *end == '-' ? strtoull(end + 1, NULL, 16) : from;

	(void)context;
	(void)err;
	/* NOLINTNEXTLINE(performance-no-int-to-ptr): the kernel names mappings so */
	(void)madvise((void *)from, to - from, MADV_DOFORK);
	return 0;
}

/* It has threads, which no program of a client may meet; it holds none of the zygote's sockets. */
__attribute__((noreturn)) static void stay_behind(pid_t child)
{
	int status = 0;
	pid_t ended = 0;

	close_fds(&zygote.sock, 1);
	close_fds(&zygote.proc, 1);
	while (ended != child)
		ended = waitpid(-1, &status, __WALL);
	child_exit(WIFEXITED(status) ? WEXITSTATUS(status) : 1);
}

static void become_zygote(struct err *err)
{
	pid_t pid;

	if (be_plain(err) < 0 || orphans_rest(err) < 0 ||
		procfs_each_mapping(zygote.proc, let_fork, NULL, err) < 0)
		fail(err);
	pid = fork();
	if (pid < 0) {
		(void)err_sys(err, "fork");
		fail(err);
	}
	if (pid > 0)
		stay_behind(pid);
	if (orphans_look(zygote.proc, JAIL_PROC_FD, err) < 0)
		fail(err);
}

/* Returns 1 in a learner, whose number is the count of those before it. */
static int learn(unsigned samples)
{
	struct err err = ERR_INIT;
	int result = 0;

	for (unsigned i = 0; result == 0 && i < samples; i++) {
		change_scratch(true);
		result = zygote_learn(&zygote, &err);
		if (result > 0)
			return 1;
		change_scratch(false);
	}
	zygote_learned(&zygote);
	if (result < 0)
		(void)dprintf(STDERR_FILENO, "<4>ced-zygote learn.failed error=\"%s\"\n", err.text);
	return 0;
}

static napi_value serve(napi_env env, napi_callback_info info)
{
	char version[VERSION_MAX] = "";
	struct uv_loop_s *loop = NULL;
	struct err err = ERR_INIT;
	napi_value arguments[2] = { NULL };
	napi_value result = NULL;
	size_t count = COUNT_OF(arguments);
	uint32_t samples = 0;
	uint32_t seed = 0;
	int served;

	if (napi_get_cb_info(env, info, &count, arguments, NULL, NULL) != 0 ||
		napi_get_value_string_utf8(env, arguments[0], version, sizeof(version), NULL) !=
			0 ||
		napi_get_value_uint32(env, arguments[1], &samples) != 0 ||
		napi_get_uv_event_loop(env, &loop) != 0)
		return NULL;
	become_zygote(&err);
	served = learn(samples);
	learns = served > 0;
	if (!learns)
		served = zygote_serve(&zygote, version, &err);
	if (served < 0)
		fail(&err);
	if (served == 0)
		child_exit(0);
	if (orphans_adopt(loop) < 0 || getrandom(&seed, sizeof(seed), 0) != sizeof(seed))
		child_exit(1);
	if (napi_create_double(env, learns ? -1.0 - zygote.survey.learners : seed, &result) != 0)
		child_exit(1);
	return result;
}

/* A learner ends where a worker says that its program is over. */
static napi_value learned(napi_env env, napi_callback_info info)
{
	(void)env;
	(void)info;
	if (learns)
		zygote_learner_ends(&zygote);
	return NULL;
}

/* ---- the module ------------------------------------------------------------------------------ */

/* NOLINTBEGIN(readability-identifier-naming): so node wants */
__attribute__((visibility("default"))) napi_value napi_register_module_v1(
	napi_env env, napi_value exports);

__attribute__((visibility("default"))) napi_value napi_register_module_v1(
	napi_env env, napi_value exports)
{
	static const struct {
		const char *name;
		napi_callback call;
	} functions[] = { { "begin", begin }, { "scratch", scratch }, { "serve", serve },
		{ "learned", learned } };

	for (size_t i = 0; i < COUNT_OF(functions); i++) {
		napi_value function = NULL;

		if (napi_create_function(env, functions[i].name, SIZE_MAX, functions[i].call, NULL,
			    &function) != 0 ||
			napi_set_named_property(env, exports, functions[i].name, function) != 0)
			return NULL;
	}
	return exports;
}
/* NOLINTEND(readability-identifier-naming) */
