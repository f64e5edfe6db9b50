#include "proto/base/utf8.h"

#include <string.h>

#define HIGH_BITS   0x8080808080808080U
#define BLOCK_BYTES ((size_t)64) /* decoded byte by byte before skip_ascii() is tried again */

/*
 * A state machine reads the bytes of a text.  Each state is a bit offset.  Each byte has a row,
 * which is one 64-bit word: shifted right by the state, it has the next state in its low six bits.
 * So a step is one load and one shift.  Only the shift depends on the step before, so this is fast
 * for text in any language.
 *
 *   WHOLE --c2..df----------> LAST --80..bf--> WHOLE
 *   WHOLE --e1..ec,ee,ef---> MIDDLE --80..bf--> LAST
 *   WHOLE --f1..f3---------> FIRST --80..bf--> MIDDLE
 *   WHOLE --e0--> AFTER_E0 --a0..bf--> LAST        no overlong forms
 *   WHOLE --ed--> AFTER_ED --80..9f--> LAST        no surrogates
 *   WHOLE --f0--> AFTER_F0 --90..bf--> MIDDLE      no overlong forms
 *   WHOLE --f4--> AFTER_F4 --80..8f--> MIDDLE      nothing above U+10FFFF
 *
 * Every other byte leads to BROKEN, and every byte in BROKEN leads to BROKEN.
 */
enum state {
	WHOLE = 0,
	BROKEN = 6,
	LAST = 12,
	MIDDLE = 18,
	FIRST = 24,
	AFTER_E0 = 30,
	AFTER_ED = 36,
	AFTER_F0 = 42,
	AFTER_F4 = 48,
};

#define STATE_MASK 63U

#define STAY_OUT(state) ((uint64_t)BROKEN << (state))
#define NOWHERE                                                                                  \
	(STAY_OUT(WHOLE) | STAY_OUT(BROKEN) | STAY_OUT(LAST) | STAY_OUT(MIDDLE) |                \
		STAY_OUT(FIRST) | STAY_OUT(AFTER_E0) | STAY_OUT(AFTER_ED) | STAY_OUT(AFTER_F0) | \
		STAY_OUT(AFTER_F4))
#define GO(from, to) ((uint64_t)(BROKEN ^ (to)) << (from))
#define CONTINUE     (NOWHERE ^ GO(LAST, WHOLE) ^ GO(MIDDLE, LAST) ^ GO(FIRST, MIDDLE))

static const uint64_t rows[256] = {
	[0x00 ... 0x7f] = NOWHERE ^ GO(WHOLE, WHOLE),
	[0x80 ... 0x8f] = CONTINUE ^ GO(AFTER_ED, LAST) ^ GO(AFTER_F4, MIDDLE),
	[0x90 ... 0x9f] = CONTINUE ^ GO(AFTER_ED, LAST) ^ GO(AFTER_F0, MIDDLE),
	[0xa0 ... 0xbf] = CONTINUE ^ GO(AFTER_E0, LAST) ^ GO(AFTER_F0, MIDDLE),
	[0xc0 ... 0xc1] = NOWHERE,
	[0xc2 ... 0xdf] = NOWHERE ^ GO(WHOLE, LAST),
	[0xe0] = NOWHERE ^ GO(WHOLE, AFTER_E0),
	[0xe1 ... 0xec] = NOWHERE ^ GO(WHOLE, MIDDLE),
	[0xed] = NOWHERE ^ GO(WHOLE, AFTER_ED),
	[0xee ... 0xef] = NOWHERE ^ GO(WHOLE, MIDDLE),
	[0xf0] = NOWHERE ^ GO(WHOLE, AFTER_F0),
	[0xf1 ... 0xf3] = NOWHERE ^ GO(WHOLE, FIRST),
	[0xf4] = NOWHERE ^ GO(WHOLE, AFTER_F4),
	[0xf5 ... 0xff] = NOWHERE,
};

static inline uint64_t step(uint64_t state, char byte)
{
	return rows[(uint8_t)byte] >> (state & STATE_MASK);
}

static inline bool is_in(uint64_t state, enum state which)
{
	return (state & STATE_MASK) == (unsigned)which;
}

/* Skips four words at a time.  Texts are nearly always ASCII and may have megabytes. */
static size_t skip_ascii(const char *bytes, size_t len, size_t at)
{
	uint64_t words[4];

	while (len - at >= sizeof(words)) {
		memcpy(words, bytes + at, sizeof(words));
		if ((words[0] | words[1] | words[2] | words[3]) & HIGH_BITS)
			break;
		at += sizeof(words);
	}
	return at;
}

bool utf8_is_valid(const char *bytes, size_t len)
{
	uint64_t state = WHOLE;
	size_t at = 0;

	while (at < len) {
		size_t end;

		if (is_in(state, WHOLE))
			at = skip_ascii(bytes, len, at);
		end = len - at < BLOCK_BYTES ? len : at + BLOCK_BYTES;
		for (; at < end; at++)
			state = step(state, bytes[at]);
		if (is_in(state, BROKEN))
			return false;
	}
	return is_in(state, WHOLE);
}

static bool is_continuation(char byte)
{
	return ((uint8_t)byte & 0xc0) == 0x80;
}

size_t utf8_whole_prefix(const char *bytes, size_t len)
{
	uint64_t state = WHOLE;
	size_t begin = len;

	while (begin > 0 && len - begin < 3 && is_continuation(bytes[begin - 1]))
		begin--;
	if (begin > 0 && len - begin < 3)
		begin--;

	for (size_t at = begin; at < len; at++)
		state = step(state, bytes[at]);
	return is_in(state, WHOLE) || is_in(state, BROKEN) ? len : begin;
}

size_t utf8_skip_partial(const char *bytes, size_t len)
{
	size_t at = 0;

	while (at < len && at < 3 && is_continuation(bytes[at]))
		at++;
	return at;
}

size_t utf8_count(const char *bytes, size_t len)
{
	size_t count = 0;

	for (size_t at = 0; at < len; at++)
		count += !is_continuation(bytes[at]);
	return count;
}

/* Returns the length of the character at the front, or 0 when it is incomplete or invalid. */
static size_t character_len(const char *bytes, size_t len)
{
	uint64_t state = WHOLE;

	for (size_t at = 0; at < len; at++) {
		state = step(state, bytes[at]);
		if (is_in(state, WHOLE))
			return at + 1;
		if (is_in(state, BROKEN))
			return 0;
	}
	return 0;
}

int32_t utf8_next(const char *bytes, size_t len, size_t *at)
{
	static const uint8_t lead_bits[] = { 0, 0x7f, 0x1f, 0x0f, 0x07 };
	const char *from = bytes + *at;
	size_t character;
	int32_t point;

	if (*at >= len)
		return -1;

	character = character_len(from, len - *at);
	if (character == 0) {
		*at += 1;
		return -1;
	}

	point = (uint8_t)from[0] & lead_bits[character];
	for (size_t i = 1; i < character; i++)
		point = point << 6 | (from[i] & 0x3f);
	*at += character;
	return point;
}
