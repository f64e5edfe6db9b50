/*
 * Words that hold for runs to come: "this program of this user's may run, so often and so long".
 *
 * A grant is about a subject: the digest of the texts that the policy judged, the policy with its
 * rules as they were then, and the language.  Another text, a changed rule, another user: another
 * subject, and a person is asked.  What is in force stands in the store; this is its copy.
 */
#pragma once

#include <stdint.h>

#include "proto/base/err.h"
#include "proto/base/list.h"
#include "proto/job/job.h"
#include "store/store.h"

#define GRANTS_MOST 1024

struct grant {
	struct list link;
	int64_t act; /* by which, and its name */
	uint32_t uid;
	uint32_t by;
	char subject[HASH_TEXT_LEN + 1];
	int64_t until_wall_us;
	int64_t uses; /* that are left; -1: as many as wanted */
};

struct grants {
	struct list list;
	unsigned count;
};

void grants_init(struct grants *grants);
void grants_done(struct grants *grants);

/* Those that the store knows. */
int grants_load(struct grants *grants, struct store *store, struct err *err);

/* One that holds now for this user and subject, or NULL. */
struct grant *grants_find(struct grants *grants, uint32_t uid, const char *subject);
struct grant *grants_get(struct grants *grants, int64_t act);

/* Whether there is room for one more. */
bool grants_have_room(struct grants *grants);

/* -1: no memory. */
int grants_add(struct grants *grants, const struct store_grant *from);
void grants_remove(struct grants *grants, int64_t act);
