#include "sandbox/runtimes/command/ahead.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sandbox/runtimes/command/needs.h"
#include "sandbox/runtimes/command/tree.h"
#include "sandbox/worker/worker.h"

#define LIBRARY TREE_AHEAD_DIR "/" AHEAD_LIBRARY
#define PRELOAD "LD_PRELOAD="

bool ahead_is_possible(const char *interpreter)
{
	static const char library[] = LIBRARY;
	const char *const argv[] = { NEEDS_LOADER, "--preload", library, interpreter, AHEAD_PROBE,
		NULL };
	char text[sizeof(AHEAD_ANSWER) + 1];

	return needs_run(argv, text, sizeof(text), NULL) == 0 && strcmp(text, AHEAD_ANSWER) == 0;
}

static size_t count_of(const char *const *list)
{
	size_t count = 0;

	while (list[count])
		count++;
	return count;
}

/* One that is configured is not ours to replace. */
static bool preloads(const char *const *env)
{
	for (; *env; env++)
		if (strncmp(*env, PRELOAD, strlen(PRELOAD)) == 0)
			return true;
	return false;
}

void ahead_start(const struct command *command)
{
	/* execve() does not change the texts; its prototype is older than const. */
	union list {
		const char **in;
		char *const *out;
	};
	const size_t args = count_of(command->args);
	const size_t env = count_of(command->env);
	union list argv = { .in = calloc(args + 2, sizeof(char *)) };
	union list own_env = { .in = calloc(env + 2, sizeof(char *)) };

	if (argv.in && own_env.in && !preloads(command->env) &&
		fcntl(WORKER_JOB_FD, F_SETFD, 0) == 0) {
		argv.in[0] = command->interpreter;
		memcpy(argv.in + 1, command->args, args * sizeof(char *));
		memcpy(own_env.in, command->env, env * sizeof(char *));
		own_env.in[env] = PRELOAD LIBRARY;
		execve(command->interpreter, argv.out, own_env.out);
		(void)fcntl(WORKER_JOB_FD, F_SETFD, FD_CLOEXEC);
	}
	free(argv.in);
	free(own_env.in);
}
