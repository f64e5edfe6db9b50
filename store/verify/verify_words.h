/*
 * The index of words against the texts that it is made of.
 *
 * The index has no texts, so they are split into words once more, by SQLite's own tokenizer, and both
 * heaps of words are summed up under a key that was drawn just now, as facets are (verify_facets.c).
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

/* A text that the index should have; the second time it is left out.  -1: no memory. */
int wording_add(struct wording *wording, int64_t text, struct bytes bytes, struct err *err);

/* When all are there: what the index has instead is a problem. */
int wording_compare(struct wording *wording, struct verify *verify, struct err *err);
