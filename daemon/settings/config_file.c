#include "daemon/settings/config_file.h"

#include <inttypes.h>
#include <string.h>

#include "daemon/settings/config_alerts.h"
#include "daemon/settings/config_allowances.h"
#include "daemon/settings/config_egress.h"
#include "daemon/settings/config_packages.h"
#include "daemon/settings/config_runtimes.h"
#include "proto/base/cleanup.h"
#include "proto/base/fdio.h"
#include "proto/base/nearest.h"

#define CONFIG_FILE_BYTES_MAX ((size_t)256 << 10)
#define CONFIG_TREE_BYTES_MAX \
	((size_t)64 << 20) /* of items: a quoted word reserves the rest of the text */

/* ---- the table of settings ------------------------------------------------------------------- */

static int take_named(void *config, const struct setting *row, const struct config_item *item,
	bool is_group, struct err *err)
{
	void *list = (char *)config + row->offset;

	for (const struct config_value *value = item->values; value; value = value->next)
		if (roles_name(list, is_group, value->text, err) < 0)
			return err_wrap(err, "line %u: %s", value->line, item->name);
	return 0;
}

static int take_users(
	void *config, const struct setting *row, const struct config_item *item, struct err *err)
{
	return take_named(config, row, item, false, err);
}

static int take_groups(
	void *config, const struct setting *row, const struct config_item *item, struct err *err)
{
	return take_named(config, row, item, true, err);
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
	return setting_fault(err, value->line, "require: there is no layer \"%s\"%s (there are %s)",
		value->text, nearest_hint(&nearest), all);
}

/* A list in the file replaces the default, even when it is empty. */
static int take_require(
	void *config, const struct setting *row, const struct config_item *item, struct err *err)
{
	struct layers_wish *wish = &((struct config *)config)->layers;

	(void)row;
	wish->named = true;
	for (const struct config_value *value = item->values; value; value = value->next) {
		int layer = layer_named(value->text);

		if (layer < 0)
			return refuse_layer(value, err);
		wish->require |= 1U << layer;
	}
	return 0;
}

static const char *const rollback_words[] = { "alarm", "refuse", NULL };
static const char *const cgroups_words[] = { "required", "auto", NULL };

/* clang-format off */
#define NUMBER(field, standard, least, greatest, says) \
	SETTING_NUMBER_OF(config, field, .otherwise = standard, .lowest = least, \
		.highest = greatest, .meaning = says),
#define TEXT(field, standard, possible, says) \
	SETTING_TEXT_OF(config, field, .text = standard, .meaning = says, .words = possible),
#define ROLE(word, kind, role) \
	{ .name = word, .type = SETTING_LIST, .offset = offsetof(struct config, roles.kind[role]), \
		.take = take_##kind }
#define NAMED(word, table, hook) \
	{ .name = word, .type = SETTING_NAMED, .section = table, .take = hook }

static const struct setting config_settings[] = {
	CONFIG_NUMBERS(NUMBER)
	CONFIG_TEXTS(TEXT)
	CONFIG_NUMBERS_SECTIONS(config, .take = NULL),
	ROLE("users",           users,  ROLE_USER),
	ROLE("user_groups",     groups, ROLE_USER),
	ROLE("approvers",       users,  ROLE_APPROVER),
	ROLE("approver_groups", groups, ROLE_APPROVER),
	ROLE("admins",          users,  ROLE_ADMIN),
	ROLE("admin_groups",    groups, ROLE_ADMIN),
	{ .name = "require", .type = SETTING_LIST, .take = take_require },
	{ .name = "egress", .type = SETTING_SECTION, .offset = offsetof(struct config, egress),
		.section = config_egress },
	NAMED("runtime",    config_runtime,   config_take_runtime),
	NAMED("packages",   config_packages,  config_take_packages),
	NAMED("alert",      config_alert,     config_take_alert),
	NAMED("for_policy", config_allowance, config_take_allowance),
	NAMED("for_uid",    config_allowance, config_take_allowance),
	NAMED("for_gid",    config_allowance, config_take_allowance),
	{ 0 },
};
/* clang-format on */

void config_init(struct config *config)
{
	memset(config, 0, sizeof(*config));
	setting_defaults(config, config_settings);
	setting_defaults(&config->limits, config_limits);
	setting_defaults(&config->most, config_most);
	setting_defaults(&config->egress, config_egress);
	config_default_budgets(config->budgets);
	(void)config_add_python(config, "python");
}

/* ---- the file -------------------------------------------------------------------------------- */

int config_parse(struct config *config, const char *text, struct err *err)
{
	struct config_item *whole;
	struct arena arena;
	int result = -1;

	arena_init(&arena, CONFIG_TREE_BYTES_MAX);
	whole = config_text_read(&arena, text, err);
	if (whole && setting_check(whole, config_settings, config_settings, err) == 0) {
		setting_note_lines(config, whole);
		result = setting_take(config, whole, config_settings, err);
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

/* ---- printing ------------------------------------------------------------------------------- */

static void print_rows(FILE *out, const char *prefix, const struct setting *table)
{
	for (SETTING_EACH(row, table))
		if (row->type == SETTING_NUMBER)
			fprintf(out, "%s%-24s %" PRIu64 "  (%" PRIu64 " to %" PRIu64 ")  %s\n",
				prefix, row->name, row->otherwise, row->lowest, row->highest,
				row->meaning);
		else if (row->type == SETTING_TEXT)
			fprintf(out, "%-24s \"%s\"  %s\n", row->name, row->text, row->meaning);
}

void config_print_settings(FILE *out)
{
	print_rows(out, "", config_settings);
	print_rows(out, "limits.", config_limits);
	print_rows(out, "most.", config_most);
	print_rows(out, "egress.", config_egress);
}

static void print_values(
	FILE *out, const char *prefix, const void *set, const struct setting *table)
{
	for (SETTING_EACH(row, table))
		if (row->type == SETTING_NUMBER)
			fprintf(out, "%s%s=%" PRIu64 "\n", prefix, row->name,
				setting_number(set, row));
		else if (row->type == SETTING_TEXT)
			fprintf(out, "%s=%s\n", row->name, (const char *)set + row->offset);
}

void config_print_in_force(const struct config *config, FILE *out)
{
	struct priv_host host;

	layers_look(&host);
	print_values(out, "", config, config_settings);
	print_values(out, "limits.", &config->limits, config_limits);
	print_values(out, "most.", &config->most, config_most);
	print_values(out, "egress.", &config->egress, config_egress);
	for (enum layer layer = 0; layer < LAYER_COUNT; layer++)
		fprintf(out, "require.%s=%s\n", layer_word(layer),
			layer_is_required(layer, &config->layers, &host) ? "yes" : "no");
	for (unsigned i = 0; i < config->runtime_count; i++)
		fprintf(out, "runtime.%s.interpreter=%s\n", config->runtimes[i].name,
			config->runtimes[i].interpreter);
	for (unsigned i = 0; i < config->package_count; i++)
		fprintf(out, "packages.%s=%s %s %s\n", config->packages[i].name,
			config->packages[i].digest, config->packages[i].runtime,
			config->packages[i].path);
	config_print_allowances(config, out);
}
