/*
 * The description of an error, for the log, the store and the client.
 *
 * A function that can fail returns -1 (or NULL) and fills the caller's struct err.  On success it
 * does not change the struct.  Each level may add its own context in front with err_wrap().  Code
 * logs or records an error once, where it handles it.
 */
#pragma once

#include <stdarg.h>
#include <stdbool.h>

#define ERR_TEXT_MAX 512

enum err_code {
	ERR_NONE = 0,
	ERR_SYSTEM,   /* a system call failed; sys_errno holds its errno */
	ERR_MEMORY,   /* no memory is left, or a ceiling on memory is reached */
	ERR_INVALID,  /* input that breaks its contract */
	ERR_TOO_BIG,  /* input above a ceiling */
	ERR_PROTOCOL, /* a peer broke the protocol */
	ERR_CLOSED,   /* the peer has closed the connection */
	ERR_MISSING,  /* the requested thing does not exist */
	ERR_EXISTS,   /* the thing to create already exists */
	ERR_BUSY,     /* try again later */
	ERR_DENIED,   /* not allowed */
	ERR_CORRUPT,  /* stored data is damaged */
	ERR_FULL,     /* no room on the device */
	ERR_TIMEOUT,
	ERR_UNSUPPORTED, /* this host does not support it */
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

/* Returns the stable word for a code: "system", "memory", ... */
const char *err_word(enum err_code code);

/* Fills *err (which may be NULL) and returns -1, so that a caller can `return err_set(...)`. */
int err_set(struct err *err, enum err_code code, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* As err_set() with ERR_SYSTEM.  Appends ": " and the text of errno, and does not change errno. */
int err_sys(struct err *err, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Copies *other to *err, for callers that had to examine the error first.  Returns -1. */
int err_pass(struct err *err, const struct err *other);

/* Puts "context: " in front of the text of *err.  Keeps code and errno.  Returns -1. */
int err_wrap(struct err *err, const char *format, ...) __attribute__((format(printf, 2, 3)));

/*
 * Prints into a buffer of `size` bytes and marks a truncated text with "...".  All truncation of
 * messages is done here.
 */
void cut_printf(char *buffer, unsigned long size, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
void cut_vprintf(char *buffer, unsigned long size, const char *format, va_list args)
	__attribute__((format(printf, 3, 0)));
