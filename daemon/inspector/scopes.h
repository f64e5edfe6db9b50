/*
 * Excuses suspicious names that are harmless: names of attributes and arguments, names that are
 * assigned, and names that the program itself has bound.
 *
 * Only names that a rule would find are suspects.  Matches of the scope queries that concern no
 * suspect are ignored.  A name counts as bound only where it can mean nothing else:
 *
 *   - in the body of a function that binds it anywhere (Python then looks no further out).
 *     Defaults and decorators do not belong to the body;
 *   - at the top of the program, after a statement that certainly binds it, to the end of that
 *     statement's block;
 *   - never in the body of a class.  Python looks up a name that the class binds in the class, then
 *     among the globals, and skips the function around it;
 *   - in a function of a shell program, also before the definition, if nothing outside of functions
 *     can call a function before that;
 *   - never if the program deletes the name or declares it global anywhere.
 *
 * If the tree joins lines that Python keeps apart, it excuses nothing there.  If there are too many
 * matches to keep, nothing is bound.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "daemon/inspector/effort.h"
#include "daemon/inspector/names.h"
#include "daemon/inspector/syntax.h"
#include "proto/base/map.h"

#define SUSPECTS_MAX 16384U
#define BINDINGS_MAX 16384U
#define REGIONS_MAX  32768U
#define JOINED_MAX   64U
#define CALLS_MAX    16384U

struct suspect {
	uint32_t rule;     /* for the caller */
	struct place at;   /* where the finding would be */
	struct place name; /* the name that may be excused; its first part when it is a path */
	uint32_t unless;   /* enum inspect_unless: what excuses it */
	bool by_import;    /* an import makes it suspicious, so an import does not excuse it */
	uint32_t name_id;
	bool excused;
};

struct binding {
	uint32_t name_id;
	uint32_t place;   /* where the name is bound */
	bool in_function; /* local to the function around it; otherwise to the range */
	bool is_local;    /* and not a name of the whole program */
	bool not_in_class;
	bool by_import;
	bool later; /* in functions only, and only if nothing calls one before `place` */
	struct place range;
};

struct region {
	struct place at;
	bool is_class;
};

struct scopes {
	const char *code;
	struct suspect *suspects;
	uint32_t suspect_count;
	struct binding *bindings;
	uint32_t binding_count;
	struct region *regions;
	uint32_t region_count;
	bool *unbound; /* by name_id */
	uint32_t name_count;
	struct place joined[JOINED_MAX];
	uint32_t joined_count;
	struct place *calls; /* CALLS_MAX of them: places that may call a function */
	uint32_t call_count;
	uint32_t first_call;   /* the start of the first one outside of functions */
	struct map names;      /* name -> name_id + 1 */
	struct effort *effort; /* during scopes_judge() */
	bool all_joined;       /* there are more than JOINED_MAX */
	bool too_much;         /* bindings or regions are missing */
};

int scopes_init(struct scopes *scopes);
void scopes_done(struct scopes *scopes);
void scopes_reset(struct scopes *scopes, const char *code);

/* False if there are SUSPECTS_MAX already.  Fills in `suspect->name_id` and `excused`. */
bool scopes_suspect(struct scopes *scopes, const struct suspect *suspect);

/* The caller calls this between the last suspect and the first match. */
void scopes_sort(struct scopes *scopes);

/* Adds one match of the scope queries. */
void scopes_note(struct scopes *scopes, const struct match *match);

/* Sets `excused` of every suspect that is bound at its place. */
void scopes_judge(struct scopes *scopes, struct effort *effort);
