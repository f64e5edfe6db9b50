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

TEST(a_greeting_with_a_name_is_read)
{
	uint8_t bytes[512];
	size_t len = make(bytes, NAME, sizeof(NAME) - 1);

	CHECK_EQ_INT(hello_read(bytes, len, name), HELLO_NAMED);
	CHECK_STR(name, "a.b.test");
	for (size_t part = 0; part < len; part++)
		CHECK_EQ_INT(hello_read(bytes, part, name), HELLO_MORE);
}

TEST(one_without_or_with_a_hidden_name_is_told_apart)
{
	uint8_t bytes[512];

	CHECK_EQ_INT(hello_read(bytes, make(bytes, "\0\x17\0\0", 4), name), HELLO_UNNAMED);
	CHECK_EQ_INT(
		hello_read(bytes, make(bytes, NAME "\xfe\x0d\0\1x", sizeof(NAME) - 1 + 5), name),
		HELLO_HIDDEN);
	CHECK_EQ_INT(hello_read(bytes, make(bytes, NAME NAME, 2 * (sizeof(NAME) - 1)), name),
		HELLO_NONE);
	CHECK_EQ_INT(hello_read((const uint8_t *)"GET / HTTP/1.1\r\n\r\n", 18, name), HELLO_NONE);
	CHECK_EQ_INT(hello_read((const uint8_t *)"\x16\2", 2, name), HELLO_MORE);
	CHECK_EQ_INT(hello_read((const uint8_t *)"\x16\2\0\0\1x", 6, name), HELLO_NONE);
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
		CHECK_EQ_INT(hello_read(bytes, make(bytes, extension, sizeof(NAME) - 1), name),
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
			(void)hello_read(bytes, len, name);
			CHECK(strlen(name) < sizeof(name));
		}
}
