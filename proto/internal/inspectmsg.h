/*
 * The protocol between the daemon and an inspector.  The daemon sends the rules once.  Then it
 * sends one program at a time and gets its findings.
 *
 *	daemon                          inspector
 *	RULES    languages, lists, policies   -->
 *	                                      <--  READY     empty, or why it cannot start
 *	CHECK    policy, language, program    -->
 *	                                      <--  WORKING   each INSPECT_BEAT_US of CPU time
 *	                                      <--  FINDINGS  what was found, with the CHECK's id
 *
 * They use a stream socket.  Every message is a head of fixed size and `len` bytes of body.
 * Numbers are in the host's byte order, because both ends are one build on one machine.  RULES
 * comes from the daemon's configuration.  FINDINGS comes from a process that reads hostile text.
 * So its decoder checks everything: counts, rule numbers, lengths and UTF-8.
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
/* the inspector rejects a longer program, so no more is sent */
#define INSPECT_CODE_MAX   (1U << 20)
/* The limits of one check: see daemon/inspector/effort.h. */
/* several times the cost of the densest programs */
#define INSPECT_LOOKS(len) (20000U + (len) / 5U)
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define INSPECT_CHECK_US 20000000 /* of CPU time; sanitizers are slow */
#else
#define INSPECT_CHECK_US 6000000 /* of CPU time: more than INSPECT_LOOKS() takes on any host */
#endif
#define INSPECT_BEAT_US        50000 /* of CPU time, from one WORKING to the next */
#define INSPECT_FINDINGS_MAX   256U
#define INSPECT_TEXT_MAX       120U /* bytes of a finding's text */
#define INSPECT_LANGUAGES_MAX  16U
#define INSPECT_POLICIES_MAX   64U
#define INSPECT_RULE_COUNT_MAX 512U /* over all languages */
#define INSPECT_LISTS_MAX      1024U
#define INSPECT_WORDS_MAX      65536U /* over all lists */
/* prefix of the reason when an inspector rejects the rules */
#define INSPECT_RULES_FAULT    "rules of "
#define INSPECT_READY_MAX      ERR_TEXT_MAX
/* Body of the longest FINDINGS. */
#define INSPECT_ANSWER_MAX     (12U + INSPECT_FINDINGS_MAX * (16U + INSPECT_TEXT_MAX))
/*
 * Body of the longest CHECK.  One byte past the ceiling shows the inspector that the program is
 * longer.
 */
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
 * Checks that are not rules in a file: of the bytes before the parse, and of the parse itself.
 * Findings have these numbers.  Rules from files have numbers from INSPECT_BUILTIN_COUNT on.
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
	INSPECT_LATE, /* the inspector's own time limit passed */
	INSPECT_BUILTIN_COUNT,
};

/*
 * The part of a match that a rule examines.  A path is names joined by dots.  A use is a path whose
 * first name the inspector has resolved through the program's imports.
 */
enum inspect_subject {
	SUBJECT_ANY,    /* the match itself is the finding */
	SUBJECT_WORD,   /* one name */
	SUBJECT_DUNDER, /* one name between double underscores; other names never match */
	SUBJECT_PATH,   /* a path as written */
	/* a path resolved through imports, or one plain name that no import binds */
	SUBJECT_USE,
	SUBJECT_MODULE,   /* a name that an import binds to a module */
	SUBJECT_TEMPLATE, /* names that a format template reaches by attribute */
	SUBJECT_TEXT,     /* the value of a constant expression, as far as it is constant */
	SUBJECT_URL,      /* the host of a URL in a text */
	/* a text that looks encoded, and is at least as long as the policy's number */
	SUBJECT_OPAQUE,
	SUBJECT_COMMAND,   /* a program's name: a shell word after its quotes are removed */
	SUBJECT_DYNAMIC,   /* a shell word that is only known at run time */
	SUBJECT_DELIMITER, /* of a here-document, when parsers may disagree about it */
	SUBJECT_BACKTICK,  /* a substitution in backticks that hides something */
	/* a text with a shell substitution that the syntax tree does not have */
	SUBJECT_SUBSTITUTION,
	SUBJECT_SUBSCRIPT, /* a text with a substitution in a possible subscript */
	SUBJECT_COUNT,
};

enum inspect_relation {
	RELATION_IN,
	RELATION_NOT_IN,
	RELATION_COUNT
};

/* Uses of a name that are no finding: the words of a rule's `unless` line. */
enum inspect_unless {
	UNLESS_ATTRIBUTE = 1U << 0, /* it is the name of an attribute */
	UNLESS_KEYWORD = 1U << 1,   /* it is the name of an argument */
	UNLESS_STORE = 1U << 2,     /* it is assigned here, not used */
	UNLESS_PART = 1U << 3,      /* an attribute of it is used */
	UNLESS_BOUND = 1U << 4,     /* it is certainly a name that the program defines */
	UNLESS_HARMLESS = 1U << 5,  /* the scope queries mark this place as harmless */
	UNLESS_CALLED = 1U << 6,    /* it is called here */
	UNLESS_OWN = 1U << 7,       /* it is local to the function here, as `arguments` is */
	UNLESS_ALL = (1U << 8) - 1,
};

struct inspect_rule {
	uint32_t start;    /* offset of its patterns in the language's rules */
	uint32_t subject;  /* enum inspect_subject */
	uint32_t relation; /* enum inspect_relation; ignored by SUBJECT_ANY */
	uint32_t unless;   /* enum inspect_unless, or-ed */
	uint32_t first;    /* the first rule of the same id; their findings are counted together */
	uint32_t beside;   /* 1 + the first of the rules that must also have findings; 0: none */
};

/*
 * The weight of a rule's findings under a policy.  When there is no room, the heavier findings
 * stay.
 */
enum inspect_weight {
	WEIGHT_OFF,
	WEIGHT_QUIET, /* searched for because another rule needs it, and not reported */
	WEIGHT_OBSERVE,
	WEIGHT_ASK,
	WEIGHT_DENY,
	WEIGHT_COUNT,
};

struct inspect_language {
	const char *name;
	const char *rules; /* tree-sitter queries */
	size_t rules_len;
	const char *scope; /* queries that find the scope of names */
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
	/* how many places are not a finding yet; the length from which a text is opaque */
	uint32_t number;
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
	const char *code; /* followed by a NUL that code_len does not count */
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
		cut; /* the heaviest weight of the findings that did not fit; WEIGHT_OFF: all did */
};

/* Whether rules of this subject compare with a list. */
bool inspect_subject_has_list(uint32_t subject);

/* Each function appends head and body. */
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

/*
 * Makes the head to send in front of `*code_len` bytes.  Reduces *code_len to the allowed maximum.
 */
struct inspect_check_head inspect_check_head(
	uint32_t id, uint32_t policy, uint32_t language, size_t *code_len);

/*
 * Checks that the head is of one of `kinds` (bits 1 << kind) and has a length valid for its kind.
 */
int inspect_head_check(const struct inspect_head *head, uint32_t kinds, struct err *err);

/*
 * The decoders take a body.  Their results live in the arena or point into the body.  A NUL must
 * follow the body of a CHECK.
 */
int inspect_rules_decode(struct arena *arena, const char *body, size_t len,
	struct inspect_rules *ret_rules, struct err *err);
int inspect_check_decode(
	const char *body, size_t len, struct inspect_check *ret_check, struct err *err);

/* `rule_count` is the number of rules that were sent. */
int inspect_findings_decode(struct arena *arena, const char *body, size_t len, uint32_t rule_count,
	struct inspect_findings *ret_findings, struct err *err);
