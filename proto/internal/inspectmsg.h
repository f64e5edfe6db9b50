/*
 * The conversation between the daemon and an inspector: rules in once, then programs in and
 * findings out, one at a time.
 *
 *	daemon                          inspector
 *	RULES    languages, lists, policies   -->
 *	                                      <--  READY     empty, or why it cannot begin
 *	CHECK    policy, language, program    -->
 *	                                      <--  WORKING   each INSPECT_BEAT_US of CPU time spent on it
 *	                                      <--  FINDINGS  what was found, with the CHECK's id
 *
 * A stream socket; every message is a head of fixed size and `len` bytes of body.  Numbers are
 * in the host's order: both ends are one build on one machine.  RULES comes from the daemon's
 * configuration.  FINDINGS comes from a process that reads hostile text, so its decoder believes
 * nothing: counts, rule numbers, lengths and UTF-8 are all checked.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "proto/base/arena.h"
#include "proto/base/buf.h"
#include "proto/base/err.h"

#define INSPECT_MAGIC      0x43454931U
#define INSPECT_RULES_MAX  (4U << 20) /* bytes of a RULES body */
#define INSPECT_CODE_MAX   (1U << 20) /* a longer program is refused, so no more is sent */
/* What one check may cost: see daemon/inspector/effort.h. */
#define INSPECT_LOOKS(len) (20000U + (len) / 5U) /* several times what the densest programs take */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define INSPECT_CHECK_US 20000000 /* of CPU time; instruments are slow */
#else
#define INSPECT_CHECK_US 6000000 /* of CPU time: as many looks take less on any host */
#endif
#define INSPECT_BEAT_US        50000 /* of CPU time, from one WORKING to the next */
#define INSPECT_FINDINGS_MAX   256U
#define INSPECT_TEXT_MAX       120U /* bytes of a finding's text */
#define INSPECT_LANGUAGES_MAX  16U
#define INSPECT_POLICIES_MAX   64U
#define INSPECT_RULE_COUNT_MAX 512U /* over all languages */
#define INSPECT_LISTS_MAX      1024U
#define INSPECT_WORDS_MAX      65536U      /* over all lists */
#define INSPECT_RULES_FAULT    "rules of " /* so begins why an inspector cannot take the rules */
#define INSPECT_READY_MAX      ERR_TEXT_MAX
/* Body of the longest FINDINGS. */
#define INSPECT_ANSWER_MAX     (12U + INSPECT_FINDINGS_MAX * (16U + INSPECT_TEXT_MAX))
/* Body of the longest CHECK: one byte past the ceiling tells the inspector that there was more. */
#define INSPECT_CHECK_MAX      (8U + INSPECT_CODE_MAX + 1U)

enum inspect_kind {
	INSPECT_NONE = 0,
	INSPECT_RULES,
	INSPECT_READY,
	INSPECT_CHECK,
	INSPECT_FINDINGS,
	INSPECT_WORKING, /* empty, with the CHECK's id */
	INSPECT_KIND_COUNT,
};

struct inspect_head {
	uint32_t magic;
	uint32_t kind;
	uint32_t id; /* FINDINGS carry the id of their CHECK */
	uint32_t len;
};

/*
 * What is looked at without a rule in a file: the bytes before they are parsed, and the parse.
 * Findings name them by these numbers; rules from files follow after INSPECT_BUILTIN_COUNT.
 */
enum inspect_builtin {
	INSPECT_BYTES_SIZE,
	INSPECT_BYTES_UTF8,
	INSPECT_BYTES_NUL,
	INSPECT_BYTES_CR,
	INSPECT_BYTES_FORM_FEED,
	INSPECT_BYTES_COOKIE,
	INSPECT_BYTES_DEPTH,
	INSPECT_BYTES_BIDI,
	INSPECT_SYNTAX_UNREADABLE,
	INSPECT_LATE, /* the inspector's own clock ran out */
	INSPECT_BUILTIN_COUNT,
};

/*
 * What of a match a rule looks at.  A path is names joined by dots; a use is a path whose first
 * name has been followed through the program's imports.
 */
enum inspect_subject {
	SUBJECT_ANY,      /* the match itself is the finding */
	SUBJECT_WORD,     /* one name */
	SUBJECT_DUNDER,   /* one name that stands between double underscores; others never match */
	SUBJECT_PATH,     /* a path as written */
	SUBJECT_USE,      /* a path through imports, or one plain name that no import brings */
	SUBJECT_MODULE,   /* a name that an import binds to a module */
	SUBJECT_TEMPLATE, /* names that a format template reaches by attribute */
	SUBJECT_TEXT,     /* what a constant expression says, as far as it is constant */
	SUBJECT_URL,      /* the host of a URL in a text */
	SUBJECT_OPAQUE, /* a text that looks packed, and is at least as long as the policy's number */
	SUBJECT_COMMAND,   /* a word of the shell, without its quotes: a program's name */
	SUBJECT_DYNAMIC,   /* a word of the shell that cannot be told beforehand */
	SUBJECT_DELIMITER, /* of a here-document, when readers may differ about it */
	SUBJECT_BACKTICK,  /* a substitution in backticks that hides something */
	SUBJECT_SUBSTITUTION, /* a text with a substitution of the shell's that the tree does not have */
	SUBJECT_SUBSCRIPT, /* a text with a substitution in what could be a subscript */
	SUBJECT_COUNT,
};

enum inspect_relation {
	RELATION_IN,
	RELATION_NOT_IN,
	RELATION_COUNT
};

/* Where a name is no finding; the words of a rule's `unless` line. */
enum inspect_unless {
	UNLESS_ATTRIBUTE = 1U << 0, /* it is the name of an attribute */
	UNLESS_KEYWORD = 1U << 1,   /* it is the name of an argument */
	UNLESS_STORE = 1U << 2,     /* it is given a value here, not used */
	UNLESS_PART = 1U << 3,      /* an attribute of it is used */
	UNLESS_BOUND = 1U << 4,     /* it is the program's own name here for certain */
	UNLESS_HARMLESS = 1U << 5,  /* the scope queries say that such a place does no harm */
	UNLESS_CALLED = 1U << 6,    /* it is called here */
	UNLESS_OWN = 1U << 7,       /* it is the function's own here, as `arguments` is */
	UNLESS_ALL = (1U << 8) - 1,
};

struct inspect_rule {
	uint32_t start;    /* where its patterns begin in the language's rules */
	uint32_t subject;  /* enum inspect_subject */
	uint32_t relation; /* enum inspect_relation; ignored by SUBJECT_ANY */
	uint32_t unless;   /* enum inspect_unless, or-ed */
	uint32_t first;    /* the first rule of the same id: what they find is counted together */
	uint32_t beside;   /* 1 + the first of those that must have found something too; 0: none */
};

/* What a finding of a rule weighs under a policy; when there is no room the heavier ones stay. */
enum inspect_weight {
	WEIGHT_OFF,
	WEIGHT_QUIET, /* looked for because another rule stands beside it, and not told */
	WEIGHT_OBSERVE,
	WEIGHT_ASK,
	WEIGHT_DENY,
	WEIGHT_COUNT,
};

struct inspect_language {
	const char *name;
	const char *rules; /* tree-sitter queries */
	size_t rules_len;
	const char *scope; /* queries that tell what a name is where it stands */
	size_t scope_len;
	uint32_t rule_first; /* its rules are the table's [first, first + count) */
	uint32_t rule_count;
};

struct inspect_list {
	const char **words; /* NUL-terminated */
	uint32_t count;
};

/* How one policy uses one rule. */
struct inspect_setting {
	uint32_t weight; /* enum inspect_weight */
	uint32_t list;   /* index */
	uint32_t number; /* how many places are no finding yet; how long a text is opaque */
};

struct inspect_policy {
	struct inspect_setting *settings; /* one for each rule of the table */
};

struct inspect_rules {
	struct inspect_language *languages;
	uint32_t language_count;
	struct inspect_rule *rules;
	uint32_t rule_count;
	struct inspect_list *lists;
	uint32_t list_count;
	struct inspect_policy *policies;
	uint32_t policy_count;
};

struct inspect_check {
	uint32_t policy;
	uint32_t language;
	const char *code; /* with a NUL behind it that does not count */
	size_t code_len;
};

struct inspect_finding {
	uint32_t rule;   /* enum inspect_builtin, or INSPECT_BUILTIN_COUNT + index of a rule */
	uint32_t line;   /* from 1 */
	uint32_t column; /* from 1, in code points */
	uint32_t text_len;
	char text[INSPECT_TEXT_MAX]; /* valid UTF-8 */
};

struct inspect_findings {
	struct inspect_finding *findings; /* sorted by place */
	uint32_t count;
	uint32_t
		cut; /* the weight of the heaviest that there was no room for; WEIGHT_OFF: all are here */
};

/* Whether what a subject finds is held against a list. */
bool inspect_subject_has_list(uint32_t subject);

/* Appends head and body. */
int inspect_rules_encode(const struct inspect_rules *rules, struct buf *out, struct err *err);
int inspect_ready_encode(const char *why_not, struct buf *out, struct err *err);
int inspect_findings_encode(
	uint32_t id, const struct inspect_findings *findings, struct buf *out, struct err *err);

/* Head and the fixed part of a CHECK; the program's bytes follow (at most INSPECT_CODE_MAX + 1). */
struct inspect_check_head {
	struct inspect_head head;
	uint32_t policy;
	uint32_t language;
};

/* The head to send in front of `*code_len` bytes, which is cut to what may be sent. */
struct inspect_check_head inspect_check_head(
	uint32_t id, uint32_t policy, uint32_t language, size_t *code_len);

/* Is this the head of one of `kinds` (bits 1 << kind) with a length that kind may have? */
int inspect_head_check(const struct inspect_head *head, uint32_t kinds, struct err *err);

/*
 * The decoders take a body.  What they return lives in the arena or points into the body; behind
 * the body of a CHECK stands a NUL.
 */
int inspect_rules_decode(struct arena *arena, const char *body, size_t len,
	struct inspect_rules *ret_rules, struct err *err);
int inspect_check_decode(
	const char *body, size_t len, struct inspect_check *ret_check, struct err *err);

/* `rule_count` is that of the table that was sent. */
int inspect_findings_decode(struct arena *arena, const char *body, size_t len, uint32_t rule_count,
	struct inspect_findings *ret_findings, struct err *err);
