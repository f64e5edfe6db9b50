/* Reads the sections `alert NAME { ... }` of the configuration. */
#include <string.h>

#include "daemon/settings/config_parts.h"
#include "proto/base/nearest.h"
#include "proto/job/job.h"

#define ROW(name, otherwise, lowest, highest, meaning) \
	{ #name, offsetof(struct alert_rule, name), otherwise, lowest, highest, meaning },
static const struct number_rule numbers[] = { ALERT_NUMBERS(ROW) };
#undef ROW

const struct number_table config_alert_numbers = { numbers, COUNT_OF(numbers) };

static int refuse_outcome(const struct config_value *value, struct err *err)
{
	struct nearest nearest = NEAREST_OF(value->text);

	for (enum outcome outcome = OUTCOME_NONE + 1; outcome < OUTCOME_COUNT; outcome++)
		nearest_offer(&nearest, outcome_word(outcome));
	return err_set(err, ERR_INVALID, "line %u: outcome: there is no outcome \"%s\"%s",
		value->line, value->text,
		nearest.best ? nearest_hint(&nearest) : "; docs/PROTOCOL.md lists them");
}

static int take_outcomes(
	struct alert_rule *rule, const struct config_item *section, struct err *err)
{
	const struct config_item *item = config_find(section, "outcome");

	for (const struct config_value *value = item ? item->values : NULL; value;
		value = value->next) {
		enum outcome outcome = outcome_from_word(value->text);

		if (outcome == OUTCOME_NONE)
			return refuse_outcome(value, err);
		rule->outcomes |= 1U << (unsigned)outcome;
	}
	return 0;
}

static int take_texts(struct alert_rule *rule, const struct config_item *section, struct err *err)
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

	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		const struct config_item *item = config_find(section, rows[i].name);

		if (item && config_take_text(
				    rows[i].text, rows[i].size, item, item->values->text, err) < 0)
			return -1;
	}
	return 0;
}

static int take_per(struct alert_rule *rule, const struct config_item *section, struct err *err)
{
	static const char *const words[] = {
		[ALERT_PER_ALL] = "all", [ALERT_PER_UID] = "uid", [ALERT_PER_AGENT] = "agent"
	};
	const struct config_item *item = config_find(section, "per");

	for (unsigned i = 0; item && i < COUNT_OF(words); i++) {
		if (strcmp(words[i], item->values->text) != 0)
			continue;
		rule->per = (enum alert_per)i;
		return 0;
	}
	return item ? config_fault(err, item, "per = \"%s\": write \"all\", \"uid\" or \"agent\"",
			      item->values->text)
		    : 0;
}

/* Reads a number, or the name of a user of this host. */
static int take_uid(struct alert_rule *rule, const struct config_item *section, struct err *err)
{
	const struct config_item *item = config_find(section, "uid");
	struct role_list one = { 0 };
	struct err why = ERR_INIT;

	if (!item)
		return 0;
	if (roles_name(&one, false, item->values->text, &why) < 0)
		return config_fault(err, item, "uid: %s", why.text);
	rule->has_uid = true;
	rule->uid = one.ids[0];
	return 0;
}

/* Reads the command.  Its path must be absolute, because there is no shell and no search. */
static int take_command(struct alert_rule *rule, const struct config_item *section, struct err *err)
{
	const struct config_item *item = config_find(section, "command");

	if (!item)
		return 0;
	if (item->value_count > ALERT_WORDS_MAX)
		return config_fault(err, item,
			"command: it has %u words, and at most %d are allowed", item->value_count,
			ALERT_WORDS_MAX);
	for (const struct config_value *value = item->values; value; value = value->next)
		if (config_take_text(rule->words[rule->word_count++], sizeof(rule->words[0]), item,
			    value->text, err) < 0)
			return -1;
	if (rule->word_count && rule->words[0][0] != '/')
		return config_fault(err, item,
			"command: \"%s\" is no absolute path: begin it with /", rule->words[0]);
	return 0;
}

static int take_alert(struct alert_rule *rule, const struct config_item *section, struct err *err)
{
	const struct config_item *new_code = config_find(section, "new_code");

	if (config_take_text(rule->name, sizeof(rule->name), section, section->title, err) < 0)
		return -1;
	config_default_numbers(rule, &config_alert_numbers);
	(void)config_take_numbers(rule, section, &config_alert_numbers);
	rule->new_code = new_code && new_code->number;
	if (take_outcomes(rule, section, err) < 0 || take_texts(rule, section, err) < 0 ||
		take_per(rule, section, err) < 0 || take_uid(rule, section, err) < 0)
		return -1;
	return take_command(rule, section, err);
}

int config_take_alerts(struct config *config, const struct config_item *whole, struct err *err)
{
	const struct config_item *section = NULL;

	while ((section = config_next(whole, section, "alert"))) {
		if (config->alert_count == ALERT_RULES_MAX)
			return config_fault(err, section, "alert: there are more than %d of them",
				ALERT_RULES_MAX);
		if (take_alert(&config->alerts[config->alert_count++], section, err) < 0)
			return -1;
	}
	return 0;
}
