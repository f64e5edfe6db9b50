/*
 * What this host gives to jails, found out by trying it.
 *
 * A check is a row of the table in doctor.c: what is tried, who needs it, what its absence means,
 * how it is repaired.  Each is tried in a child of its own that may fail, hang or be killed without
 * harm; nothing of it is left afterwards.  Needs no daemon and no rights: what is found is what a
 * ced-spawner would meet that the same user starts at the same place.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "cli/doctor/settings.h"
#include "proto/base/err.h"

enum state {
	STATE_GOOD,
	STATE_NOTE,    /* worth knowing, needed by nothing */
	STATE_WEAKER,  /* ced runs, with less */
	STATE_MISSING, /* ced does not run */
	STATE_UNTRIED, /* takes something else that is missing */
};

enum need {
	NEED_ALWAYS,
	NEED_LAYER, /* as configured: when its layer is required; else it is better */
	NEED_ROOT,  /* when root starts ced */
	NEED_BETTER,
	NEED_NOBODY,
};

#define FOUND_MAX  320
#define REPAIR_MAX 400

struct finding {
	enum state state;
	char found[FOUND_MAX];
	char repair
		[REPAIR_MAX]; /* one command line, or what to change; "" when nothing is to be done */
};

/* Who asks, where. */
struct patient {
	bool root;
	struct settings settings;
	const struct settings_runtime *runtime; /* for checks that are made of each runtime */
};

struct check {
	const char *group;
	const char *name;
	const char *what; /* how it is tried */
	enum need need;
	const char *after; /* name of a check without which this one cannot be tried, or NULL */
	/* 0: it is there, *finding tells more.  -1: it is not; *finding may have a better repair. */
	int (*probe)(const struct patient *patient, struct finding *finding, struct err *err);
	bool each_runtime; /* once for each configured runtime */
	const char *means; /* what ced does without */
	const char *repair;
	const char *layer; /* its name among those that can be required, or NULL */
};

/* One check with what came of it. */
struct tried {
	const struct check *check;
	const char *runtime; /* or NULL */
	struct finding finding;
};

#define DOCTOR_TRIED_MAX 64

/* Tries everything.  Returns how many rows of `ret_tried` it filled. */
size_t doctor_try_all(const struct patient *patient, struct tried ret_tried[DOCTOR_TRIED_MAX]);

/* One check; `so_far` is what was tried before. */
void doctor_try(const struct patient *patient, const struct check *check,
	const struct tried *so_far, size_t count, struct finding *ret_finding);

/* The row of this name, or NULL.  doctor_check_at() gives all of them, NULL past the last. */
const struct check *doctor_check(const char *name);
const struct check *doctor_check_at(size_t index);

/* Whether ced runs with what was found. */
bool doctor_is_well(const struct tried *tried, size_t count);

/* Stable words: "good", "note", "weaker", "missing", "untried"; "always", "cgroups" ... */
const char *state_word(enum state state);
const char *need_word(enum need need);
