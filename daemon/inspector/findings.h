/*
 * What was found in one program, while it is being looked for.
 *
 * Places are byte ranges until the end; findings_report() sorts them, drops doubles, and turns them
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

#define FINDINGS_MAX 4096U

struct place {
	uint32_t start; /* bytes */
	uint32_t end;
};

struct finding {
	uint32_t rule;   /* as in struct inspect_finding */
	uint32_t weight; /* enum inspect_weight */
	struct place at;
};

struct findings {
	struct finding *ones; /* FINDINGS_MAX of them */
	uint32_t count;
	uint32_t cut;                   /* as in struct inspect_findings */
	struct inspect_finding *report; /* INSPECT_FINDINGS_MAX of them */
};

int findings_init(struct findings *findings);
void findings_done(struct findings *findings);

void findings_reset(struct findings *findings);
void findings_add(
	struct findings *findings, uint32_t rule, uint32_t weight, uint32_t start, uint32_t end);

/* Takes back all that the rule found. */
void findings_drop(struct findings *findings, uint32_t rule);

/*
 * Of several findings at the same place the heaviest stays, of those the one with the lowest rule.  The result points
 * into `found` until the next reset.
 */
struct inspect_findings findings_report(struct findings *findings, const char *code, size_t len);
