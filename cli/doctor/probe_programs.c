/* What is installed, what is configured, and whether the interpreters run. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/doctor/probe.h"
#include "cli/doctor/try.h"
#include "proto/base/cleanup.h"
#include "proto/base/container.h"

/* As the pool counts them: daemon/workers/pool.c. */
#define FDS_PER_WORKER 32
#define FDS_BESIDE     144

/* Where as root the daemon is somebody else, who must be able to read it. */
static int reach_programs(void *context, struct err *err)
{
	static const char *const names[] = { "ced", "ced-inspector", "python/zygote.py" };
	const char *libexec = context;

	if (try_as_nobody(err) < 0)
		return -1;
	for (size_t i = 0; i < COUNT_OF(names); i++) {
		char path[SETTINGS_PATH_MAX + 32];

		cut_printf(path, sizeof(path), "%s/%s", libexec, names[i]);
		if (access(path, R_OK) < 0)
			return err_sys(err, "%s", path);
	}
	return 0;
}

PROBE(programs)
{
	char *libexec = (char *)(size_t)patient->settings.libexec;

	if (libexec[0] == '\0')
		return err_set(err, ERR_MISSING, "there is no libexec/ced beside cectl's folder");
	if (try_apart(reach_programs, libexec, err) < 0)
		return -1;
	cut_printf(finding->found, FOUND_MAX, "%s%s", libexec,
		patient->root ? ", readable for the daemon's user" : "");
	return 0;
}

PROBE(configuration)
{
	const struct settings *settings = &patient->settings;

	if (settings->trouble[0])
		return err_set(err, ERR_INVALID, "%s", settings->trouble);
	cut_printf(finding->found, FOUND_MAX, "%s; requires%s",
		settings->config[0] ? settings->config : "the defaults, as no file is there",
		settings->required[0] ? settings->required : " no layer that can be left out");
	return 0;
}

/* ---- interpreters -------------------------------------------------------------------------- */

#define SPOKEN_MAX 128

struct asking {
	const char *interpreter;
	int out;
};

static bool is_python(const char *interpreter)
{
	const char *slash = strrchr(interpreter, '/');

	return strncmp(slash ? slash + 1 : interpreter, "python", strlen("python")) == 0;
}

/* 3: it is a Python that ced cannot use. */
static const char python_question[] =
	"import sys; print(sys.implementation.name, sys.version.split()[0]); "
	"sys.exit(0 if sys.implementation.name == 'cpython' and sys.version_info >= (3, 9) else 3)";

static int ask_interpreter(void *context, struct err *err)
{
	const struct asking *asking = context;
	const char *name = asking->interpreter;
	char *const no_env[] = { (char *)(size_t) "PATH=/usr/bin:/bin", NULL };
	const char *const python[] = { name, "-I", "-c", python_question, NULL };
	const char *const others[] = { name, "--version", NULL };

	if (try_as_nobody(err) < 0)
		return -1;
	if (dup2(asking->out, STDOUT_FILENO) < 0 || dup2(asking->out, STDERR_FILENO) < 0)
		return err_sys(err, "dup2");
	if (chdir("/") < 0)
		return err_sys(err, "chdir");
	(void)execve(name, (char *const *)(size_t)(is_python(name) ? python : others), no_env);
	return err_sys(err, "%s", name);
}

/* An exec leaves no word behind: a child of ours waits for it and says it. */
static int start_interpreter(void *context, struct err *err)
{
	const char *name = ((const struct asking *)context)->interpreter;
	int status = 0;
	pid_t pid = fork();

	if (pid == 0)
		_exit(ask_interpreter(context, err) < 0 ? 127 : 0);
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		return err_sys(err, "fork");
	if (err->text[0]) /* it is ours and shared, see try.c */
		return -1;
	if (WIFEXITED(status) && WEXITSTATUS(status) == 3)
		return err_set(err, ERR_UNSUPPORTED, "%s is no CPython from 3.9 on", name);
	if (status != 0)
		return err_set(err, ERR_UNSUPPORTED, "%s does not start (wait status %#x)", name,
			(unsigned)status);
	return 0;
}

static void read_words(int fd, char ret_words[SPOKEN_MAX])
{
	ssize_t len = read(fd, ret_words, SPOKEN_MAX - 1);

	ret_words[len > 0 ? len : 0] = '\0';
	ret_words[strcspn(ret_words, "\r\n")] = '\0';
}

PROBE(interpreter)
{
	struct asking asking = { patient->runtime->interpreter, -1 };
	auto_fd int out = -1;
	char spoken[SPOKEN_MAX];
	int fds[2];
	int answer;

	if (pipe2(fds, O_CLOEXEC | O_NONBLOCK) < 0)
		return err_sys(err, "pipe");
	out = fds[0];
	asking.out = fds[1];
	answer = try_apart(start_interpreter, &asking, err);
	close(fds[1]);
	read_words(out, spoken);
	if (answer < 0) {
		if (err->sys_errno == ENOENT)
			cut_printf(finding->repair, REPAIR_MAX,
				"apt-get install %s, or name another: runtime %s { interpreter = \"…\" }",
				strrchr(asking.interpreter, '/')
					? strrchr(asking.interpreter, '/') + 1
					: asking.interpreter,
				patient->runtime->name);
		return -1;
	}
	cut_printf(finding->found, FOUND_MAX, "%s: %s", asking.interpreter, spoken);
	return 0;
}

/* ---- limits -------------------------------------------------------------------------------- */

PROBE(open_files)
{
	const struct settings *settings = &patient->settings;
	unsigned long workers =
		settings->workers_min + settings->workers_max + settings->workers_reserve;
	unsigned long wanted = FDS_BESIDE + FDS_PER_WORKER * settings->runtime_count * workers;
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
		return err_sys(err, "RLIMIT_NOFILE");
	cut_printf(finding->found, FOUND_MAX, "at most %lu, and %lu are wanted",
		(unsigned long)limit.rlim_max, wanted);
	if (limit.rlim_max >= wanted)
		return 0;
	cut_printf(finding->repair, REPAIR_MAX,
		"LimitNOFILE=%lu in the unit; by hand: ulimit -Hn %lu, as root", wanted, wanted);
	return err_set(err, ERR_UNSUPPORTED, "at most %lu, and so many workers want %lu",
		(unsigned long)limit.rlim_max, wanted);
}
