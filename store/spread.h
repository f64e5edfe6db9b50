/*
 * How numbers are spread, in a fixed amount of memory: counts per bucket, with 128 buckets for each
 * doubling.  Below 256 a percentile is exact, above it is at most 0.8 % too high.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#define SPREAD_FINE    ((size_t)128) /* buckets for each doubling */
#define SPREAD_OCTAVES 34            /* microseconds up to 2^40, twelve days */
#define SPREAD_BUCKETS (SPREAD_FINE * (SPREAD_OCTAVES + 1))

struct spread {
	uint64_t count;
	uint32_t buckets[SPREAD_BUCKETS];
};

/* Negative numbers count as 0. */
void spread_add(struct spread *spread, int64_t number);

/* Adds all numbers of another one. */
void spread_merge(struct spread *spread, const struct spread *other);

/* The number that `percent` of all numbers do not pass; 0 when there are none. */
int64_t spread_at(const struct spread *spread, unsigned percent);
