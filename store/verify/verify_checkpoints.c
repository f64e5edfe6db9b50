/* Compares checkpoints, in the store and in the checkpoint file, with the chain. */
#include <string.h>

#include "store/base/chain.h"
#include "store/base/checkpoint.h"
#include "store/base/db.h"
#include "store/base/stmt.h"
#include "store/verify/verify.h"

/* Where a checkpoint stands, for the report. */
struct place {
	const char *what; /* "checkpoint", "line" */
	int64_t number;
};

static struct fill say(struct verify *verify, const char *what, const struct place *place,
	const struct checkpoint *checkpoint, const char *words)
{
	struct fill problem = verify_problem(verify, what, "%s %lld signs link %lld, %s",
		place->what, (long long)place->number, (long long)checkpoint->links, words);

	fill_text(&problem, "kind", "checkpoint");
	fill_int(&problem, "link", checkpoint->links);
	fill_int(&problem, "at_us", checkpoint->at_us);
	return problem;
}

/* 1: the store has that link, with that head; 0: with another head; 2: its chain is shorter; -1. */
static int compare(struct store *store, const struct checkpoint *checkpoint, int64_t *ret_links,
	struct err *err)
{
	struct chain_head end = { 0, { 0 } };

	if (chain_end(store, &end, err) < 0)
		return -1;
	*ret_links = end.links;
	return checkpoint->links > end.links
		       ? 2
		       : chain_has(store, checkpoint->links, checkpoint->head, err);
}

static int check(struct verify *verify, const struct checkpoint *checkpoint,
	const struct place *place, struct err *err)
{
	const uint8_t *trusted = verify->trust ? verify->trust->public_key : NULL;
	int64_t links = 0;
	int r;

	if (!checkpoint_holds(checkpoint))
		(void)say(verify, "unsigned", place, checkpoint, "and its signature does not hold");
	else if (trusted && memcmp(trusted, checkpoint->public_key, SIGN_PUBLIC_LEN) != 0)
		(void)say(verify, "unsigned", place, checkpoint,
			"but with another key than this store's");
	r = compare(verify->store, checkpoint, &links, err);
	if (r < 0)
		return -1;
	if (r == 0)
		(void)say(verify, "changed", place, checkpoint,
			"and the link that is there now is another one");
	if (r == 2)
		(void)say(verify, "missing", place, checkpoint,
			"and the store does not reach so far: it was rolled back, or its end was cut off");
	return 0;
}

/* ---- in the store ------------------------------------------------------------------------- */

static int check_row(struct verify *verify, sqlite3_stmt *row, struct err *err)
{
	const struct place place = { "checkpoint", sqlite3_column_int64(row, 0) };
	struct checkpoint checkpoint;

	if (!checkpoint_row(row, &checkpoint)) {
		(void)say(verify, "unreadable", &place, &checkpoint, "and is not whole");
		return 0;
	}
	return check(verify, &checkpoint, &place, err);
}

int verify_checkpoints(struct verify *verify, struct err *err)
{
	auto_of(stmt_leave) sqlite3_stmt *row = stmt_with(verify->store, STMT_CHECKPOINT_WALK,
		SQL_VALUES(sql_int(verify->from), sql_int(verify->count)), err);
	int64_t last = 0;
	int r;

	if (db_number(verify->store, "SELECT max(checkpoint) FROM checkpoints", 0, &verify->of,
		    err) < 0)
		return -1;
	while ((r = stmt_step(verify->store, row, err)) > 0) {
		last = sqlite3_column_int64(row, 0);
		verify->checked++;
		if (check_row(verify, row, err) < 0)
			return -1;
	}
	verify->next = last && last < verify->of ? last + 1 : 0;
	return r;
}

/* ---- in the second file ------------------------------------------------------------------- */

static int check_line(
	struct verify *verify, const char *line, size_t len, int64_t at, struct err *err)
{
	const struct place place = { "the line at byte", at };
	struct checkpoint checkpoint;
	struct fill problem;

	if (checkpoint_read(line, len, &checkpoint) == 0)
		return check(verify, &checkpoint, &place, err);
	if (checkpoint_is_torn(line, len))
		return 0;
	problem = verify_problem(verify, "unreadable",
		"the line at byte %lld of the second file is no checkpoint", (long long)at);
	fill_text(&problem, "kind", "checkpoint");
	return 0;
}

static int64_t piece_len(const struct store_trust *trust)
{
	return trust->second.data ? (int64_t)trust->second.len : 0;
}

/* The lines of the piece at hand, from byte `at` of it on; where it stopped, or -1. */
static int64_t check_piece(struct verify *verify, int64_t at, struct err *err)
{
	const struct store_trust *trust = verify->trust;
	const char *text = trust->second.data;
	int64_t len = piece_len(trust);
	bool is_last = trust->second_at + len >= verify->of;

	while (at < len && verify->checked < verify->count) {
		const char *end = memchr(text + at, '\n', (size_t)(len - at));
		int64_t line = end ? end - text - at : len - at;

		/* The rest of it stands in the next piece. */
		if (!end && !is_last && at)
			break;
		/* cppcheck-suppress knownConditionTrueFalse ; a line may be empty */
		if (line &&
			check_line(verify, text + at, (size_t)line, trust->second_at + at, err) < 0)
			return -1;
		at += line + 1;
		verify->checked++;
	}
	return at;
}

int verify_second(struct verify *verify, struct err *err)
{
	const struct store_trust *trust = verify->trust;
	char words[256];
	int64_t at;

	verify->of = 0;
	verify->next = 0;
	if (!trust)
		return 0;
	verify->of = trust->second_of ? trust->second_of : piece_len(trust);
	at = verify->from - 1 - trust->second_at;
	at = check_piece(verify, at < 0 ? 0 : at, err);
	if (at < 0)
		return -1;
	if (trust->second_at + at < verify->of)
		verify->next = trust->second_at + at + 1;
	else if (store_second_lacks(trust, words, sizeof(words)))
		(void)verify_problem(verify, "missing", "%s", words);
	return 0;
}

/* ---- at the start ------------------------------------------------------------------------- */

/* Somebody who can only write to the file cannot make such a line. */
static bool is_ours(const struct checkpoint *checkpoint, const struct store_trust *trust)
{
	return memcmp(checkpoint->public_key, trust->public_key, SIGN_PUBLIC_LEN) == 0 &&
	       checkpoint_holds(checkpoint);
}

/*
 * Finds the valid line that reaches furthest. It starts at the end, where that line usually is, so
 * that few signatures are checked.
 */
static bool find_furthest(const struct store_trust *trust, struct checkpoint *ret_furthest)
{
	const char *start = trust->second.data;
	size_t left = start ? trust->second.len : 0;
	struct checkpoint checkpoint;

	ret_furthest->links = -1;
	while (left > 0) {
		const char *before = memrchr(start, '\n', left);
		size_t at = before ? (size_t)(before - start) + 1 : 0;

		if (checkpoint_read(start + at, left - at, &checkpoint) == 0 &&
			checkpoint.links > ret_furthest->links && is_ours(&checkpoint, trust))
			*ret_furthest = checkpoint;
		left = at ? at - 1 : 0;
	}
	return ret_furthest->links >= 0;
}

bool store_second_lacks(const struct store_trust *trust, char *ret_words, size_t size)
{
	struct checkpoint furthest;
	struct checkpoint last;

	if (checkpoint_read(trust->last_line, strlen(trust->last_line), &last) < 0 ||
		!is_ours(&last, trust))
		return false;
	(void)find_furthest(trust, &furthest);
	if (furthest.links >= last.links)
		return false;
	cut_printf(ret_words, size,
		"the second file lacks the checkpoint of link %lld, which was written to it: it was "
		"removed, emptied, or its end was cut off",
		(long long)last.links);
	return true;
}

/* Finds the last valid line of the checkpoint file, whichever key signed it. */
static bool find_last(const struct store_trust *trust, struct checkpoint *ret_last)
{
	const char *start = trust->second.data;
	size_t left = start ? trust->second.len : 0;

	while (left > 0) {
		const char *before = memrchr(start, '\n', left);
		size_t at = before ? (size_t)(before - start) + 1 : 0;

		if (checkpoint_read(start + at, left - at, ret_last) == 0 &&
			checkpoint_holds(ret_last))
			return true;
		left = at ? at - 1 : 0;
	}
	return false;
}

/* Reports another key: the key is lost when the state folder is wiped or replaced. */
static int tell_another_key(const struct store_trust *trust, char *ret_words, size_t size)
{
	char key[SIGN_KEY_TEXT_LEN + 1];
	struct checkpoint last;

	if (!find_last(trust, &last))
		return 0;
	sign_key_text(last.public_key, key);
	cut_printf(ret_words, size,
		"the second file has checkpoints of another key (%s, link %lld) and none of this "
		"store's: the store was wiped or replaced, or its key was removed",
		key, (long long)last.links);
	return 1;
}

int store_rolled_back(struct store *store, const struct store_trust *trust, char *ret_words,
	size_t size, struct err *err)
{
	struct checkpoint furthest;
	int64_t links = 0;
	int r;

	if (!find_furthest(trust, &furthest))
		return tell_another_key(trust, ret_words, size);
	r = compare(store, &furthest, &links, err);
	if (r == 0)
		cut_printf(ret_words, size,
			"link %lld of the store is not the one that was signed: its record was made anew",
			(long long)furthest.links);
	else if (r == 2)
		cut_printf(ret_words, size,
			"the store ends at link %lld and a checkpoint signed link %lld: it was rolled "
			"back, or its end was cut off",
			(long long)links, (long long)furthest.links);
	return r < 0 ? -1 : r != 1;
}
