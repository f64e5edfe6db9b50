#include <string.h>

#include "store/base/checkpoint.h"
#include "tests/check.h"
#include "tests/unit/store_sample.h"

/* Returns 0 with the line, 1 when it is not a new one, -1 for an error. */
static int checkpoint_of(struct shop *shop, char ret_line[STORE_CHECKPOINT_MAX])
{
	bool is_new = false;
	auto_of(signer_close) struct signer *signer =
		signer_open(shop->folder, &is_new, &shop->err);
	struct store_checkpoint made = { .signer = signer, .at_wall_us = 1732186800123456 };

	if (!signer || store_begin(shop->store, &shop->err) < 0)
		return -1;
	if (store_put_checkpoint(shop->store, &made, &shop->err) < 0) {
		store_rollback(shop->store);
		return -1;
	}
	memcpy(ret_line, made.line, sizeof(made.line));
	return store_commit(shop->store, STORE_NOW, &shop->err) < 0 ? -1 : !made.is_new;
}

TEST(a_checkpoint_is_read_back_from_its_line_and_holds)
{
	auto_shop struct shop shop;
	char line[STORE_CHECKPOINT_MAX];
	struct checkpoint checkpoint;

	shop_init(&shop);
	CHECK_EQ_INT(sample_write(shop.store, &shop.sample, &shop.err), 0);
	CHECK_EQ_INT(checkpoint_of(&shop, line), 0);
	CHECK(strncmp(line, "ced-checkpoint-1 links=1 head=sha256:", 37) == 0);
	CHECK_EQ_INT(checkpoint_read(line, strlen(line), &checkpoint), 0);
	CHECK_EQ_INT(checkpoint.links, 1);
	CHECK_EQ_INT(checkpoint.at_us, 1732186800123456);
	CHECK(checkpoint_holds(&checkpoint));
	checkpoint.links++;
	CHECK(!checkpoint_holds(&checkpoint));
}

TEST(where_nothing_has_come_there_is_no_new_checkpoint)
{
	auto_shop struct shop shop;
	char line[STORE_CHECKPOINT_MAX];
	char again[STORE_CHECKPOINT_MAX];

	shop_init(&shop);
	CHECK_EQ_INT(checkpoint_of(&shop, line), 1);
	CHECK_STR(line, "");
	CHECK_EQ_INT(sample_write(shop.store, &shop.sample, &shop.err), 0);
	CHECK_EQ_INT(checkpoint_of(&shop, line), 0);
	CHECK_EQ_INT(checkpoint_of(&shop, again), 1);
	CHECK_STR(again, line);
	sample_next(&shop.sample);
	CHECK_EQ_INT(sample_write(shop.store, &shop.sample, &shop.err), 0);
	CHECK_EQ_INT(checkpoint_of(&shop, line), 0);
}

TEST(a_line_that_differs_in_any_byte_is_none_or_does_not_hold)
{
	auto_shop struct shop shop;
	char line[STORE_CHECKPOINT_MAX];
	struct checkpoint checkpoint;
	size_t len;

	shop_init(&shop);
	CHECK_EQ_INT(sample_write(shop.store, &shop.sample, &shop.err), 0);
	CHECK_EQ_INT(checkpoint_of(&shop, line), 0);
	len = strlen(line);
	for (size_t i = 0; i < len; i++) {
		line[i] ^= 1;
		CHECK(checkpoint_read(line, len, &checkpoint) < 0 ||
			!checkpoint_holds(&checkpoint));
		line[i] ^= 1;
		CHECK(checkpoint_read(line, i, &checkpoint) < 0);
		CHECK(checkpoint_is_torn(line, i));
	}
	CHECK(checkpoint_read(line, len, &checkpoint) == 0);
	CHECK(!checkpoint_is_torn(line, len));
	CHECK(!checkpoint_is_torn("something else", 14));
}
