#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/signer.h"
#include "tests/check.h"
#include "tests/unit/store_sample.h"

static void key_path(const struct shop *shop, char ret_path[128])
{
	(void)snprintf(ret_path, 128, "%s/audit.key", shop->folder);
}

TEST(the_key_is_made_once_and_only_its_owner_may_read_it)
{
	auto_shop struct shop shop;
	bool is_new = false;
	char path[128];
	struct stat st;

	shop_init(&shop);
	key_path(&shop, path);
	{
		auto_of(signer_close) struct signer *first =
			signer_open(shop.folder, &is_new, &shop.err);
		CHECK(first && is_new);
		auto_of(signer_close) struct signer *second =
			signer_open(shop.folder, &is_new, &shop.err);
		CHECK(second && !is_new);
		CHECK(memcmp(signer_public(first), signer_public(second), SIGN_PUBLIC_LEN) == 0);
	}
	CHECK_EQ_INT(stat(path, &st), 0);
	CHECK_EQ_INT(st.st_mode & 0777, 0600);
}

TEST(a_key_elsewhere_is_read_and_never_made)
{
	auto_shop struct shop shop;
	bool is_new = false;
	char path[128];

	shop_init(&shop);
	key_path(&shop, path);
	CHECK(!signer_open_file(path, &shop.err));
	CHECK(strstr(shop.err.text, "there is no ") && strstr(shop.err.text, "audit_key"));
	CHECK(access(path, F_OK) < 0);
	{
		auto_of(signer_close) struct signer *made =
			signer_open(shop.folder, &is_new, &shop.err);
		auto_of(signer_close) struct signer *read = signer_open_file(path, &shop.err);

		CHECK(made && read);
		CHECK(memcmp(signer_public(made), signer_public(read), SIGN_PUBLIC_LEN) == 0);
	}
	CHECK_EQ_INT(chmod(path, 0400), 0);
	{
		auto_of(signer_close) struct signer *read = signer_open_file(path, &shop.err);

		CHECK(read);
	}
}

TEST(a_key_that_others_may_read_is_refused)
{
	auto_shop struct shop shop;
	bool is_new = false;
	char path[128];

	shop_init(&shop);
	key_path(&shop, path);
	{
		auto_of(signer_close) struct signer *signer =
			signer_open(shop.folder, &is_new, &shop.err);
		CHECK(signer);
	}
	CHECK_EQ_INT(chmod(path, 0644), 0);
	CHECK(!signer_open(shop.folder, &is_new, &shop.err));
	CHECK(strstr(shop.err.text, "chmod 600") != NULL);
}

TEST(a_file_that_holds_no_key_is_not_overwritten)
{
	static const char *const texts[] = { "", "nonsense\n", "ced-ed25519-secret:AAAA\n" };
	auto_shop struct shop shop;
	bool is_new = false;
	char path[128];

	shop_init(&shop);
	key_path(&shop, path);
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		FILE *file = fopen(path, "we");

		CHECK(file);
		(void)fputs(texts[i], file);
		(void)fclose(file);
		CHECK_EQ_INT(chmod(path, 0600), 0);
		CHECK(!signer_open(shop.folder, &is_new, &shop.err));
		CHECK(strstr(shop.err.text, "holds no key") != NULL);
	}
}
