/*
 * cectl packages add: builds a package set with the host's own pip or npm.
 *
 * The set is built in a folder beside its final place, and gets its name when it is whole.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/base/exits.h"
#include "cli/commands/commands.h"
#include "cli/commands/packages.h"
#include "cli/session/page.h"
#include "cli/terminal/progress.h"
#include "proto/base/cleanup.h"
#include "proto/base/clock.h"
#include "proto/base/container.h"
#include "proto/base/nearest.h"
#include "proto/fill.h"
#include "proto/jail_dirs.h"
#include "proto/names.h"

#define SETS_FOLDER "/srv/ced/sets"
#define WORDS_MAX   256
#define SAID_BYTES  ((size_t)16 << 10) /* the end of what the builder said */
#define TICK_MS     200

struct building {
	struct cli *cli;
	const char *name, *runtime;
	const char *wheels, *index; /* one of them, or NULL */
	bool is_node;
	const char *path, *part; /* its final place, and the folder until it is whole */
	const char *argv[WORDS_MAX + 1];
	size_t count;
	char said[SAID_BYTES];
	size_t said_len;
};

/* ---- starting a program --------------------------------------------------------------------- */

static void add_word(struct building *b, const char *word)
{
	if (b->count < WORDS_MAX)
		b->argv[b->count++] = word;
}

static void add_words(struct building *b, const char *const *words)
{
	for (; *words; words++)
		add_word(b, *words);
}

__attribute__((noreturn)) static void start(const struct building *b, int out)
{
	union {
		const char *const *in;
		char *const *out;
	} argv = { b->argv };

	if (prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) == 0 && dup2(out, STDOUT_FILENO) >= 0 &&
		dup2(out, STDERR_FILENO) >= 0) {
		(void)umask(022);
		(void)execvp(argv.in[0], argv.out);
		(void)dprintf(STDERR_FILENO, "%s: %s\n", argv.in[0], strerror(errno));
	}
	_exit(127);
}

/* Keeps the end of what is said, since reasons come last. */
static void keep_said(struct building *b, const char *bytes, size_t len)
{
	size_t over;

	if (len > SAID_BYTES - 1) {
		bytes += len - (SAID_BYTES - 1);
		len = SAID_BYTES - 1;
	}
	over = b->said_len + len > SAID_BYTES - 1 ? b->said_len + len - (SAID_BYTES - 1) : 0;
	memmove(b->said, b->said + over, b->said_len - over);
	memcpy(b->said + b->said_len - over, bytes, len);
	b->said_len += len - over;
	b->said[b->said_len] = '\0';
}

static void listen_to(struct building *b, int fd, const char *what)
{
	struct progress progress = { .out = &b->cli->err, .what = what, .ctrl_c = "ends it" };
	struct pollfd line = { .fd = fd, .events = POLLIN };
	int64_t started_ms = clock_ms();
	char piece[4096];
	ssize_t got = 1;

	while (got > 0 || (got < 0 && errno == EINTR)) {
		if (poll(&line, 1, TICK_MS) == 0) {
			progress_update(&progress, clock_ms() - started_ms);
			continue;
		}
		got = read(fd, piece, sizeof(piece));
		if (got > 0)
			keep_said(b, piece, (size_t)got);
	}
	progress_erase(&progress);
}

/* Runs the words so far.  Returns the wait status, or -1. */
static int run_words(struct building *b, const char *what, struct err *err)
{
	int out[2];
	int status = -1;
	pid_t pid;

	b->argv[b->count] = NULL;
	b->count = 0;
	b->said_len = 0;
	b->said[0] = '\0';
	if (pipe2(out, O_CLOEXEC) < 0)
		return err_sys(err, "pipe");
	pid = fork();
	if (pid == 0)
		start(b, out[1]);
	close(out[1]);
	if (pid < 0) {
		close(out[0]);
		return err_sys(err, "fork");
	}
	listen_to(b, out[0], what);
	close(out[0]);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return status;
}

/* On one line, without what pip and npm write around it. */
static const char *said(struct building *b)
{
	for (char *at = b->said; *at; at++)
		if (*at == '\n' || *at == '\r' || *at == '\t')
			*at = ' ';
	while (b->said_len > 0 && b->said[b->said_len - 1] == ' ')
		b->said[--b->said_len] = '\0';
	return output_safe(&b->cli->arena, b->said);
}

static int run_quietly(struct building *b, const char *const *words)
{
	struct err err = ERR_INIT;
	int status;

	add_words(b, words);
	status = run_words(b, "working", &err);
	if (status < 0)
		return cli_fail(b->cli, &err);
	return status == 0
		       ? 0
		       : cli_fail_with(b->cli, ERR_UNSUPPORTED, "%s failed: %s", words[0], said(b));
}

static int remove_part(struct building *b)
{
	const char *const words[] = { "rm", "-rf", "--", b->part, NULL };

	return run_quietly(b, words);
}

/* ---- pip ------------------------------------------------------------------------------------ */

/* A requirements file ends with .txt; everything else is a requirement or a wheel. */
static bool is_requirements_file(const char *word)
{
	size_t len = strlen(word);

	return len > 4 && strcmp(word + len - 4, ".txt") == 0 && access(word, R_OK) == 0;
}

/*
 * Runs pip, which may start no process, and with "wheels" ask nothing of a network.  pip's own
 * --only-binary and --no-index do not hold for a package that a wheel requires by a URL: pip would
 * build it, and so run its code.  pip builds in processes only.  What it asks the host by processes,
 * such as lsb_release, it can do without.
 */
static const char pip_alone[] =
	"import runpy, sys\n"
	"CODE = {'subprocess.Popen', 'os.system', 'os.exec', 'os.fork', 'os.forkpty', 'os.spawn',\n"
	"        'os.posix_spawn'}\n"
	"FAR = {'socket.connect', 'socket.sendto', 'socket.getaddrinfo', 'socket.gethostbyname'}\n"
	"is_far = sys.argv.pop(1) == 'index'\n"
	"def look(event, _):\n"
	"    if event in CODE:\n"
	"        raise PermissionError('a package must be built, which runs its code: '\n"
	"                              '--source allows that')\n"
	"    if event in FAR and not is_far:\n"
	"        raise PermissionError('a package is somewhere else than in --wheels')\n"
	"sys.addaudithook(look)\n"
	"runpy.run_module('pip', run_name='__main__', alter_sys=True)\n";

static void add_pip(struct building *b)
{
	const char *python = cli_text(b->cli, "python");
	const char *const interpreter[] = { python ? python : "/usr/bin/python3", "-I", NULL };
	const char *const any[] = { "-m", "pip", NULL };
	const char *const alone[] = { "-c", pip_alone, b->wheels ? "wheels" : "index", NULL };
	const char *const words[] = { "--isolated", "--disable-pip-version-check", "--no-input",
		"install", "--quiet", "--no-compile", "--no-warn-script-location",
		"--root-user-action=ignore", "--target", b->part, NULL };
	const struct words *operands = &b->cli->given.operands;

	add_words(b, interpreter);
	add_words(b, cli_flag(b->cli, "source") ? any : alone);
	add_words(b, words);
	if (!cli_flag(b->cli, "source")) {
		add_word(b, "--only-binary");
		add_word(b, ":all:");
	}
	add_word(b, b->wheels ? "--no-index" : "--index-url");
	add_word(b, b->wheels ? "--find-links" : b->index);
	if (b->wheels)
		add_word(b, b->wheels);
	for (size_t i = 1; i < operands->count; i++) {
		if (is_requirements_file(operands->items[i]))
			add_word(b, "-r");
		add_word(b, operands->items[i]);
	}
}

/*
 * Bytecode that does not name the time of its source, so that a copy of the set keeps it and another
 * build has the same digest.  A file that is for another Python does not compile, which is no fault.
 */
static int compile_modules(struct building *b)
{
	const char *python = cli_text(b->cli, "python");
	const char *place = arena_printf(&b->cli->arena, JAIL_SETS_DIR "/%s", b->name);
	const char *const words[] = { python ? python : "/usr/bin/python3", "-I", "-m",
		"compileall", "-q", "-q", "--invalidation-mode", "unchecked-hash", "-s", b->part,
		"-p", place ? place : "/", b->part, NULL };
	struct err err = ERR_INIT;

	add_words(b, words);
	return run_words(b, "compiling", &err) < 0 ? cli_fail(b->cli, &err) : 0;
}

/* ---- npm ------------------------------------------------------------------------------------ */

static const char *spec_of(struct building *b, const char *word)
{
	const char *file =
		b->wheels ? arena_printf(&b->cli->arena, "%s/%s", b->wheels, word) : NULL;
	char *real;
	const char *kept = word;

	if (!file || access(file, R_OK) < 0)
		return word;
	real = realpath(file, NULL); /* npm runs in another folder */
	if (real)
		kept = arena_strdup(&b->cli->arena, real);
	free(real);
	return kept ? kept : word;
}

static void add_npm(struct building *b)
{
	const char *npm = cli_text(b->cli, "npm");
	const char *const words[] = { npm ? npm : "npm", "install", "--prefix", b->part,
		"--no-audit", "--no-fund", "--no-progress", "--no-update-notifier",
		"--ignore-scripts", "--install-links", NULL };
	const struct words *operands = &b->cli->given.operands;

	add_words(b, words);
	if (b->wheels) {
		add_word(b, "--offline");
	} else {
		add_word(b, "--registry");
		add_word(b, b->index);
	}
	for (size_t i = 1; i < operands->count; i++)
		add_word(b, spec_of(b, operands->items[i]));
}

/* ---- the folder ----------------------------------------------------------------------------- */

static int fail_sys(struct cli *cli, const char *path)
{
	struct err err = ERR_INIT;

	(void)err_sys(&err, "%s", path);
	return cli_fail(cli, &err);
}

/* The folder of sets, which is not made here: its owner and place are the administrator's to choose. */
static int folder_is_missing(const struct building *b, const char *to)
{
	if (errno != ENOENT)
		return fail_sys(b->cli, to);
	return cli_fail_with(b->cli, ERR_MISSING,
		"the folder for package sets, %s, does not exist: make it with `mkdir -p %s`, or "
		"name another one with --to",
		to, to);
}

static int prepare(struct building *b)
{
	const char *to = cli_text(b->cli, "to");
	struct cli *cli = b->cli;
	struct err err = ERR_INIT;
	int status;

	to = to ? to : SETS_FOLDER;
	b->path = arena_printf(&cli->arena, "%s/%s", to, b->name);
	b->part = arena_printf(&cli->arena, "%s/.%s.part", to, b->name);
	if (!b->path || !b->part)
		return cli_no_memory(cli);
	if (jail_path_check(b->path, &err) < 0)
		return cli_usage(cli,
			"%s cannot be in a jail, because %s: --to names another folder", b->path,
			err.text);
	if (access(b->path, F_OK) == 0)
		return cli_fail_with(cli, ERR_EXISTS,
			"%s is there already: choose another name, since runs may use it", b->path);
	if (access(to, F_OK) < 0)
		return folder_is_missing(b, to);
	status = remove_part(b);
	if (status == 0 && mkdir(b->part, 0755) < 0)
		status = fail_sys(cli, b->part);
	return status;
}

static int install(struct building *b)
{
	struct err err = ERR_INIT;
	int status;

	if (b->is_node)
		add_npm(b);
	else
		add_pip(b);
	status = run_words(b, "installing", &err);
	if (status < 0)
		return cli_fail(b->cli, &err);
	if (status != 0)
		return cli_fail_with(b->cli, ERR_INVALID, "%s could not build the set: %s",
			b->is_node ? "npm" : "pip", said(b));
	return b->is_node ? 0 : compile_modules(b);
}

/* Programs are other users, and wheels may have files that only their owner reads. */
static int open_to_all(struct building *b)
{
	const char *const words[] = { "chmod", "-R", "a+rX,go-w,ug-s", "--", b->part, NULL };

	return run_quietly(b, words);
}

static int give_name(struct building *b, struct package_found *ret_found)
{
	struct err err = ERR_INIT;

	if (packages_read(b->cli, b->part, ret_found, &err) < 0) {
		(void)err_wrap(&err, "the packages cannot be a set");
		return cli_fail(b->cli, &err);
	}
	return rename(b->part, b->path) < 0 ? fail_sys(b->cli, b->path) : 0;
}

/* ---- the command ---------------------------------------------------------------------------- */

static int add_show(struct building *b, const struct package_found *found)
{
	struct cli *cli = b->cli;
	struct fill fill = fill_start(&cli->arena);
	const char *section = arena_printf(&cli->arena,
		"packages %s {\n\truntime = \"%s\"\n\tpath    = \"%s\"\n\tdigest  = \"%s\"\n}\n",
		b->name, b->runtime, b->path, found->digest);

	if (!section)
		return cli_no_memory(cli);
	if (cli->json) {
		fill_text(&fill, "name", b->name);
		fill_text(&fill, "runtime", b->runtime);
		fill_text(&fill, "path", b->path);
		fill_text(&fill, "digest", found->digest);
		fill_uint(&fill, "entries", found->entries);
		fill_uint(&fill, "bytes", found->bytes);
		fill_text(&fill, "configuration", section);
		return cli_document(cli, fill_done(&fill), EXIT_OK);
	}
	say(&cli->err, PAINT_GREEN, "%s", output_mark(&cli->err, MARK_GOOD));
	say(&cli->err, PAINT_PLAIN, " %s: %s.  Add this to ced.conf and restart the daemon:\n\n",
		output_safe(&cli->arena, b->path), packages_size(cli, found));
	say(&cli->out, PAINT_PLAIN, "%s", section);
	return EXIT_OK;
}

/* A running daemon knows the runtimes; without one, `cectl config check` tells a wrong name. */
static const struct value *find_runtimes(struct cli *cli)
{
	const struct value *answer = NULL;
	struct err err = ERR_INIT;

	return cli_ask_quietly(cli, "runtimes", value_map(&cli->arena), NULL, &answer, &err) == 0
		       ? value_get(answer, "runtimes")
		       : NULL;
}

static int refuse_runtime(struct cli *cli, const char *name, const struct value *runtimes)
{
	struct nearest nearest = NEAREST_OF(name);
	const char *names = "";

	for (size_t i = 0; value_at(runtimes, i) && names; i++) {
		const char *known = page_text(cli, value_at(runtimes, i), "name");

		nearest_offer(&nearest, known);
		names = arena_printf(&cli->arena, "%s%s%s", names, i ? ", " : "", known);
	}
	return cli_usage(cli, "--runtime: there is no runtime \"%s\" here%s; there are: %s", name,
		nearest_hint(&nearest), names ? names : "");
}

static int check_runtime(struct cli *cli, const char *name)
{
	const struct value *runtimes = find_runtimes(cli);
	const struct value *runtime = NULL;

	for (size_t i = 0; value_at(runtimes, i) && !runtime; i++)
		if (strcmp(page_text(cli, value_at(runtimes, i), "name"), name) == 0)
			runtime = value_at(runtimes, i);
	if (strcmp(name, "bash") == 0 || strcmp(page_text(cli, runtime, "kind"), "command") == 0)
		return cli_usage(cli,
			"--runtime %s: pip and npm build no sets for it: make a folder with a "
			"folder bin yourself, and use `cectl packages digest`",
			name);
	return runtimes && !runtime ? refuse_runtime(cli, name, runtimes) : 0;
}

static int check_options(const struct building *b)
{
	struct cli *cli = b->cli;

	if (!name_is_package(b->name))
		return cli_usage(cli,
			"\"%s\" cannot be a name: write up to %d small letters, digits, . _ and -, and begin with a letter or digit",
			b->name, PACKAGE_NAME_MAX);
	if (!b->runtime)
		return cli_usage(
			cli, "name the runtime: --runtime python, or --runtime javascript");
	if (!b->wheels == !b->index)
		return cli_usage(
			cli, "say where the packages come from: --wheels DIR, or --index URL");
	if (b->wheels && access(b->wheels, R_OK | X_OK) < 0)
		return errno == ENOENT
			       ? cli_usage(cli,
					 "--wheels: the folder %s does not exist: it holds what "
					 "pip or npm shall install",
					 b->wheels)
			       : fail_sys(cli, b->wheels);
	if (cli->given.operands.count > WORDS_MAX / 4)
		return cli_usage(
			cli, "more than %d requirements: write them into a file", WORDS_MAX / 4);
	return check_runtime(cli, b->runtime);
}

static int add_run(struct cli *cli)
{
	static struct building b; /* too large for the stack */
	struct package_found found;
	int status;

	b.cli = cli;
	b.name = cli_operand(cli, 0);
	b.runtime = cli_text(cli, "runtime");
	b.wheels = cli_text(cli, "wheels");
	b.index = cli_text(cli, "index");
	status = check_options(&b);
	if (status != 0)
		return status;
	b.is_node = cli_text(cli, "npm") || strcmp(b.runtime, "javascript") == 0;
	status = prepare(&b);
	if (status != 0)
		return status;
	status = install(&b);
	if (status == 0)
		status = open_to_all(&b);
	if (status == 0)
		status = give_name(&b, &found);
	if (status != 0) {
		(void)remove_part(&b);
		return status;
	}
	return add_show(&b, &found);
}

// clang-format off
const struct command packages_add_command = {
	.name = "packages add",
	.operands = "NAME REQUIREMENT...",
	.summary = "build a package set with pip or npm",
	.about = "For administrators. Installs packages into a new folder, computes its digest, and "
		 "prints the section for ced.conf. It changes no settings. The set is built beside its "
		 "place, and gets its name when it is whole.\n\n"
		 "For Python each REQUIREMENT is a requirement as pip takes it, a wheel, or a file "
		 "*.txt with requirements. The host's own pip installs wheels only; packages that "
		 "would have to be built run their own code as you, and need --source. For javascript "
		 "it is a package as npm takes it, or a tarball in --wheels; npm runs no scripts of "
		 "packages.\n\n"
		 "For bash, make a folder with a folder bin yourself, and use `cectl packages digest`.",
	.options = OPTIONS(
		{ 0, "runtime", "NAME", OPTION_ONCE, NULL, NULL,
			"the runtime whose programs use it, such as python or javascript" },
		{ 0, "wheels", "DIR", OPTION_ONCE, NULL, NULL,
			"takes packages from this folder, and nothing from a network" },
		{ 0, "index", "URL", OPTION_ONCE, NULL, NULL,
			"takes packages from this index" },
		{ 0, "to", "DIR", OPTION_ONCE, NULL, NULL,
			"where the set's folder is made; else " SETS_FOLDER },
		{ 0, "python", "PATH", OPTION_ONCE, NULL, NULL,
			"the interpreter of the runtime; else /usr/bin/python3" },
		{ 0, "npm", "PATH", OPTION_ONCE, NULL, NULL,
			"npm, for a runtime of node with another name than javascript" },
		{ 0, "source", NULL, OPTION_FLAG, NULL, NULL,
			"pip may build packages that have no wheel, which runs code of theirs" }),
	.operand_least = 2, .operand_most = 100,
	.examples = EXAMPLES(
		{ "cectl packages add data2024 --runtime python --wheels /srv/wheels pandas", "from a folder of wheels" },
		{ "cectl packages add data2024 --runtime python --index https://packages.example.org/simple requirements.txt", "from your own index" },
		{ "cectl packages add text --runtime javascript --wheels ./tarballs marked-4.3.0.tgz", "node's modules" }),
	.run = add_run,
};
// clang-format on
