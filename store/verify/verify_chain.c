/* Compares each link with the one before, and each record with its link. */
#include <string.h>

#include "store/base/canonical.h"
#include "store/base/db.h"
#include "store/base/stmt.h"
#include "store/verify/verify.h"

/* A row of the chain as it stands in the store. */
struct link {
	int64_t number;
	int64_t kind;
	int64_t subject;
	uint8_t digest[DIGEST_LEN];
	uint8_t head[DIGEST_LEN];
	bool is_whole; /* both have their length */
};

/* How far the walk has come. */
struct walking {
	struct verify *verify;
	int64_t last; /* the link before this one */
	uint8_t head[DIGEST_LEN];
	bool has_head; /* unknown after a gap */
};

static bool read_digest(sqlite3_stmt *row, int column, uint8_t ret_digest[DIGEST_LEN])
{
	const void *bytes = sqlite3_column_blob(row, column);

	if (!bytes || sqlite3_column_bytes(row, column) != DIGEST_LEN)
		return false;
	memcpy(ret_digest, bytes, DIGEST_LEN);
	return true;
}

static void read_link(sqlite3_stmt *row, struct link *ret_link)
{
	*ret_link = (struct link){
		.number = sqlite3_column_int64(row, 0),
		.kind = sqlite3_column_int64(row, 1),
		.subject = sqlite3_column_int64(row, 2),
	};
	ret_link->is_whole = read_digest(row, 3, ret_link->digest);
	ret_link->is_whole &= read_digest(row, 4, ret_link->head);
}

/* The head that the first link of the walk follows from. */
static int find_start(struct walking *walking, struct err *err)
{
	struct verify *verify = walking->verify;
	sqlite3_stmt *row;
	int r;

	walking->last = verify->from - 1;
	walking->has_head = verify->from == 1;
	memset(walking->head, 0, sizeof(walking->head));
	if (walking->has_head)
		return 0;
	row = stmt_take_for(verify->store, STMT_CHAIN_HEAD, verify->from - 1, err);
	r = stmt_step(verify->store, row, err);
	if (r > 0)
		walking->has_head = read_digest(row, 0, walking->head);
	(void)sqlite3_reset(row);
	return r < 0 ? -1 : 0;
}

static void check_gap(struct walking *walking, const struct link *link)
{
	struct fill problem;

	if (link->number == walking->last + 1)
		return;
	problem = verify_problem(walking->verify, "missing",
		"links %lld to %lld are missing: they were removed", (long long)walking->last + 1,
		(long long)link->number - 1);
	fill_int(&problem, "link", walking->last + 1);
	walking->has_head = false;
}

static void check_head(struct walking *walking, const struct link *link)
{
	uint8_t head[DIGEST_LEN];
	struct fill problem;

	if (link->is_whole && !walking->has_head)
		return;
	chain_next(walking->head, link->number, link->kind, link->subject, link->digest, head);
	if (link->is_whole && memcmp(head, link->head, DIGEST_LEN) == 0)
		return;
	problem = verify_problem(walking->verify, "moved",
		"link %lld does not follow from the one before: it or that one was changed, moved or added",
		(long long)link->number);
	fill_int(&problem, "link", link->number);
	verify_subject(walking->verify, &problem, link->kind, link->subject);
}

static const char *const verdicts[] = { "changed", "missing", "unreadable" };

/*
 * Whether another link covers the row, since the run was started or waits again. verify_tables.c
 * finds rows that are missing.
 */
static int is_over(struct walking *walking, const struct link *link, int found, struct err *err)
{
	int64_t newest = 0;

	if (link->kind != CHAIN_PARKED || found < 0)
		return 0;
	if (found > 0)
		return 1;
	if (chain_find(walking->verify->store, CHAIN_PARKED, link->subject, &newest, NULL, err) < 0)
		return -1;
	return newest > link->number;
}

static int check_record(struct walking *walking, const struct link *link, struct err *err)
{
	static const char *const words[] = {
		"was changed after it was recorded",
		"was removed from the store",
		"cannot be read any more",
	};
	struct verify *verify = walking->verify;
	uint8_t digest[DIGEST_LEN] = { 0 };
	struct err why = ERR_INIT;
	struct fill problem;
	int over;
	int r = 1;

	if (chain_word(link->kind))
		r = canonical_digest(verify->store, (enum chain_kind)link->kind, link->subject,
			false, digest, &why);
	/* A record that somebody made too large to read counts as unreadable. */
	if (r < 0 && why.code != ERR_CORRUPT && why.code != ERR_MEMORY && why.code != ERR_TOO_BIG)
		return err_pass(err, &why);
	if (r < 0)
		r = 2;
	if (r == 0 && memcmp(digest, link->digest, DIGEST_LEN) == 0)
		return 0;
	over = is_over(walking, link, r == 2 ? -1 : r, err);
	if (over != 0)
		return over < 0 ? -1 : 0;
	problem = verify_problem(verify, verdicts[r], "link %lld: the %s it is about %s",
		(long long)link->number, chain_word(link->kind) ? chain_word(link->kind) : "record",
		words[r]);
	fill_int(&problem, "link", link->number);
	verify_subject(verify, &problem, link->kind, link->subject);
	return 0;
}

static int check_link(struct walking *walking, const struct link *link, struct err *err)
{
	check_gap(walking, link);
	check_head(walking, link);
	walking->last = link->number;
	walking->has_head = link->is_whole;
	memcpy(walking->head, link->head, DIGEST_LEN);
	walking->verify->checked++;
	return check_record(walking, link, err);
}

static int walk(struct walking *walking, struct err *err)
{
	struct verify *verify = walking->verify;
	auto_of(stmt_leave) sqlite3_stmt *row = stmt_with(verify->store, STMT_CHAIN_WALK,
		SQL_VALUES(sql_int(verify->from), sql_int(verify->count)), err);
	struct link link;
	int r;

	while ((r = stmt_step(verify->store, row, err)) > 0) {
		read_link(row, &link);
		if (check_link(walking, &link, err) < 0)
			return -1;
	}
	return r;
}

int verify_chain(struct verify *verify, struct err *err)
{
	struct walking walking = { .verify = verify };
	struct chain_head end = { 0, { 0 } };

	if (chain_end(verify->store, &end, err) < 0 || find_start(&walking, err) < 0 ||
		walk(&walking, err) < 0)
		return -1;
	verify->of = end.links;
	verify->next = walking.last < end.links && verify->checked ? walking.last + 1 : 0;
	return 0;
}
