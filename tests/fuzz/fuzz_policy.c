/* An operator's files: a policy's JSON, and the heads of a rules file.  The first byte chooses. */
#include "daemon/policy/policy_file.h"
#include "daemon/policy/rule_sources.h"
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct rules_file rules;
	struct policy_file policy;
	struct err err = ERR_INIT;
	struct arena arena;
	const char *text = (const char *)data + 1;

	if (len == 0)
		return 0;
	arena_init(&arena, (size_t)16 << 20);
	if (data[0] == 'r')
		(void)rules_file_parse(&arena, text, len - 1, &rules, &err);
	else
		(void)policy_file_parse(&arena, text, len - 1, &policy, &err);
	arena_done(&arena);
	return 0;
}
