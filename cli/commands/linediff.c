#include "cli/commands/linediff.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define EDITS_MAX 1000 /* beyond it two texts have little in common */

struct text {
	struct bytes *lines;
	size_t count;
};

struct diffing {
	struct text left, right;
	size_t from;                   /* so many lines are the same in front */
	size_t left_end, right_end;    /* and from here on behind */
	int32_t *steps[EDITS_MAX + 1]; /* how far each diagonal came with so many edits */
	struct line_diff *diff;
};

static int split(struct arena *arena, struct bytes bytes, struct text *ret_text)
{
	const char *end = bytes.data + bytes.len;
	size_t count = 0;

	for (const char *at = bytes.data; at < end; count++) {
		const char *newline = memchr(at, '\n', (size_t)(end - at));

		at = newline ? newline + 1 : end;
	}
	ret_text->lines = arena_array(arena, struct bytes, count ? count : 1);
	ret_text->count = 0;
	if (!ret_text->lines || count > INT32_MAX / 2)
		return -1;
	for (const char *at = bytes.data; at < end;) {
		const char *newline = memchr(at, '\n', (size_t)(end - at));
		const char *stop = newline ? newline : end;

		ret_text->lines[ret_text->count++] = (struct bytes){ at, (size_t)(stop - at) };
		at = newline ? newline + 1 : end;
	}
	return 0;
}

static bool is_same(const struct diffing *it, size_t left, size_t right)
{
	struct bytes a = it->left.lines[left];
	struct bytes b = it->right.lines[right];

	return a.len == b.len && memcmp(a.data, b.data, a.len) == 0;
}

/* Equal lines at both ends need no search. */
static void trim(struct diffing *it)
{
	it->left_end = it->left.count;
	it->right_end = it->right.count;
	while (it->from < it->left_end && it->from < it->right_end &&
		is_same(it, it->from, it->from))
		it->from++;
	while (it->left_end > it->from && it->right_end > it->from &&
		is_same(it, it->left_end - 1, it->right_end - 1)) {
		it->left_end--;
		it->right_end--;
	}
}

static void put(struct diffing *it, enum line_kind kind, size_t left, size_t right)
{
	struct bytes text = kind == LINE_NEW ? it->right.lines[right] : it->left.lines[left];

	it->diff->lines[it->diff->count++] = (struct line){ kind, text.data, text.len,
		kind == LINE_NEW ? 0 : left + 1, kind == LINE_GONE ? 0 : right + 1 };
	it->diff->changed += kind != LINE_SAME;
}

/* ---- Myers -------------------------------------------------------------------------------- */

/*
 * steps[d][d + k] is how many lines of the left (between the ends) are used up on diagonal k,
 * which is left minus right, after d edits.
 */
static int32_t start_of(const struct diffing *it, int32_t edits, int32_t k)
{
	const int32_t *before = it->steps[edits - 1] + (edits - 1);

	if (k == -edits || (k != edits && before[k - 1] < before[k + 1]))
		return before[k + 1]; /* a line of the right is new */
	return before[k - 1] + 1;     /* a line of the left is gone */
}

static int32_t run_along(const struct diffing *it, int32_t x, int32_t k)
{
	int32_t left = (int32_t)(it->left_end - it->from);
	int32_t right = (int32_t)(it->right_end - it->from);

	while (x < left && x - k < right &&
		is_same(it, it->from + (size_t)x, it->from + (size_t)(x - k)))
		x++;
	return x;
}

/* The fewest edits; -1 when they are too many, -2 without memory. */
static int32_t find_edits(struct diffing *it, struct arena *arena)
{
	int32_t left = (int32_t)(it->left_end - it->from);
	int32_t right = (int32_t)(it->right_end - it->from);

	for (int32_t edits = 0; edits <= EDITS_MAX; edits++) {
		int32_t *steps = arena_array(arena, int32_t, (size_t)edits * 2 + 1);

		if (!steps)
			return -2;
		it->steps[edits] = steps;
		for (int32_t k = -edits; k <= edits; k += 2) {
			int32_t x = run_along(it, edits ? start_of(it, edits, k) : 0, k);

			steps[edits + k] = x;
			if (k == left - right && x >= left)
				return edits;
		}
	}
	return -1;
}

/* From the end back to the beginning; the moves come in the opposite order. */
static void note_moves(const struct diffing *it, int32_t edits, char *moves)
{
	int32_t k = (int32_t)(it->left_end - it->from) - (int32_t)(it->right_end - it->from);

	for (; edits > 0; edits--) {
		const int32_t *before = it->steps[edits - 1] + (edits - 1);
		bool is_new = k == -edits || (k != edits && before[k - 1] < before[k + 1]);

		moves[edits - 1] = is_new ? LINE_NEW : LINE_GONE;
		k += is_new ? 1 : -1;
	}
}

static void put_moves(struct diffing *it, const char *moves, int32_t edits)
{
	size_t left = it->from;
	size_t right = left;

	for (int32_t i = 0; i <= edits; i++) {
		/* Diagonals are followed only as far as the path of that many edits did. */
		int32_t k = (int32_t)left - (int32_t)right;
		size_t until = it->from + (size_t)it->steps[i][i + k];

		while (left < until)
			put(it, LINE_SAME, left++, right++);
		if (i == edits)
			break;
		if (moves[i] == LINE_NEW)
			put(it, LINE_NEW, 0, right++);
		else
			put(it, LINE_GONE, left++, 0);
	}
}

static int put_middle(struct diffing *it, struct arena *arena)
{
	int32_t edits = find_edits(it, arena);
	char *moves;

	if (edits == -2)
		return -1;
	if (edits >= 0) {
		moves = arena_alloc(arena, (size_t)edits + 1);
		if (!moves)
			return -1;
		note_moves(it, edits, moves);
		put_moves(it, moves, edits);
		return 0;
	}
	for (size_t left = it->from; left < it->left_end; left++)
		put(it, LINE_GONE, left, 0);
	for (size_t right = it->from; right < it->right_end; right++)
		put(it, LINE_NEW, 0, right);
	return 0;
}

int line_diff(
	struct arena *arena, struct bytes left, struct bytes right, struct line_diff *ret_diff)
{
	struct line_diff diff = { .count = 0 };
	struct diffing it = { .diff = &diff };

	if (split(arena, left, &it.left) < 0 || split(arena, right, &it.right) < 0)
		return -1;
	diff.lines = arena_array(arena, struct line, it.left.count + it.right.count + 1);
	if (!diff.lines)
		return -1;
	trim(&it);
	for (size_t i = 0; i < it.from; i++)
		put(&it, LINE_SAME, i, i);
	if (put_middle(&it, arena) < 0)
		return -1;
	for (size_t i = it.left_end; i < it.left.count; i++)
		put(&it, LINE_SAME, i, it.right_end + i - it.left_end);
	*ret_diff = diff;
	return 0;
}
