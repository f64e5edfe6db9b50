/*
 * What went wrong, in words for the log, the store and the client.
 *
 * A function that can fail returns -1 (or NULL) and fills the caller's struct err; on success it
 * leaves it alone.  Each level may put its own context in front with err_wrap().  Errors are
 * logged or recorded once, where they are handled.
 */
#pragma once

#include <stdarg.h>
#include <stdbool.h>

#define ERR_TEXT_MAX 512

enum err_code {
	ERR_NONE = 0,
	ERR_SYSTEM,   /* a system call failed; sys_errno tells which way */
	ERR_MEMORY,   /* no memory, or a ceiling on memory reached */
	ERR_INVALID,  /* input that breaks its contract */
	ERR_TOO_BIG,  /* input past a named ceiling */
	ERR_PROTOCOL, /* a peer broke the conversation */
	ERR_CLOSED,   /* the peer has gone */
	ERR_MISSING,  /* the thing asked for does not exist */
	ERR_EXISTS,   /* the thing to be made is already there */
	ERR_BUSY,     /* try again later */
	ERR_DENIED,   /* not allowed */
	ERR_CORRUPT,  /* stored data is not what was written */
	ERR_FULL,     /* no room on the device */
	ERR_TIMEOUT,
	ERR_UNSUPPORTED, /* this host cannot give it */
};

struct err {
	enum err_code code;
	int sys_errno;
	char text[ERR_TEXT_MAX]; /* always terminated; cut with "..." when too long */
};

#define ERR_INIT                \
	{                       \
		ERR_NONE, 0, "" \
	}

/* Stable word for a code: "system", "memory", ... */
const char *err_word(enum err_code code);

/* Fills *err (which may be NULL) and returns -1, so that a caller can `return err_set(...)`. */
int err_set(struct err *err, enum err_code code, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* As err_set() with ERR_SYSTEM; appends ": " and the text of errno, which it keeps. */
int err_sys(struct err *err, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Hands on what another struct err says; for callers that had to look at it first.  Returns -1. */
int err_pass(struct err *err, const struct err *other);

/* Puts "context: " in front of what *err says; keeps code and errno.  Returns -1. */
int err_wrap(struct err *err, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Prints into a buffer of `size` bytes and marks a cut with "..."; the only place where we cut. */
void cut_printf(char *buffer, unsigned long size, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
void cut_vprintf(char *buffer, unsigned long size, const char *format, va_list args)
	__attribute__((format(printf, 3, 0)));
