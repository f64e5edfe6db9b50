/*
 * File contents that callers upload ahead of runs, addressed by SHA-256: sent once, used by many
 * runs.
 *
 * Blobs exist only in memory and are not records; a run's record holds what the run used.  Each
 * blob belongs to the user who sent it and counts against that user's memory limit.  When a user's
 * room is full, that user's least recently used blob is dropped.  A blob that is unused for
 * `kept_ms` is dropped too.  A dropped blob stays in memory until the last run that uses it has
 * released it.
 *
 *     blobs_begin()   reserves room under a digest that the caller promised
 *     blobs_add()     appends bytes, in order, until all have arrived
 *     blobs_settle()  keeps the blob if its digest matches, else drops it
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
	size_t len, total; /* bytes that have arrived, and that are expected */
	bool settled;
	bool shelved;
	/* one for the map while `shelved`, and one for each run that uses the blob */
	unsigned refs;
	int64_t used_ms;
};

struct blobs {
	struct map map;   /* uid and digest -> struct blob */
	struct list used; /* least recently used first */
	struct ceilings *ceilings;
	uint64_t bytes_per_uid;
	int64_t kept_ms;
};

void blobs_init(
	struct blobs *blobs, struct ceilings *ceilings, uint64_t bytes_per_uid, uint64_t kept_s);

/* Takes other settings, for what is put from now on. */
void blobs_set(struct blobs *blobs, uint64_t bytes_per_uid, uint64_t kept_s);
void blobs_done(struct blobs *blobs);

/* Finds a complete or arriving blob and marks it as used now.  NULL: there is none. */
struct blob *blobs_find(struct blobs *blobs, uint32_t uid, const char *sha256);

/* Drops blobs that were not used for `kept_ms`. */
void blobs_expire(struct blobs *blobs);

/* Returns NULL when there is no room or no memory. */
struct blob *blobs_begin(struct blobs *blobs, uint32_t uid, const char *sha256, size_t total);
void blobs_add(struct blob *blob, const char *bytes, size_t len);

/*
 * `sha256` is the digest of what arrived.  Returns false, and drops the blob, when it is not the
 * promised one.
 */
bool blobs_settle(struct blob *blob, const char *sha256);

/* Removes the blob from the map; holders of a reference keep it. */
void blobs_drop(struct blob *blob);

struct blob *blob_ref(struct blob *blob);
void blob_unref(struct blob *blob); /* accepts NULL */
