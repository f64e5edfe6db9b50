#include <string.h>

#include "cli/session/explanation.h"
#include "proto/job/job.h"
#include "proto/json.h"
#include "tests/check.h"

static struct cli cli;
static struct explanation explanation;

static void explain_json(const char *text)
{
	struct value *record = NULL;
	struct err err = ERR_INIT;

	arena_init(&cli.arena, 1U << 24);
	CHECK_EQ_INT(json_parse(&cli.arena, text, strlen(text), NULL, &record, &err), 0);
	CHECK_EQ_INT(explain(&cli, record, &explanation), 0);
}

static bool says(enum explain_part part, const char *sentence)
{
	for (size_t i = 0; i < explanation.counts[part]; i++)
		if (strcmp(explanation.sentences[part][i], sentence) == 0)
			return true;
	for (size_t i = 0; i < explanation.counts[part]; i++)
		(void)fprintf(stderr, "# says: %s\n", explanation.sentences[part][i]);
	return false;
}

static bool is_reserved(enum outcome outcome)
{
	return outcome == OUTCOME_APPROVAL_DENIED || outcome == OUTCOME_APPROVAL_EXPIRED ||
	       outcome == OUTCOME_BUDGET_EXCEEDED;
}

static const char *outcome_json(enum outcome outcome)
{
	static char text[128];

	(void)snprintf(text, sizeof(text),
		"{\"outcome\":\"%s\",\"reason\":\"The daemon's own words.\"}",
		outcome_word(outcome));
	return text;
}

/*
 * The table needs only the record's outcome to find these sentences, and only its reason for what
 * happened.
 */
TEST(every_outcome_says_what_to_do)
{
	for (enum outcome outcome = OUTCOME_OK; outcome < OUTCOME_COUNT; outcome++) {
		unsigned parts[EXPLAIN_PARTS] = { 0 };

		for (const struct explain_text *row = explain_texts; row->text; row++)
			if (row->outcome && !strcmp(row->outcome, outcome_word(outcome)))
				parts[row->part]++;
		if (is_reserved(outcome))
			continue;
		CHECK(parts[EXPLAIN_CHANGE] > 0);
		/* only the daemon's reason says what happened */
		CHECK_EQ_INT(parts[EXPLAIN_HAPPENED], 0);
		explain_json(outcome_json(outcome));
		CHECK(says(EXPLAIN_HAPPENED, "The daemon's own words."));
		CHECK_EQ_INT(explanation.counts[EXPLAIN_HAPPENED], 1);
		arena_done(&cli.arena);
	}
}

TEST(every_sentence_is_of_an_outcome_that_there_is)
{
	for (const struct explain_text *row = explain_texts; row->text; row++) {
		size_t len = strlen(row->text);

		CHECK(!row->outcome || outcome_from_word(row->outcome) != OUTCOME_NONE);
		CHECK(!strchr(row->text, '{') == !strchr(row->text, '}'));
		CHECK(len > 0);
	}
}

TEST(numbers_come_with_their_units_and_the_limit_with_who_held_it)
{
	explain_json(
		"{\"outcome\":\"wall_limit\",\"reason\":\"It was late.\",\"evidence\":{\"limit\":\"wall_ms\",\"limit_ms\":"
		"2000,\"cpu_ms\":3},\"limits\":{\"wall_ms\":2000,\"enforced_by\":{\"wall_ms\":"
		"\"clock\"}}}");
	CHECK(says(EXPLAIN_HAPPENED, "It was late."));
	CHECK(says(EXPLAIN_KNOWN, "Until then it had used 3.00 ms of cpu time."));
	CHECK(says(EXPLAIN_KNOWN, "wall_ms was limited to 2.00 s, held by: clock."));
	CHECK(says(EXPLAIN_CHANGE,
		"It mostly waited: for input, in sleep, or for a lock. Remove the wait."));
	CHECK_EQ_INT(explanation.counts[EXPLAIN_CHANGE], 2);
	arena_done(&cli.arena);
}

TEST(a_uid_is_a_name_and_no_count)
{
	explain_json("{\"outcome\":\"approval_denied\",\"policy\":{\"name\":\"review\"},"
		     "\"approval\":{\"by\":4102,\"act\":1234}}");
	CHECK(says(EXPLAIN_KNOWN,
		"The policy review asks a person about such programs; uid 4102 said no (act 1234)."));
	arena_done(&cli.arena);
}

TEST(a_sentence_with_a_hole_is_left_out)
{
	explain_json("{\"outcome\":\"memory_limit\",\"evidence\":{\"limit\":\"memory_bytes\","
		     "\"limit_bytes\":67108864}}");
	CHECK_EQ_INT(explanation.counts[EXPLAIN_HAPPENED], 0);
	CHECK_EQ_INT(explanation.counts[EXPLAIN_KNOWN], 0);
	CHECK_EQ_INT(explanation.counts[EXPLAIN_CHANGE], 2);
	arena_done(&cli.arena);
}

TEST(findings_come_with_their_hints)
{
	explain_json(
		"{\"outcome\":\"policy_denied\",\"policy\":{\"name\":\"strict\",\"decision\":\"deny\",\"findings\":[{"
		"\"rule\":\"r\",\"line\":3,\"column\":5,\"message\":\"no\",\"hint\":\"do "
		"that\"}]}}");
	CHECK(says(EXPLAIN_KNOWN, "line 3, column 5: no (r)"));
	CHECK(says(EXPLAIN_CHANGE, "line 3: do that"));
	arena_done(&cli.arena);
}

TEST(advice_fits_the_exception)
{
	explain_json("{\"outcome\":\"exception\",\"error\":{\"type\":\"ModuleNotFoundError\","
		     "\"message\":\"No module named 'x'\",\"line\":1,\"text\":\"import x\"}}");
	CHECK(says(EXPLAIN_CHANGE,
		"Modules are those of the runtime (cectl runtimes), those of the package sets that "
		"the run names (cectl packages list, cectl run --packages), and files that come "
		"with the run; nothing can be installed from inside."));
	CHECK_EQ_INT(explanation.counts[EXPLAIN_CHANGE], 2);
	arena_done(&cli.arena);
}

TEST(what_a_program_says_cannot_reach_the_terminal)
{
	explain_json("{\"outcome\":\"exception\",\"reason\":\"Uncaught E: \\u001b[2J\\nx\"}");
	CHECK(!strchr(explanation.sentences[EXPLAIN_HAPPENED][0], '\x1b'));
	CHECK(!strchr(explanation.sentences[EXPLAIN_HAPPENED][0], '\n'));
	arena_done(&cli.arena);
}

TEST(many_findings_are_not_too_many)
{
	static char text[1U << 16] =
		"{\"outcome\":\"policy_denied\",\"policy\":{\"name\":\"p\",\"findings\":[";

	for (int i = 0; i < 200; i++)
		(void)strcat(text, i ? ",{\"line\":1}" : "{\"line\":1}");
	(void)strcat(text, "]}}");
	explain_json(text);
	CHECK_EQ_INT(explanation.counts[EXPLAIN_KNOWN], EXPLAIN_SENTENCES_MAX);
	arena_done(&cli.arena);
}
