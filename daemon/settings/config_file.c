#include "daemon/settings/config_file.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "daemon/settings/config_alerts.h"
#include "daemon/settings/config_allowances.h"
#include "daemon/settings/config_check.h"
#include "daemon/settings/config_egress.h"
#include "daemon/settings/config_packages.h"
#include "daemon/settings/config_runtimes.h"
#include "proto/base/cleanup.h"
#include "proto/base/fdio.h"
#include "proto/base/nearest.h"
#include "proto/base/utf8.h"

#define CONFIG_FILE_BYTES_MAX ((size_t)256 << 10)
#define CONFIG_ITEMS_MAX      10000 /* settings and sections of all files */
#define CONFIG_TREE_BYTES_MAX ((size_t)64 << 20)

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
static const char *const journal_words[] = { "none", "failed", "all", NULL };
static const char *const cgroups_words[] = { "required", "auto", NULL };

/* clang-format off */
#define NUMBER(field, standard, least, greatest, when, says) \
	SETTING_NUMBER_OF(config, field, .otherwise = standard, .lowest = least, \
		.highest = greatest, .change = CHANGE_##when, .meaning = says),
#define TEXT(field, standard, possible, when, says) \
	SETTING_TEXT_OF(config, field, .text = standard, .change = CHANGE_##when, .meaning = says, \
		.words = possible),
#define ROLE(word, kind, role, says) \
	{ .name = word, .type = SETTING_LIST, .offset = offsetof(struct config, roles.kind[role]), \
		.size = sizeof(struct role_list), .take = take_##kind, .change = CHANGE_RELOAD, \
		.meaning = says }
#define NAMED(word, table, hook, when) \
	{ .name = word, .type = SETTING_NAMED, .section = table, .take = hook, .change = CHANGE_##when }

const struct setting config_settings[] = {
	CONFIG_NUMBERS(NUMBER)
	CONFIG_TEXTS(TEXT)
	CONFIG_NUMBERS_SECTIONS(config, .take = NULL),
	ROLE("users",           users,  ROLE_USER,     "who may run programs, by number or name; with user_groups; if both are empty: everybody"),
	ROLE("user_groups",     groups, ROLE_USER,     "groups whose members may run programs"),
	ROLE("approvers",       users,  ROLE_APPROVER, "who decides about runs that wait; with approver_groups; if both are empty: administrators"),
	ROLE("approver_groups", groups, ROLE_APPROVER, "groups whose members decide about runs that wait"),
	ROLE("admins",          users,  ROLE_ADMIN,    "who sees and cancels all runs and uses admin operations, beside root"),
	ROLE("admin_groups",    groups, ROLE_ADMIN,    "groups whose members are administrators"),
	{ .name = "require", .type = SETTING_LIST, .take = take_require,
		.meaning = "layers without which the daemon does not start; without this setting: all that the kernel has" },
	{ .name = "egress", .type = SETTING_SECTION, .offset = offsetof(struct config, egress),
		.section = config_egress },
	NAMED("runtime",    config_runtime,   config_take_runtime,   RESTART),
	NAMED("packages",   config_packages,  config_take_packages,  RESTART),
	NAMED("alert",      config_alert,     config_take_alert,     RELOAD),
	NAMED("for_policy", config_allowance, config_take_allowance, RELOAD),
	NAMED("for_uid",    config_allowance, config_take_allowance, RELOAD),
	NAMED("for_gid",    config_allowance, config_take_allowance, RELOAD),
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

/* ---- several files --------------------------------------------------------------------------- */

/* Returns how many items there are. */
static unsigned set_file(struct config_item *section, unsigned file)
{
	unsigned count = 0;

	for (struct config_item *item = section->items; item; item = item->next) {
		item->file = file;
		count += 1 + set_file(item, file);
	}
	return count;
}

static struct config_item *item_like(struct config_item *section, const struct config_item *item)
{
	struct config_item *other = section->items;

	while (other &&
		(strcmp(other->name, item->name) != 0 || strcmp(other->title, item->title) != 0))
		other = other->next;
	return other;
}

static void append_item(struct config_item *section, struct config_item *item)
{
	struct config_item **end = &section->items;

	while (*end)
		end = &(*end)->next;
	item->next = NULL;
	*end = item;
}

/*
 * Adds the items of a later file.  A value or list replaces that of an earlier file; sections with
 * the same name are merged setting by setting.  Both files were checked, so that items with the same
 * name have the same shape.
 */
static void merge_items(struct config_item *into, struct config_item *from)
{
	for (struct config_item *item = from->items, *next; item; item = next) {
		struct config_item *old = item_like(into, item);

		next = item->next;
		if (!old) {
			append_item(into, item);
		} else if (item->shape == CONFIG_IS_SECTION) {
			merge_items(old, item);
		} else {
			item->next = old->next;
			*old = *item;
		}
	}
}

/* What is read so far. */
struct reading {
	struct config *config;
	struct config *start; /* with the defaults, and the names of the files */
	struct arena arena;
	struct config_item *whole;
	unsigned item_count;
	struct setting_faults *faults;
};

static int reading_begin(
	struct reading *reading, struct config *config, struct setting_faults *faults)
{
	struct config *start = malloc(sizeof(*start));
	static const struct err no_memory = { ERR_MEMORY, 0, "no memory for the configuration" };

	arena_init(&reading->arena, CONFIG_TREE_BYTES_MAX);
	reading->whole = arena_new(&reading->arena, struct config_item);
	if (!start || !reading->whole) {
		free(start);
		arena_done(&reading->arena);
		return setting_faults_add(faults, &no_memory);
	}
	*start = *config;
	reading->whole->name = reading->whole->title = "";
	reading->whole->shape = CONFIG_IS_SECTION;
	reading->item_count = 0;
	reading->config = config;
	reading->start = start;
	reading->faults = faults;
	return 0;
}

static void reading_end(struct reading *reading)
{
	free(reading->start);
	arena_done(&reading->arena);
}

static int reading_fault(struct reading *reading, const struct err *err)
{
	return setting_faults_add(reading->faults, err);
}

/*
 * Takes everything anew with each file, so that a fault that shows only then is known to be of this
 * file.
 */
static int take_whole(struct reading *reading)
{
	*reading->config = *reading->start;
	setting_note_written(reading->config, reading->whole, config_settings);
	return setting_take_all(reading->config, reading->whole, config_settings, reading->faults);
}

/* `file` is the index of the file with this text. */
static int reading_add(struct reading *reading, const char *text, unsigned file)
{
	struct err err = ERR_INIT;
	struct config_item *items = config_text_read(&reading->arena, text, &err);

	if (!items)
		return reading_fault(reading, &err);
	reading->item_count += set_file(items, file);
	if (reading->item_count > CONFIG_ITEMS_MAX) {
		(void)err_set(&err, ERR_TOO_BIG,
			"with this file there are more than %d settings and sections: remove some",
			CONFIG_ITEMS_MAX);
		return reading_fault(reading, &err);
	}
	if (setting_check(items, config_settings, config_settings, reading->faults) < 0) {
		merge_items(reading->whole, items); /* for those who describe the faults */
		setting_note_written(reading->config, reading->whole, config_settings);
		return -1;
	}
	merge_items(reading->whole, items);
	return take_whole(reading);
}

int config_parse(struct config *config, const char *text, struct err *err)
{
	struct setting_faults faults = { .count = 0 };
	struct reading reading;
	int result;

	if (reading_begin(&reading, config, &faults) < 0)
		return err_pass(err, &faults.items[0]);
	result = reading_add(&reading, text, 0);
	reading_end(&reading);
	return result < 0 ? err_pass(err, &faults.items[0]) : 0;
}

/* ---- reading files --------------------------------------------------------------------------- */

static int is_drop_in(const struct dirent *entry)
{
	size_t len = strlen(entry->d_name);

	return entry->d_name[0] != '.' && len > 5 && strcmp(entry->d_name + len - 5, ".conf") == 0;
}

static int by_name(const struct dirent **one, const struct dirent **other)
{
	return strcmp((*one)->d_name, (*other)->d_name);
}

static int add_file_name(struct config *config, const char *path, struct err *err)
{
	if (config->file_count == CONFIG_FILES_MAX)
		return err_set(err, ERR_TOO_BIG,
			"configuration %s: there are more than %d files in its folder: join some",
			config->files[0], CONFIG_FILES_MAX - 1);
	if (strlen(path) >= CONFIG_TEXT_MAX)
		return err_set(err, ERR_TOO_BIG,
			"configuration %.64s...: this path is longer than %d bytes", path,
			CONFIG_TEXT_MAX - 1);
	cut_printf(config->files[config->file_count++], CONFIG_TEXT_MAX, "%s", path);
	return 0;
}

/* The folder FILE.d is optional. */
static int list_files(struct config *config, const char *path, struct err *err)
{
	struct dirent **entries = NULL;
	char folder[CONFIG_TEXT_MAX + 2];
	int result;
	int count;

	config->file_count = 0;
	if (add_file_name(config, path, err) < 0)
		return -1;
	cut_printf(folder, sizeof(folder), "%s.d", path);
	count = scandir(folder, &entries, is_drop_in, by_name);
	if (count < 0 && errno == ENOTDIR && access(folder, F_OK) == 0)
		return err_set(err, ERR_INVALID,
			"configuration %s: this is no folder: rename it, or make it a folder with files *.conf",
			folder);
	if (count < 0 && errno != ENOENT && errno != ENOTDIR)
		return err_sys(err, "configuration %s", folder);
	result = 0;
	for (int i = 0; i < count; i++) {
		char whole[CONFIG_TEXT_MAX + 2 + sizeof(entries[i]->d_name)];

		cut_printf(whole, sizeof(whole), "%s/%s", folder, entries[i]->d_name);
		if (result == 0)
			result = add_file_name(config, whole, err);
		free(entries[i]);
	}
	free(entries);
	return result;
}

/* Of a text that is not UTF-8. */
static unsigned first_bad_line(const char *text, size_t len)
{
	unsigned line = 1;
	size_t at = 0;

	while (at < len) {
		const bool is_end = text[at] == '\n';

		if (utf8_next(text, len, &at) < 0)
			return line;
		line += is_end;
	}
	return line;
}

static int read_text(const char *path, char **ret_text, struct err *err)
{
	size_t len = 0;

	struct err why = ERR_INIT;

	if (read_file(path, CONFIG_FILE_BYTES_MAX, ret_text, &len, &why) < 0 &&
		why.sys_errno == EACCES)
		return err_set(err, why.code, "configuration %s: let uid %u read it", why.text,
			(unsigned)geteuid());
	if (why.code)
		return err_set(err, why.code, "configuration %s: correct the path%s", why.text,
			why.code == ERR_MISSING
				? ", or make the file: an empty one stands for the defaults"
				: "");
	if (strlen(*ret_text) != len)
		return err_set(err, ERR_INVALID,
			"configuration %s: it has a NUL byte and is no text file", path);
	if (!utf8_is_valid(*ret_text, len))
		return err_set(err, ERR_INVALID,
			"configuration %s: line %u: bytes that are no UTF-8: save the file as UTF-8",
			path, first_bad_line(*ret_text, len));
	return 0;
}

/* Adds a file.  Its faults begin with "configuration FILE: ". */
static int reading_add_file(struct reading *reading, unsigned file)
{
	const char *path = reading->config->files[file];
	unsigned first = reading->faults->count;
	auto_free char *text = NULL;
	struct err err = ERR_INIT;
	int result;

	if (read_text(path, &text, &err) < 0)
		return reading_fault(reading, &err);
	result = reading_add(reading, text, file);
	for (unsigned i = first; i < reading->faults->count; i++)
		(void)err_wrap(&reading->faults->items[i], "configuration %s", path);
	return result;
}

int config_load_all(struct config *config, const char *path, struct setting_faults *faults)
{
	struct reading reading;
	struct err err = ERR_INIT;
	int result = 0;

	if (list_files(config, path, &err) < 0)
		return setting_faults_add(faults, &err);
	if (reading_begin(&reading, config, faults) < 0)
		return -1;
	for (unsigned i = 0; i < config->file_count && result == 0; i++)
		result = reading_add_file(&reading, i);
	reading_end(&reading);
	return result;
}

int config_load(struct config *config, const char *path, struct err *err)
{
	struct setting_faults faults = { .count = 0 };

	return config_load_all(config, path, &faults) < 0 ? err_pass(err, &faults.items[0]) : 0;
}

int config_read_all(
	struct config *config, const struct config_sources *sources, struct setting_faults *faults)
{
	config_init(config);
	if (sources->shipped)
		config_add_shipped(config);
	if (sources->path && config_load_all(config, sources->path, faults) < 0)
		return -1;
	if (sources->socket)
		cut_printf(config->socket, sizeof(config->socket), "%s", sources->socket);
	if (sources->state)
		cut_printf(config->state, sizeof(config->state), "%s", sources->state);
	return config_finish_all(config, faults);
}

int config_read(struct config *config, const struct config_sources *sources, struct err *err)
{
	struct setting_faults faults = { .count = 0 };

	return config_read_all(config, sources, &faults) < 0 ? err_pass(err, &faults.items[0]) : 0;
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
