/*
 * Approvals that hold for future runs: "this program of this user may run, so many times, until
 * then".
 *
 * A grant applies to one user and one subject.  The subject is a digest of the texts that the
 * policy judged, of the policy with its rules at that time, and of the language.  With another
 * text, rule or user the grant does not apply, and the run needs approval again.  The store holds
 * the grants in force; this is a copy.
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
	int64_t act; /* the act that gave it; identifies the grant */
	uint32_t uid;
	uint32_t by;
	char subject[HASH_TEXT_LEN + 1];
	int64_t until_wall_us;
	int64_t uses; /* uses left; -1: unlimited */
};

struct grants {
	struct list list;
	unsigned count;
};

void grants_init(struct grants *grants);
void grants_done(struct grants *grants);

/* Loads the grants in the store. */
int grants_load(struct grants *grants, struct store *store, struct err *err);

/* Returns a grant that is in force for this user and subject, or NULL. */
struct grant *grants_find(struct grants *grants, uint32_t uid, const char *subject);
struct grant *grants_get(struct grants *grants, int64_t act);

/* Whether one more grant fits; drops expired and used-up ones first. */
bool grants_have_room(struct grants *grants);

/* -1: no memory. */
int grants_add(struct grants *grants, const struct store_grant *from);
void grants_remove(struct grants *grants, int64_t act);
