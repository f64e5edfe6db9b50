#include "daemon/settings/config_check.h"

#include <inttypes.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysinfo.h>
#include <sys/un.h>
#include <unistd.h>

#include "daemon/settings/config_allowances.h"
#include "daemon/settings/config_numbers.h"
#include "daemon/settings/config_packages.h"
#include "daemon/settings/config_runtimes.h"
#include "proto/base/container.h"
#include "proto/jail_dirs.h"

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
		return setting_refuse(config, err, "message_bytes",
			"held_bytes_per_uid = %s is less than four times message_bytes = %s: raise it to %s, or lower message_bytes",
			own, message, least);
	if (config->held_bytes < config->held_bytes_per_uid)
		return setting_refuse(config, err, "held_bytes",
			"held_bytes = %s is less than held_bytes_per_uid = %s: raise it, or lower held_bytes_per_uid",
			held, own);
	return 0;
}

static int check_egress(const struct config *config, struct err *err)
{
	const struct {
		const char *name;
		uint64_t number, most;
	} pairs[] = {
#define PAIR(field, otherwise, most, highest, meaning) \
	{ #field, config->egress.field, config->egress.field##_most },
		CONFIG_EGRESS(PAIR)
#undef PAIR
	};

	for (size_t i = 0; i < COUNT_OF(pairs); i++) {
		char key[CONFIG_KEY_MAX];
		char low[32];
		char high[32];

		if (pairs[i].number <= pairs[i].most)
			continue;
		cut_printf(key, sizeof(key), "egress.%s", pairs[i].name);
		config_number_text(low, sizeof(low), pairs[i].name, pairs[i].number);
		config_number_text(high, sizeof(high), pairs[i].name, pairs[i].most);
		return setting_refuse(config, err, key,
			"%s = %s is above egress.most_%s = %s: lower it, or raise egress.most_%s",
			key, low, pairs[i].name, high, pairs[i].name);
	}
	return 0;
}

static int check_workers(const struct config *config, struct err *err)
{
	if (config->workers_min <= config->workers_max)
		return 0;
	return setting_refuse(config, err, "workers_min",
		"workers_min = %" PRIu64 " is above workers_max = %" PRIu64
		": lower it, or raise workers_max",
		config->workers_min, config->workers_max);
}

static int check_mode(const struct config *config, struct err *err)
{
	if (is_mode(config->socket_mode))
		return 0;
	return setting_refuse(config, err, "socket_mode",
		"socket_mode = \"%s\": write permission bits such as \"0660\"",
		config->socket_mode);
}

/* Adds the fault, if there is one. */
static void note_fault(struct setting_faults *faults, int result, const struct err *err)
{
	if (result < 0)
		(void)setting_faults_add(faults, err);
}

typedef int config_check(const struct config *config, struct err *err);

static void note_faults(const struct config *config, config_check *const *checks, size_t count,
	struct setting_faults *faults)
{
	for (size_t i = 0; i < count; i++) {
		struct err err = ERR_INIT;

		note_fault(faults, checks[i](config, &err), &err);
	}
}

int config_finish_all(struct config *config, struct setting_faults *faults)
{
	static config_check *const checks[] = { check_workers, check_mode, check_held,
		config_check_allowances, check_egress };
	uint64_t processors = (uint64_t)get_nprocs();
	unsigned before = faults->count;
	struct err err = ERR_INIT;

	if (!config->workers_max)
		config->workers_max = at_most(processors * 4, 64);
	if (!config->workers_min)
		config->workers_min = at_most(at_most(processors * 2, 16), config->workers_max);
	if (!config->sessions_max) /* the other half is for runs */
		config->sessions_max = (config->workers_max + 1) / 2;
	note_fault(faults, config_finish_runtimes(config, &err), &err);
	note_fault(faults, config_finish_packages(config, &err), &err);
	note_faults(config, checks, COUNT_OF(checks), faults);
	config->layers.cgroups = strcmp(config->cgroups, "required") == 0;
	return faults->count > before ? -1 : 0;
}

int config_finish(struct config *config, struct err *err)
{
	struct setting_faults faults = { .count = 0 };

	return config_finish_all(config, &faults) < 0 ? err_pass(err, &faults.items[0]) : 0;
}

/* ---- checks against the host ---------------------------------------------------------------- */

#define SOCKET_PATH_MAX (sizeof(((struct sockaddr_un *)NULL)->sun_path) - 1)

static bool is_program(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISREG(st.st_mode) && access(path, X_OK) == 0;
}

/* Refuses a bind that the spawner would refuse. */
static int check_bind(
	const struct config *config, const char *runtime, const char *path, struct err *err)
{
	char key[CONFIG_KEY_MAX];
	struct err why = ERR_INIT;

	cut_printf(key, sizeof(key), "runtime.%s.binds", runtime);
	if (jail_path_check(path, &why) < 0)
		return setting_refuse(config, err, key,
			"runtime %s: binds: \"%s\" cannot be in a jail, because %s: name another folder or file",
			runtime, path, why.text);
	if (access(path, F_OK) < 0)
		return setting_refuse(config, err, key, "runtime %s: binds: %s is not on this host",
			runtime, path);
	return 0;
}

static int check_runtime_host(
	const struct config *config, const struct config_runtime *runtime, struct err *err)
{
	char key[CONFIG_KEY_MAX];

	cut_printf(key, sizeof(key), "runtime.%s.interpreter", runtime->name);
	if (!is_program(runtime->interpreter))
		return setting_refuse(config, err, key,
			"runtime %s: interpreter = \"%s\" is not a program on this host: install it, correct the path, or write off = true",
			runtime->name, runtime->interpreter);
	for (unsigned i = 0; i < runtime->bind_count; i++)
		if (check_bind(config, runtime->name, runtime->binds[i], err) < 0)
			return -1;
	return 0;
}

static int check_alert_host(
	const struct config *config, const struct alert_rule *alert, struct err *err)
{
	char key[CONFIG_KEY_MAX];

	if (!alert->word_count || is_program(alert->words[0]))
		return 0;
	cut_printf(key, sizeof(key), "alert.%s.command", alert->name);
	return setting_refuse(config, err, key,
		"alert %s: command: \"%s\" is not a program on this host: install it, or correct the path",
		alert->name, alert->words[0]);
}

static int check_path(const struct config *config, const char *key, const char *path,
	size_t len_max, struct err *err)
{
	if (path[0] != '/')
		return setting_refuse(config, err, key,
			"%s = \"%s\" is not an absolute path: begin it with /", key, path);
	if (strlen(path) > len_max)
		return setting_refuse(config, err, key,
			"%s: this path has %zu bytes, and at most %zu are possible", key,
			strlen(path), len_max);
	return 0;
}

static bool is_folder(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
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
			       : setting_refuse(config, err, "checkpoint_file",
					 "checkpoint_file = \"%s\" is not an ordinary file: name a file in a folder that exists",
					 path);
	cut_printf(folder, sizeof(folder), "%.*s/", (int)(slash - path), path);
	if (!is_folder(folder))
		return setting_refuse(config, err, "checkpoint_file",
			"checkpoint_file = \"%s\": there is no folder %s: make it, or correct the path",
			path, folder);
	return 0;
}

static int check_redactions(const struct config *config, struct err *err)
{
	const char *path = config->redactions;
	struct stat st;

	if (!path[0])
		return 0;
	if (check_path(config, "redactions", path, CONFIG_TEXT_MAX, err) < 0)
		return -1;
	return stat(path, &st) == 0 && S_ISREG(st.st_mode)
		       ? 0
		       : setting_refuse(config, err, "redactions",
				 "redactions = \"%s\": there is no such file: make it, or correct the path",
				 path);
}

static int check_socket(const struct config *config, struct err *err)
{
	return check_path(config, "socket", config->socket, SOCKET_PATH_MAX, err);
}

static int check_state(const struct config *config, struct err *err)
{
	return check_path(config, "state", config->state, CONFIG_TEXT_MAX, err);
}

static int check_audit_key(const struct config *config, struct err *err)
{
	return config->audit_key[0]
		       ? check_path(config, "audit_key", config->audit_key, CONFIG_TEXT_MAX, err)
		       : 0;
}

static int check_policies(const struct config *config, struct err *err)
{
	if (!config->policies[0])
		return 0;
	if (check_path(config, "policies", config->policies, CONFIG_TEXT_MAX, err) < 0)
		return -1;
	return is_folder(config->policies)
		       ? 0
		       : setting_refuse(config, err, "policies",
				 "policies = \"%s\": there is no such folder: make it, or correct the path",
				 config->policies);
}

/* Refuses a part that is larger than its whole, which then bounds it silently. */
static int check_parts(const struct config *config, struct err *err)
{
	const struct {
		const char *part, *whole;
		uint64_t part_number, whole_number;
	} pairs[] = {
#define PAIR(part, whole) { #part, #whole, config->part, config->whole }
		PAIR(queue_per_caller, queue_max),
		PAIR(connections_per_uid, connections_max),
		PAIR(parked_per_caller, parked_max),
		PAIR(workers_per_caller, workers_max),
		PAIR(input_bytes, message_bytes),
		PAIR(code_bytes, message_bytes),
		PAIR(schema_bytes, message_bytes),
#undef PAIR
	};

	for (size_t i = 0; i < COUNT_OF(pairs); i++) {
		char part[32];
		char whole[32];

		if (pairs[i].part_number <= pairs[i].whole_number ||
			!setting_written(config, pairs[i].part))
			continue;
		config_number_text(part, sizeof(part), pairs[i].part, pairs[i].part_number);
		config_number_text(whole, sizeof(whole), pairs[i].whole, pairs[i].whole_number);
		return setting_refuse(config, err, pairs[i].part,
			"%s = %s is above %s = %s: lower it, or raise %s", pairs[i].part, part,
			pairs[i].whole, whole, pairs[i].whole);
	}
	return 0;
}

int config_check_host_all(const struct config *config, struct setting_faults *faults)
{
	static config_check *const checks[] = { check_parts, check_socket, check_state,
		check_checkpoint_file, check_audit_key, check_redactions, check_policies,
		config_check_packages_host };
	unsigned before = faults->count;

	note_faults(config, checks, COUNT_OF(checks), faults);
	for (unsigned i = 0; i < config->runtime_count; i++) {
		struct err err = ERR_INIT;

		note_fault(faults, check_runtime_host(config, &config->runtimes[i], &err), &err);
	}
	for (unsigned i = 0; i < config->alert_count; i++) {
		struct err err = ERR_INIT;

		note_fault(faults, check_alert_host(config, &config->alerts[i], &err), &err);
	}
	return faults->count > before ? -1 : 0;
}

int config_check_host(const struct config *config, struct err *err)
{
	struct setting_faults faults = { .count = 0 };

	return config_check_host_all(config, &faults) < 0 ? err_pass(err, &faults.items[0]) : 0;
}
