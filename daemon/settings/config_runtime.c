/* Runtimes: those that come with ced, and sections `runtime NAME { ... }` of the configuration. */
#include <string.h>
#include <unistd.h>

#include "daemon/runs/complaint.h"
#include "daemon/settings/config_parts.h"
#include "daemon/settings/profiles.h"
#include "proto/base/container.h"
#include "proto/jail_dirs.h"

cfg_opt_t config_runtime_options[] = {
	CONFIG_NUMBER_SECTIONS(),
	CFG_STR("kind", NULL, CFGF_NODEFAULT),
	CFG_STR("language", NULL, CFGF_NODEFAULT),
	CFG_STR("interpreter", NULL, CFGF_NODEFAULT),
	CFG_STR("file", NULL, CFGF_NODEFAULT),
	CFG_STR_LIST("args", NULL, CFGF_NODEFAULT),
	CFG_STR_LIST("tools", NULL, CFGF_NODEFAULT),
	CFG_STR_LIST("errors", NULL, CFGF_NODEFAULT),
	CFG_STR_LIST("preload", NULL, CFGF_NODEFAULT),
	CFG_STR_LIST("binds", NULL, CFGF_NODEFAULT),
	CFG_INT_CB("workers_min", 0, CFGF_NODEFAULT, config_on_number),
	CFG_INT_CB("workers_max", 0, CFGF_NODEFAULT, config_on_number),
	CFG_BOOL("processes", cfg_false, CFGF_NODEFAULT),
	CFG_BOOL("off", cfg_false, CFGF_NODEFAULT),
	CFG_END(),
};

/* ---- those that come with ced --------------------------------------------------------------- */

static const struct {
	enum config_kind kind;
	uint64_t workers_min, workers_max;
	const char *name, *interpreter, *file, *tools;
	const char *const forms[CONFIG_FORMS_MAX + 1];
} shipped[] = {
	{ KIND_COMMAND, 0, 0, "bash", "/usr/bin/bash", "main.sh", "coreutils",
		{ "(SyntaxError) %f: line %l: %Msyntax error",
			"(SyntaxError) %f: line %l: %Munexpected EOF", "%f: line %l: %m" } },
	/* Each of its workers is a process of 40 MB that took a tenth of a second of cpu to start. */
	{ KIND_NODE, 2, 8, "javascript", "/usr/bin/node", "main.js", "", { NULL } },
};

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
		cut_printf(runtime->tools, sizeof(runtime->tools), "%s", shipped[i].tools);
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

/* A word that the zygote will read among others (sandbox/runtimes/command/orders.h). */
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

/* Lists whose words are kept in one text, with spaces between them. */
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

static bool is_given(cfg_t *section, const char *name)
{
	const cfg_opt_t *option = cfg_getopt(section, name);

	return option && (option->flags & CFGF_MODIFIED);
}

static int take_words(struct config_runtime *runtime, cfg_t *section, const struct word_list *list,
	struct err *err)
{
	char *text = (char *)runtime + list->offset;
	size_t len = 0;

	if (is_given(section, list->name))
		text[0] = '\0'; /* also by an empty list */
	for (unsigned i = 0; i < cfg_size(section, list->name); i++) {
		const char *word = cfg_getnstr(section, list->name, i);

		if (!list->is_word(word))
			return err_set(err, ERR_INVALID, "%s: \"%s\" is no %s", list->name, word,
				list->what);
		if (len + strlen(word) + 2 > list->size)
			return err_set(err, ERR_INVALID, "%s: too many", list->name);
		cut_printf(text + len, list->size - len, "%s%s", len ? " " : "", word);
		len = strlen(text);
	}
	return 0;
}

static int take_forms(struct config_runtime *runtime, cfg_t *section, struct err *err)
{
	unsigned count = cfg_size(section, "errors");

	if (count > CONFIG_FORMS_MAX)
		return err_set(err, ERR_INVALID, "errors: more than %d", CONFIG_FORMS_MAX);
	for (unsigned i = 0; i < count; i++) {
		const char *form = cfg_getnstr(section, "errors", i);

		if (!complaint_is_form(form))
			return err_set(err, ERR_INVALID,
				"errors: \"%s\" is no form with %%l and some of %%f %%c %%m %%x %%M",
				form);
		if (config_take_text(
			    runtime->forms[i], sizeof(runtime->forms[i]), "errors", form, err) < 0)
			return -1;
	}
	if (is_given(section, "errors"))
		runtime->form_count = count;
	return 0;
}

static int take_kind(struct config_runtime *runtime, const char *word, struct err *err)
{
	static const char *const words[] = {
		[KIND_PYTHON] = "python", [KIND_COMMAND] = "command", [KIND_NODE] = "node"
	};

	for (size_t i = 0; i < COUNT_OF(words); i++)
		if (strcmp(word, words[i]) == 0) {
			runtime->kind = (enum config_kind)i;
			return 0;
		}
	return err_set(
		err, ERR_INVALID, "kind: \"python\", \"command\" or \"node\", not \"%s\"", word);
}

/* A name as programs have it: it becomes a file in /work. */
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

static int take_runtime_texts(struct config_runtime *runtime, cfg_t *section, struct err *err)
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

	for (size_t i = 0; i < COUNT_OF(rows); i++)
		if (cfg_size(section, rows[i].name) &&
			config_take_text(rows[i].text, rows[i].size, rows[i].name,
				cfg_getstr(section, rows[i].name), err) < 0)
			return -1;
	if (!runtime->interpreter[0])
		return err_set(err, ERR_INVALID, "interpreter is missing");
	if (runtime->file[0] && !is_file_name(runtime->file))
		return err_set(err, ERR_INVALID, "file: \"%s\" is no file name", runtime->file);
	if (cfg_size(section, "kind") && take_kind(runtime, cfg_getstr(section, "kind"), err) < 0)
		return -1;
	return 0;
}

static void take_runtime_numbers(struct config_runtime *runtime, cfg_t *section)
{
	if (cfg_size(section, "workers_min"))
		runtime->workers_min = (uint64_t)cfg_getint(section, "workers_min");
	if (cfg_size(section, "workers_max"))
		runtime->workers_max = (uint64_t)cfg_getint(section, "workers_max");
	if (cfg_size(section, "processes"))
		runtime->processes = cfg_getbool(section, "processes");
	if (cfg_size(section, "off"))
		runtime->off = cfg_getbool(section, "off");
}

static int take_runtime(struct config *config, cfg_t *section, struct err *err)
{
	struct config_runtime *runtime = runtime_named(config, cfg_title(section));
	unsigned binds = cfg_size(section, "binds");

	if (!runtime)
		return err_set(err, ERR_INVALID, "its name is too long, or there are too many");
	if (take_runtime_texts(runtime, section, err) < 0 || take_forms(runtime, section, err) < 0)
		return -1;
	take_runtime_numbers(runtime, section);
	if (binds > CONFIG_BINDS_MAX - runtime->bind_count)
		return err_set(err, ERR_INVALID, "binds: more than %u",
			CONFIG_BINDS_MAX - runtime->bind_count);
	for (unsigned i = 0; i < binds; i++)
		if (config_take_text(runtime->binds[runtime->bind_count++], CONFIG_TEXT_MAX,
			    "binds", cfg_getnstr(section, "binds", i), err) < 0)
			return -1;
	for (size_t i = 0; i < COUNT_OF(word_lists); i++)
		if (take_words(runtime, section, &word_lists[i], err) < 0)
			return -1;
	return 0;
}

int config_take_runtimes(struct config *config, cfg_t *cfg, struct err *err)
{
	for (unsigned i = 0; i < cfg_size(cfg, "runtime"); i++) {
		cfg_t *section = cfg_getnsec(cfg, "runtime", i);

		if (take_runtime(config, section, err) < 0)
			return err_wrap(err, "runtime %s", cfg_title(section));
	}
	return 0;
}

/* ---- when all is read ----------------------------------------------------------------------- */

/* Those that are switched off are as if they were not there. */
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
	return kept ? 0 : err_set(err, ERR_INVALID, "every runtime is off");
}

/* A jail's own folders are put on top of whatever the host has there. */
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

static int check_places(const struct config_runtime *runtime, struct err *err)
{
	const char *hidden = is_hidden(runtime->interpreter) ? runtime->interpreter : NULL;

	for (unsigned i = 0; i < runtime->bind_count && !hidden; i++)
		if (is_hidden(runtime->binds[i]))
			hidden = runtime->binds[i];
	if (!hidden)
		return 0;
	return err_set(err, ERR_INVALID,
		"runtime %s: %s: programs have a folder of their own in this place", runtime->name,
		hidden);
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
		return err_set(err, ERR_INVALID, "runtime %s: workers_min is above workers_max",
			runtime->name);
	if (runtime->kind == KIND_PYTHON ? runtime->args[0] || runtime->tools[0]
					 : runtime->preload[0])
		return err_set(err, ERR_INVALID,
			"runtime %s: preload is for kind python, args and tools for kind command",
			runtime->name);
	if (runtime->kind != KIND_PYTHON && runtime->processes)
		return err_set(err, ERR_INVALID, "runtime %s: processes is for kind python",
			runtime->name);
	if (runtime->kind == KIND_PYTHON)
		profile_finish(runtime);
	return check_places(runtime, err);
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
