#include "daemon/policy/policy_names.h"

#include <string.h>

#include "daemon/policy/rulebook.h"
#include "daemon/settings/setting.h"
#include "proto/base/nearest.h"

static int refuse_policy(const struct policies *policies, const struct config *config,
	const char *key, const char *name, struct err *err)
{
	const struct rulebook *book = policies_book(policies);
	struct nearest nearest = NEAREST_OF(name);

	for (uint32_t i = 0; i < book->policy_count; i++)
		nearest_offer(&nearest, book->policies[i].name);
	return setting_refuse(config, err, key, "%s: there is no policy \"%s\"%s", key, name,
		nearest_hint(&nearest));
}

int policy_names_take(struct policies *policies, const struct config *config, struct err *err)
{
	if (!policies_set_standard(policies, config->policy))
		return refuse_policy(policies, config, "policy", config->policy, err);
	for (unsigned i = 0; i < config->allowance_count; i++) {
		const struct config_allowance *allowance = &config->allowances[i];
		char key[CONFIG_KEY_MAX];

		if (allowance->whom != FOR_POLICY || policies_find(policies, allowance->name))
			continue;
		cut_printf(key, sizeof(key), "for_policy.%s", allowance->name);
		return refuse_policy(policies, config, key, allowance->name, err);
	}
	return 0;
}

static int check_rule(const struct policies *policies, const struct config *config,
	const struct alert_rule *alert, struct err *err)
{
	const struct rulebook *book = policies_book(policies);
	struct nearest nearest = NEAREST_OF(alert->rule);
	char key[CONFIG_KEY_MAX];

	if (!alert->rule[0] || rulebook_has_rule(book, alert->rule) ||
		strncmp(alert->rule, "policy.", strlen("policy.")) == 0)
		return 0;
	for (uint32_t i = 0; i < book->rule_count; i++)
		nearest_offer(&nearest, book->rules[i].id);
	cut_printf(key, sizeof(key), "alert.%s.rule", alert->name);
	return setting_refuse(config, err, key, "alert %s: there is no rule \"%s\"%s", alert->name,
		alert->rule,
		nearest.best ? nearest_hint(&nearest) : "; `cectl policy show` lists them");
}

/* A language may have rules without a runtime on this host. */
static int check_language(const struct policies *policies, const struct config *config,
	const struct alert_rule *alert, struct err *err)
{
	const struct rulebook *book = policies_book(policies);
	struct nearest nearest = NEAREST_OF(alert->language);
	char key[CONFIG_KEY_MAX];

	if (!alert->language[0] || rulebook_language(book, alert->language) >= 0)
		return 0;
	for (unsigned i = 0; i < config->runtime_count; i++) {
		if (strcmp(config->runtimes[i].name, alert->language) == 0)
			return 0;
		nearest_offer(&nearest, config->runtimes[i].name);
	}
	cut_printf(key, sizeof(key), "alert.%s.language", alert->name);
	return setting_refuse(config, err, key, "alert %s: there is no language \"%s\"%s",
		alert->name, alert->language,
		nearest.best ? nearest_hint(&nearest) : "; `cectl runtimes` lists them");
}

int policy_names_check_alerts(
	const struct policies *policies, const struct config *config, struct err *err)
{
	for (unsigned i = 0; i < config->alert_count; i++)
		if (check_rule(policies, config, &config->alerts[i], err) < 0 ||
			check_language(policies, config, &config->alerts[i], err) < 0)
			return -1;
	return 0;
}
