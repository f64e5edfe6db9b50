/* The server name in a greeting of TLS.  Every prefix and every changed byte of one is tried. */
#include <string.h>

#include "daemon/egress/hello.h"
#include "tests/check.h"

static char name[EGRESS_HOST_MAX];

/* A greeting with these extensions. */
static size_t make(uint8_t *out, const void *extensions, size_t len)
{
	static const uint8_t head[] = { 22, 3, 1, 0, 0, 1, 0, 0, 0, 3, 3 };
	size_t at = sizeof(head);

	memcpy(out, head, sizeof(head));
	memset(out + at, 7, 32);
	at += 32;
	memcpy(out + at, "\0\0\2\x13\1\1\0", 7); /* session, one cipher, no compression */
	at += 7;
	out[at++] = (uint8_t)(len >> 8);
	out[at++] = (uint8_t)len;
	memcpy(out + at, extensions, len);
	at += len;
	out[3] = (uint8_t)((at - 5) >> 8);
	out[4] = (uint8_t)(at - 5);
	out[7] = (uint8_t)((at - 9) >> 8);
	out[8] = (uint8_t)(at - 9);
	return at;
}

#define NAME                       \
	"\0\0\0\x0d\0\x0b\0\0\x08" \
	"A.b.test"

static size_t taken;

TEST(a_greeting_with_a_name_is_read)
{
	uint8_t bytes[512];
	size_t len = make(bytes, NAME, sizeof(NAME) - 1);

	CHECK_EQ_INT(hello_read(bytes, len, name, &taken), HELLO_NAMED);
	CHECK_STR(name, "a.b.test");
	CHECK_EQ_INT(taken, len);
	bytes[len] = 23; /* another record */
	CHECK_EQ_INT(hello_read(bytes, len + 1, name, &taken), HELLO_NAMED);
	CHECK_EQ_INT(taken, len);
	for (size_t part = 0; part < len; part++)
		CHECK_EQ_INT(hello_read(bytes, part, name, &taken), HELLO_MORE);
}

TEST(one_without_or_with_a_hidden_name_is_told_apart)
{
	uint8_t bytes[512];

	CHECK_EQ_INT(hello_read(bytes, make(bytes, "\0\x17\0\0", 4), name, &taken), HELLO_UNNAMED);
	CHECK_EQ_INT(hello_read(bytes, make(bytes, NAME "\xfe\x0d\0\1x", sizeof(NAME) - 1 + 5),
			     name, &taken),
		HELLO_HIDDEN);
	CHECK_EQ_INT(
		hello_read(bytes, make(bytes, NAME NAME, 2 * (sizeof(NAME) - 1)), name, &taken),
		HELLO_NONE);
	CHECK_EQ_INT(hello_read((const uint8_t *)"GET / HTTP/1.1\r\n\r\n", 18, name, &taken),
		HELLO_NONE);
	CHECK_EQ_INT(hello_read((const uint8_t *)"\x16\2", 2, name, &taken), HELLO_MORE);
	CHECK_EQ_INT(hello_read((const uint8_t *)"\x16\2\0\0\1x", 6, name, &taken), HELLO_NONE);
}

TEST(a_name_that_is_no_name_is_none)
{
	static const char *const bytes_of[] = { "A.b t\nst", "A.b\xfftest", "A.b\0test",
		"A.b\"test" };
	uint8_t bytes[512];

	for (size_t i = 0; i < sizeof(bytes_of) / sizeof(bytes_of[0]); i++) {
		char extension[sizeof(NAME)];

		memcpy(extension, NAME, sizeof(NAME));
		memcpy(extension + 9, bytes_of[i], 8);
		CHECK_EQ_INT(
			hello_read(bytes, make(bytes, extension, sizeof(NAME) - 1), name, &taken),
			HELLO_NONE);
	}
}

TEST(no_changed_byte_leads_out_of_the_bytes)
{
	uint8_t whole[512];
	size_t len = make(whole, NAME, sizeof(NAME) - 1);

	for (size_t at = 0; at < len; at++)
		for (unsigned value = 0; value < 256; value++) {
			uint8_t bytes[512];

			memcpy(bytes, whole, len);
			bytes[at] = (uint8_t)value;
			(void)hello_read(bytes, len, name, &taken);
			CHECK(strlen(name) < sizeof(name));
		}
}

TEST(nothing_follows_a_greeting_in_its_record)
{
	uint8_t bytes[512];
	const size_t len = make(bytes, NAME, sizeof(NAME) - 1);

	bytes[len] = 1;
	bytes[4]++; /* the record; the message stays as long as it was */
	CHECK_EQ_INT(hello_read(bytes, len + 1, name, &taken), HELLO_NONE);
	CHECK_EQ_INT(hello_read(bytes, len, name, &taken), HELLO_NONE); /* while it is to come */
}

TEST(a_second_greeting_follows_a_record_without_a_meaning)
{
	uint8_t bytes[512] = { 20, 3, 3, 0, 1, 1 };
	const size_t len = make(bytes + 6, NAME, sizeof(NAME) - 1);

	CHECK_EQ_INT(hello_read_again(bytes + 6, len, name, &taken), HELLO_NAMED);
	CHECK_EQ_INT(taken, len);
	CHECK_EQ_INT(hello_read_again(bytes, len + 6, name, &taken), HELLO_NAMED);
	CHECK_EQ_INT(taken, len + 6);
	CHECK_STR(name, "a.b.test");
	for (size_t part = 0; part < len + 6; part++)
		CHECK_EQ_INT(hello_read_again(bytes, part, name, &taken), HELLO_MORE);
	bytes[5] = 2;
	CHECK_EQ_INT(hello_read_again(bytes, len + 6, name, &taken), HELLO_NONE);
	bytes[0] = 23;
	CHECK_EQ_INT(hello_read_again(bytes, len + 6, name, &taken), HELLO_NONE);
}

TEST(an_answer_asks_for_another_greeting_or_does_not)
{
	uint8_t bytes[43] =
		"\x16\3\3\0\x58\2\0\0\x54\3\3\xcf\x21\xad\x74\xe5\x9a\x61\x11\xbe\x1d\x8c\x02\x1e\x65"
		"\xb8\x91\xc2\xa2\x11\x16\x7a\xbb\x8c\x5e\x07\x9e\x09\xe2\xc8\xa8\x33\x9c";

	for (size_t part = 0; part < sizeof(bytes); part++)
		CHECK_EQ_INT(hello_answer_read(bytes, part), HELLO_ANSWER_MORE);
	CHECK_EQ_INT(hello_answer_read(bytes, sizeof(bytes)), HELLO_ANSWER_RETRY);
	bytes[42]++;
	CHECK_EQ_INT(hello_answer_read(bytes, sizeof(bytes)), HELLO_ANSWER_LAST);
	bytes[4] = 37; /* a record that is too short for it */
	CHECK_EQ_INT(hello_answer_read(bytes, sizeof(bytes)), HELLO_ANSWER_NONE);
	bytes[4] = 88;
	bytes[5] = 0; /* another message */
	CHECK_EQ_INT(hello_answer_read(bytes, sizeof(bytes)), HELLO_ANSWER_NONE);
	bytes[0] = 23; /* no handshake */
	CHECK_EQ_INT(hello_answer_read(bytes, 1), HELLO_ANSWER_LAST);
}

TEST(a_warning_before_an_answer_is_passed_over)
{
	uint8_t bytes[HELLO_ANSWER_BYTES] =
		"\x15\3\3\0\2\1\x70\x16\3\3\0\x58\2\0\0\x54\3\3\xcf\x21\xad\x74\xe5\x9a\x61\x11\xbe"
		"\x1d\x8c\x02\x1e\x65\xb8\x91\xc2\xa2\x11\x16\x7a\xbb\x8c\x5e\x07\x9e\x09\xe2\xc8\xa8\x33\x9c";

	for (size_t part = 0; part < sizeof(bytes); part++)
		CHECK_EQ_INT(hello_answer_read(bytes, part), HELLO_ANSWER_MORE);
	CHECK_EQ_INT(hello_answer_read(bytes, sizeof(bytes)), HELLO_ANSWER_RETRY);
	bytes[5] = 2; /* the end */
	CHECK_EQ_INT(hello_answer_read(bytes, 7), HELLO_ANSWER_LAST);
}
