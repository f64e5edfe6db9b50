/*
 * The output of a program on one stream, up to a cap that the daemon sets.
 *
 * With "kill", reading stops at the first byte past the cap.  The capture keeps exactly cap bytes,
 * and the caller kills the run.  With "truncate", it keeps the first half and the last half of the
 * cap, or only its front, and counts the rest.  Either way memory is bounded by the cap, whatever
 * the program does.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CAPTURE_BEFORE ((size_t)4096)

struct capture {
	uint64_t cap;
	bool truncate;
	bool front_only; /* with truncate: keeps all of the cap from the front, and no tail */
	bool passed;     /* the cap was passed */
	bool ended;      /* end of the stream */
	bool failed;     /* out of memory: the kept bytes are not all */
	uint64_t total;
	char *head;
	size_t head_len, head_size;
	char *tail; /* a ring; only with truncate */
	size_t tail_at, tail_len, tail_size;
};

enum capture_state {
	CAPTURE_DRY,    /* nothing more to read now */
	CAPTURE_MORE,   /* the visit was long enough; call again */
	CAPTURE_PASSED, /* the byte past the cap came: kill the run */
	CAPTURE_ENDED,  /* end of the stream */
};

void capture_init(struct capture *capture, uint64_t cap, bool truncate);
void capture_done(struct capture *capture);

/* Reads available bytes, at most a fixed amount per visit.  `fd` is non-blocking. */
enum capture_state capture_read(struct capture *capture, int fd);

/* The same with bytes that came in another way: CAPTURE_MORE, or CAPTURE_PASSED. */
enum capture_state capture_put(struct capture *capture, const char *bytes, size_t len);

/*
 * Gives write access to the bytes that are kept from the front, and to one byte behind them.  NULL:
 * there are none, or no memory.
 */
char *capture_front(struct capture *capture, size_t *ret_len);

/*
 * Returns the kept bytes.  A cut never splits a UTF-8 character.  The tail is in order and in
 * memory that the capture owns.
 *
 * Where bytes are missing before the tail, up to CAPTURE_BEFORE of them lie in front of it,
 * starting at capture->tail.  They are not part of the tail; they only show its context.
 */
void capture_kept(struct capture *capture, const char **ret_head, size_t *ret_head_len,
	const char **ret_tail, size_t *ret_tail_len);
