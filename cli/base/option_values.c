#include "cli/base/option_values.h"

#include <stdlib.h>
#include <string.h>

#include "cli/base/language.h"
#include "cli/base/times.h"
#include "cli/base/units.h"
#include "cli/base/users.h"
#include "proto/base/clock.h"

struct value *option_count(struct arena *arena, const char *word, struct err *err)
{
	uint64_t count = 0;

	return units_parse_count(word, &count, err) < 0 ? NULL : value_uint(arena, count);
}

struct value *option_positive(struct arena *arena, const char *word, struct err *err)
{
	uint64_t count = 0;

	if (units_parse_count(word, &count, err) < 0)
		return NULL;
	if (!count)
		(void)err_set(err, ERR_INVALID, "at least 1");
	return count ? value_uint(arena, count) : NULL;
}

struct value *option_ms(struct arena *arena, const char *word, struct err *err)
{
	uint64_t ms = 0;

	return units_parse_ms(word, &ms, err) < 0 ? NULL : value_uint(arena, ms);
}

/* For what erases contents for good: 10 must not mean 10 bytes. */
struct value *option_size(struct arena *arena, const char *word, struct err *err)
{
	uint64_t bytes = 0;

	if (word[0] && word[strspn(word, "0123456789.")] == '\0') {
		(void)err_set(err, ERR_INVALID, "\"%s\" has no unit: write %sk, %sm or %sg", word,
			word, word, word);
		return NULL;
	}
	if (units_parse_bytes(word, &bytes, err) < 0)
		return NULL;
	if (!bytes)
		(void)err_set(err, ERR_INVALID, "at least 1");
	return bytes ? value_uint(arena, bytes) : NULL;
}

struct value *option_moment(struct arena *arena, const char *word, struct err *err)
{
	int64_t us = 0;

	return times_parse(word, clock_wall_us(), &us, err) < 0 ? NULL : value_int(arena, us);
}

struct value *option_age(struct arena *arena, const char *word, struct err *err)
{
	int64_t now_us = clock_wall_us();
	int64_t then_us = 0;

	if (times_parse(word, now_us, &then_us, err) < 0)
		return NULL;
	if (then_us > now_us) {
		(void)err_set(err, ERR_INVALID, "that is yet to come");
		return NULL;
	}
	return value_int(arena, (now_us - then_us) / 1000000);
}

struct value *option_user(struct arena *arena, const char *word, struct err *err)
{
	uint32_t uid = 0;

	return users_parse(word, &uid, err) < 0 ? NULL : value_uint(arena, uid);
}

struct value *option_language(struct arena *arena, const char *word, struct err *err)
{
	return language_check(word, err) < 0 ? NULL : value_text(arena, word);
}

/* The variable and not its value is on the command line, which everybody can read. */
struct value *option_secret(struct arena *arena, const char *word, struct err *err)
{
	const char *secret = getenv(word);

	if (secret && *secret)
		return value_text(arena, secret);
	(void)err_set(err, ERR_MISSING, "there is no variable %s, or it is empty", word);
	return NULL;
}

struct value *option_hash(struct arena *arena, const char *word, struct err *err)
{
	(void)err;
	return value_text(arena, strchr(word, ':') ? word : arena_printf(arena, "sha256:%s", word));
}

struct value *option_label(struct arena *arena, const char *word, struct err *err)
{
	const char *equals = strchr(word, '=');
	struct value *label = value_map(arena);

	if (!equals || equals == word) {
		(void)err_set(err, ERR_INVALID, "it is written as NAME=VALUE");
		return NULL;
	}
	(void)value_map_put_len(
		arena, label, word, (size_t)(equals - word), value_text(arena, equals + 1));
	return label;
}
