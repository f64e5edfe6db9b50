#include "daemon/settings/config_runtimes.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "daemon/settings/complaint.h"
#include "daemon/settings/config_allowances.h"
#include "proto/base/container.h"
#include "proto/jail_dirs.h"

/* ---- shipped runtimes ----------------------------------------------------------------------- */

/* Modules that most agent programs import.  The zygote imports each once, for all runs. */
#define USUAL                                                                                   \
	"abc array base64 bisect calendar cmath collections collections.abc contextlib copy "   \
	"csv dataclasses datetime decimal enum fractions functools hashlib heapq io itertools " \
	"json math numbers operator os pathlib pprint random re statistics string struct sys "  \
	"tempfile textwrap time traceback types typing unicodedata uuid warnings zoneinfo _strptime"

#define DATA \
	" numpy numpy.random pandas matplotlib.backends.backend_agg matplotlib.pyplot PIL.Image"

static const struct profile {
	const char *name, *preload;
	bool processes;
	const char *binds[CONFIG_BINDS_MAX + 1]; /* those that the host lacks are left out */
} profiles[] = {
	{ "python", USUAL, false, { NULL } },
	{ "python-data", USUAL DATA, false,
		{ "/etc/fonts", "/etc/matplotlibrc", "/usr/share/fonts", "/usr/share/matplotlib",
			"/usr/local/share/fonts" } },
	{ "python-mp", USUAL " multiprocessing concurrent.futures", true, { NULL } },
};

static const struct profile *profile_named(const char *name)
{
	for (size_t i = 0; i < COUNT_OF(profiles); i++)
		if (!strcmp(profiles[i].name, name))
			return &profiles[i];
	return NULL;
}

bool config_add_python(struct config *config, const char *name)
{
	struct config_runtime *runtime = &config->runtimes[config->runtime_count];
	const struct profile *profile = profile_named(name);

	if (!profile)
		return false;
	config->runtime_count++;
	runtime->kind = KIND_PYTHON;
	runtime->processes = profile->processes;
	cut_printf(runtime->name, sizeof(runtime->name), "%s", name);
	cut_printf(runtime->language, sizeof(runtime->language), "python");
	cut_printf(runtime->interpreter, sizeof(runtime->interpreter), "/usr/bin/python3");
	cut_printf(runtime->preload, sizeof(runtime->preload), "%s", profile->preload);
	for (const char *const *bind = profile->binds; *bind; bind++)
		if (access(*bind, F_OK) == 0)
			cut_printf(runtime->binds[runtime->bind_count++], CONFIG_TEXT_MAX, "%s",
				*bind);
	return true;
}

/* Tools that users of a shell expect.  A tool that the host lacks is left out. */
#define BASH_TOOLS                                                                        \
	"coreutils sh grep egrep fgrep sed awk find xargs diff cmp tar gzip gunzip zcat " \
	"bzip2 xz rev column hexdump getopt which bc jq"

static const struct {
	enum config_kind kind;
	uint64_t workers_min, workers_max;
	const char *name, *interpreter, *file, *tools;
	const char *const forms[CONFIG_FORMS_MAX + 1];
} shipped[] = {
	{ KIND_COMMAND, 0, 0, "bash", "/usr/bin/bash", "main.sh", BASH_TOOLS,
		{ "(SyntaxError) %f: line %l: %Msyntax error",
			"(SyntaxError) %f: line %l: %Munexpected EOF", "%f: line %l: %m" } },
	/* Each worker is a process of 40 MB, and takes a tenth of a second of cpu time to start. */
	{ KIND_NODE, 2, 8, "javascript", "/usr/bin/node", "main.js", "", { NULL } },
};

static bool is_installed(const char *tool)
{
	static const char *const folders[] = { "/usr/bin", "/bin" };
	char path[CONFIG_TEXT_MAX];

	for (size_t i = 0; i < COUNT_OF(folders); i++) {
		cut_printf(path, sizeof(path), "%s/%s", folders[i], tool);
		if (access(path, X_OK) == 0)
			return true;
	}
	return strcmp(tool, "coreutils") == 0; /* one name for many tools */
}

static void take_installed(struct config_runtime *runtime, const char *tools)
{
	char names[sizeof(runtime->tools)];
	char *rest = NULL;
	size_t len = 0;

	cut_printf(names, sizeof(names), "%s", tools);
	for (char *name = strtok_r(names, " ", &rest); name; name = strtok_r(NULL, " ", &rest)) {
		if (!is_installed(name))
			continue;
		cut_printf(runtime->tools + len, sizeof(runtime->tools) - len, "%s%s",
			len > 0 ? " " : "", name);
		len = strlen(runtime->tools);
	}
}

void config_add_shipped(struct config *config)
{
	for (size_t i = 0; i < COUNT_OF(shipped); i++) {
		struct config_runtime *runtime = &config->runtimes[config->runtime_count];

		if (access(shipped[i].interpreter, X_OK) < 0)
			continue;
		config->runtime_count++;
		runtime->kind = shipped[i].kind;
		runtime->workers_min = shipped[i].workers_min;
		runtime->workers_max = shipped[i].workers_max;
		cut_printf(runtime->name, sizeof(runtime->name), "%s", shipped[i].name);
		cut_printf(runtime->interpreter, CONFIG_TEXT_MAX, "%s", shipped[i].interpreter);
		cut_printf(runtime->file, sizeof(runtime->file), "%s", shipped[i].file);
		take_installed(runtime, shipped[i].tools);
		for (; shipped[i].forms[runtime->form_count]; runtime->form_count++)
			cut_printf(runtime->forms[runtime->form_count], sizeof(runtime->forms[0]),
				"%s", shipped[i].forms[runtime->form_count]);
	}
}

/* ---- a section ------------------------------------------------------------------------------ */

#define SMALL_LETTERS "abcdefghijklmnopqrstuvwxyz"
#define ALPHANUMERIC  SMALL_LETTERS "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"

static bool has_only(const char *text, const char *letters)
{
	return *text && text[strspn(text, letters)] == '\0';
}

static bool is_module(const char *text)
{
	return has_only(text, ALPHANUMERIC "_.");
}

/* A word in the zygote's list of words (sandbox/runtimes/command/orders.h). */
static bool is_argument(const char *text)
{
	return has_only(text, ALPHANUMERIC "_.-+:=,/[") && text[strlen(text) - 1] != ':';
}

static bool is_tool(const char *text)
{
	return is_argument(text) && !strchr(text, '/');
}

/* Stores a list as one text, with spaces between the words. */
static int take_words(struct config_runtime *runtime, const struct setting *row,
	const struct config_item *item, bool (*is_word)(const char *text), const char *form,
	struct err *err)
{
	char *text = (char *)runtime + row->offset;
	size_t len = 0;

	text[0] = '\0'; /* an empty list clears it too */
	for (const struct config_value *value = item->values; value; value = value->next) {
		if (!is_word(value->text))
			return setting_fault(err, value->line, "%s: \"%s\" is not a %s", row->name,
				value->text, form);
		if (len + strlen(value->text) + 2 > row->size)
			return setting_fault(err, value->line,
				"%s: the list is longer than %zu bytes with \"%s\"", row->name,
				row->size, value->text);
		cut_printf(text + len, row->size - len, "%s%s", len ? " " : "", value->text);
		len = strlen(text);
	}
	return 0;
}

static int take_preload(
	void *set, const struct setting *row, const struct config_item *item, struct err *err)
{
	return take_words(set, row, item, is_module, "module", err);
}

static int take_args(
	void *set, const struct setting *row, const struct config_item *item, struct err *err)
{
	return take_words(set, row, item, is_argument, "possible argument", err);
}

static int take_tools(
	void *set, const struct setting *row, const struct config_item *item, struct err *err)
{
	return take_words(set, row, item, is_tool, "name of a program", err);
}

static int take_forms(
	void *set, const struct setting *row, const struct config_item *item, struct err *err)
{
	struct config_runtime *runtime = set;

	(void)row;
	for (const struct config_value *value = item->values; value; value = value->next)
		if (!complaint_is_form(value->text))
			return setting_fault(err, value->line,
				"errors: \"%s\" is not a form with %%l and some of %%f %%c %%m %%x %%M",
				value->text);
	runtime->form_count = 0;
	return setting_copy_list(runtime->forms[0], sizeof(runtime->forms[0]), &runtime->form_count,
		CONFIG_FORMS_MAX, item, err);
}

static int take_binds(
	void *set, const struct setting *row, const struct config_item *item, struct err *err)
{
	struct config_runtime *runtime = set;

	(void)row;
	return setting_copy_list(runtime->binds[0], sizeof(runtime->binds[0]), &runtime->bind_count,
		CONFIG_BINDS_MAX, item, err);
}

static int take_interpreter(
	void *set, const struct setting *row, const struct config_item *item, struct err *err)
{
	struct config_runtime *runtime = set;
	const char *path = item->values->text;

	(void)row;
	if (path[0] != '/')
		return setting_fault(err, item->line,
			"interpreter = \"%s\" is not an absolute path: begin it with /", path);
	return setting_copy(runtime->interpreter, sizeof(runtime->interpreter), item, path, err);
}

/* Takes the name of a program's file in /work. */
static int take_file(
	void *set, const struct setting *row, const struct config_item *item, struct err *err)
{
	struct config_runtime *runtime = set;
	const char *name = item->values->text;

	(void)row;
	if (*name == '.' || *name == '-' || strpbrk(name, "/ "))
		return setting_fault(err, item->line,
			"file = \"%s\" is not a plain file name, such as \"main.pl\"", name);
	return setting_copy(runtime->file, sizeof(runtime->file), item, name, err);
}

/* config_take_runtime() gives these numbers an allowance. */
static int leave_to_allowance(
	void *set, const struct setting *row, const struct config_item *item, struct err *err)
{
	(void)set;
	(void)row;
	(void)item;
	(void)err;
	return 0;
}

static const char *const kind_words[] = {
	[KIND_PYTHON] = "python", [KIND_COMMAND] = "command", [KIND_NODE] = "node", NULL
};

/* clang-format off */
#define FIELD(field) .name = #field, .offset = offsetof(struct config_runtime, field)
#define WORDS(field, what) \
	{ FIELD(field), .type = SETTING_LIST, .take = take_##field, .meaning = what, \
		.size = sizeof(((struct config_runtime *)NULL)->field) }
#define WORKERS .highest = CONFIG_WORKERS_MOST
const struct setting config_runtime[] = {
	{ .name = "interpreter", .type = SETTING_TEXT, .take = take_interpreter,
		.meaning = "absolute path of the program" },
	{ .name = "file",        .type = SETTING_TEXT, .take = take_file,
		.meaning = "the file name of a program that has none; otherwise the usual one of the language" },
	{ .name = "errors",      .type = SETTING_LIST, .take = take_forms,
		.meaning = "how the interpreter words an error on stderr, with %f %l %c %m %x %M" },
	{ .name = "binds",       .type = SETTING_LIST, .take = take_binds,
		.meaning = "folders or files that its programs may read, beside the usual ones" },
	{ FIELD(kind),      .type = SETTING_CHOICE, .words = kind_words,
		.meaning = "how its workers are made; node is for an interpreter that is node" },
	{ FIELD(processes), .type = SETTING_BOOL, .meaning = "python: programs may fork" },
	{ FIELD(off),       .type = SETTING_BOOL, .meaning = "this runtime does not exist" },
	SETTING_TEXT_OF(config_runtime, language,
		.meaning = "whose rules policies apply to its programs; otherwise those of its kind or its name"),
	WORDS(preload, "python: modules to import ahead"),
	WORDS(args,    "command, node: arguments of the interpreter, before the program's name"),
	WORDS(tools,   "command: programs that its programs may start; coreutils stands for all of coreutils"),
	SETTING_NUMBER_OF(config_runtime, workers_min, WORKERS, .meaning = "warm workers of this runtime"),
	SETTING_NUMBER_OF(config_runtime, workers_max, WORKERS, .meaning = "most workers of this runtime"),
	CONFIG_NUMBERS_SECTIONS(config_allowance, .take = leave_to_allowance),
	{ .name = "egress_allow", .type = SETTING_LIST, .take = leave_to_allowance,
		.change = CHANGE_RELOAD, .meaning = CONFIG_EGRESS_ALLOW_MEANING },
	{ 0 },
};
#undef FIELD
#undef WORDS
#undef WORKERS
/* clang-format on */

static struct config_runtime *runtime_named(struct config *config, const char *name)
{
	for (unsigned i = 0; i < config->runtime_count; i++)
		if (!strcmp(config->runtimes[i].name, name))
			return &config->runtimes[i];
	if (config->runtime_count == CONFIG_RUNTIMES_MAX)
		return NULL;
	if (!config_add_python(config, name))
		cut_printf(config->runtimes[config->runtime_count++].name, 32, "%s", name);
	return &config->runtimes[config->runtime_count - 1];
}

int config_take_runtime(
	void *config, const struct setting *row, const struct config_item *section, struct err *err)
{
	const char *name = section->title;
	struct config_runtime *runtime;

	if (!has_only(name, SMALL_LETTERS "0123456789-") || strlen(name) >= sizeof(runtime->name))
		return setting_fault(err, section->line,
			"runtime %s: its name may only have up to %zu small letters, digits and -",
			name, sizeof(runtime->name) - 1);
	runtime = runtime_named(config, name);
	if (!runtime)
		return setting_fault(err, section->line,
			"runtime %s: there are more than %d runtimes", name, CONFIG_RUNTIMES_MAX);
	if (setting_take(runtime, section, config_runtime, err) < 0)
		return -1;
	if (!runtime->interpreter[0] && !runtime->off)
		return setting_fault(err, section->line,
			"runtime %s has no interpreter: write interpreter = \"/usr/bin/...\" into it",
			name);
	return config_take_allowance(config, row, section, err);
}

/* ---- after reading -------------------------------------------------------------------------- */

/* Removes the runtimes that are off. */
static int drop_off(struct config *config, struct err *err)
{
	unsigned kept = 0;

	for (unsigned i = 0; i < config->runtime_count; i++)
		if (!config->runtimes[i].off) {
			if (kept != i)
				config->runtimes[kept] = config->runtimes[i];
			kept++;
		}
	config->runtime_count = kept;
	return kept ? 0
		    : setting_refuse(config, err, "",
			      "every runtime is off: remove `off = true` from one of them");
}

/* Whether a jail mounts one of its own folders over this path of the host. */
static bool is_hidden(const char *path)
{
	static const char *const own[] = { JAIL_WORK_DIR, JAIL_TMP_DIR, JAIL_HARNESS_DIR,
		JAIL_SETS_DIR, "/dev" };

	for (size_t i = 0; i < COUNT_OF(own); i++) {
		size_t len = strlen(own[i]);

		if (!strncmp(path, own[i], len) && (path[len] == '/' || !path[len]))
			return true;
	}
	return false;
}

/* Refuses a setting of this runtime. */
static int __attribute__((format(printf, 5, 6)))
refuse_runtime(const struct config *config, const struct config_runtime *runtime,
	const char *setting, struct err *err, const char *format, ...)
{
	char key[CONFIG_KEY_MAX];
	char what[ERR_TEXT_MAX];
	va_list args;

	va_start(args, format);
	cut_vprintf(what, sizeof(what), format, args);
	va_end(args);
	cut_printf(key, sizeof(key), "runtime.%s.%s", runtime->name, setting);
	return setting_refuse(config, err, key, "runtime %s: %s", runtime->name, what);
}

static int check_places(
	const struct config *config, const struct config_runtime *runtime, struct err *err)
{
	const char *hidden = is_hidden(runtime->interpreter) ? runtime->interpreter : NULL;
	const char *setting = hidden ? "interpreter" : "binds";

	for (unsigned i = 0; i < runtime->bind_count && !hidden; i++)
		if (is_hidden(runtime->binds[i]))
			hidden = runtime->binds[i];
	return hidden ? refuse_runtime(config, runtime, setting, err,
				"%s: %s cannot be used in a jail, where programs have a folder of their own in this place: move it elsewhere",
				setting, hidden)
		      : 0;
}

/* Refuses settings of another kind of runtime. */
static int check_kind(
	const struct config *config, const struct config_runtime *runtime, struct err *err)
{
	bool is_python = runtime->kind == KIND_PYTHON;
	const struct {
		const char *setting, *kinds;
		bool is_wrong;
	} rows[] = {
		{ "args", "\"command\" or \"node\"", is_python && runtime->args[0] },
		{ "tools", "\"command\"", is_python && runtime->tools[0] },
		{ "preload", "\"python\"", !is_python && runtime->preload[0] },
		{ "processes", "\"python\"", !is_python && runtime->processes },
	};

	for (size_t i = 0; i < COUNT_OF(rows); i++)
		if (rows[i].is_wrong)
			return refuse_runtime(config, runtime, rows[i].setting, err,
				"%s is for kind = %s: remove it, or set kind", rows[i].setting,
				rows[i].kinds);
	return 0;
}

static bool is_bound(const struct config_runtime *runtime, const char *path)
{
	for (unsigned i = 0; i < runtime->bind_count; i++)
		if (!strcmp(runtime->binds[i], path))
			return true;
	return false;
}

/* Binds the folder of a venv: for FOLDER/bin/python with FOLDER/pyvenv.cfg, that is FOLDER. */
static void bind_venv(struct config_runtime *runtime)
{
	char folder[CONFIG_TEXT_MAX];
	char mark[CONFIG_TEXT_MAX + 16];

	cut_printf(folder, sizeof(folder), "%s", runtime->interpreter);
	for (unsigned i = 0; i < 2; i++) {
		char *slash = strrchr(folder, '/');

		if (!slash || slash == folder)
			return;
		*slash = '\0';
	}
	cut_printf(mark, sizeof(mark), "%s/pyvenv.cfg", folder);
	if (access(mark, F_OK) == 0 && runtime->bind_count < CONFIG_BINDS_MAX &&
		!is_bound(runtime, folder))
		cut_printf(runtime->binds[runtime->bind_count++], CONFIG_TEXT_MAX, "%s", folder);
}

static int finish_runtime(
	const struct config *config, struct config_runtime *runtime, struct err *err)
{
	if (!runtime->workers_max)
		runtime->workers_max = config->workers_max;
	if (!runtime->workers_min)
		runtime->workers_min = config->workers_min < runtime->workers_max
					       ? config->workers_min
					       : runtime->workers_max;
	if (runtime->workers_min > runtime->workers_max)
		return refuse_runtime(config, runtime, "workers_min", err,
			"workers_min is above workers_max: lower it, or raise workers_max");
	if (check_kind(config, runtime, err) < 0)
		return -1;
	if (runtime->kind == KIND_PYTHON) {
		bind_venv(runtime);
		if (!runtime->file[0])
			cut_printf(runtime->file, sizeof(runtime->file), "main.py");
	}
	return check_places(config, runtime, err);
}

int config_finish_runtimes(struct config *config, struct err *err)
{
	if (drop_off(config, err) < 0)
		return -1;
	for (unsigned i = 0; i < config->runtime_count; i++)
		if (finish_runtime(config, &config->runtimes[i], err) < 0)
			return -1;
	return 0;
}
