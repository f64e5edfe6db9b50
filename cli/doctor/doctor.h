/*
 * Tries what this host gives to jails, and names the repair for each failure.
 *
 * The steps of a jail are tried by libexec/ced/ced-probe, which makes one with the code of
 * ced-spawner.  Beside them stand checks of the kernel and of the installation (checks.c).  Each
 * result is a finding, which also says what its absence means and how to repair it (repair.c).
 * Needs no daemon and no rights: it finds what a ced-spawner would meet that the same user starts
 * at the same place.
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
	STATE_UNTRIED, /* an earlier step failed */
};

enum need {
	NEED_ALWAYS,
	NEED_LAYER, /* as configured: when its layer is required; else it is better */
	NEED_ROOT,  /* when root starts ced */
	NEED_BETTER,
	NEED_NOBODY,
};

#define NAME_BYTES   40
#define WHAT_BYTES   96
#define FOUND_BYTES  ERR_TEXT_MAX
#define REPAIR_BYTES 400

struct finding {
	char group[NAME_BYTES];
	char name[NAME_BYTES];
	char what[WHAT_BYTES]; /* how it is tried */
	enum need need;
	const char *layer; /* its name among those that can be required, or NULL */
	enum state state;
	char found[FOUND_BYTES];
	const char *means;         /* what ced does without */
	char repair[REPAIR_BYTES]; /* one command line, or what to change; "" when it is good */
};

/* Who asks, where. */
struct patient {
	bool root;
	struct settings settings;
};

#define FINDINGS_MAX 80

struct findings {
	size_t count;
	struct finding rows[FINDINGS_MAX];
};

/* Tries everything. */
void doctor_try_all(const struct patient *patient, struct findings *findings);

/* The findings of one line of ced-probe: a new row, unless the line cannot be read. */
void doctor_take_line(const struct patient *patient, const char *text, struct findings *findings);

/* The checks that are ours: kernel and installation. */
void doctor_check_kernel(const struct patient *patient, struct findings *findings);
void doctor_check_installation(const struct patient *patient, struct findings *findings);

/* The row of this name, or NULL. */
struct finding *doctor_find(struct findings *findings, const char *name);

/* True when nothing is missing that ced needs. */
bool doctor_is_well(const struct findings *findings);

/* Stable words: "good", "note", "weaker", "missing", "untried"; "always", "configured" ... */
const char *state_word(enum state state);
const char *need_word(enum need need);

/* Begins a new row.  When the table is full, the last row is used again. */
struct finding *doctor_add(struct findings *findings, const char *group, const char *name);

/* Marks a finding as missing or weaker, depending on its need.  Its text becomes that of `err`. */
void doctor_fail(const struct patient *patient, struct finding *finding, const struct err *err);

/* Replaces the repair where the host says why it refuses (repair.c). */
void repair_find(const struct patient *patient, const struct err *err, struct finding *finding);

/* What to type where AppArmor restricts user namespaces. */
const char *repair_apparmor(void);

/*
 * A number in a file below /proc/sys, or -1; and the first line of a file, "" when there is none.
 */
long doctor_sysctl(const char *name);
void doctor_line(const char *path, char *ret_line, size_t size);
