/*
 * The index of words: a run's program and the beginnings of what it wrote, each text once.
 *
 * Fed by settle_runs(), so that no client waits for it; search.h asks it, and looks itself at the
 * runs that have not settled.  The index holds words and places but no text, so a text can be taken
 * out only while its bytes are still there.
 */
#pragma once

#include <stdint.h>

#include "proto/base/arena.h"
#include "proto/base/err.h"
#include "proto/job.h"

struct store;

#define TEXTS_OF_A_RUN 3 /* code, stdout, stderr */
#define TEXT_BYTES_MAX \
	((size_t)64 << 10) /* of each: what stands behind is not found by its words */

/* What of these bytes is indexed; nothing of what is no text. */
struct bytes text_indexed(struct bytes bytes);

/* The bytes of a run that are indexed, in the arena; 1: there is no such run. */
int texts_read(struct store *store, int64_t key, struct arena *arena,
	struct bytes ret_texts[TEXTS_OF_A_RUN], struct err *err);

/* Adds the run's texts, in the transaction that is open.  *ret_bytes: how much was read for it. */
int texts_add(struct store *store, int64_t key, size_t *ret_bytes, struct err *err);

/*
 * Takes them out again, in the transaction that is about to remove or change the run's contents,
 * before it does so.  Texts that other runs hold stay for those.  A run that is not there is none.
 */
int texts_forget(struct store *store, int64_t key, struct err *err);

/*
 * The index only notes that a text has left; its words leave when the parts that hold them are
 * written anew.  Does a piece of that, in the transaction that is open: 1 when there is more to do.
 */
int texts_purge(struct store *store, struct err *err);
