#include <pthread.h>

#include "daemon/record/readers.h"
#include "tests/check.h"
#include "tests/fault.h"
#include "tests/unit/store_sample.h"

TEST(a_reader_that_was_given_back_is_used_again)
{
	auto_shop struct shop shop;
	struct readers *readers;
	struct store *first, *second;

	shop_init(&shop);
	readers = readers_new(shop.folder, &shop.err);
	CHECK(readers != NULL);
	first = readers_take(readers, &shop.err);
	second = readers_take(readers, &shop.err);
	CHECK(first && second && first != second);
	readers_give(readers, first);
	CHECK(readers_take(readers, &shop.err) == first);
	readers_give(readers, first);
	readers_give(readers, second);
	readers_free(readers);
	readers_free(NULL);
}

TEST(more_readers_than_are_kept_are_closed)
{
	auto_shop struct shop shop;
	struct readers *readers;
	struct store *stores[9];

	shop_init(&shop);
	readers = readers_new(shop.folder, &shop.err);
	for (int i = 0; i < 9; i++) {
		stores[i] = readers_take(readers, &shop.err);
		CHECK(stores[i] != NULL);
	}
	for (int i = 0; i < 9; i++)
		readers_give(readers, stores[i]);
	readers_free(readers);
}

TEST(a_reader_sees_what_was_written_after_it_was_opened)
{
	auto_shop struct shop shop;
	struct readers *readers;
	struct store *store;
	struct store_filter filter = { .all_callers = true, .limit = 1 };
	struct value *page = NULL;

	shop_init(&shop);
	readers = readers_new(shop.folder, &shop.err);
	readers_give(readers, readers_take(readers, &shop.err));
	CHECK_EQ_INT(sample_write(shop.store, &shop.sample, &shop.err), 0);
	store = readers_take(readers, &shop.err);
	CHECK_EQ_INT(store_list(store, &filter, &shop.arena, &page, &shop.err), 0);
	CHECK_EQ_INT(value_get(page, "runs")->list.count, 1);
	readers_give(readers, store);
	readers_free(readers);
}

TEST(a_folder_without_a_store_is_an_error_for_each_who_asks)
{
	struct err err = ERR_INIT;
	struct readers *readers = readers_new("/nowhere/at/all", &err);

	CHECK(readers != NULL);
	CHECK(readers_take(readers, &err) == NULL);
	CHECK(err.text[0]);
	readers_free(readers);
}

TEST(without_memory_there_are_no_readers)
{
	FAULT_LOOP(FAULT_ALLOC) {
		struct err err = ERR_INIT;
		struct readers *readers = readers_new("/nowhere", &err);

		CHECK(readers || (fault_hit() && err.code == ERR_MEMORY));
		readers_free(readers);
	}
}

static void *take_and_give(void *context)
{
	struct readers *readers = context;
	struct err err = ERR_INIT;

	for (int i = 0; i < 50; i++) {
		struct store *store = readers_take(readers, &err);

		if (!store)
			return readers;
		readers_give(readers, store);
	}
	return NULL;
}

TEST(threads_share_the_readers)
{
	auto_shop struct shop shop;
	struct readers *readers;
	pthread_t threads[6];

	shop_init(&shop);
	readers = readers_new(shop.folder, &shop.err);
	for (int i = 0; i < 6; i++)
		CHECK_EQ_INT(pthread_create(&threads[i], NULL, take_and_give, readers), 0);
	for (int i = 0; i < 6; i++) {
		void *failed = NULL;

		CHECK_EQ_INT(pthread_join(threads[i], &failed), 0);
		CHECK(!failed);
	}
	readers_free(readers);
}
