#include <errno.h>

#include "daemon/record/store_failure.h"
#include "store/store.h"
#include "tests/check.h"

static struct err err_of(enum err_code code, int number)
{
	struct err err = ERR_INIT;

	(void)err_set(&err, code, "the store: so it is");
	err.sys_errno = number;
	return err;
}

TEST(what_ails_a_store_has_a_word)
{
	static const struct {
		enum err_code code;
		int number;
		const char *word;
	} cases[] = {
		{ ERR_FULL, ENOSPC, "full" },
		{ ERR_BUSY, 0, "locked" },
		{ ERR_CORRUPT, 0, "damaged" },
		{ ERR_SYSTEM, EROFS, "read_only" },
		{ ERR_SYSTEM, EPERM, "read_only" },
		{ ERR_SYSTEM, ESTALE, "gone" },
		{ ERR_SYSTEM, ETIMEDOUT, "stalled" },
		{ ERR_SYSTEM, EIO, "failed" },
		{ ERR_SYSTEM, 0, "failed" },
		{ ERR_EXISTS, 0, NULL },
		{ ERR_TOO_BIG, 0, NULL },
		{ ERR_INVALID, 0, NULL },
		{ ERR_MEMORY, ENOMEM, NULL },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct err err = err_of(cases[i].code, cases[i].number);

		CHECK_STR(store_trouble(&err), cases[i].word);
	}
}

TEST(only_a_lock_is_worth_coming_back_for_at_a_known_time)
{
	struct err locked = err_of(ERR_BUSY, 0);
	struct err full = err_of(ERR_FULL, ENOSPC);
	struct arena arena;
	struct value *data;

	arena_init(&arena, 1 << 16);
	CHECK_EQ_INT(store_failure_code(&locked), RPC_CODE_BUSY);
	CHECK_EQ_INT(store_failure_code(&full), RPC_CODE_INTERNAL);
	data = store_failure_data(&arena, &locked);
	CHECK_STR(value_as_text(value_get(data, "reason")), "locked");
	CHECK_EQ_INT(value_as_int(value_get(data, "retry_after_ms"), 0), 1000);
	data = store_failure_data(&arena, &full);
	CHECK_STR(value_as_text(value_get(data, "reason")), "full");
	CHECK(value_get(data, "retry_after_ms") == NULL);
	arena_done(&arena);
}
