#include "proto/ulid.h"

#include <string.h>
#include <sys/random.h>

#include "proto/base/clock.h"

#define ULID_TIME_CHARS 10
#define ULID_MS_MAX     ((UINT64_C(1) << 48) - 1)

static const char alphabet[] = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";

/* Writes the lowest bits of `bits` as `chars` digits of base 32, highest first. */
static void write_digits(char *text, unsigned chars, uint64_t bits)
{
	for (unsigned i = chars; i-- > 0; bits >>= 5)
		text[i] = alphabet[bits & 31];
}

static void write_text(const struct ulid_source *source, char *text)
{
	uint64_t high = 0, low = 0;

	for (unsigned i = 0; i < ULID_RANDOM_LEN / 2; i++) {
		high = high << 8 | source->random[i];
		low = low << 8 | source->random[i + ULID_RANDOM_LEN / 2];
	}
	write_digits(text, ULID_TIME_CHARS, source->last_ms);
	write_digits(text + ULID_TIME_CHARS, 8, high);
	write_digits(text + ULID_TIME_CHARS + 8, 8, low);
	text[ULID_LEN] = '\0';
}

static int draw(struct ulid_source *source, uint64_t ms, struct err *err)
{
	uint8_t random[ULID_RANDOM_LEN];

	if (getrandom(random, sizeof(random), 0) != (ssize_t)sizeof(random))
		return err_sys(err, "getrandom");
	memcpy(source->random, random, sizeof(random));
	source->last_ms = ms;
	return 0;
}

/* Adds one.  Returns false, without a change, when the lowest ULID_RISING_BITS are all set. */
static bool count_up(struct ulid_source *source)
{
	const uint8_t *lowest = source->random + ULID_RANDOM_LEN - 3;
	uint32_t rising = (uint32_t)lowest[0] << 16 | (uint32_t)lowest[1] << 8 | lowest[2];

	if (~rising << (32 - ULID_RISING_BITS) == 0)
		return false;
	for (unsigned i = ULID_RANDOM_LEN; i-- > 0 && ++source->random[i] == 0;)
		;
	return true;
}

int ulid_next_at(
	struct ulid_source *source, uint64_t now_ms, char ret_text[ULID_LEN + 1], struct err *err)
{
	if (now_ms > source->last_ms && now_ms <= ULID_MS_MAX) {
		if (draw(source, now_ms, err) < 0)
			return -1;
	} else if (!count_up(source)) {
		if (source->last_ms >= ULID_MS_MAX)
			return err_set(err, ERR_INVALID, "there is no later id");
		if (draw(source, source->last_ms + 1, err) < 0)
			return -1;
	}
	write_text(source, ret_text);
	return 0;
}

int ulid_next(struct ulid_source *source, char ret_text[ULID_LEN + 1], struct err *err)
{
	return ulid_next_at(source, (uint64_t)clock_wall_us() / 1000, ret_text, err);
}

void ulid_pass(struct ulid_source *source, const char *id)
{
	uint64_t ms = ulid_time_ms(id);

	if (source->last_ms <= ms && ms < ULID_MS_MAX)
		source->last_ms = ms + 1;
}

bool ulid_same_place(const char *a, const char *b)
{
	const size_t rising = ULID_LEN - ULID_RISING_BITS / 5;

	return memcmp(a, b, ULID_TIME_CHARS) == 0 && strcmp(a + rising, b + rising) == 0;
}

bool ulid_is_valid(const char *text)
{
	return strlen(text) == ULID_LEN && strspn(text, alphabet) == ULID_LEN && text[0] <= '7';
}

uint64_t ulid_time_ms(const char *text)
{
	uint64_t ms = 0;

	for (unsigned i = 0; i < ULID_TIME_CHARS; i++)
		ms = ms << 5 | (uint64_t)(strchr(alphabet, text[i]) - alphabet);
	return ms;
}
