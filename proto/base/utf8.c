#include "proto/base/utf8.h"

#include <string.h>

#define HIGH_BITS 0x8080808080808080U

/* Four words at a time: what is sent to us is nearly always ASCII, and there may be megabytes. */
static size_t skip_ascii(const char *bytes, size_t len, size_t at)
{
	uint64_t words[4];

	while (len - at >= sizeof(words)) {
		memcpy(words, bytes + at, sizeof(words));
		if ((words[0] | words[1] | words[2] | words[3]) & HIGH_BITS)
			break;
		at += sizeof(words);
	}

	while (at < len && (uint8_t)bytes[at] < 0x80)
		at++;
	return at;
}

static bool is_continuation(uint8_t byte)
{
	return (byte & 0xc0) == 0x80;
}

/* How many bytes a character has that begins with `lead`; 0 when none begins so. */
static size_t length_after(uint8_t lead)
{
	if (lead < 0x80)
		return 1;
	if (lead >= 0xc2 && lead <= 0xdf)
		return 2;
	if (lead >= 0xe0 && lead <= 0xef)
		return 3;
	if (lead >= 0xf0 && lead <= 0xf4)
		return 4;
	return 0;
}

/*
 * The second byte tells overlong forms, surrogates and what is past U+10FFFF from the rest; the
 * table of the Unicode standard (3.9, well-formed sequences) has just these four exceptions.
 */
static bool may_follow(uint8_t lead, uint8_t second)
{
	if (lead == 0xe0)
		return second >= 0xa0 && second <= 0xbf;
	if (lead == 0xed)
		return second >= 0x80 && second <= 0x9f;
	if (lead == 0xf0)
		return second >= 0x90 && second <= 0xbf;
	if (lead == 0xf4)
		return second >= 0x80 && second <= 0x8f;
	return is_continuation(second);
}

/* The length of the character at the front, or 0 when there is no whole and valid one. */
static size_t character_len(const uint8_t *bytes, size_t len)
{
	size_t need = length_after(bytes[0]);

	if (need == 0 || need > len)
		return 0;
	if (need >= 2 && !may_follow(bytes[0], bytes[1]))
		return 0;
	if (need >= 3 && !is_continuation(bytes[2]))
		return 0;
	if (need == 4 && !is_continuation(bytes[3]))
		return 0;
	return need;
}

bool utf8_is_valid(const char *bytes, size_t len)
{
	size_t at = 0;

	while (at < len) {
		size_t step;

		at = skip_ascii(bytes, len, at);
		while (at < len && (uint8_t)bytes[at] >= 0x80) {
			step = character_len((const uint8_t *)bytes + at, len - at);
			if (step == 0)
				return false;
			at += step;
		}
	}
	return true;
}

size_t utf8_whole_prefix(const char *bytes, size_t len)
{
	for (size_t back = 1; back <= 3 && back <= len; back++) {
		uint8_t byte = (uint8_t)bytes[len - back];

		if (!is_continuation(byte))
			return length_after(byte) > back ? len - back : len;
	}
	return len;
}

size_t utf8_skip_partial(const char *bytes, size_t len)
{
	size_t at = 0;

	while (at < len && at < 3 && is_continuation((uint8_t)bytes[at]))
		at++;
	return at;
}

size_t utf8_count(const char *bytes, size_t len)
{
	size_t count = 0;

	for (size_t at = 0; at < len; at++)
		count += !is_continuation((uint8_t)bytes[at]);
	return count;
}

int32_t utf8_next(const char *bytes, size_t len, size_t *at)
{
	static const uint8_t lead_bits[] = { 0, 0x7f, 0x1f, 0x0f, 0x07 };
	const uint8_t *from = (const uint8_t *)bytes + *at;
	size_t step;
	int32_t point;

	if (*at >= len)
		return -1;

	step = character_len(from, len - *at);
	if (step == 0) {
		*at += 1;
		return -1;
	}

	point = from[0] & lead_bits[step];
	for (size_t i = 1; i < step; i++)
		point = point << 6 | (from[i] & 0x3f);
	*at += step;
	return point;
}
