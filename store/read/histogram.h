/*
 * How numbers are distributed, in a fixed amount of memory: counts per bucket, with 128 buckets for
 * each doubling.  Below 256 a percentile is exact, above it is at most 0.8 % too high.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#define HISTOGRAM_FINE    ((size_t)128) /* buckets for each doubling */
#define HISTOGRAM_OCTAVES 34            /* microseconds up to 2^40, twelve days */
#define HISTOGRAM_BUCKETS (HISTOGRAM_FINE * (HISTOGRAM_OCTAVES + 1))

struct histogram {
	uint64_t count;
	uint32_t buckets[HISTOGRAM_BUCKETS];
};

/* Negative numbers count as 0. */
void histogram_add(struct histogram *histogram, int64_t number);

/* Adds all numbers of another one. */
void histogram_merge(struct histogram *histogram, const struct histogram *other);

/* The percentile; 0 when there are no numbers. */
int64_t histogram_at(const struct histogram *histogram, unsigned percent);
