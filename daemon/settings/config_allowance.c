/* Budgets, and numbers of their own for some runs: sections `for_uid NAME { ... }` and their like. */
#include <inttypes.h>
#include <string.h>

#include "daemon/settings/config_parts.h"

cfg_opt_t config_allowance_options[] = {
	CONFIG_NUMBER_SECTIONS(),
	CFG_END(),
};

/* ---- budgets --------------------------------------------------------------------------------- */

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

void config_default_budgets(struct budget_limits budgets[BUDGET_SCOPE_COUNT])
{
	memcpy(budgets, budgets_otherwise, sizeof(budgets_otherwise));
}

unsigned config_take_budgets(struct budget_limits budgets[BUDGET_SCOPE_COUNT], cfg_t *cfg)
{
	unsigned written = 0;

	for (unsigned scope = 0; scope < BUDGET_SCOPE_COUNT; scope++)
		written += config_take_numbers(
			&budgets[scope], cfg_getsec(cfg, budget_sections[scope]), &config_spending);
	return written;
}

/* ---- whom they are for ----------------------------------------------------------------------- */

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

/* ---- a section ------------------------------------------------------------------------------- */

static int take_id(struct config_allowance *allowance, struct err *err)
{
	uint64_t id = 0;

	if (allowance->whom != FOR_UID && allowance->whom != FOR_GID)
		return 0;
	if (config_read_number("id", allowance->name, &id) < 0 || id >= UINT32_MAX)
		return err_set(err, ERR_INVALID, "\"%s\" is no number of a user or group",
			allowance->name);
	allowance->id = (uint32_t)id;
	return 0;
}

/* It counts with a number in it; a section of a runtime may have none. */
static int take_allowance(
	struct config *config, enum config_for whom, cfg_t *section, struct err *err)
{
	struct config_allowance *allowance = &config->allowances[config->allowance_count];
	unsigned written;

	if (config->allowance_count == CONFIG_ALLOWANCES_MAX)
		return err_set(err, ERR_INVALID, "more than %d of them", CONFIG_ALLOWANCES_MAX);
	allowance->whom = whom;
	if (config_take_text(
		    allowance->name, sizeof(allowance->name), "name", cfg_title(section), err) < 0)
		return -1;
	memset(&allowance->limits, 0xff, sizeof(allowance->limits)); /* CONFIG_LIMIT_UNSET */
	memset(&allowance->most, 0xff, sizeof(allowance->most));
	memset(allowance->budgets, 0xff, sizeof(allowance->budgets));
	written = config_take_numbers(
		&allowance->limits, cfg_getsec(section, "limits"), &config_limits);
	written += config_take_numbers(&allowance->most, cfg_getsec(section, "most"), &config_most);
	written += config_take_budgets(allowance->budgets, section);
	config->allowance_count += written > 0;
	if (take_id(allowance, err) < 0)
		return -1;
	return config_check_limits(&allowance->limits, &allowance->most, err);
}

int config_take_allowances(struct config *config, cfg_t *cfg, struct err *err)
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

/* ---- telling --------------------------------------------------------------------------------- */

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

void config_print_allowances(const struct config *config, FILE *out)
{
	for (unsigned i = 0; i < config->allowance_count; i++)
		print_allowance(out, &config->allowances[i]);
}
