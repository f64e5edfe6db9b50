/*
 * The findings of one program, collected during a check.
 *
 * Places are byte ranges until the end.  findings_report() sorts them, drops duplicates, and turns
 * them into lines, columns and texts in one walk over the program.  The list keeps its memory
 * between programs.  It holds FINDINGS_MAX; a later finding only sets `cut`, except INSPECT_LATE,
 * which replaces the last.  The report holds fewer and keeps the heaviest.
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

/* Removes all findings of the rule. */
void findings_drop(struct findings *findings, uint32_t rule);

/*
 * Of several findings at one place, keeps the heaviest; among equals, the one of the lowest rule.
 * The result points into `findings` until the next reset.
 */
struct inspect_findings findings_report(struct findings *findings, const char *code, size_t len);
