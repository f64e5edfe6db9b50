/* Runtimes: those that ced ships, and sections `runtime NAME { ... }` of the configuration. */
#include <string.h>
#include <unistd.h>

#include "daemon/settings/complaint.h"
#include "daemon/settings/config_parts.h"
#include "daemon/settings/profiles.h"
#include "proto/base/nearest.h"
#include "proto/jail_dirs.h"

/* ---- shipped runtimes ----------------------------------------------------------------------- */

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

static bool is_module(const char *text)
{
	return *text &&
	       strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.") ==
		       strlen(text);
}

/* A word in the zygote's list of words (sandbox/runtimes/command/orders.h). */
static bool is_argument(const char *text)
{
	return *text && text[strlen(text) - 1] != ':' &&
	       strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
			    "_.-+:=,/[") == strlen(text);
}

static bool is_tool(const char *text)
{
	return is_argument(text) && !strchr(text, '/');
}

/* Lists that are stored as one text, with spaces between the words. */
static const struct word_list {
	const char *name;
	size_t offset, size; /* in struct config_runtime */
	bool (*is_word)(const char *text);
	const char *what;
} word_lists[] = {
#define WORDS(name, is_word, what)                                                   \
	{                                                                            \
#name, offsetof(struct config_runtime, name),                        \
			sizeof(((struct config_runtime *)NULL)->name), is_word, what \
	}
	WORDS(preload, is_module, "module"),
	WORDS(args, is_argument, "argument that can be given"),
	WORDS(tools, is_tool, "name of a program"),
#undef WORDS
};

static int take_words(struct config_runtime *runtime, const struct config_item *item,
	const struct word_list *list, struct err *err)
{
	char *text = (char *)runtime + list->offset;
	size_t len = 0;

	text[0] = '\0'; /* an empty list clears it too */
	for (const struct config_value *value = item->values; value; value = value->next) {
		if (!list->is_word(value->text))
			return err_set(err, ERR_INVALID, "line %u: %s: \"%s\" is no %s",
				value->line, list->name, value->text, list->what);
		if (len + strlen(value->text) + 2 > list->size)
			return err_set(err, ERR_INVALID,
				"line %u: %s: the list is longer than %zu bytes with \"%s\"",
				value->line, list->name, list->size, value->text);
		cut_printf(text + len, list->size - len, "%s%s", len ? " " : "", value->text);
		len = strlen(text);
	}
	return 0;
}

static int take_forms(
	struct config_runtime *runtime, const struct config_item *section, struct err *err)
{
	const struct config_item *item = config_find(section, "errors");
	unsigned count = 0;

	if (!item)
		return 0;
	if (item->value_count > CONFIG_FORMS_MAX)
		return config_fault(err, item, "errors: there are %u, and at most %d are allowed",
			item->value_count, CONFIG_FORMS_MAX);
	for (const struct config_value *value = item->values; value; value = value->next) {
		if (!complaint_is_form(value->text))
			return err_set(err, ERR_INVALID,
				"line %u: errors: \"%s\" is no form with %%l and some of %%f %%c %%m %%x %%M",
				value->line, value->text);
		if (config_take_text(runtime->forms[count++], sizeof(runtime->forms[0]), item,
			    value->text, err) < 0)
			return -1;
	}
	runtime->form_count = count;
	return 0;
}

static int take_kind(
	struct config_runtime *runtime, const struct config_item *item, struct err *err)
{
	static const char *const words[] = {
		[KIND_PYTHON] = "python", [KIND_COMMAND] = "command", [KIND_NODE] = "node"
	};
	struct nearest nearest = NEAREST_OF(item->values->text);

	for (size_t i = 0; i < COUNT_OF(words); i++) {
		if (strcmp(nearest.word, words[i]) == 0) {
			runtime->kind = (enum config_kind)i;
			return 0;
		}
		nearest_offer(&nearest, words[i]);
	}
	return config_fault(err, item, "kind = \"%s\": write \"python\", \"command\" or \"node\"%s",
		nearest.word, nearest_hint(&nearest));
}

/* Whether a text can be a program's file name in /work. */
static bool is_file_name(const char *text)
{
	return *text && *text != '.' && *text != '-' && !strpbrk(text, "/ ");
}

static struct config_runtime *runtime_named(struct config *config, const char *name)
{
	for (unsigned i = 0; i < config->runtime_count; i++)
		if (!strcmp(config->runtimes[i].name, name))
			return &config->runtimes[i];
	if (config->runtime_count == CONFIG_RUNTIMES_MAX || strlen(name) >= 32)
		return NULL;
	if (!profile_fill(&config->runtimes[config->runtime_count], name))
		cut_printf(config->runtimes[config->runtime_count].name, 32, "%s", name);
	return &config->runtimes[config->runtime_count++];
}

static int check_runtime_texts(
	const struct config_runtime *runtime, const struct config_item *section, struct err *err)
{
	const struct config_item *file = config_find(section, "file");

	if (!runtime->interpreter[0])
		return config_fault(err, section,
			"runtime %s has no interpreter: write interpreter = \"/usr/bin/...\" into it",
			section->title);
	if (runtime->interpreter[0] != '/')
		return config_fault(err, config_find(section, "interpreter"),
			"interpreter = \"%s\" is no absolute path: begin it with /",
			runtime->interpreter);
	if (file && runtime->file[0] && !is_file_name(runtime->file))
		return config_fault(err, file,
			"file = \"%s\" is no plain file name, such as \"main.pl\"", runtime->file);
	return 0;
}

static int take_runtime_texts(
	struct config_runtime *runtime, const struct config_item *section, struct err *err)
{
	const struct {
		const char *name;
		char *text;
		size_t size;
	} rows[] = {
		{ "interpreter", runtime->interpreter, sizeof(runtime->interpreter) },
		{ "language", runtime->language, sizeof(runtime->language) },
		{ "file", runtime->file, sizeof(runtime->file) },
	};
	const struct config_item *kind = config_find(section, "kind");

	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		const struct config_item *item = config_find(section, rows[i].name);

		if (item && config_take_text(
				    rows[i].text, rows[i].size, item, item->values->text, err) < 0)
			return -1;
	}
	if (check_runtime_texts(runtime, section, err) < 0)
		return -1;
	return kind ? take_kind(runtime, kind, err) : 0;
}

static void take_runtime_numbers(struct config_runtime *runtime, const struct config_item *section)
{
	const struct config_item *least = config_find(section, "workers_min");
	const struct config_item *most = config_find(section, "workers_max");
	const struct config_item *processes = config_find(section, "processes");
	const struct config_item *off = config_find(section, "off");

	if (least)
		runtime->workers_min = least->number;
	if (most)
		runtime->workers_max = most->number;
	if (processes)
		runtime->processes = processes->number != 0;
	if (off)
		runtime->off = off->number != 0;
}

static int take_binds(
	struct config_runtime *runtime, const struct config_item *section, struct err *err)
{
	const struct config_item *item = config_find(section, "binds");

	if (!item)
		return 0;
	if (item->value_count > CONFIG_BINDS_MAX - runtime->bind_count)
		return config_fault(err, item,
			"binds: there are %u, and at most %u are allowed here", item->value_count,
			CONFIG_BINDS_MAX - runtime->bind_count);
	for (const struct config_value *value = item->values; value; value = value->next)
		if (config_take_text(runtime->binds[runtime->bind_count++], CONFIG_TEXT_MAX, item,
			    value->text, err) < 0)
			return -1;
	return 0;
}

static int take_runtime(struct config *config, const struct config_item *section, struct err *err)
{
	struct config_runtime *runtime = runtime_named(config, section->title);

	if (strspn(section->title, "abcdefghijklmnopqrstuvwxyz0123456789-") !=
		strlen(section->title))
		return config_fault(err, section,
			"runtime %s: its name may have small letters, digits and - only",
			section->title);
	if (!runtime)
		return config_fault(err, section,
			"runtime %s: its name has more than 31 letters, or there are more than %d runtimes",
			section->title, CONFIG_RUNTIMES_MAX);
	if (take_runtime_texts(runtime, section, err) < 0 || take_forms(runtime, section, err) < 0)
		return -1;
	take_runtime_numbers(runtime, section);
	if (take_binds(runtime, section, err) < 0)
		return -1;
	for (size_t i = 0; i < COUNT_OF(word_lists); i++) {
		const struct config_item *item = config_find(section, word_lists[i].name);

		if (item && take_words(runtime, item, &word_lists[i], err) < 0)
			return -1;
	}
	return 0;
}

int config_take_runtimes(struct config *config, const struct config_item *whole, struct err *err)
{
	const struct config_item *section = NULL;

	while ((section = config_next(whole, section, "runtime")))
		if (take_runtime(config, section, err) < 0)
			return -1;
	return 0;
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
		    : config_refuse(config, err, "",
			      "every runtime is off: remove `off = true` from one of them");
}

/* Whether a jail mounts one of its own folders over this path of the host. */
static bool is_hidden(const char *path)
{
	static const char *const own[] = { JAIL_WORK_DIR, JAIL_TMP_DIR, JAIL_HARNESS_DIR, "/dev" };

	for (size_t i = 0; i < COUNT_OF(own); i++) {
		size_t len = strlen(own[i]);

		if (!strncmp(path, own[i], len) && (path[len] == '/' || !path[len]))
			return true;
	}
	return false;
}

/* Refuses a setting of this runtime. */
static int refuse_runtime(const struct config *config, const struct config_runtime *runtime,
	const char *setting, struct err *err, const char *what)
{
	char key[CONFIG_KEY_MAX];

	cut_printf(
		key, sizeof(key), "runtime.%s%s%s", runtime->name, setting[0] ? "." : "", setting);
	return config_refuse(config, err, key, "runtime %s: %s", runtime->name, what);
}

static int check_places(
	const struct config *config, const struct config_runtime *runtime, struct err *err)
{
	const char *hidden = is_hidden(runtime->interpreter) ? runtime->interpreter : NULL;
	const char *setting = hidden ? "interpreter" : "binds";
	char what[ERR_TEXT_MAX];

	for (unsigned i = 0; i < runtime->bind_count && !hidden; i++)
		if (is_hidden(runtime->binds[i]))
			hidden = runtime->binds[i];
	if (!hidden)
		return 0;
	cut_printf(what, sizeof(what),
		"%s: %s cannot be used in a jail, where programs have a folder of their own in this place: move it elsewhere",
		setting, hidden);
	return refuse_runtime(config, runtime, setting, err, what);
}

static int check_kind(
	const struct config *config, const struct config_runtime *runtime, struct err *err)
{
	bool is_python = runtime->kind == KIND_PYTHON;

	if (is_python && runtime->args[0])
		return refuse_runtime(config, runtime, "args", err,
			"args is for kind = \"command\" or \"node\": remove it, or set kind");
	if (is_python && runtime->tools[0])
		return refuse_runtime(config, runtime, "tools", err,
			"tools is for kind = \"command\": remove it, or set kind");
	if (!is_python && runtime->preload[0])
		return refuse_runtime(config, runtime, "preload", err,
			"preload is for kind = \"python\": remove it, or set kind");
	if (!is_python && runtime->processes)
		return refuse_runtime(config, runtime, "processes", err,
			"processes is for kind = \"python\": remove it, or set kind");
	return 0;
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
	if (runtime->kind == KIND_PYTHON)
		profile_finish(runtime);
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
