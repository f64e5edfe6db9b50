/*
 * What was found in one program, while it is being looked for.
 *
 * Places are byte ranges until the end; found_report() sorts them, drops doubles, and turns them
 * into lines, columns and texts in one walk over the program.  The list keeps its memory from
 * program to program.  It has a ceiling: what comes after it only sets `cut`, but for word that the
 * rest was not looked at, which is always told; and the answer has a lower one, where what weighs
 * most stays.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "proto/internal/inspectmsg.h"

#define FOUND_MAX 4096U

struct place {
	uint32_t start; /* bytes */
	uint32_t end;
};

struct found_one {
	uint32_t rule;   /* as in struct inspect_finding */
	uint32_t weight; /* enum inspect_weight */
	struct place at;
};

struct found {
	struct found_one *ones; /* FOUND_MAX of them */
	uint32_t count;
	uint32_t cut;                   /* as in struct inspect_findings */
	struct inspect_finding *report; /* INSPECT_FINDINGS_MAX of them */
};

int found_init(struct found *found);
void found_done(struct found *found);

void found_reset(struct found *found);
void found_add(struct found *found, uint32_t rule, uint32_t weight, uint32_t start, uint32_t end);

/* Takes back all that the rule found. */
void found_drop(struct found *found, uint32_t rule);

/*
 * Of several findings at the same place the heaviest stays, of those the one with the lowest rule.  The result points
 * into `found` until the next reset.
 */
struct inspect_findings found_report(struct found *found, const char *code, size_t len);
