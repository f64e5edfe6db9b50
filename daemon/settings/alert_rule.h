/* A rule for alerts, as the administrator wrote it in the configuration. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define ALERT_RULES_MAX 32
#define ALERT_COUNT_MAX 100
#define ALERT_WORDS_MAX 8 /* of a command */

/* X(name, default, lowest, highest, meaning) */
/* clang-format off */
#define ALERT_NUMBERS(X) \
	X(count,     1,      1,    ALERT_COUNT_MAX, "so many such runs") \
	X(within_ms, 600000, 1000, 86400000,        "within this time") \
	X(rest_ms,   60000,  0,    86400000,        "then not again for so long")
/* clang-format on */

/* Which runs are counted together. */
enum alert_per {
	ALERT_PER_ALL,
	ALERT_PER_UID,
	ALERT_PER_AGENT, /* and per uid, because the caller chooses the agent's name */
};

struct alert_rule {
	char name[64];
#define ALERT_FIELD(name, otherwise, lowest, highest, meaning) uint64_t name;
	ALERT_NUMBERS(ALERT_FIELD)
#undef ALERT_FIELD
	uint32_t outcomes; /* a set of enum outcome; 0: any */
	char rule[128];    /* the rule of a finding; `*` at its end matches any rest; "": any */
	char agent[129];   /* "": any */
	char language[33]; /* "": any */
	bool has_uid;
	uint32_t uid;
	bool new_code; /* only programs that this agent of this user has not run before */
	enum alert_per per;
	char words[ALERT_WORDS_MAX][256]; /* the command; with no words there is none */
	unsigned word_count;
};
