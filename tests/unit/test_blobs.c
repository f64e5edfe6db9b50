#include <stdlib.h>
#include <string.h>

#include "daemon/gate/blobs.h"
#include "daemon/settings/config_file.h"
#include "tests/check.h"
#include "tests/fault.h"

#define ALICE 1000
#define BOB   1001

static struct config config; /* too large for a stack */
static struct ceilings ceilings;

static void open_shelf(struct blobs *blobs, uint64_t bytes_per_uid)
{
	config_init(&config);
	config.runtime_count = 1;
	config.workers_min = 1;
	config.workers_max = 1;
	config.held_bytes = 1 << 20;
	config.held_bytes_per_uid = 100000;
	if (ceilings_init(&ceilings, &config, NULL) < 0)
		abort();
	blobs_init(blobs, &ceilings, bytes_per_uid, 600);
}

static void name(char ret_sha256[DIGEST_TEXT_LEN + 1], const char *data)
{
	digest_text_of(data, strlen(data), ret_sha256);
}

static struct blob *put(struct blobs *blobs, uint32_t uid, const char *data)
{
	char sha256[DIGEST_TEXT_LEN + 1];
	struct blob *blob;

	name(sha256, data);
	blob = blobs_begin(blobs, uid, sha256, strlen(data));
	if (!blob)
		return NULL;
	blobs_add(blob, data, strlen(data));
	return blobs_settle(blob, sha256) ? blob : NULL;
}

static struct blob *find(struct blobs *blobs, uint32_t uid, const char *data)
{
	char sha256[DIGEST_TEXT_LEN + 1];

	name(sha256, data);
	return blobs_find(blobs, uid, sha256);
}

static void finish(struct blobs *blobs)
{
	blobs_done(blobs);
	CHECK_EQ_INT(ceilings.bytes, 0);
	ceilings_done(&ceilings);
}

TEST(what_was_put_is_found_by_its_user_alone)
{
	struct blobs blobs;
	struct blob *blob;

	open_shelf(&blobs, 50000);
	blob = put(&blobs, ALICE, "a");
	CHECK(blob);
	CHECK(find(&blobs, ALICE, "a") == blob);
	CHECK(!find(&blobs, BOB, "a"));
	CHECK(!find(&blobs, ALICE, "b"));
	CHECK(ceilings.bytes > 0);
	finish(&blobs);
}

TEST(what_is_not_what_was_promised_is_gone)
{
	struct blobs blobs;
	char sha256[DIGEST_TEXT_LEN + 1], other[DIGEST_TEXT_LEN + 1];
	struct blob *blob;

	open_shelf(&blobs, 50000);
	name(sha256, "a");
	name(other, "b");
	blob = blobs_begin(&blobs, ALICE, sha256, 1);
	CHECK(blob && !blob->settled);
	blobs_add(blob, "b", 1);
	CHECK(!blobs_settle(blob, other));
	CHECK(!blobs_find(&blobs, ALICE, sha256));
	finish(&blobs);
}

TEST(what_was_not_used_for_longest_makes_room_for_its_user_s_own)
{
	struct blobs blobs;

	open_shelf(&blobs, 3 * sizeof(struct blob) + 3);
	CHECK(put(&blobs, BOB, "x"));
	CHECK(put(&blobs, ALICE, "a"));
	CHECK(put(&blobs, ALICE, "b"));
	CHECK(put(&blobs, ALICE, "c"));
	CHECK(find(&blobs, ALICE, "a"));
	CHECK(put(&blobs, ALICE, "d"));
	CHECK(!find(&blobs, ALICE, "b"));
	CHECK(find(&blobs, ALICE, "a"));
	CHECK(find(&blobs, BOB, "x"));
	finish(&blobs);
}

TEST(one_that_is_too_large_takes_nobody_s_place)
{
	struct blobs blobs;
	char sha256[DIGEST_TEXT_LEN + 1];

	open_shelf(&blobs, 1000);
	name(sha256, "large");
	CHECK(put(&blobs, ALICE, "a"));
	CHECK(!blobs_begin(&blobs, ALICE, sha256, 1001));
	CHECK(find(&blobs, ALICE, "a"));
	finish(&blobs);
}

TEST(one_that_is_used_stays_and_counts_until_it_is_let_go)
{
	struct blobs blobs;
	struct blob *blob;
	uint64_t held;

	open_shelf(&blobs, sizeof(struct blob) + 10);
	blob = put(&blobs, ALICE, "a");
	CHECK(blob);
	(void)blob_ref(blob);
	CHECK(put(&blobs, ALICE, "b"));
	CHECK(!find(&blobs, ALICE, "a"));
	CHECK(blob->data[0] == 'a');
	held = ceilings.bytes;
	blob_unref(blob);
	CHECK(ceilings.bytes < held);
	blob_unref(NULL);
	finish(&blobs);
}

TEST(what_a_user_holds_otherwise_takes_room_too)
{
	struct blobs blobs;
	char sha256[DIGEST_TEXT_LEN + 1];

	open_shelf(&blobs, 1000000);
	name(sha256, "large");
	CHECK(put(&blobs, ALICE, "a"));
	CHECK(ceilings_hold(&ceilings, ALICE, 90000));
	CHECK(!blobs_begin(&blobs, ALICE, sha256, 50000));
	ceilings_let_go(&ceilings, ALICE, 90000);
	CHECK(blobs_begin(&blobs, ALICE, sha256, 50000));
	finish(&blobs);
}

TEST(there_are_no_more_than_so_many)
{
	struct blobs blobs;

	open_shelf(&blobs, 1 << 20);
	ceilings.bytes_per_uid = ceilings.bytes_most = 1 << 30;
	for (int i = 0; i < 2 * BLOBS_PER_UID; i++) {
		char data[16];

		cut_printf(data, sizeof(data), "%d", i);
		CHECK(put(&blobs, ALICE, data));
	}
	CHECK_EQ_INT(blobs.map.count, BLOBS_PER_UID);
	CHECK(!find(&blobs, ALICE, "0"));
	finish(&blobs);
}

TEST(what_nobody_used_leaves)
{
	struct blobs blobs;

	open_shelf(&blobs, 50000);
	CHECK(put(&blobs, ALICE, "a"));
	CHECK(put(&blobs, ALICE, "b"));
	blobs.kept_ms = 0;
	blobs_expire(&blobs);
	CHECK_EQ_INT(blobs.map.count, 0);
	finish(&blobs);
}

TEST(without_memory_nothing_is_held)
{
	struct blobs blobs;

	open_shelf(&blobs, 50000);
	blobs.kept_ms = 0;
	FAULT_LOOP(FAULT_ALLOC) {
		struct blob *blob = put(&blobs, ALICE, "a");

		CHECK(blob || (fault_hit() && blobs.map.count == 0));
		blobs_expire(&blobs);
		CHECK_EQ_INT(ceilings.bytes, 0);
	}
	finish(&blobs);
}
