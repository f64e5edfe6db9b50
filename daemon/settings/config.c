#include "daemon/settings/config.h"

#include <inttypes.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysinfo.h>
#include <sys/un.h>
#include <unistd.h>

#include "daemon/settings/config_parts.h"
#include "daemon/settings/profiles.h"
#include "proto/base/cleanup.h"
#include "proto/base/fdio.h"
#include "proto/base/nearest.h"

#define CONFIG_FILE_BYTES_MAX ((size_t)256 << 10)
#define CONFIG_TREE_BYTES_MAX \
	((size_t)64 << 20) /* of items: a quoted word reserves the rest of the text */

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

int config_take_text(
	char *text, size_t size, const struct config_item *item, const char *given, struct err *err)
{
	if (strlen(given) >= size)
		return config_fault(err, item, "%s: \"%.40s...\" is longer than %zu bytes",
			item->name, given, size - 1);
	cut_printf(text, size, "%s", given);
	return 0;
}

static int take_texts(struct config *config, const struct config_item *whole, struct err *err)
{
	for (size_t i = 0; i < COUNT_OF(texts); i++) {
		const struct config_item *item = config_find(whole, texts[i].name);

		if (item && config_take_text(text_at(config, texts[i].offset), CONFIG_TEXT_MAX,
				    item, item->values->text, err) < 0)
			return -1;
	}
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

static int take_role(
	struct role_list *list, bool is_group, const struct config_item *item, struct err *err)
{
	struct err why = ERR_INIT;

	for (const struct config_value *value = item->values; value; value = value->next)
		if (roles_name(list, is_group, value->text, &why) < 0)
			return err_set(err, why.code, "line %u: %s: %s", value->line, item->name,
				why.text);
	return 0;
}

static int take_roles(struct roles *roles, const struct config_item *whole, struct err *err)
{
	for (size_t i = 0; i < COUNT_OF(role_lists); i++) {
		const struct config_item *item = config_find(whole, role_lists[i].name);
		struct role_list *list = role_lists[i].is_group ? &roles->groups[role_lists[i].role]
								: &roles->users[role_lists[i].role];

		if (item && take_role(list, role_lists[i].is_group, item, err) < 0)
			return -1;
	}
	return 0;
}

static int refuse_layer(const struct config_value *value, struct err *err)
{
	struct nearest nearest = NEAREST_OF(value->text);
	char all[128] = "";

	for (enum layer layer = 0; layer < LAYER_COUNT; layer++) {
		size_t len = strlen(all);

		nearest_offer(&nearest, layer_word(layer));
		cut_printf(
			all + len, sizeof(all) - len, "%s%s", len ? ", " : "", layer_word(layer));
	}
	return err_set(err, ERR_INVALID,
		"line %u: require: there is no layer \"%s\"%s (there are %s)", value->line,
		value->text, nearest_hint(&nearest), all);
}

/* A list in the file replaces the default, even when it is empty. */
static int take_require(struct config *config, const struct config_item *whole, struct err *err)
{
	const struct config_item *item = config_find(whole, "require");

	if (!item)
		return 0;
	config->layers.named = true;
	for (const struct config_value *value = item->values; value; value = value->next) {
		int layer = layer_named(value->text);

		if (layer < 0)
			return refuse_layer(value, err);
		config->layers.require |= 1U << layer;
	}
	return 0;
}

static int take_all(struct config *config, const struct config_item *whole, struct err *err)
{
	(void)config_take_numbers(config, whole, &config_general);
	(void)config_take_numbers(&config->limits, config_find(whole, "limits"), &config_limits);
	(void)config_take_numbers(&config->most, config_find(whole, "most"), &config_most);
	(void)config_take_budgets(config->budgets, whole);
	if (take_texts(config, whole, err) < 0 || take_roles(&config->roles, whole, err) < 0 ||
		take_require(config, whole, err) < 0)
		return -1;
	if (config_take_runtimes(config, whole, err) < 0 ||
		config_take_alerts(config, whole, err) < 0)
		return -1;
	return config_take_allowances(config, whole, err);
}

int config_parse(struct config *config, const char *text, struct err *err)
{
	struct config_item *whole;
	struct arena arena;
	int result = -1;

	arena_init(&arena, CONFIG_TREE_BYTES_MAX);
	whole = config_text_read(&arena, text, err);
	if (whole && config_check_items(whole, err) == 0) {
		config_note_lines(config, whole);
		result = take_all(config, whole, err);
	}
	arena_done(&arena);
	return result;
}

int config_load(struct config *config, const char *path, struct err *err)
{
	auto_free char *text = NULL;
	size_t len = 0;

	if (read_file(path, CONFIG_FILE_BYTES_MAX, &text, &len, err) < 0)
		return err_wrap(err, "configuration");
	if (strlen(text) != len)
		return err_set(err, ERR_INVALID,
			"configuration %s: it has a NUL byte and is no text file", path);
	if (config_parse(config, text, err) < 0)
		return err_wrap(err, "configuration %s", path);
	cut_printf(config->path, sizeof(config->path), "%s",
		path); /* for errors from config_finish() */
	return 0;
}

/* ---- after reading -------------------------------------------------------------------------- */

static uint64_t at_most(uint64_t number, uint64_t ceiling)
{
	return number < ceiling ? number : ceiling;
}

/* Whether a text is permission bits as chmod(1) takes them.  No other form is accepted. */
static bool is_mode(const char *text)
{
	size_t len = strlen(text);

	return len >= 3 && len <= 4 && strspn(text, "01234567") == len &&
	       (len == 3 || *text == '0');
}

/* Texts with only two possible values. */
static const struct {
	const char *name;
	size_t offset;
	const char *one, *other;
} choices[] = {
	{ "rollback", offsetof(struct config, rollback), "alarm", "refuse" },
	{ "cgroups", offsetof(struct config, cgroups), "required", "auto" },
};

static int check_texts(const struct config *config, struct err *err)
{
	if (!is_mode(config->socket_mode))
		return config_refuse(config, err, "socket_mode",
			"socket_mode = \"%s\": write permission bits such as \"0660\"",
			config->socket_mode);
	for (size_t i = 0; i < COUNT_OF(choices); i++) {
		const char *given = (const char *)config + choices[i].offset;

		if (strcmp(given, choices[i].one) != 0 && strcmp(given, choices[i].other) != 0)
			return config_refuse(config, err, choices[i].name,
				"%s = \"%s\": write \"%s\" or \"%s\"", choices[i].name, given,
				choices[i].one, choices[i].other);
	}
	return 0;
}

static int check_held(const struct config *config, struct err *err)
{
	char held[32];
	char own[32];
	char message[32];
	char least[32];

	config_number_text(held, sizeof(held), "held_bytes", config->held_bytes);
	config_number_text(own, sizeof(own), "held_bytes", config->held_bytes_per_uid);
	config_number_text(message, sizeof(message), "message_bytes", config->message_bytes);
	config_number_text(least, sizeof(least), "held_bytes", 4 * config->message_bytes);
	if (config->held_bytes_per_uid < 4 * config->message_bytes)
		return config_refuse(config, err, "message_bytes",
			"held_bytes_per_uid = %s is less than four times message_bytes = %s: raise it to %s, or lower message_bytes",
			own, message, least);
	if (config->held_bytes < config->held_bytes_per_uid)
		return config_refuse(config, err, "held_bytes",
			"held_bytes = %s is less than held_bytes_per_uid = %s: raise it, or lower held_bytes_per_uid",
			held, own);
	return 0;
}

int config_finish(struct config *config, struct err *err)
{
	uint64_t processors = (uint64_t)get_nprocs();

	if (!config->workers_max)
		config->workers_max = at_most(processors * 4, 64);
	if (!config->workers_min)
		config->workers_min = at_most(at_most(processors * 2, 16), config->workers_max);
	if (config->workers_min > config->workers_max)
		return config_refuse(config, err, "workers_min",
			"workers_min = %" PRIu64 " is above workers_max = %" PRIu64
			": lower it, or raise workers_max",
			config->workers_min, config->workers_max);
	if (config_finish_runtimes(config, err) < 0 || check_held(config, err) < 0 ||
		config_check_limits(config, "", &config->limits, &config->most, err) < 0 ||
		config_check_allowances(config, err) < 0 || check_texts(config, err) < 0)
		return -1;
	config->layers.cgroups = strcmp(config->cgroups, "required") == 0;
	return 0;
}

/* ---- checks against the host ---------------------------------------------------------------- */

#define SOCKET_PATH_MAX (sizeof(((struct sockaddr_un *)NULL)->sun_path) - 1)

static int check_runtime_host(
	const struct config *config, const struct config_runtime *runtime, struct err *err)
{
	char key[CONFIG_KEY_MAX];

	cut_printf(key, sizeof(key), "runtime.%s.interpreter", runtime->name);
	if (access(runtime->interpreter, X_OK) < 0)
		return config_refuse(config, err, key,
			"runtime %s: interpreter = \"%s\" is no program on this host: install it, correct the path, or write off = true",
			runtime->name, runtime->interpreter);
	cut_printf(key, sizeof(key), "runtime.%s.binds", runtime->name);
	for (unsigned i = 0; i < runtime->bind_count; i++)
		if (runtime->binds[i][0] != '/')
			return config_refuse(config, err, key,
				"runtime %s: binds: %s is no absolute path: begin it with /",
				runtime->name, runtime->binds[i]);
		else if (access(runtime->binds[i], F_OK) < 0)
			return config_refuse(config, err, key,
				"runtime %s: binds: %s is not on this host", runtime->name,
				runtime->binds[i]);
	return 0;
}

static int check_path(const struct config *config, const char *key, const char *path,
	size_t len_max, struct err *err)
{
	if (path[0] != '/')
		return config_refuse(config, err, key,
			"%s = \"%s\" is no absolute path: begin it with /", key, path);
	if (strlen(path) > len_max)
		return config_refuse(config, err, key,
			"%s: this path has %zu bytes, and at most %zu are possible", key,
			strlen(path), len_max);
	return 0;
}

/* The first start may create the file, but its folder must exist. */
static int check_checkpoint_file(const struct config *config, struct err *err)
{
	const char *path = config->checkpoint_file;
	const char *slash = strrchr(path, '/');
	char folder[CONFIG_TEXT_MAX + 1];
	struct stat st;

	if (!path[0])
		return 0;
	if (check_path(config, "checkpoint_file", path, CONFIG_TEXT_MAX, err) < 0)
		return -1;
	if (lstat(path, &st) == 0)
		return S_ISREG(st.st_mode)
			       ? 0
			       : config_refuse(config, err, "checkpoint_file",
					 "checkpoint_file = \"%s\" is no ordinary file", path);
	cut_printf(folder, sizeof(folder), "%.*s/", (int)(slash - path), path);
	if (stat(folder, &st) < 0 || !S_ISDIR(st.st_mode))
		return config_refuse(config, err, "checkpoint_file",
			"checkpoint_file = \"%s\": there is no folder %s", path, folder);
	return 0;
}

static bool is_written(const struct config *config, const char *key)
{
	for (unsigned i = 0; i < config->written_count; i++)
		if (!strcmp(config->written[i].key, key))
			return true;
	return false;
}

/* Refuses a part that is larger than its whole, if the administrator wrote both. */
static int check_parts(const struct config *config, struct err *err)
{
	const struct {
		const char *part, *whole;
		uint64_t part_number, whole_number;
	} pairs[] = {
		{ "queue_per_caller", "queue_max", config->queue_per_caller, config->queue_max },
		{ "connections_per_uid", "connections_max", config->connections_per_uid,
			config->connections_max },
		{ "parked_per_caller", "parked_max", config->parked_per_caller,
			config->parked_max },
		{ "workers_per_caller", "workers_max", config->workers_per_caller,
			config->workers_max },
	};

	for (size_t i = 0; i < COUNT_OF(pairs); i++)
		if (pairs[i].part_number > pairs[i].whole_number &&
			is_written(config, pairs[i].part) && is_written(config, pairs[i].whole))
			return config_refuse(config, err, pairs[i].part,
				"%s = %" PRIu64 " is above %s = %" PRIu64 ": lower it, or raise %s",
				pairs[i].part, pairs[i].part_number, pairs[i].whole,
				pairs[i].whole_number, pairs[i].whole);
	return 0;
}

int config_check_host(const struct config *config, struct err *err)
{
	if (check_parts(config, err) < 0 || config_check_twice(config, err) < 0)
		return -1;
	for (unsigned i = 0; i < config->runtime_count; i++)
		if (check_runtime_host(config, &config->runtimes[i], err) < 0)
			return -1;
	if (check_path(config, "socket", config->socket, SOCKET_PATH_MAX, err) < 0)
		return -1;
	if (check_path(config, "state", config->state, CONFIG_TEXT_MAX, err) < 0)
		return -1;
	return check_checkpoint_file(config, err);
}

/* ---- printing ------------------------------------------------------------------------------- */

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
