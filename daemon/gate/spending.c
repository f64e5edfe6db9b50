#include "daemon/gate/spending.h"

#include <string.h>

void spending_init(struct spending *spending, int64_t window_us, int64_t now_us)
{
	*spending = (struct spending){ .slice_us = window_us / SPENDING_SLICES };
	spending->at = now_us / spending->slice_us;
}

static void forget_slice(struct spending *spending, int64_t at)
{
	uint64_t *slice = spending->slices[at % SPENDING_SLICES];

	for (unsigned i = 0; i < SPENT_COUNT; i++) {
		spending->sum[i] -= slice[i];
		slice[i] = 0;
	}
}

void spending_move_on(struct spending *spending, int64_t now_us)
{
	int64_t at = now_us / spending->slice_us;

	for (unsigned i = 0; i < SPENDING_SLICES && spending->at < at; i++)
		forget_slice(spending, ++spending->at);
	if (spending->at < at)
		spending->at = at;
}

void spending_add(struct spending *spending, enum spent_kind kind, uint64_t amount, int64_t age_us)
{
	int64_t at = spending->at - age_us / spending->slice_us;

	if (at <= spending->at - SPENDING_SLICES || at < 0)
		return;
	spending->slices[at % SPENDING_SLICES][kind] += amount;
	spending->sum[kind] += amount;
}

int64_t spending_until_below(
	const struct spending *spending, enum spent_kind kind, uint64_t most, int64_t now_us)
{
	uint64_t left = spending->sum[kind];
	int64_t oldest = spending->at - SPENDING_SLICES + 1;

	for (int64_t at = oldest < 0 ? 0 : oldest; at <= spending->at; at++) {
		left -= spending->slices[at % SPENDING_SLICES][kind];
		if (left < most)
			return (at + SPENDING_SLICES) * spending->slice_us - now_us;
	}
	return 0;
}

void spending_forget(struct spending *spending)
{
	memset(spending->slices, 0, sizeof(spending->slices));
	memset(spending->sum, 0, sizeof(spending->sum));
}
