/* Sections `alert NAME { ... }` of the configuration. */
#include <string.h>

#include "daemon/settings/config_parts.h"
#include "proto/base/container.h"
#include "proto/job.h"

#define ROW(name, otherwise, lowest, highest, meaning) \
	{ #name, offsetof(struct alert_rule, name), otherwise, lowest, highest, meaning },
static const struct number_rule numbers[] = { ALERT_NUMBERS(ROW) };
#undef ROW

const struct number_table config_alert_numbers = { numbers, COUNT_OF(numbers) };

#define NUMBER_OPTION(name, otherwise, lowest, highest, meaning) \
	CFG_INT_CB(#name, 0, CFGF_NODEFAULT, config_on_number),

cfg_opt_t config_alert_options[] = {
	ALERT_NUMBERS(NUMBER_OPTION) CFG_STR_LIST("outcome", NULL, CFGF_NODEFAULT),
	CFG_STR("rule", NULL, CFGF_NODEFAULT),
	CFG_STR("agent", NULL, CFGF_NODEFAULT),
	CFG_STR("language", NULL, CFGF_NODEFAULT),
	CFG_INT("uid", 0, CFGF_NODEFAULT),
	CFG_BOOL("new_code", cfg_false, CFGF_NODEFAULT),
	CFG_STR("per", NULL, CFGF_NODEFAULT),
	CFG_STR_LIST("command", NULL, CFGF_NODEFAULT),
	CFG_END(),
};

static int take_outcomes(struct alert_rule *rule, cfg_t *section, struct err *err)
{
	for (unsigned i = 0; i < cfg_size(section, "outcome"); i++) {
		const char *word = cfg_getnstr(section, "outcome", i);
		enum outcome outcome = outcome_from_word(word);

		if (outcome == OUTCOME_NONE)
			return err_set(err, ERR_INVALID, "outcome: there is no \"%s\"", word);
		rule->outcomes |= 1U << (unsigned)outcome;
	}
	return 0;
}

static int take_texts(struct alert_rule *rule, cfg_t *section, struct err *err)
{
	const struct {
		const char *name;
		char *text;
		size_t size;
	} rows[] = {
		{ "rule", rule->rule, sizeof(rule->rule) },
		{ "agent", rule->agent, sizeof(rule->agent) },
		{ "language", rule->language, sizeof(rule->language) },
	};

	for (size_t i = 0; i < COUNT_OF(rows); i++)
		if (cfg_size(section, rows[i].name) &&
			config_take_text(rows[i].text, rows[i].size, rows[i].name,
				cfg_getstr(section, rows[i].name), err) < 0)
			return -1;
	return 0;
}

static int take_per(struct alert_rule *rule, cfg_t *section, struct err *err)
{
	static const char *const words[] = {
		[ALERT_PER_ALL] = "all", [ALERT_PER_UID] = "uid", [ALERT_PER_AGENT] = "agent"
	};
	const char *given = cfg_size(section, "per") ? cfg_getstr(section, "per") : "all";

	for (unsigned i = 0; i < COUNT_OF(words); i++) {
		if (strcmp(words[i], given) != 0)
			continue;
		rule->per = (enum alert_per)i;
		return 0;
	}
	return err_set(err, ERR_INVALID, "per: all, uid or agent, and not \"%s\"", given);
}

/* An absolute path: there is no shell and no search. */
static int take_command(struct alert_rule *rule, cfg_t *section, struct err *err)
{
	unsigned count = cfg_size(section, "command");

	if (count > ALERT_WORDS_MAX)
		return err_set(err, ERR_INVALID, "command: more than %d words", ALERT_WORDS_MAX);
	for (unsigned i = 0; i < count; i++)
		if (config_take_text(rule->words[i], sizeof(rule->words[i]), "command",
			    cfg_getnstr(section, "command", i), err) < 0)
			return -1;
	if (count && rule->words[0][0] != '/')
		return err_set(
			err, ERR_INVALID, "command: \"%s\" is no absolute path", rule->words[0]);
	rule->word_count = count;
	return 0;
}

static int take_alert(struct alert_rule *rule, cfg_t *section, struct err *err)
{
	long uid = cfg_size(section, "uid") ? cfg_getint(section, "uid") : -1;

	if (config_take_text(rule->name, sizeof(rule->name), "name", cfg_title(section), err) < 0)
		return -1;
	config_default_numbers(rule, &config_alert_numbers);
	(void)config_take_numbers(rule, section, &config_alert_numbers);
	rule->has_uid = uid >= 0;
	rule->uid = (uint32_t)uid;
	rule->new_code = cfg_size(section, "new_code") && cfg_getbool(section, "new_code");
	if (take_outcomes(rule, section, err) < 0 || take_texts(rule, section, err) < 0 ||
		take_per(rule, section, err) < 0)
		return -1;
	return take_command(rule, section, err);
}

int config_take_alerts(struct config *config, cfg_t *cfg, struct err *err)
{
	for (unsigned i = 0; i < cfg_size(cfg, "alert"); i++) {
		cfg_t *section = cfg_getnsec(cfg, "alert", i);

		if (config->alert_count == ALERT_RULES_MAX)
			return err_set(err, ERR_INVALID, "alert: more than %d", ALERT_RULES_MAX);
		if (take_alert(&config->alerts[config->alert_count++], section, err) < 0)
			return err_wrap(err, "alert %s", cfg_title(section));
	}
	return 0;
}
