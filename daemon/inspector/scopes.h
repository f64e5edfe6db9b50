/*
 * Tells which suspicious names are nothing of the kind: names of attributes and arguments, names
 * that are given a value, and names that are the program's own where they stand.
 *
 * The question is asked only for the few names that a rule would find; what the scope queries
 * match is noted against those, and the rest is passed over.  A name counts as bound only where
 * it can mean nothing else:
 *
 *   - in a function that binds it anywhere (Python then never looks further out), but not
 *     outside the body, where defaults and decorators are;
 *   - at the top of the program, behind a statement that certainly binds it, to the end of the
 *     block that the statement stands in;
 *   - never in the body of a class, which falls back to what lies outside: a name that the class
 *     binds itself skips the function around it and goes straight to what is global;
 *   - in the functions of a shell's program, where a name that is defined further down counts when
 *     nothing outside of functions can call one before the definition;
 *   - never when the program deletes the name or declares it global anywhere.
 *
 * Where the tree joins lines that Python keeps apart, it cannot be believed and excuses nothing.
 * When there is too much to note, nothing is bound.
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
	uint32_t rule;     /* carried for the caller */
	struct place at;   /* where the finding would be */
	struct place name; /* the name that may be excused; its first part when it is a path */
	uint32_t unless;   /* enum inspect_unless: what would excuse it */
	bool by_import;    /* it is suspicious for what an import makes it: no import excuses it */
	uint32_t name_id;
	bool excused;
};

struct binding {
	uint32_t name_id;
	uint32_t place;   /* where the name is bound */
	bool in_function; /* local to the function around it; else to the range */
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
	struct place *calls; /* CALLS_MAX of them: what might call a function */
	uint32_t call_count;
	uint32_t first_call;   /* outside of functions: where it begins */
	struct map names;      /* name -> name_id + 1 */
	struct effort *effort; /* while it is judged */
	bool all_joined;       /* there are more than JOINED_MAX */
	bool too_much;         /* bindings or regions are missing */
};

int scopes_init(struct scopes *scopes);
void scopes_done(struct scopes *scopes);
void scopes_reset(struct scopes *scopes, const char *code);

/* False when there are SUSPECTS_MAX already.  `suspect->name_id` and `excused` are filled in here. */
bool scopes_suspect(struct scopes *scopes, const struct suspect *suspect);

/* To be called between the last suspect and the first match. */
void scopes_sort(struct scopes *scopes);

/* Takes note of one match of the scope queries. */
void scopes_note(struct scopes *scopes, const struct match *match);

/* Sets `excused` of every suspect that is bound where it stands. */
void scopes_judge(struct scopes *scopes, struct effort *effort);
