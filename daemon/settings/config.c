#include "daemon/settings/config.h"

#include <inttypes.h>
#include <stdarg.h>
#include <string.h>
#include <sys/sysinfo.h>

#include "daemon/settings/config_parts.h"
#include "daemon/settings/profiles.h"
#include "proto/base/cleanup.h"
#include "proto/base/container.h"
#include "proto/base/fdio.h"

#define CONFIG_FILE_BYTES_MAX ((size_t)256 << 10)

struct text_rule {
	const char *name;
	size_t offset;
	const char *otherwise, *meaning;
};

#define ROW(name, otherwise, meaning) { #name, offsetof(struct config, name), otherwise, meaning },
static const struct text_rule texts[] = { CONFIG_TEXTS(ROW) };
#undef ROW

static char *text_at(struct config *config, size_t offset)
{
	return (char *)config + offset;
}

void config_init(struct config *config)
{
	memset(config, 0, sizeof(*config));
	config_default_numbers(config, &config_general);
	config_default_numbers(&config->limits, &config_limits);
	config_default_numbers(&config->most, &config_most);
	config_default_budgets(config->budgets);
	for (size_t i = 0; i < COUNT_OF(texts); i++)
		cut_printf(text_at(config, texts[i].offset), CONFIG_TEXT_MAX, "%s",
			texts[i].otherwise);
	config->runtime_count = 1;
	(void)profile_fill(&config->runtimes[0], "python");
}

/* ---- the file -------------------------------------------------------------------------------- */

#define NUMBER_OPTION(name, otherwise, lowest, highest, meaning) \
	CFG_INT_CB(#name, 0, CFGF_NODEFAULT, config_on_number),
#define TEXT_OPTION(name, otherwise, meaning) CFG_STR(#name, NULL, CFGF_NODEFAULT),

static cfg_opt_t options[] = {
	CONFIG_NUMBERS(NUMBER_OPTION) CONFIG_TEXTS(TEXT_OPTION)
		CFG_STR_LIST("users", NULL, CFGF_NODEFAULT),
	CFG_STR_LIST("user_groups", NULL, CFGF_NODEFAULT),
	CFG_STR_LIST("approvers", NULL, CFGF_NODEFAULT),
	CFG_STR_LIST("approver_groups", NULL, CFGF_NODEFAULT),
	CFG_STR_LIST("admins", NULL, CFGF_NODEFAULT),
	CFG_STR_LIST("admin_groups", NULL, CFGF_NODEFAULT),
	CFG_STR_LIST("require", NULL, CFGF_NODEFAULT),
	CONFIG_NUMBER_SECTIONS(),
	CFG_SEC("runtime", config_runtime_options, CFGF_TITLE | CFGF_MULTI),
	CFG_SEC("alert", config_alert_options, CFGF_TITLE | CFGF_MULTI),
	CFG_SEC("for_policy", config_allowance_options, CFGF_TITLE | CFGF_MULTI),
	CFG_SEC("for_uid", config_allowance_options, CFGF_TITLE | CFGF_MULTI),
	CFG_SEC("for_gid", config_allowance_options, CFGF_TITLE | CFGF_MULTI),
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

static int take_all(struct config *config, cfg_t *cfg, struct err *err)
{
	(void)config_take_numbers(config, cfg, &config_general);
	(void)config_take_numbers(&config->limits, cfg_getsec(cfg, "limits"), &config_limits);
	(void)config_take_numbers(&config->most, cfg_getsec(cfg, "most"), &config_most);
	(void)config_take_budgets(config->budgets, cfg);
	if (take_texts(config, cfg, err) < 0 || take_roles(&config->roles, cfg, err) < 0 ||
		take_require(config, cfg, err) < 0)
		return -1;
	if (config_take_runtimes(config, cfg, err) < 0 || config_take_alerts(config, cfg, err) < 0)
		return -1;
	return config_take_allowances(config, cfg, err);
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

/* ---- when all is read ------------------------------------------------------------------------ */

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
	if (config_finish_runtimes(config, err) < 0)
		return -1;
	if (config->held_bytes_per_uid < 4 * config->message_bytes ||
		config->held_bytes < config->held_bytes_per_uid)
		return err_set(err, ERR_INVALID,
			"held_bytes_per_uid: at least four times message_bytes, and at most held_bytes");
	if (config_check_limits(&config->limits, &config->most, err) < 0)
		return -1;
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

/* ---- telling --------------------------------------------------------------------------------- */

static void print_numbers(FILE *out, const char *prefix, const struct number_table *table)
{
	for (size_t i = 0; i < table->count; i++) {
		const struct number_rule *rule = &table->rules[i];

		fprintf(out, "%s%-24s %" PRIu64 "  (%" PRIu64 " to %" PRIu64 ")  %s\n", prefix,
			rule->name, rule->otherwise, rule->lowest, rule->highest, rule->meaning);
	}
}

void config_print_settings(FILE *out)
{
	print_numbers(out, "", &config_general);
	for (size_t i = 0; i < COUNT_OF(texts); i++)
		fprintf(out, "%-24s \"%s\"  %s\n", texts[i].name, texts[i].otherwise,
			texts[i].meaning);
	print_numbers(out, "limits.", &config_limits);
	print_numbers(out, "most.", &config_most);
}

static void print_values(
	FILE *out, const char *prefix, const void *set, const struct number_table *table)
{
	for (size_t i = 0; i < table->count; i++)
		fprintf(out, "%s%s=%" PRIu64 "\n", prefix, table->rules[i].name,
			config_number(set, &table->rules[i]));
}

void config_print_in_force(const struct config *config, FILE *out)
{
	struct priv_host host;

	layers_look(&host);
	print_values(out, "", config, &config_general);
	for (size_t i = 0; i < COUNT_OF(texts); i++)
		fprintf(out, "%s=%s\n", texts[i].name, (const char *)config + texts[i].offset);
	print_values(out, "limits.", &config->limits, &config_limits);
	print_values(out, "most.", &config->most, &config_most);
	for (enum layer layer = 0; layer < LAYER_COUNT; layer++)
		fprintf(out, "require.%s=%s\n", layer_word(layer),
			layer_is_required(layer, &config->layers, &host) ? "yes" : "no");
	for (unsigned i = 0; i < config->runtime_count; i++)
		fprintf(out, "runtime.%s.interpreter=%s\n", config->runtimes[i].name,
			config->runtimes[i].interpreter);
	config_print_allowances(config, out);
}
