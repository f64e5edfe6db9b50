/*
 * Cases of policy: a program, and all that is found in it.
 *
 *	policy: strict            settings: policy, language (python), bytes (plain or escaped,
 *	---                       where \xHH in the program stands for one byte)
 *	import os
 *	---
 *	deny                      the decision, then each finding: rule line:column severity text
 *	python.import.denied 1:8 deny os
 *
 * A case of a program that tries to get round the policy is called evasion-*, one of an innocent
 * program that looks like it innocent-*; how many there are for each language is told at the end.
 * The programs go through a real ced-inspector and are never run: this is the policy by text alone.
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/cases.h"
#include "tests/check.h"
#include "tests/inspecting.h"

#define FOUND_BYTES (64 << 10)

static struct inspecting inspecting;
static bool started;

/* The value of "key: value" in the first part, or `otherwise`. */
static const char *setting(const struct test_case *test, const char *key, const char *otherwise)
{
	static char value[3][128];
	static unsigned next;
	char *text = value[next++ % 3];
	size_t len = strlen(key);

	for (const char *line = test->part[0]; *line; line = strchr(line, '\n') + 1) {
		if (strncmp(line, key, len) == 0 && line[len] == ':' &&
			sscanf(line + len + 1, " %127s", text) == 1)
			return text;
		if (!strchr(line, '\n'))
			break;
	}
	return otherwise;
}

static size_t unescape(const char *text, size_t len, char *out)
{
	size_t size = 0;
	unsigned byte;

	for (size_t i = 0; i < len; i++) {
		if (text[i] == '\\' && i + 3 < len && text[i + 1] == 'x' &&
			sscanf(text + i + 2, "%2x", &byte) == 1) {
			out[size++] = (char)byte;
			i += 3;
		} else {
			out[size++] = text[i];
		}
	}
	return size;
}

static void print_found(const struct policy_verdict *verdict, char *out)
{
	size_t at =
		(size_t)snprintf(out, FOUND_BYTES, "%s\n", policy_decision_word(verdict->decision));

	for (size_t i = 0; i < verdict->finding_count && at < FOUND_BYTES; i++) {
		const struct policy_finding *finding = &verdict->findings[i];

		at += (size_t)snprintf(out + at, FOUND_BYTES - at, "%s %u:%u %s%s%s\n",
			finding->rule, finding->line, finding->column, finding->severity,
			finding->text[0] ? " " : "", finding->text);
	}
}

/* How many there are of each kind. */
static struct count {
	const char *language;
	unsigned evasions, innocent;
} counts[] = { { "python", 0, 0 }, { "javascript", 0, 0 }, { "bash", 0, 0 } };

static void count(const char *name, const char *language)
{
	for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
		if (strcmp(counts[i].language, language) != 0)
			continue;
		counts[i].evasions += strncmp(name, "evasion-", 8) == 0;
		counts[i].innocent += strncmp(name, "innocent-", 9) == 0;
	}
}

static void stop(void)
{
	inspecting_stop(&inspecting);
	for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++)
		printf("# %s: %u evasions, %u innocent look-alikes\n", counts[i].language,
			counts[i].evasions, counts[i].innocent);
}

void run_case(const struct test_case *test)
{
	static char code[1 << 20];
	static char found[FOUND_BYTES];
	const char *policy = setting(test, "policy", "strict");
	const char *language = setting(test, "language", "python");
	struct policy_verdict verdict;
	size_t len = test->part_len[1];

	if (!started) {
		CHECK(inspecting_start(&inspecting, NULL, 1));
		started = true;
		(void)atexit(stop);
	}
	memcpy(code, test->part[1], len);
	if (strcmp(setting(test, "bytes", "plain"), "escaped") == 0)
		len = unescape(test->part[1], len, code);
	CHECK(inspecting_check(
		&inspecting, policy, language, (struct bytes){ code, len }, NULL, &verdict));
	print_found(&verdict, found);
	count(test->name, language);
	CHECK_STR(found, test->part[2]);
}
