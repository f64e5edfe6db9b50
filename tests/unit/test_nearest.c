#include "proto/base/nearest.h"
#include "tests/check.h"

static const char *best_of(const char *given, const char *const *known)
{
	struct nearest nearest = NEAREST_OF(given);

	for (; *known; known++)
		nearest_offer(&nearest, *known);
	return nearest.best ? nearest.best : "";
}

static const char *const settings[] = { "queue_max", "queue_ms", "workers_min", "workers_max",
	"state", "socket", NULL };

TEST(a_letter_too_few_too_many_wrong_or_swapped_is_forgiven)
{
	CHECK_STR(best_of("quue_max", settings), "queue_max");
	CHECK_STR(best_of("queue__max", settings), "queue_max");
	CHECK_STR(best_of("sacket", settings), "socket");
	CHECK_STR(best_of("satte", settings), "state");
	CHECK_STR(best_of("Workers_Max", settings), "workers_max");
}

TEST(the_beginning_of_a_word_means_that_word)
{
	CHECK_STR(best_of("sock", settings), "socket");
	CHECK_STR(best_of("workers", settings), "workers_min");
}

TEST(a_word_that_is_like_none_has_no_suggestion)
{
	CHECK_STR(best_of("banana", settings), "");
	CHECK_STR(best_of("x", settings), "");
	CHECK_STR(best_of("", settings), "");
}

TEST(the_hint_is_a_sentence_or_nothing)
{
	struct nearest nearest = NEAREST_OF("stat");

	CHECK_STR(nearest_hint(&nearest), "");
	nearest_offer(&nearest, "state");
	CHECK_STR(nearest_hint(&nearest), "; did you mean state?");
}

TEST(words_longer_than_the_table_are_compared_by_their_beginning)
{
	char given[300] = "";
	char known[300] = "";

	for (size_t i = 0; i + 1 < sizeof(given); i++)
		given[i] = known[i] = 'a';
	known[298] = 'b';
	CHECK_STR(best_of(given, (const char *const[]){ known, NULL }), known);
}
