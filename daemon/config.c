#include "daemon/config.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <string.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#include "daemon/complaint.h"
#include "daemon/config_parts.h"
#include "daemon/profiles.h"
#include "proto/base/cleanup.h"
#include "proto/base/container.h"
#include "proto/base/fdio.h"

#define CONFIG_FILE_BYTES_MAX ((size_t)256 << 10)

struct number_rule {
	const char *name;
	size_t offset; /* in struct config */
	uint64_t otherwise, lowest, highest;
	const char *meaning;
};

struct text_rule {
	const char *name;
	size_t offset;
	const char *otherwise, *meaning;
};

#define ROW(name, otherwise, lowest, highest, meaning) \
	{ #name, offsetof(struct config, name), otherwise, lowest, highest, meaning },
static const struct number_rule numbers[] = { CONFIG_NUMBERS(ROW) };
#undef ROW

#define ROW(name, otherwise, ceiling, lowest, highest, meaning) \
	{ #name, offsetof(struct config, limits.name), otherwise, lowest, highest, meaning },
static const struct number_rule limits[] = { CONFIG_LIMITS(ROW) };
#undef ROW

#define ROW(name, otherwise, ceiling, lowest, highest, meaning) \
	{ #name, offsetof(struct config, most.name), ceiling, lowest, highest, meaning },
static const struct number_rule most[] = { CONFIG_LIMITS(ROW) };
#undef ROW

#define ROW(name, uid, agent, task, highest, meaning) \
	{ #name, offsetof(struct budget_limits, name), 0, 0, highest, meaning },
static const struct number_rule spending[] = { CONFIG_BUDGETS(ROW) };
#undef ROW

static const char *const budget_sections[BUDGET_SCOPE_COUNT] = {
	[BUDGET_UID] = "budget_uid", [BUDGET_AGENT] = "budget_agent", [BUDGET_TASK] = "budget_task"
};

static const struct budget_limits budgets_otherwise[BUDGET_SCOPE_COUNT] = {
#define OF_UID(name, uid, agent, task, highest, meaning)   uid,
#define OF_AGENT(name, uid, agent, task, highest, meaning) agent,
#define OF_TASK(name, uid, agent, task, highest, meaning)  task,
	[BUDGET_UID] = { CONFIG_BUDGETS(OF_UID) },
	[BUDGET_AGENT] = { CONFIG_BUDGETS(OF_AGENT) },
	[BUDGET_TASK] = { CONFIG_BUDGETS(OF_TASK) },
#undef OF_UID
#undef OF_AGENT
#undef OF_TASK
};

#define ROW(name, otherwise, meaning) { #name, offsetof(struct config, name), otherwise, meaning },
static const struct text_rule texts[] = { CONFIG_TEXTS(ROW) };
#undef ROW

static uint64_t *number_at(struct config *config, const struct number_rule *rule)
{
	return (uint64_t *)(void *)((char *)config + rule->offset);
}

static char *text_at(struct config *config, size_t offset)
{
	return (char *)config + offset;
}

void config_init(struct config *config)
{
	memset(config, 0, sizeof(*config));
	for (size_t i = 0; i < COUNT_OF(numbers); i++)
		*number_at(config, &numbers[i]) = numbers[i].otherwise;
	for (size_t i = 0; i < COUNT_OF(limits); i++) {
		*number_at(config, &limits[i]) = limits[i].otherwise;
		*number_at(config, &most[i]) = most[i].otherwise;
	}
	for (size_t i = 0; i < COUNT_OF(texts); i++)
		cut_printf(text_at(config, texts[i].offset), CONFIG_TEXT_MAX, "%s",
			texts[i].otherwise);
	memcpy(config->budgets, budgets_otherwise, sizeof(config->budgets));
	config->runtime_count = 1;
	(void)profile_fill(&config->runtimes[0], "python");
}

/* ---- runtimes that come with ced ------------------------------------------------------------ */

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

static const struct number_rule *find_number(
	const struct number_rule *rules, size_t count, const char *name)
{
	for (size_t i = 0; i < count; i++)
		if (!strcmp(rules[i].name, name))
			return &rules[i];
	return NULL;
}

/* Which table a section's numbers stand in. */
static const struct number_rule *rule_of(const char *section, const char *name)
{
	if (!strcmp(section, "limits"))
		return find_number(limits, COUNT_OF(limits), name);
	if (!strcmp(section, "most"))
		return find_number(most, COUNT_OF(most), name);
	for (unsigned i = 0; i < BUDGET_SCOPE_COUNT; i++)
		if (!strcmp(section, budget_sections[i]))
			return find_number(spending, COUNT_OF(spending), name);
	return find_number(numbers, COUNT_OF(numbers), name);
}

/* ---- numbers with units ---------------------------------------------------------------------- */

static const struct {
	const char *suffix;
	uint64_t factor;
	bool is_time; /* in milliseconds */
} units[] = {
	{ "ms", 1, true },
	{ "s", 1000, true },
	{ "min", 60000, true },
	{ "h", 3600000, true },
	{ "kb", UINT64_C(1) << 10, false },
	{ "mb", UINT64_C(1) << 20, false },
	{ "gb", UINT64_C(1) << 30, false },
};

static bool ends_with(const char *text, const char *end)
{
	size_t len = strlen(text);
	size_t end_len = strlen(end);

	return len > end_len && !strcmp(text + len - end_len, end);
}

/* Digits, and a unit that suits the setting: times for ..._ms, sizes for everything else. */
static int read_number(const char *name, const char *text, uint64_t *ret_number)
{
	bool is_time = ends_with(name, "_ms");
	uint64_t factor = 1;
	char *end = NULL;

	if (*text < '0' || *text > '9')
		return -1;
	errno = 0;
	*ret_number = strtoull(text, &end, 10);
	if (errno)
		return -1;
	if (*end) {
		factor = 0;
		for (size_t i = 0; i < COUNT_OF(units); i++)
			if (!strcmp(units[i].suffix, end) && units[i].is_time == is_time)
				factor = units[i].factor;
	}
	return !factor || __builtin_mul_overflow(*ret_number, factor, ret_number) ? -1 : 0;
}

/* Called by libconfuse for each number that it reads. */
int config_on_number(cfg_t *section, cfg_opt_t *option, const char *text, void *ret)
{
	const struct number_rule *rule = rule_of(cfg_name(section), option->name);
	struct number_rule own = { .name = option->name };
	uint64_t number = 0;

	if (!strcmp(cfg_name(section), "alert") &&
		config_alert_bounds(option->name, &own.lowest, &own.highest))
		rule = &own;
	if (!rule || read_number(rule->name, text, &number) < 0) {
		cfg_error(section, "%s: \"%s\" is not a number (%s)", option->name, text,
			ends_with(option->name, "_ms") ? "or a time such as 5s"
						       : "or a size such as 64mb");
		return -1;
	}
	if (number < rule->lowest || number > rule->highest) {
		cfg_error(section, "%s: %" PRIu64 " is outside %" PRIu64 " to %" PRIu64, rule->name,
			number, rule->lowest, rule->highest);
		return -1;
	}
	*(long *)ret = (long)number;
	return 0;
}

/* ---- the file -------------------------------------------------------------------------------- */

#define LIMIT_OPTION(name, otherwise, ceiling, lowest, highest, meaning) \
	CFG_INT_CB(#name, 0, CFGF_NODEFAULT, config_on_number),
#define NUMBER_OPTION(name, otherwise, lowest, highest, meaning) \
	CFG_INT_CB(#name, 0, CFGF_NODEFAULT, config_on_number),
#define TEXT_OPTION(name, otherwise, meaning) CFG_STR(#name, NULL, CFGF_NODEFAULT),

static cfg_opt_t limit_options[] = { CONFIG_LIMITS(LIMIT_OPTION) CFG_END() };

#define BUDGET_OPTION(name, uid, agent, task, highest, meaning) \
	CFG_INT_CB(#name, 0, CFGF_NODEFAULT, config_on_number),
static cfg_opt_t budget_options[] = { CONFIG_BUDGETS(BUDGET_OPTION) CFG_END() };

#define BUDGET_SECTIONS()                                           \
	CFG_SEC("budget_uid", budget_options, CFGF_NONE),           \
		CFG_SEC("budget_agent", budget_options, CFGF_NONE), \
		CFG_SEC("budget_task", budget_options, CFGF_NONE)

static cfg_opt_t allowance_options[] = {
	BUDGET_SECTIONS(),
	CFG_SEC("limits", limit_options, CFGF_NONE),
	CFG_SEC("most", limit_options, CFGF_NONE),
	CFG_END(),
};

static cfg_opt_t runtime_options[] = {
	BUDGET_SECTIONS(),
	CFG_SEC("limits", limit_options, CFGF_NONE),
	CFG_SEC("most", limit_options, CFGF_NONE),
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

static cfg_opt_t options[] = {
	CONFIG_NUMBERS(NUMBER_OPTION) CONFIG_TEXTS(TEXT_OPTION)
		CFG_STR_LIST("users", NULL, CFGF_NODEFAULT),
	CFG_STR_LIST("user_groups", NULL, CFGF_NODEFAULT),
	CFG_STR_LIST("approvers", NULL, CFGF_NODEFAULT),
	CFG_STR_LIST("approver_groups", NULL, CFGF_NODEFAULT),
	CFG_STR_LIST("admins", NULL, CFGF_NODEFAULT),
	CFG_STR_LIST("admin_groups", NULL, CFGF_NODEFAULT),
	CFG_STR_LIST("require", NULL, CFGF_NODEFAULT),
	BUDGET_SECTIONS(),
	CFG_SEC("limits", limit_options, CFGF_NONE),
	CFG_SEC("most", limit_options, CFGF_NONE),
	CFG_SEC("runtime", runtime_options, CFGF_TITLE | CFGF_MULTI),
	CFG_SEC("alert", config_alert_options, CFGF_TITLE | CFGF_MULTI),
	CFG_SEC("for_policy", allowance_options, CFGF_TITLE | CFGF_MULTI),
	CFG_SEC("for_uid", allowance_options, CFGF_TITLE | CFGF_MULTI),
	CFG_SEC("for_gid", allowance_options, CFGF_TITLE | CFGF_MULTI),
	CFG_END(),
};

/* libconfuse reports through a function without a context: the parse under way is kept here. */
static __thread struct err *parse_err;

static void on_error(cfg_t *cfg, const char *format, va_list args)
	__attribute__((format(printf, 2, 0)));

static void on_error(cfg_t *cfg, const char *format, va_list args)
{
	char text[ERR_TEXT_MAX];

	if (!parse_err || parse_err->code != ERR_NONE)
		return; /* the first complaint is the cause */
	cut_vprintf(text, sizeof(text), format, args);
	(void)err_set(parse_err, ERR_INVALID, "line %d: %s", cfg ? cfg->line : 0, text);
}

static void take_numbers(
	struct config *config, cfg_t *section, const struct number_rule *rules, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (cfg_size(section, rules[i].name))
			*number_at(config, &rules[i]) =
				(uint64_t)cfg_getint(section, rules[i].name);
}

int config_take_text(char *text, size_t size, const char *name, const char *given, struct err *err)
{
	if (strlen(given) >= size)
		return err_set(err, ERR_INVALID, "%s: longer than %zu bytes", name, size - 1);
	cut_printf(text, size, "%s", given);
	return 0;
}

static int take_texts(struct config *config, cfg_t *cfg, struct err *err)
{
	for (size_t i = 0; i < COUNT_OF(texts); i++)
		if (cfg_size(cfg, texts[i].name) &&
			config_take_text(text_at(config, texts[i].offset), CONFIG_TEXT_MAX,
				texts[i].name, cfg_getstr(cfg, texts[i].name), err) < 0)
			return -1;
	return 0;
}

static const struct {
	const char *name;
	enum role role;
	bool is_group;
} role_lists[] = {
	{ "users", ROLE_USER, false },
	{ "user_groups", ROLE_USER, true },
	{ "approvers", ROLE_APPROVER, false },
	{ "approver_groups", ROLE_APPROVER, true },
	{ "admins", ROLE_ADMIN, false },
	{ "admin_groups", ROLE_ADMIN, true },
};

static int take_roles(struct roles *roles, cfg_t *cfg, struct err *err)
{
	for (size_t i = 0; i < COUNT_OF(role_lists); i++) {
		const char *name = role_lists[i].name;
		struct role_list *list = role_lists[i].is_group ? &roles->groups[role_lists[i].role]
								: &roles->users[role_lists[i].role];

		for (unsigned k = 0; k < cfg_size(cfg, name); k++)
			if (roles_name(list, role_lists[i].is_group, cfg_getnstr(cfg, name, k),
				    err) < 0)
				return err_wrap(err, "%s", name);
	}
	return 0;
}

/* A list that is there takes the place of the default, an empty one too. */
static int take_require(struct config *config, cfg_t *cfg, struct err *err)
{
	cfg_opt_t *option = cfg_getopt(cfg, "require");

	config->layers.named = config->layers.named || (option->flags & CFGF_MODIFIED) != 0;
	for (unsigned i = 0; i < cfg_size(cfg, "require"); i++) {
		const char *word = cfg_getnstr(cfg, "require", i);
		int layer = layer_named(word);

		if (layer < 0)
			return err_set(err, ERR_INVALID, "require: there is no layer \"%s\"", word);
		config->layers.require |= 1U << layer;
	}
	return 0;
}

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

/* ---- numbers of their own for some runs ------------------------------------------------------ */

static const char *const for_words[FOR_COUNT] = {
	[FOR_RUNTIME] = "runtime",
	[FOR_POLICY] = "policy",
	[FOR_UID] = "uid",
	[FOR_GID] = "gid",
};

static const char *const for_sections[FOR_COUNT] = {
	[FOR_RUNTIME] = "runtime",
	[FOR_POLICY] = "for_policy",
	[FOR_UID] = "for_uid",
	[FOR_GID] = "for_gid",
};

const char *config_for_word(enum config_for whom)
{
	return for_words[whom];
}

/* The limit of `limits` that a rule of the general ones is about. */
static uint64_t *limit_at(struct job_limits *limits_of_some, size_t base, size_t offset)
{
	return (uint64_t *)(void *)((char *)limits_of_some + (offset - base));
}

/* How many of them are set. */
static unsigned take_some(struct job_limits *some, cfg_t *section, const struct number_rule *rules,
	size_t count, size_t base)
{
	unsigned set = 0;

	for (size_t i = 0; i < count; i++) {
		uint64_t *limit = limit_at(some, base, rules[i].offset);
		bool is_set = cfg_size(section, rules[i].name) > 0;

		*limit = is_set ? (uint64_t)cfg_getint(section, rules[i].name) : CONFIG_LIMIT_UNSET;
		set += is_set;
	}
	return set;
}

static uint64_t limit_within(const struct job_limits *of, size_t offset)
{
	return *(const uint64_t *)(const void *)((const char *)of + offset);
}

static int check_some(const struct config_allowance *allowance, struct err *err)
{
#define OFFSET(name, meaning) { #name, offsetof(struct job_limits, name) },
	static const struct {
		const char *name;
		size_t offset;
	} all[] = { JOB_LIMITS(OFFSET) };
#undef OFFSET

	for (size_t i = 0; i < COUNT_OF(all); i++) {
		uint64_t limit = limit_within(&allowance->limits, all[i].offset);

		if (limit != CONFIG_LIMIT_UNSET &&
			limit > limit_within(&allowance->most, all[i].offset))
			return err_set(err, ERR_INVALID, "limits.%s is above most.%s", all[i].name,
				all[i].name);
	}
	return 0;
}

/* What is not written stays as `budgets` has it.  How many were written. */
static unsigned take_budgets(struct budget_limits *budgets, cfg_t *cfg)
{
	unsigned set = 0;

	for (unsigned scope = 0; scope < BUDGET_SCOPE_COUNT; scope++) {
		cfg_t *section = cfg_getsec(cfg, budget_sections[scope]);

		for (size_t i = 0; i < COUNT_OF(spending); i++) {
			if (!cfg_size(section, spending[i].name))
				continue;
			*(uint64_t *)(void *)((char *)&budgets[scope] + spending[i].offset) =
				(uint64_t)cfg_getint(section, spending[i].name);
			set++;
		}
	}
	return set;
}

static int take_id(struct config_allowance *allowance, struct err *err)
{
	uint64_t id = 0;

	if (allowance->whom != FOR_UID && allowance->whom != FOR_GID)
		return 0;
	if (read_number("id", allowance->name, &id) < 0 || id >= UINT32_MAX)
		return err_set(err, ERR_INVALID, "\"%s\" is no number of a user or group",
			allowance->name);
	allowance->id = (uint32_t)id;
	return 0;
}

static int take_allowance(
	struct config *config, enum config_for whom, cfg_t *section, struct err *err)
{
	struct config_allowance *allowance = &config->allowances[config->allowance_count];
	unsigned set;

	if (config->allowance_count == CONFIG_ALLOWANCES_MAX)
		return err_set(err, ERR_INVALID, "more than %d of them", CONFIG_ALLOWANCES_MAX);
	allowance->whom = whom;
	if (config_take_text(
		    allowance->name, sizeof(allowance->name), "name", cfg_title(section), err) < 0)
		return -1;
	set = take_some(&allowance->limits, cfg_getsec(section, "limits"), limits, COUNT_OF(limits),
		offsetof(struct config, limits));
	set += take_some(&allowance->most, cfg_getsec(section, "most"), most, COUNT_OF(most),
		offsetof(struct config, most));
	memset(allowance->budgets, 0xff, sizeof(allowance->budgets)); /* CONFIG_LIMIT_UNSET */
	set += take_budgets(allowance->budgets, section);
	config->allowance_count += set > 0;
	return take_id(allowance, err) < 0 ? -1 : check_some(allowance, err);
}

static int take_allowances(struct config *config, cfg_t *cfg, struct err *err)
{
	for (unsigned whom = 0; whom < FOR_COUNT; whom++)
		for (unsigned i = 0; i < cfg_size(cfg, for_sections[whom]); i++) {
			cfg_t *section = cfg_getnsec(cfg, for_sections[whom], i);

			if (take_allowance(config, (enum config_for)whom, section, err) < 0)
				return err_wrap(
					err, "%s %s", for_sections[whom], cfg_title(section));
		}
	return 0;
}

static int take_all(struct config *config, cfg_t *cfg, struct err *err)
{
	take_numbers(config, cfg, numbers, COUNT_OF(numbers));
	take_numbers(config, cfg_getsec(cfg, "limits"), limits, COUNT_OF(limits));
	take_numbers(config, cfg_getsec(cfg, "most"), most, COUNT_OF(most));
	(void)take_budgets(config->budgets, cfg);
	if (take_texts(config, cfg, err) < 0 || take_roles(&config->roles, cfg, err) < 0 ||
		take_require(config, cfg, err) < 0)
		return -1;
	for (unsigned i = 0; i < cfg_size(cfg, "runtime"); i++) {
		cfg_t *section = cfg_getnsec(cfg, "runtime", i);

		if (take_runtime(config, section, err) < 0)
			return err_wrap(err, "runtime %s", cfg_title(section));
	}
	if (config_take_alerts(config, cfg, err) < 0)
		return -1;
	return take_allowances(config, cfg, err);
}

int config_parse(struct config *config, const char *text, struct err *err)
{
	cfg_t *cfg = cfg_init(options, CFGF_NONE);
	struct err first = ERR_INIT;
	int result;

	if (!cfg)
		return err_set(err, ERR_MEMORY, "no memory for the configuration");
	cfg_set_error_function(cfg, on_error);
	parse_err = &first;
	result = cfg_parse_buf(cfg, text) == CFG_SUCCESS ? 0 : -1;
	parse_err = NULL;
	if (result < 0)
		(void)err_set(err, ERR_INVALID, "%s", first.text[0] ? first.text : "not readable");
	else
		result = take_all(config, cfg, err);
	cfg_free(cfg);
	return result;
}

int config_load(struct config *config, const char *path, struct err *err)
{
	auto_free char *text = NULL;
	size_t len = 0;

	if (read_file(path, CONFIG_FILE_BYTES_MAX, &text, &len, err) < 0)
		return err_wrap(err, "configuration");
	if (strlen(text) != len)
		return err_set(err, ERR_INVALID, "configuration %s: a NUL byte in it", path);
	if (config_parse(config, text, err) < 0)
		return err_wrap(err, "configuration %s", path);
	return 0;
}

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
	static const char *const own[] = { "/work", "/tmp", "/ced", "/dev" };

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

static int finish_runtimes(struct config *config, struct err *err)
{
	if (drop_off(config, err) < 0)
		return -1;
	for (unsigned i = 0; i < config->runtime_count; i++)
		if (finish_runtime(config, &config->runtimes[i], err) < 0)
			return -1;
	return 0;
}

static uint64_t at_most(uint64_t number, uint64_t ceiling)
{
	return number < ceiling ? number : ceiling;
}

/* Permission bits as chmod(1) takes them; nothing else is guessed at. */
static bool is_mode(const char *text)
{
	size_t len = strlen(text);

	return len >= 3 && len <= 4 && strspn(text, "01234567") == len &&
	       (len == 3 || *text == '0');
}

int config_finish(struct config *config, struct err *err)
{
	uint64_t processors = (uint64_t)get_nprocs();

	if (!config->workers_min)
		config->workers_min = at_most(processors * 2, 16);
	if (!config->workers_max)
		config->workers_max = at_most(processors * 4, 64);
	if (config->workers_min > config->workers_max)
		return err_set(err, ERR_INVALID, "workers_min is above workers_max");
	if (finish_runtimes(config, err) < 0)
		return -1;
	if (config->held_bytes_per_uid < 4 * config->message_bytes ||
		config->held_bytes < config->held_bytes_per_uid)
		return err_set(err, ERR_INVALID,
			"held_bytes_per_uid: at least four times message_bytes, and at most held_bytes");
	for (size_t i = 0; i < COUNT_OF(limits); i++)
		if (*number_at(config, &limits[i]) > *number_at(config, &most[i]))
			return err_set(err, ERR_INVALID, "limits.%s is above most.%s",
				limits[i].name, most[i].name);
	if (!is_mode(config->socket_mode))
		return err_set(err, ERR_INVALID,
			"socket_mode: permission bits such as \"0660\", not \"%s\"",
			config->socket_mode);
	if (strcmp(config->rollback, "alarm") != 0 && strcmp(config->rollback, "refuse") != 0)
		return err_set(err, ERR_INVALID, "rollback: \"alarm\" or \"refuse\", not \"%s\"",
			config->rollback);
	if (strcmp(config->cgroups, "required") != 0 && strcmp(config->cgroups, "auto") != 0)
		return err_set(err, ERR_INVALID, "cgroups: \"required\" or \"auto\", not \"%s\"",
			config->cgroups);
	config->layers.cgroups = strcmp(config->cgroups, "required") == 0;
	return 0;
}

static void print_numbers(
	FILE *out, const char *prefix, const struct number_rule *rules, size_t count)
{
	for (size_t i = 0; i < count; i++)
		fprintf(out, "%s%-24s %" PRIu64 "  (%" PRIu64 " to %" PRIu64 ")  %s\n", prefix,
			rules[i].name, rules[i].otherwise, rules[i].lowest, rules[i].highest,
			rules[i].meaning);
}

void config_print_settings(FILE *out)
{
	print_numbers(out, "", numbers, COUNT_OF(numbers));
	for (size_t i = 0; i < COUNT_OF(texts); i++)
		fprintf(out, "%-24s \"%s\"  %s\n", texts[i].name, texts[i].otherwise,
			texts[i].meaning);
	print_numbers(out, "limits.", limits, COUNT_OF(limits));
	print_numbers(out, "most.", most, COUNT_OF(most));
}

static void print_values(FILE *out, const char *prefix, const struct config *config,
	const struct number_rule *rules, size_t count)
{
	for (size_t i = 0; i < count; i++)
		fprintf(out, "%s%s=%" PRIu64 "\n", prefix, rules[i].name,
			*number_at((struct config *)(uintptr_t)config, &rules[i]));
}

static void print_some(FILE *out, const struct config_allowance *allowance, const char *kind,
	const struct job_limits *some)
{
#define PRINT(name_of, meaning)                                                                    \
	if (some->name_of != CONFIG_LIMIT_UNSET)                                                   \
		fprintf(out, "%s.%s.%s." #name_of "=%" PRIu64 "\n", for_sections[allowance->whom], \
			allowance->name, kind, some->name_of);
	JOB_LIMITS(PRINT)
#undef PRINT
}

static void print_allowance(FILE *out, const struct config_allowance *allowance)
{
	print_some(out, allowance, "limits", &allowance->limits);
	print_some(out, allowance, "most", &allowance->most);
}

void config_print_in_force(const struct config *config, FILE *out)
{
	struct priv_host host;

	layers_look(&host);
	print_values(out, "", config, numbers, COUNT_OF(numbers));
	for (size_t i = 0; i < COUNT_OF(texts); i++)
		fprintf(out, "%s=%s\n", texts[i].name, (const char *)config + texts[i].offset);
	print_values(out, "limits.", config, limits, COUNT_OF(limits));
	print_values(out, "most.", config, most, COUNT_OF(most));
	for (enum layer layer = 0; layer < LAYER_COUNT; layer++)
		fprintf(out, "require.%s=%s\n", layer_word(layer),
			layer_is_required(layer, &config->layers, &host) ? "yes" : "no");
	for (unsigned i = 0; i < config->runtime_count; i++)
		fprintf(out, "runtime.%s.interpreter=%s\n", config->runtimes[i].name,
			config->runtimes[i].interpreter);
	for (unsigned i = 0; i < config->allowance_count; i++)
		print_allowance(out, &config->allowances[i]);
}
