#include "daemon/config.h"

#include "proto/base/cleanup.h"
#include "proto/base/container.h"
#include "proto/base/fdio.h"

#include <inttypes.h>
#include <string.h>
#include <sys/sysinfo.h>

#include <ucl.h>

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

#define ROW(name, otherwise, meaning) { #name, offsetof(struct config, name), otherwise, meaning },
static const struct text_rule texts[] = { CONFIG_TEXTS(ROW) };
#undef ROW

/* Modules that most agent programs import; each is paid for once, in the zygote. */
static const char python_preload[] =
	"abc array base64 bisect calendar cmath collections collections.abc contextlib copy csv "
	"dataclasses datetime decimal enum fractions functools hashlib heapq io itertools json "
	"math numbers operator os pathlib pprint random re statistics string struct sys tempfile "
	"textwrap time traceback types typing unicodedata uuid warnings zoneinfo";

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
	struct config_runtime *python = &config->runtimes[0];

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
	config->runtime_count = 1;
	cut_printf(python->name, sizeof(python->name), "python");
	cut_printf(python->interpreter, sizeof(python->interpreter), "/usr/bin/python3");
	cut_printf(python->preload, sizeof(python->preload), "%s", python_preload);
}

static int set_number(struct config *config, const struct number_rule *rule,
	const ucl_object_t *value, struct err *err)
{
	bool is_ms = strlen(rule->name) > 3 && !strcmp(rule->name + strlen(rule->name) - 3, "_ms");
	double real = 0;
	int64_t number = 0;

	if (ucl_object_type(value) == UCL_TIME && is_ms && ucl_object_todouble_safe(value, &real))
		number = real < 1e12 ? (int64_t)(real * 1000) : -1;
	else if (ucl_object_type(value) != UCL_INT || !ucl_object_toint_safe(value, &number))
		return err_set(err, ERR_INVALID, "%s: a number is wanted%s", rule->name,
			is_ms ? " (or a time such as 5s)" : "");
	if (number < 0 || (uint64_t)number < rule->lowest || (uint64_t)number > rule->highest)
		return err_set(err, ERR_INVALID, "%s: %" PRId64 " is outside %" PRIu64 " to %" PRIu64,
			rule->name, number, rule->lowest, rule->highest);
	*number_at(config, rule) = (uint64_t)number;
	return 0;
}

static int set_text(char *text, size_t size, const char *name, const ucl_object_t *value,
	struct err *err)
{
	const char *given = NULL;

	if (ucl_object_type(value) != UCL_STRING || !ucl_object_tostring_safe(value, &given))
		return err_set(err, ERR_INVALID, "%s: a text is wanted", name);
	if (strlen(given) >= size)
		return err_set(err, ERR_INVALID, "%s: longer than %zu bytes", name, size - 1);
	cut_printf(text, size, "%s", given);
	return 0;
}

static const struct number_rule *find_number(
	const struct number_rule *rules, size_t count, const char *name)
{
	for (size_t i = 0; i < count; i++)
		if (!strcmp(rules[i].name, name))
			return &rules[i];
	return NULL;
}

static int set_limits(struct config *config, const struct number_rule *rules, const char *section,
	const ucl_object_t *object, struct err *err)
{
	ucl_object_iter_t at = NULL;
	const ucl_object_t *entry;

	if (ucl_object_type(object) != UCL_OBJECT)
		return err_set(err, ERR_INVALID, "%s: a section { … } is wanted", section);
	while ((entry = ucl_object_iterate(object, &at, true))) {
		const struct number_rule *rule =
			find_number(rules, COUNT_OF(limits), ucl_object_key(entry));

		if (!rule)
			return err_set(err, ERR_INVALID, "%s: there is no limit \"%s\"", section,
				ucl_object_key(entry));
		if (set_number(config, rule, entry, err) < 0)
			return err_wrap(err, "%s", section);
	}
	return 0;
}

static int set_admins(struct config *config, const ucl_object_t *object, struct err *err)
{
	ucl_object_iter_t at = NULL;
	const ucl_object_t *entry;

	config->admin_count = 0;
	while ((entry = ucl_object_iterate(object, &at, true))) {
		int64_t uid = -1;

		if (!ucl_object_toint_safe(entry, &uid) || uid < 0 || uid >= UINT32_MAX)
			return err_set(err, ERR_INVALID, "admins: a list of user ids is wanted");
		if (config->admin_count == CONFIG_ADMINS_MAX)
			return err_set(err, ERR_INVALID, "admins: more than %d", CONFIG_ADMINS_MAX);
		config->admins[config->admin_count++] = (uint32_t)uid;
	}
	return 0;
}

static int set_preload(struct config_runtime *runtime, const ucl_object_t *list, struct err *err)
{
	ucl_object_iter_t at = NULL;
	const ucl_object_t *entry;
	size_t len = 0;

	runtime->preload[0] = '\0';
	while ((entry = ucl_object_iterate(list, &at, true))) {
		char module[128] = "";

		if (set_text(module, sizeof(module), "preload", entry, err) < 0)
			return -1;
		if (!module[0] || strspn(module, "abcdefghijklmnopqrstuvwxyz"
						 "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.") !=
					  strlen(module))
			return err_set(err, ERR_INVALID, "preload: \"%s\" is no module", module);
		if (len + strlen(module) + 2 > sizeof(runtime->preload))
			return err_set(err, ERR_INVALID, "preload: too many modules");
		cut_printf(runtime->preload + len, sizeof(runtime->preload) - len, "%s%s",
			len ? " " : "", module);
		len = strlen(runtime->preload);
	}
	return 0;
}

static int set_binds(struct config_runtime *runtime, const ucl_object_t *list, struct err *err)
{
	ucl_object_iter_t at = NULL;
	const ucl_object_t *entry;

	runtime->bind_count = 0;
	while ((entry = ucl_object_iterate(list, &at, true))) {
		if (runtime->bind_count == CONFIG_BINDS_MAX)
			return err_set(err, ERR_INVALID, "binds: more than %d", CONFIG_BINDS_MAX);
		if (set_text(runtime->binds[runtime->bind_count++], CONFIG_TEXT_MAX, "binds", entry,
			    err) < 0)
			return -1;
	}
	return 0;
}

static struct config_runtime *runtime_named(struct config *config, const char *name)
{
	for (unsigned i = 0; i < config->runtime_count; i++)
		if (!strcmp(config->runtimes[i].name, name))
			return &config->runtimes[i];
	if (config->runtime_count == CONFIG_RUNTIMES_MAX || strlen(name) >= 32)
		return NULL;
	cut_printf(config->runtimes[config->runtime_count].name, 32, "%s", name);
	return &config->runtimes[config->runtime_count++];
}

static int set_runtime(struct config *config, const ucl_object_t *object, struct err *err)
{
	struct config_runtime *runtime = runtime_named(config, ucl_object_key(object));
	ucl_object_iter_t at = NULL;
	const ucl_object_t *entry;

	if (!runtime)
		return err_set(err, ERR_INVALID, "runtime: no room for another, or its name is too long");
	if (ucl_object_type(object) != UCL_OBJECT)
		return err_set(err, ERR_INVALID, "runtime: write runtime NAME { … }");
	while ((entry = ucl_object_iterate(object, &at, true))) {
		const char *key = ucl_object_key(entry);
		int result;

		if (!strcmp(key, "interpreter"))
			result = set_text(runtime->interpreter, CONFIG_TEXT_MAX, key, entry, err);
		else if (!strcmp(key, "preload"))
			result = set_preload(runtime, entry, err);
		else if (!strcmp(key, "binds"))
			result = set_binds(runtime, entry, err);
		else
			result = err_set(err, ERR_INVALID, "there is no setting \"%s\"", key);
		if (result < 0)
			return err_wrap(err, "runtime %s", runtime->name);
	}
	return 0;
}

static int set_runtimes(struct config *config, const ucl_object_t *object, struct err *err)
{
	ucl_object_iter_t at = NULL;
	const ucl_object_t *entry;

	while ((entry = ucl_object_iterate(object, &at, true)))
		if (set_runtime(config, entry, err) < 0)
			return -1;
	return 0;
}

static int set_one(struct config *config, const ucl_object_t *entry, struct err *err)
{
	const char *key = ucl_object_key(entry);
	const struct number_rule *number = find_number(numbers, COUNT_OF(numbers), key);

	if (number)
		return set_number(config, number, entry, err);
	for (size_t i = 0; i < COUNT_OF(texts); i++)
		if (!strcmp(texts[i].name, key))
			return set_text(text_at(config, texts[i].offset), CONFIG_TEXT_MAX, key,
				entry, err);
	if (!strcmp(key, "limits"))
		return set_limits(config, limits, key, entry, err);
	if (!strcmp(key, "most"))
		return set_limits(config, most, key, entry, err);
	if (!strcmp(key, "admins"))
		return set_admins(config, entry, err);
	if (!strcmp(key, "runtime"))
		return set_runtimes(config, entry, err);
	return err_set(err, ERR_INVALID, "there is no setting \"%s\"", key);
}

static int set_all(struct config *config, struct ucl_parser *parser, struct err *err)
{
	ucl_object_t *top = ucl_parser_get_object(parser);
	ucl_object_iter_t at = NULL;
	const ucl_object_t *entry;
	int result = 0;

	while (top && result == 0 && (entry = ucl_object_iterate(top, &at, true)))
		result = set_one(config, entry, err);
	if (top)
		ucl_object_unref(top);
	return result;
}

int config_parse(struct config *config, const char *text, size_t len, struct err *err)
{
	/* No includes and no variables: the file says what it says. */
	struct ucl_parser *parser =
		ucl_parser_new(UCL_PARSER_DISABLE_MACRO | UCL_PARSER_NO_FILEVARS);
	int result;

	if (!parser)
		return err_set(err, ERR_MEMORY, "no memory for the configuration");
	if (!ucl_parser_add_chunk(parser, (const unsigned char *)text, len))
		result = err_set(err, ERR_INVALID, "%s", ucl_parser_get_error(parser));
	else
		result = set_all(config, parser, err);
	ucl_parser_free(parser);
	return result;
}

int config_load(struct config *config, const char *path, struct err *err)
{
	auto_free char *text = NULL;
	size_t len = 0;

	if (read_file(path, CONFIG_FILE_BYTES_MAX, &text, &len, err) < 0)
		return err_wrap(err, "configuration");
	if (config_parse(config, text, len, err) < 0)
		return err_wrap(err, "configuration %s", path);
	return 0;
}

static uint64_t at_most(uint64_t number, uint64_t ceiling)
{
	return number < ceiling ? number : ceiling;
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
	for (size_t i = 0; i < COUNT_OF(limits); i++)
		if (*number_at(config, &limits[i]) > *number_at(config, &most[i]))
			return err_set(err, ERR_INVALID,
				"limits.%s is above most.%s", limits[i].name, most[i].name);
	if (strcmp(config->cgroups, "required") != 0 && strcmp(config->cgroups, "auto") != 0)
		return err_set(err, ERR_INVALID, "cgroups: \"required\" or \"auto\", not \"%s\"",
			config->cgroups);
	return 0;
}

static void print_numbers(FILE *out, const char *prefix, const struct number_rule *rules, size_t count)
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
