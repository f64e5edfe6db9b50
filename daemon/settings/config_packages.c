#include "daemon/settings/config_packages.h"

#include <errno.h>
#include <stdarg.h>
#include <string.h>
#include <sys/stat.h>

#include "proto/base/container.h"
#include "proto/digest.h"
#include "proto/jail_dirs.h"
#include "proto/names.h"

/* ---- a section ------------------------------------------------------------------------------ */

static int take_path(
	void *set, const struct setting *row, const struct config_item *item, struct err *err)
{
	struct config_package *package = set;
	const char *path = item->values->text;

	(void)row;
	if (path[0] != '/')
		return setting_fault(err, item->line,
			"path = \"%s\" is not an absolute path: begin it with /", path);
	return setting_copy(package->path, sizeof(package->path), item, path, err);
}

static int take_digest(
	void *set, const struct setting *row, const struct config_item *item, struct err *err)
{
	struct config_package *package = set;
	uint8_t digest[DIGEST_LEN];

	(void)row;
	if (digest_from_text(item->values->text, digest) < 0)
		return setting_fault(err, item->line,
			"digest = \"%.80s\" is not \"sha256:\" and 64 hex digits: `cectl packages digest PATH` prints it",
			item->values->text);
	return setting_copy(
		package->digest, sizeof(package->digest), item, item->values->text, err);
}

static int take_ids(
	const struct config_item *item, struct role_list *list, bool is_group, struct err *err)
{
	for (const struct config_value *value = item->values; value; value = value->next)
		if (roles_name(list, is_group, value->text, err) < 0)
			return err_wrap(err, "line %u: %s", value->line, item->name);
	return 0;
}

static int take_users(
	void *set, const struct setting *row, const struct config_item *item, struct err *err)
{
	struct config_package *package = set;

	(void)row;
	package->is_for_some = true; /* an empty list, too: administrators only */
	return take_ids(item, &package->users, false, err);
}

static int take_groups(
	void *set, const struct setting *row, const struct config_item *item, struct err *err)
{
	struct config_package *package = set;

	(void)row;
	package->is_for_some = true;
	return take_ids(item, &package->groups, true, err);
}

/* clang-format off */
#define FLAG(row_name, field, says) \
	{ .name = row_name, .type = SETTING_BOOL, .offset = offsetof(struct config_package, field), \
		.meaning = says }
const struct setting config_packages[] = {
	SETTING_TEXT_OF(config_package, runtime, .meaning = "the runtime whose runs may name it"),
	{ .name = "path",   .type = SETTING_TEXT, .take = take_path, .meaning = "the folder" },
	{ .name = "digest", .type = SETTING_TEXT, .take = take_digest,
		.meaning = "what `cectl packages digest` prints for the folder; with another digest the set is off" },
	FLAG("tools",   has_tools,  "its folder bin is at the end of PATH"),
	FLAG("default", is_default, "runs of this runtime that send no `packages` use it"),
	{ .name = "users",  .type = SETTING_LIST, .take = take_users,
		.meaning = "only these users may name it, by number or name" },
	{ .name = "groups", .type = SETTING_LIST, .take = take_groups,
		.meaning = "only these groups may name it, by number or name" },
	{ 0 },
};
#undef FLAG
/* clang-format on */

static int refuse_missing(
	const struct config_item *section, const char *what, const char *example, struct err *err)
{
	return setting_fault(err, section->line, "packages %s has no %s: write %s = %s into it",
		section->title, what, what, example);
}

int config_take_packages(
	void *config, const struct setting *row, const struct config_item *section, struct err *err)
{
	struct config *whole = config;
	struct config_package *package = &whole->packages[whole->package_count];

	(void)row;
	if (!name_is_package(section->title))
		return setting_fault(err, section->line,
			"packages %.40s: a name has up to %d small letters, digits, . _ and -, and begins with a letter or digit",
			section->title, PACKAGE_NAME_MAX);
	if (whole->package_count == CONFIG_PACKAGES_MAX)
		return setting_fault(err, section->line, "there are more than %d package sets",
			CONFIG_PACKAGES_MAX);
	cut_printf(package->name, sizeof(package->name), "%s", section->title);
	if (setting_take(package, section, config_packages, err) < 0)
		return -1;
	if (!package->runtime[0])
		return refuse_missing(section, "runtime", "\"python\"", err);
	if (!package->path[0])
		return refuse_missing(section, "path", "\"/srv/ced/sets/NAME\"", err);
	if (!package->digest[0])
		return refuse_missing(
			section, "digest", "what `cectl packages digest PATH` prints", err);
	whole->package_count++;
	return 0;
}

/* ---- checks --------------------------------------------------------------------------------- */

/* Refuses a setting of this set. */
static int __attribute__((format(printf, 5, 6)))
refuse_package(const struct config *config, const struct config_package *package,
	const char *setting, struct err *err, const char *format, ...)
{
	char key[CONFIG_KEY_MAX];
	char what[ERR_TEXT_MAX];
	va_list args;

	va_start(args, format);
	cut_vprintf(what, sizeof(what), format, args);
	va_end(args);
	cut_printf(key, sizeof(key), "packages.%s.%s", package->name, setting);
	return setting_refuse(config, err, key, "packages %s: %s", package->name, what);
}

static const struct config_runtime *runtime_of(
	const struct config *config, const struct config_package *package)
{
	for (unsigned i = 0; i < config->runtime_count; i++)
		if (!strcmp(config->runtimes[i].name, package->runtime))
			return &config->runtimes[i];
	return NULL;
}

/* Whether the runtime has more sets, up to this one, than the spawner accepts. */
static bool is_one_too_many(const struct config *config, const struct config_package *package)
{
	unsigned count = 0;

	for (const struct config_package *at = config->packages; at <= package; at++)
		count += !strcmp(at->runtime, package->runtime);
	return count > CONFIG_SETS_MAX;
}

int config_finish_packages(const struct config *config, struct err *err)
{
	for (unsigned i = 0; i < config->package_count; i++) {
		const struct config_package *package = &config->packages[i];
		const struct config_runtime *runtime = runtime_of(config, package);

		if (!runtime)
			return refuse_package(config, package, "runtime", err,
				"there is no runtime \"%s\" here, or it is off", package->runtime);
		if (package->has_tools && runtime->kind != KIND_COMMAND)
			return refuse_package(config, package, "tools", err,
				"tools is for runtimes of kind = \"command\": remove it");
		if (is_one_too_many(config, package))
			return refuse_package(config, package, "runtime", err,
				"%s has more than %d sets", package->runtime, CONFIG_SETS_MAX);
	}
	return 0;
}

int config_check_packages_host(const struct config *config, struct err *err)
{
	for (unsigned i = 0; i < config->package_count; i++) {
		const struct config_package *package = &config->packages[i];
		struct err why = ERR_INIT;

		if (jail_path_check(package->path, &why) < 0)
			return refuse_package(config, package, "path", err,
				"\"%s\" cannot be in a jail, because %s: move the set elsewhere, such as /srv/ced/sets",
				package->path, why.text);
	}
	return 0;
}

int config_check_package_folders(const struct config *config, struct setting_faults *faults)
{
	int result = 0;

	for (unsigned i = 0; i < config->package_count; i++) {
		const struct config_package *package = &config->packages[i];
		struct err err = ERR_INIT;
		struct stat st;

		if (stat(package->path, &st) == 0 ? S_ISDIR(st.st_mode) : errno == EACCES)
			continue; /* a folder that only the daemon may see is no fault */
		(void)refuse_package(config, package, "path", &err,
			"there is no folder \"%s\": build the set with cectl packages add, or correct the path",
			package->path);
		result = setting_faults_add(faults, &err);
	}
	return result;
}
