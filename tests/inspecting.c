#include "tests/inspecting.h"

#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "daemon/policy/inspector_link.h"
#include "proto/base/cleanup.h"

#define ARENA_BYTES ((size_t)4 << 20)
#define READY_MS    INSPECT_READY_MS

const char *inspecting_program(void)
{
	static char path[PATH_MAX];
	const char *folder = getenv("CED_LIBEXEC");

	(void)snprintf(path, sizeof(path), "%s/ced-inspector", folder ? folder : ".");
	return path;
}

pid_t inspecting_spawn(const char *program, int *ret_fd)
{
	int ends[2];
	pid_t pid;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) < 0)
		return -1;
	pid = fork();
	if (pid == 0) {
		(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (ends[1] == 3 || dup2(ends[1], 3) == 3) {
			if (ends[1] == 3)
				ends[1] = dup(3);
			(void)dup2(ends[1], 3);
			(void)execl(program, program, (char *)NULL);
		}
		_exit(127);
	}
	close(ends[1]);
	if (pid < 0)
		close(ends[0]);
	else
		*ret_fd = ends[0];
	return pid;
}

int inspecting_add(struct inspecting *in)
{
	struct err err = ERR_INIT;
	unsigned number = in->started;
	int fd = -1;

	if (number == INSPECTING_MAX)
		return -1;
	in->children[number] = inspecting_spawn(inspecting_program(), &fd);
	if (in->children[number] < 0)
		return -1;
	in->started++;
	return policies_add_inspector(in->policies, fd, number, &err) < 0 ? -1 : (int)number;
}

static void on_lost(void *context, uint32_t child, const char *why, bool retired)
{
	struct inspecting *in = context;

	(void)kill(in->children[child], SIGKILL);
	in->lost++;
	in->last_retired = retired;
	(void)snprintf(in->last_why, sizeof(in->last_why), "%s", why);
	if (in->replace)
		(void)inspecting_add(in);
}

static void on_time(uv_timer_t *timer)
{
	*(bool *)timer->data = true;
}

bool inspecting_wait(struct inspecting *in, const bool *flag, unsigned ms)
{
	bool late = false;
	uv_timer_t timer;

	(void)uv_timer_init(&in->loop, &timer);
	timer.data = &late;
	(void)uv_timer_start(&timer, on_time, ms, 0);
	while (!*flag && !late)
		(void)uv_run(&in->loop, UV_RUN_ONCE);
	uv_close((uv_handle_t *)&timer, NULL);
	(void)uv_run(&in->loop, UV_RUN_NOWAIT);
	return *flag;
}

bool inspecting_ready(struct inspecting *in)
{
	bool never = false;

	for (unsigned ms = 0; !policies_ready(in->policies) && ms < READY_MS; ms += 5)
		(void)inspecting_wait(in, &never, 5);
	if (!policies_ready(in->policies))
		(void)fprintf(stderr, "# no inspector gets ready: %s\n", in->last_why);
	return policies_ready(in->policies);
}

bool inspecting_start(struct inspecting *in, const char *folder, unsigned count)
{
	const struct inspector_events events = { NULL, on_lost, in };
	struct err err = ERR_INIT;

	memset(in, 0, sizeof(*in));
	arena_init(&in->arena, ARENA_BYTES);
	(void)uv_loop_init(&in->loop);
	in->policies = policies_load(folder, NULL, &err);
	if (!in->policies || policies_start(in->policies, &in->loop, &events, &err) < 0) {
		(void)fprintf(stderr, "# %s\n", err.text);
		return false;
	}
	for (unsigned i = 0; i < count; i++)
		if (inspecting_add(in) < 0)
			return false;
	return count == 0 || inspecting_ready(in);
}

static void close_all(uv_handle_t *handle, void *context)
{
	(void)context;
	if (!uv_is_closing(handle))
		uv_close(handle, NULL);
}

void inspecting_stop(struct inspecting *in)
{
	in->replace = false;
	policies_close(in->policies);
	uv_walk(&in->loop, close_all, NULL);
	(void)uv_run(&in->loop, UV_RUN_DEFAULT);
	(void)uv_loop_close(&in->loop);
	for (unsigned i = 0; i < in->started; i++) {
		(void)kill(in->children[i], SIGKILL);
		(void)waitpid(in->children[i], NULL, 0);
	}
	arena_done(&in->arena);
}

struct asking {
	struct policy_verdict verdict;
	bool done;
};

static void on_done(void *context, const struct policy_verdict *verdict)
{
	struct asking *asking = context;

	asking->verdict = *verdict;
	asking->done = true;
}

bool inspecting_check(struct inspecting *in, const char *policy, const char *language,
	struct bytes code, const char *code_hash, struct policy_verdict *ret_verdict)
{
	struct policy_question question = { policies_find(in->policies, policy), language, code,
		code_hash, &in->arena, false, 0, NULL };
	struct asking asking = { .done = false };
	struct err err = ERR_INIT;

	arena_done(&in->arena);
	if (!question.policy)
		return false;
	if (policy_lookup(in->policies, &question, ret_verdict))
		return true;
	if (policy_check(in->policies, &question, on_done, &asking, &err) < 0)
		return false;
	if (!inspecting_wait(in, &asking.done, 10000))
		return false;
	*ret_verdict = asking.verdict;
	return true;
}
