#include "store/spread.h"

#define FINE_BITS 7

static size_t bucket_of(int64_t number)
{
	uint64_t magnitude = number > 0 ? (uint64_t)number : 0;
	unsigned shift = 0;
	size_t bucket;

	if (magnitude >= 2 * SPREAD_FINE)
		shift = 63U - (unsigned)__builtin_clzll(magnitude) - FINE_BITS;
	bucket = shift * SPREAD_FINE + (size_t)(magnitude >> shift);
	return bucket < SPREAD_BUCKETS ? bucket : SPREAD_BUCKETS - 1;
}

/* The largest number in the bucket. */
static int64_t most_in(size_t bucket)
{
	size_t shift = bucket < 2 * SPREAD_FINE ? 0 : bucket / SPREAD_FINE - 1;
	uint64_t base = bucket - shift * SPREAD_FINE;

	return (int64_t)(((base + 1) << shift) - 1);
}

void spread_add(struct spread *spread, int64_t number)
{
	spread->buckets[bucket_of(number)]++;
	spread->count++;
}

void spread_merge(struct spread *spread, const struct spread *other)
{
	if (!other->count)
		return;
	for (size_t i = 0; i < SPREAD_BUCKETS; i++)
		spread->buckets[i] += other->buckets[i];
	spread->count += other->count;
}

int64_t spread_at(const struct spread *spread, unsigned percent)
{
	uint64_t wanted = (spread->count * percent + 99) / 100;
	uint64_t seen = 0;

	if (!spread->count)
		return 0;
	for (size_t i = 0; i < SPREAD_BUCKETS; i++) {
		seen += spread->buckets[i];
		if (seen >= wanted && seen > 0)
			return most_in(i);
	}
	return most_in(SPREAD_BUCKETS - 1);
}
