#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/door/decoding.h"
#include "tests/check.h"
#include "tests/fault.h"

/* [0, 7, "hello", []] */
#define HELLO     "\x94\x00\x07\xa5hello\x90"
#define HELLO_LEN (sizeof(HELLO) - 1)

/* Copies the message as a frame gives it: the owner may also use one byte after its end. */
static struct decoded message_of(const char *bytes, size_t len)
{
	char *copy = malloc(len + 1);

	if (!copy) /* an armed fault is meant for the code under test */
		copy = malloc(len + 1);
	assert(copy);
	memcpy(copy, bytes, len);
	return decoded_of(copy, len, 1 << 20);
}

struct told {
	unsigned count;
	bool nothing;
	bool good;
	bool has_msgid;
	bool is_notification;
	uint32_t msgid;
	char reason[32];
};

static void on_done(void *context, struct decoded *decoded)
{
	struct told *told = context;

	told->count++;
	told->nothing = !decoded;
	if (!decoded)
		return;
	told->good = decoded->good;
	told->has_msgid = decoded->fault.has_msgid;
	told->is_notification = decoded->fault.is_notification;
	told->msgid = decoded->good ? decoded->message.msgid : decoded->fault.msgid;
	(void)snprintf(told->reason, sizeof(told->reason), "%s",
		decoded->good ? "" : decoded->fault.reason);
	decoded_done(decoded);
}

static struct told read_on_thread(const char *bytes, size_t len)
{
	struct decoded decoded = message_of(bytes, len);
	struct told told = { .count = 0 };
	struct thread_work work;
	uv_loop_t loop;

	(void)uv_loop_init(&loop);
	thread_work_init(&work, &loop);
	if (decoding_start(&work, 1, &decoded, on_done, &told) < 0)
		decoded_done(&decoded);
	(void)uv_run(&loop, UV_RUN_DEFAULT);
	(void)uv_loop_close(&loop);
	return told;
}

TEST(a_message_is_read_on_a_thread_and_told_in_the_loop)
{
	struct told told = read_on_thread(HELLO, HELLO_LEN);

	CHECK_EQ_INT(told.count, 1);
	CHECK(told.good);
	CHECK_EQ_INT(told.msgid, 7);
}

TEST(what_is_wrong_with_it_is_told_although_nothing_of_it_is_left)
{
	struct told told = read_on_thread("\x94\x00\x07\xa5hello\x91\xc1", HELLO_LEN + 1);

	CHECK_EQ_INT(told.count, 1);
	CHECK(!told.good);
	CHECK_EQ_INT(told.msgid, 7);
	CHECK_STR(told.reason, "syntax");
}

TEST(what_kind_it_was_is_told_although_its_bytes_are_gone)
{
	struct told text = read_on_thread("\xa1x", 2);
	struct told notification = read_on_thread("\x93\x02\xa1x\xc0", 5);

	CHECK(!text.good && !text.has_msgid && !text.is_notification);
	CHECK(!notification.good && !notification.has_msgid && notification.is_notification);
}

TEST(one_that_waits_when_thread_work_stops_is_given_back_and_told_as_nothing)
{
	struct decoded decoded = message_of(HELLO, HELLO_LEN);
	struct told told = { .count = 0 };
	struct thread_work work;
	uv_loop_t loop;

	(void)uv_loop_init(&loop);
	thread_work_init(&work, &loop);
	work.users.taken = THREAD_WORK_MOST; /* so that it waits */
	CHECK_EQ_INT(decoding_start(&work, 1, &decoded, on_done, &told), 0);
	thread_work_stop(&work);
	CHECK_EQ_INT(told.count, 1);
	CHECK(told.nothing);
	(void)uv_loop_close(&loop);
}

TEST(without_memory_it_is_the_caller_s_still)
{
	FAULT_LOOP(FAULT_ALLOC) {
		struct told told = read_on_thread(HELLO, HELLO_LEN);

		CHECK(told.count == 1 || fault_hit());
	}
}
