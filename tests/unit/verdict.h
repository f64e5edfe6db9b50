/* The verdict of a profile's table on one system call, to compare the filters' answers with. */
#pragma once

#include <stdbool.h>

#include "sandbox/filter/syscalls.h"

static inline bool rule_holds(const struct arg_rule *rule, const uint64_t args[6])
{
	for (size_t i = 0; i < ARG_TESTS_MAX; i++) {
		const struct arg_test *test = &rule->tests[i];

		if ((args[test->arg] & test->mask) != test->value)
			return false;
	}
	return true;
}

static inline uint32_t group_verdict(const struct syscall_group *group, const uint64_t args[6])
{
	for (size_t i = 0; i < group->rule_count; i++)
		if (rule_holds(&group->rules[i], args))
			return group->rules[i].verdict;
	return group->verdict;
}

static inline uint32_t syscall_verdict(enum filter_profile profile, int nr, const uint64_t args[6])
{
	const struct syscall_group *group = syscall_group_of(profile, nr);

	return group ? group_verdict(group, args) : VERDICT_DEFAULT;
}
