/*
 * Contents that callers sent ahead, by their SHA-256, for the files of runs to come: sent once, used
 * in many.
 *
 * They are in memory only, and no record: what a run used of them is in that run's record.  Each
 * belongs to the user who sent it and counts as held by him; of his own, what was not used for
 * longest makes room, and what was not used for so long leaves.  One that is used stays until its
 * last user has let go of it, on the shelf or not.
 *
 *	blobs_begin()  room for so many bytes under a name that is only promised
 *	blobs_add()    bytes, in order, until they are all there
 *	blobs_settle() they are what was promised, or they go
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "daemon/door/ceilings.h"
#include "proto/base/list.h"
#include "proto/base/map.h"
#include "proto/digest.h"
#include "proto/value.h"

#define BLOBS_PER_UID 1024

struct blob {
	struct list link; /* in blobs->used */
	struct blobs *blobs;
	uint32_t uid;
	char sha256[DIGEST_TEXT_LEN + 1];
	char *data;
	size_t len, total; /* what has arrived, and of how much */
	bool settled;
	bool shelved;
	unsigned refs; /* the shelf's, and one for each that uses it */
	int64_t used_ms;
};

struct blobs {
	struct map map;   /* uid and digest -> struct blob */
	struct list used; /* in the order of their last use */
	struct ceilings *ceilings;
	uint64_t bytes_per_uid;
	int64_t kept_ms;
};

void blobs_init(
	struct blobs *blobs, struct ceilings *ceilings, uint64_t bytes_per_uid, uint64_t kept_s);
void blobs_done(struct blobs *blobs);

/* One that is there whole, or is arriving; it counts as used now.  NULL: there is none. */
struct blob *blobs_find(struct blobs *blobs, uint32_t uid, const char *sha256);

/* Those that nobody used for so long leave. */
void blobs_expire(struct blobs *blobs);

/* NULL: no room, or no memory. */
struct blob *blobs_begin(struct blobs *blobs, uint32_t uid, const char *sha256, size_t total);
void blobs_add(struct blob *blob, const char *bytes, size_t len);

/* `sha256` is what they are.  False: not what was promised, and they are gone. */
bool blobs_settle(struct blob *blob, const char *sha256);

/* It is not to be found any more; who uses it keeps it. */
void blobs_drop(struct blob *blob);

struct blob *blob_ref(struct blob *blob);
void blob_unref(struct blob *blob); /* accepts NULL */
