#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/maintenance.h"
#include "tests/check.h"
#include "tests/unit/store_sample.h"

#define PAGE 4096
#define RUNS 400

static atomic_bool stop;

/* Many runs, all moved from the log into the database. */
static void fill(struct shop *shop)
{
	char output[3000];

	CHECK(shop->store);
	for (unsigned i = 0; i < RUNS; i++) {
		for (size_t k = 0; k < sizeof(output); k++)
			output[k] = (char)(random() >> 8);
		sample_next(&shop->sample);
		shop->sample.result.out.head = (struct bytes){ output, sizeof(output) };
		CHECK_EQ_INT(sample_write(shop->store, &shop->sample, &shop->err), 0);
	}
	while (store_tidy(shop->store, &shop->err) > 0)
		;
}

static struct store_findings look(struct shop *shop)
{
	struct store *reader = store_open(shop->folder, STORE_READ, &shop->err);
	struct store_findings findings = { 0 };

	shop->err = (struct err)ERR_INIT;
	if (reader)
		(void)store_check(reader, &stop, &findings, &shop->err);
	store_close(reader);
	return findings;
}

TEST(a_sound_store_is_found_to_be_sound)
{
	auto_shop struct shop shop;
	struct store_findings findings;

	shop_init(&shop);
	fill(&shop);
	CHECK(check_ok());
	findings = look(&shop);
	CHECK_EQ_INT(shop.err.code, ERR_NONE);
	CHECK_EQ_INT(findings.damages, 0);
	CHECK(findings.tables >= 10);
	CHECK_STR(findings.first, "");
}

TEST(damaged_pages_are_found_wherever_they_are)
{
	auto_shop struct shop shop;
	unsigned damaged = 0, found = 0, pages;
	char path[128], page[PAGE], saved[PAGE];
	struct stat st;
	int fd;

	shop_init(&shop);
	fill(&shop);
	CHECK(check_ok());
	store_close(shop.store);
	shop.store = NULL;
	(void)snprintf(path, sizeof(path), "%s/ced.db", shop.folder);
	fd = open(path, O_RDWR | O_CLOEXEC);
	CHECK(fd >= 0 && fstat(fd, &st) == 0);
	pages = (unsigned)(st.st_size / PAGE);
	CHECK(pages > 200);
	memset(page, 0x5a, sizeof(page));
	for (unsigned i = 1; i < pages; i += pages / 40) {
		off_t at = (off_t)i * PAGE;

		CHECK_EQ_INT(pread(fd, saved, PAGE, at), PAGE);
		CHECK_EQ_INT(pwrite(fd, page, PAGE, at), PAGE);
		damaged++;
		if (look(&shop).damages > 0 || shop.err.code == ERR_CORRUPT)
			found++;
		CHECK_EQ_INT(pwrite(fd, saved, PAGE, at), PAGE);
	}
	(void)close(fd);
	printf("# %u of %u damaged pages found\n", found, damaged);
	/*
	 * SQLite does not interpret the bytes inside a long blob; only the blob's digest shows a
	 * change.
	 */
	CHECK(found >= damaged / 2);
	CHECK_EQ_INT(look(&shop).damages, 0);
}

TEST(a_check_ends_when_it_is_told_to)
{
	auto_shop struct shop shop;

	shop_init(&shop);
	fill(&shop);
	CHECK(check_ok());
	atomic_store(&stop, true);
	(void)look(&shop);
	atomic_store(&stop, false);
	CHECK_EQ_INT(shop.err.code, ERR_CLOSED);
}

TEST(writing_goes_on_while_a_store_is_checked)
{
	auto_shop struct shop shop;
	struct store *reader;
	struct store_findings findings;

	shop_init(&shop);
	fill(&shop);
	CHECK(check_ok());
	reader = store_open(shop.folder, STORE_READ, &shop.err);
	CHECK(reader);
	sample_next(&shop.sample);
	CHECK_EQ_INT(store_begin(shop.store, &shop.err), 0);
	CHECK_EQ_INT(store_check(reader, &stop, &findings, &shop.err), 0);
	store_rollback(shop.store);
	CHECK_EQ_INT(findings.damages, 0);
	store_close(reader);
}
