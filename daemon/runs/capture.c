#include "daemon/runs/capture.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "proto/base/utf8.h"

#define CHUNK ((size_t)64 << 10)
#define VISIT_MAX \
	((size_t)512 << 10)      /* bytes in one visit, so that one program cannot block the loop */
#define READ_LEAST ((size_t)512) /* what a read counts in a visit, however little it returns */

void capture_init(struct capture *capture, uint64_t cap, bool truncate)
{
	memset(capture, 0, sizeof(*capture));
	capture->cap = cap;
	capture->truncate = truncate;
}

void capture_done(struct capture *capture)
{
	free(capture->head);
	free(capture->tail);
	capture->head = NULL;
	capture->tail = NULL;
}

static uint64_t head_cap(const struct capture *capture)
{
	return capture->truncate && !capture->front_only ? capture->cap - capture->cap / 2
							 : capture->cap;
}

static size_t smaller(uint64_t a, uint64_t b)
{
	return (size_t)(a < b ? a : b);
}

static int head_room(struct capture *capture, size_t len)
{
	size_t size = capture->head_size ? capture->head_size : 1024;
	char *grown;

	while (size < capture->head_len + len)
		size *= 2;
	if (size <= capture->head_size)
		return 0;
	grown = realloc(capture->head, size);
	if (!grown)
		return -1;
	capture->head = grown;
	capture->head_size = size;
	return 0;
}

/* Keeps the last half of the cap in a ring, and the bytes just before it. */
static void keep_tail(struct capture *capture, const char *bytes, size_t len)
{
	size_t want = capture->cap / 2 ? (size_t)(capture->cap / 2) + CAPTURE_BEFORE : 0;

	if (!capture->tail && want && !capture->failed) {
		capture->tail = malloc(want);
		capture->tail_size = capture->tail ? want : 0;
		capture->failed = !capture->tail;
	}
	if (!capture->tail)
		return;
	if (len > capture->tail_size) {
		bytes += len - capture->tail_size;
		len = capture->tail_size;
	}
	while (len > 0) {
		size_t part = smaller(len, capture->tail_size - capture->tail_at);

		memcpy(capture->tail + capture->tail_at, bytes, part);
		capture->tail_at = (capture->tail_at + part) % capture->tail_size;
		capture->tail_len = smaller(capture->tail_len + part, capture->tail_size);
		bytes += part;
		len -= part;
	}
}

static void keep_bytes(struct capture *capture, const char *bytes, size_t len)
{
	size_t first = smaller(len, head_cap(capture) - capture->head_len);

	capture->total += len;
	if (first && head_room(capture, first) == 0) {
		memcpy(capture->head + capture->head_len, bytes, first);
		capture->head_len += first;
	} else if (first) {
		capture->failed = true;
	}
	if (len > first && !capture->front_only)
		keep_tail(capture, bytes + first, len - first);
}

/*
 * How many bytes to read at most.  Where passing the cap kills the run, this is never more than one
 * byte past the cap.
 */
static size_t wanted(const struct capture *capture)
{
	if (capture->truncate)
		return CHUNK;
	return smaller(capture->cap - capture->total + 1, CHUNK);
}

enum capture_state capture_put(struct capture *capture, const char *bytes, size_t len)
{
	bool passes = capture->total + len > capture->cap;

	if (passes && !capture->truncate) {
		keep_bytes(capture, bytes, (size_t)(capture->cap - capture->total));
		capture->passed = true;
		return CAPTURE_PASSED;
	}
	keep_bytes(capture, bytes, len);
	capture->passed = capture->passed || passes;
	return CAPTURE_MORE;
}

enum capture_state capture_read(struct capture *capture, int fd)
{
	char chunk[8192];

	for (size_t visited = 0; visited < VISIT_MAX;) {
		ssize_t got = read(fd, chunk, smaller(wanted(capture), sizeof(chunk)));

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return CAPTURE_DRY;
		if (got == 0) {
			capture->ended = true;
			return CAPTURE_ENDED;
		}
		visited += (size_t)got < READ_LEAST ? READ_LEAST : (size_t)got;
		if (capture_put(capture, chunk, (size_t)got) == CAPTURE_PASSED)
			return CAPTURE_PASSED;
	}
	return CAPTURE_MORE;
}

/* Turns the ring so that it starts with its oldest byte. */
static void straighten(struct capture *capture)
{
	size_t front = capture->tail_at;
	char *turned;

	if (capture->tail_len < capture->tail_size || front == 0)
		return;
	turned = malloc(capture->tail_size);
	if (!turned) {
		capture->failed = true;
		capture->tail_len = front; /* only the newest part is in order */
		return;
	}
	memcpy(turned, capture->tail + front, capture->tail_size - front);
	memcpy(turned + capture->tail_size - front, capture->tail, front);
	free(capture->tail);
	capture->tail = turned;
	capture->tail_at = 0;
}

/* Joins head and tail when nothing is missing between them. */
static void join_tail(struct capture *capture)
{
	if (!capture->tail_len || head_room(capture, capture->tail_len) < 0)
		return;
	memcpy(capture->head + capture->head_len, capture->tail, capture->tail_len);
	capture->head_len += capture->tail_len;
	capture->tail_len = 0;
}

/* Leaves out a character that the cut split, if the rest is text. */
static size_t whole_text(const char *bytes, size_t len)
{
	size_t whole = utf8_whole_prefix(bytes, len);

	return utf8_is_valid(bytes, whole) ? whole : len;
}

char *capture_front(struct capture *capture, size_t *ret_len)
{
	if (!capture->head_len || head_room(capture, 1) < 0)
		return NULL;
	*ret_len = capture->head_len;
	return capture->head;
}

void capture_kept(struct capture *capture, const char **ret_head, size_t *ret_head_len,
	const char **ret_tail, size_t *ret_tail_len)
{
	bool cut = capture->passed || capture->failed;
	size_t skip;

	straighten(capture);
	if (!cut)
		join_tail(capture);
	*ret_head = capture->head ? capture->head : "";
	*ret_head_len = cut ? whole_text(*ret_head, capture->head_len) : capture->head_len;
	*ret_tail = capture->tail ? capture->tail : "";
	*ret_tail_len = capture->tail_len;
	if (capture->tail_len > capture->cap / 2) {
		*ret_tail_len = (size_t)(capture->cap / 2);
		*ret_tail += capture->tail_len - *ret_tail_len;
	}
	skip = cut ? utf8_skip_partial(*ret_tail, *ret_tail_len) : 0;
	if (utf8_is_valid(*ret_tail + skip, *ret_tail_len - skip)) {
		*ret_tail += skip;
		*ret_tail_len -= skip;
	}
}
