#include "store/read/histogram.h"

#define FINE_BITS 7

static size_t bucket_of(int64_t number)
{
	uint64_t magnitude = number > 0 ? (uint64_t)number : 0;
	unsigned shift = 0;
	size_t bucket;

	if (magnitude >= 2 * HISTOGRAM_FINE)
		shift = 63U - (unsigned)__builtin_clzll(magnitude) - FINE_BITS;
	bucket = shift * HISTOGRAM_FINE + (size_t)(magnitude >> shift);
	return bucket < HISTOGRAM_BUCKETS ? bucket : HISTOGRAM_BUCKETS - 1;
}

/* The largest number in the bucket. */
static int64_t most_in(size_t bucket)
{
	size_t shift = bucket < 2 * HISTOGRAM_FINE ? 0 : bucket / HISTOGRAM_FINE - 1;
	uint64_t base = bucket - shift * HISTOGRAM_FINE;

	return (int64_t)(((base + 1) << shift) - 1);
}

void histogram_add(struct histogram *histogram, int64_t number)
{
	histogram->buckets[bucket_of(number)]++;
	histogram->count++;
}

void histogram_merge(struct histogram *histogram, const struct histogram *other)
{
	if (!other->count)
		return;
	for (size_t i = 0; i < HISTOGRAM_BUCKETS; i++)
		histogram->buckets[i] += other->buckets[i];
	histogram->count += other->count;
}

int64_t histogram_at(const struct histogram *histogram, unsigned percent)
{
	uint64_t wanted = (histogram->count * percent + 99) / 100;
	uint64_t seen = 0;

	if (!histogram->count)
		return 0;
	for (size_t i = 0; i < HISTOGRAM_BUCKETS; i++) {
		seen += histogram->buckets[i];
		if (seen >= wanted && seen > 0)
			return most_in(i);
	}
	return most_in(HISTOGRAM_BUCKETS - 1);
}
