/*
 * Compares the index of words with the texts.
 *
 * The texts are split into words again by the tokenizer of SQLite. Both sets of words are compared by sums of
 * keyed hashes, so only the sums are in memory.
 */
#pragma once

#include <stdint.h>

#include "proto/base/err.h"
#include "proto/job/job.h"
#include "store/verify/verify.h"

struct wording;

/* NULL with *err. */
struct wording *wording_new(struct store *store, struct err *err);
void wording_free(struct wording *wording); /* accepts NULL */
AUTO_DEFINE(struct wording, wording_free);

/* Adds a text that the index should have; a text that was added before is ignored. -1: no memory. */
int wording_add(struct wording *wording, int64_t text, struct bytes bytes, struct err *err);

/* After all texts were added: reports differences as problems. */
int wording_compare(struct wording *wording, struct verify *verify, struct err *err);
