#include "daemon/settings/config_alerts.h"

#include "proto/base/nearest.h"

static int refuse_outcome(const struct config_value *value, struct err *err)
{
	struct nearest nearest = NEAREST_OF(value->text);

	for (enum outcome outcome = OUTCOME_NONE + 1; outcome < OUTCOME_COUNT; outcome++)
		nearest_offer(&nearest, outcome_word(outcome));
	return setting_fault(err, value->line, "outcome: there is no outcome \"%s\"%s", value->text,
		nearest.best ? nearest_hint(&nearest) : "; docs/PROTOCOL.md lists them");
}

static int take_outcomes(
	void *set, const struct setting *row, const struct config_item *item, struct err *err)
{
	struct alert_rule *rule = set;

	(void)row;
	for (const struct config_value *value = item->values; value; value = value->next) {
		enum outcome outcome = outcome_from_word(value->text);

		if (outcome == OUTCOME_NONE)
			return refuse_outcome(value, err);
		rule->outcomes |= 1U << (unsigned)outcome;
	}
	return 0;
}

/* Reads a number, or the name of a user of this host. */
static int take_uid(
	void *set, const struct setting *row, const struct config_item *item, struct err *err)
{
	struct alert_rule *rule = set;

	(void)row;
	rule->has_uid = true;
	if (roles_read_id(false, item->values->text, &rule->uid, err) < 0)
		return err_wrap(err, "line %u: uid", item->line);
	return 0;
}

/* Reads the command.  Its path must be absolute, because there is no shell and no search. */
static int take_command(
	void *set, const struct setting *row, const struct config_item *item, struct err *err)
{
	struct alert_rule *rule = set;

	(void)row;
	if (setting_copy_list(rule->words[0], sizeof(rule->words[0]), &rule->word_count,
		    ALERT_WORDS_MAX, item, err) < 0)
		return -1;
	if (rule->word_count && rule->words[0][0] != '/')
		return setting_fault(err, item->line,
			"command: \"%s\" is not an absolute path: begin it with /", rule->words[0]);
	return 0;
}

static const char *const per_words[] = {
	[ALERT_PER_ALL] = "all", [ALERT_PER_UID] = "uid", [ALERT_PER_AGENT] = "agent", NULL
};

/* clang-format off */
#define SAYS(what) .change = CHANGE_RELOAD, .meaning = what
#define ROW(field, standard, least, greatest, says) \
	SETTING_NUMBER_OF(alert_rule, field, .otherwise = standard, .lowest = least, \
		.highest = greatest, .change = CHANGE_RELOAD, .meaning = says),
const struct setting config_alert[] = {
	ALERT_NUMBERS(ROW)
	SETTING_TEXT_OF(alert_rule, rule, SAYS("runs with a finding of this rule; a * at its end stands for the rest")),
	SETTING_TEXT_OF(alert_rule, agent, SAYS("runs of this agent; its name may end with *")),
	SETTING_TEXT_OF(alert_rule, language, SAYS("runs of this language")),
	{ .name = "new_code", .type = SETTING_BOOL, .offset = offsetof(struct alert_rule, new_code),
		SAYS("programs that this agent of this user has not run before") },
	{ .name = "per", .type = SETTING_CHOICE, .offset = offsetof(struct alert_rule, per),
		.words = per_words, SAYS("which runs count together") },
	{ .name = "outcome", .type = SETTING_LIST, .take = take_outcomes,
		SAYS("runs with one of these outcomes") },
	{ .name = "uid",     .type = SETTING_TEXT, .take = take_uid, SAYS("runs of this user") },
	{ .name = "command", .type = SETTING_LIST, .take = take_command,
		SAYS("what ced-alerts starts: an absolute path and up to seven words; it reads this when it starts") },
	{ 0 },
};
#undef ROW
#undef SAYS
/* clang-format on */

int config_take_alert(
	void *config, const struct setting *row, const struct config_item *section, struct err *err)
{
	struct config *whole = config;
	struct alert_rule *rule = &whole->alerts[whole->alert_count];

	(void)row;
	if (whole->alert_count == ALERT_RULES_MAX)
		return setting_fault(
			err, section->line, "there are more than %d alerts", ALERT_RULES_MAX);
	whole->alert_count++;
	setting_defaults(rule, config_alert);
	if (setting_copy(rule->name, sizeof(rule->name), section, section->title, err) < 0)
		return -1;
	return setting_take(rule, section, config_alert, err);
}
