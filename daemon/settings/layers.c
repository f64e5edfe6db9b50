#include "daemon/settings/layers.h"

#include <errno.h>
#include <linux/landlock.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "proto/base/container.h"
#include "proto/base/log.h"

static bool holds_memory(const struct priv_host *host)
{
	return host->memory != PRIV_CGROUP_NONE;
}

static bool holds_pids(const struct priv_host *host)
{
	return host->pids != PRIV_CGROUP_NONE;
}

static bool holds_cpu(const struct priv_host *host)
{
	return host->cpu != PRIV_CGROUP_NONE;
}

static bool kills_cgroups(const struct priv_host *host)
{
	return host->cgroup_kill != 0;
}

static bool has_landlock(const struct priv_host *host)
{
	return host->landlock_abi > 0;
}

static bool has_uids(const struct priv_host *host)
{
	return host->mode == PRIV_MODE_ROOT;
}

/* Whether the kernel has it built in, even if it was not switched on at boot. */
static bool kernel_has_landlock(const struct priv_host *host)
{
	return host->landlock_abi != -ENOSYS;
}

#define CGROUP_REPAIR                                                                              \
	"give ced a cgroup of its own (Delegate=memory pids cpu in its unit, systemd-run --scope " \
	"-p Delegate=yes by hand), or accept less with cgroups = \"auto\""

static const struct row {
	const char *word;
	bool (*is_held)(const struct priv_host *host);
	bool (*kernel_has)(
		const struct priv_host *host); /* NULL: required only where a setting says so */
	bool by_cgroup; /* cgroups = "required" requires it; host->why_not says why it is missing */
	enum log_level level; /* for the log, if it is missing and not required */
	const char *instead;
	const char *repair;
} rows[] = {
	[LAYER_MEMORY] = { "memory", holds_memory, NULL, true, LOG_LEVEL_WARNING,
		"RLIMIT_AS for each process, not for all together", CGROUP_REPAIR },
	[LAYER_PIDS] = { "pids", holds_pids, NULL, true, LOG_LEVEL_WARNING,
		"RLIMIT_NPROC, which all workers of one uid share", CGROUP_REPAIR },
	[LAYER_CPU] = { "cpu", holds_cpu, NULL, true, LOG_LEVEL_WARNING,
		"RLIMIT_CPU for each process, and nothing for cpu_percent", CGROUP_REPAIR },
	[LAYER_CGROUP_KILL] = { "cgroup_kill", kills_cgroups, NULL, false, LOG_LEVEL_INFO,
		"the end of a run's pid namespace kills what is in it",
		"a kernel from 5.14 on, with cgroup2 mounted and a folder in it for ced" },
	[LAYER_LANDLOCK] = { "landlock", has_landlock, kernel_has_landlock, false,
		LOG_LEVEL_WARNING, "mounts alone hold files",
		"landlock in lsm= on the kernel's command line, or accept less with require = {}" },
	[LAYER_UIDS] = { "uids", has_uids, NULL, false, LOG_LEVEL_INFO,
		"namespaces alone part workers, which share one uid", "root starts ced-spawner" },
};

_Static_assert(COUNT_OF(rows) == LAYER_COUNT, "each layer has its row");

const char *layer_word(enum layer layer)
{
	return rows[layer].word;
}

int layer_named(const char *word)
{
	for (size_t i = 0; i < COUNT_OF(rows); i++)
		if (strcmp(rows[i].word, word) == 0)
			return (int)i;
	return -1;
}

bool layer_is_held(enum layer layer, const struct priv_host *host)
{
	return rows[layer].is_held(host);
}

void layers_look(struct priv_host *ret_host)
{
	long abi = syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);

	*ret_host = (struct priv_host){ .landlock_abi = abi < 0 ? -errno : (int32_t)abi };
}

bool layer_is_required(
	enum layer layer, const struct layers_wish *wish, const struct priv_host *host)
{
	const struct row *row = &rows[layer];

	if (row->by_cgroup && wish->cgroups)
		return true;
	if (wish->named)
		return (wish->require >> layer & 1U) != 0;
	return row->kernel_has && row->kernel_has(host);
}

static void tell(const struct row *row, bool required, const char *why)
{
	if (required)
		log_event(LOG_LEVEL_ERROR, "layer.missing", LOG_STR("layer", row->word),
			LOG_STR("why", why), LOG_STR("repair", row->repair));
	else
		log_event(row->level, "layer.missing", LOG_STR("layer", row->word),
			LOG_STR("why", why), LOG_STR("instead", row->instead),
			LOG_STR("repair", row->repair));
}

int layers_check(const struct layers_wish *wish, const struct priv_host *host, struct err *err)
{
	char missing[128] = "";
	const char *why_not = "";

	for (enum layer layer = 0; layer < LAYER_COUNT; layer++) {
		const struct row *row = &rows[layer];
		const char *why = row->by_cgroup && host->why_not[0] ? host->why_not
								     : "this host does not give it";
		bool required = layer_is_required(layer, wish, host);

		if (row->is_held(host))
			continue;
		tell(row, required, why);
		if (!required)
			continue;
		cut_printf(missing + strlen(missing), sizeof(missing) - strlen(missing), "%s%s",
			missing[0] ? ", " : "", row->word);
		why_not = why;
	}
	if (missing[0] == '\0')
		return 0;
	return err_set(err, ERR_UNSUPPORTED,
		"required and not here: %s (%s); each layer.missing above has its repair, and "
		"cectl doctor tries what this host gives",
		missing, why_not);
}

struct value *layers_missing(const struct priv_host *host, struct arena *arena)
{
	struct value *list = value_list(arena);

	for (enum layer layer = 0; layer < LAYER_COUNT; layer++)
		if (!rows[layer].is_held(host))
			value_list_add(arena, list, value_text(arena, rows[layer].word));
	return list;
}
