/*
 * What a program writes to one stream, read up to a cap that the daemon keeps for it.
 *
 * With "kill" reading stops at the first byte past the cap: exactly cap bytes are kept and the
 * caller kills the run.  With "truncate" the first half of the cap and the last half are kept and
 * the rest is counted.  Memory never passes the cap, whatever the program does.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CAPTURE_BEFORE ((size_t)4096)

struct capture {
	uint64_t cap;
	bool truncate;
	bool passed; /* the cap was passed */
	bool ended;  /* end of the stream */
	bool failed; /* no memory: what is kept is not all */
	uint64_t total;
	char *head;
	size_t head_len, head_size;
	char *tail; /* a ring, only with truncate */
	size_t tail_at, tail_len, tail_size;
};

enum capture_state {
	CAPTURE_DRY,    /* nothing more there now */
	CAPTURE_MORE,   /* the visit was long enough; come again */
	CAPTURE_PASSED, /* the byte past the cap came: kill */
	CAPTURE_ENDED,  /* end of the stream */
};

void capture_init(struct capture *capture, uint64_t cap, bool truncate);
void capture_done(struct capture *capture);

/* Reads what is there, a bounded amount at a visit.  `fd` is non-blocking. */
enum capture_state capture_read(struct capture *capture, int fd);

/*
 * What is kept, cut so that no UTF-8 character is split where a cut was made.  The tail is
 * straightened and lies in memory owned by the capture; where something is missing in front of it,
 * up to CAPTURE_BEFORE bytes of that stand there, from capture->tail on: they tell what the tail is
 * the end of, and are not part of it.
 */
void capture_kept(struct capture *capture, const char **ret_head, size_t *ret_head_len,
	const char **ret_tail, size_t *ret_tail_len);
