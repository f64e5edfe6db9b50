#include "proto/schema/ecmascript.h"

#include <stdbool.h>
#include <string.h>

#define DIGITS     "0123456789"
#define HEX_DIGITS DIGITS "abcdefABCDEF"

/* The letters and digits that may follow a backslash: everywhere, and outside classes only. */
#define ESCAPED         "bcdDfnprPstuvwWxS" DIGITS
#define ESCAPED_OUTSIDE "Bk"

/* A walk over a pattern.  PCRE2 may end a class later than this, but never earlier. */
struct walk {
	const char *text;
	size_t len, at;
	bool in_class;
	bool is_negated;    /* the class begins with ^ */
	bool negates, asks; /* in the class there is \W, \S or \D; there is \p or \P */
	bool repeats;       /* a quantifier stands just before */
	size_t groups;      /* that keep what they match, so far */
};

static bool is_letter(char byte)
{
	return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z');
}

static bool is_alnum(char byte)
{
	return (byte >= '0' && byte <= '9') || is_letter(byte);
}

/* The byte so many further, or 0 behind the end. */
static char ahead(const struct walk *walk, size_t distance)
{
	if (distance >= walk->len - walk->at)
		return '\0';
	return walk->text[walk->at + distance];
}

static bool is_among(char byte, const char *set)
{
	return byte && strchr(set, byte);
}

/* The count of bytes from there on that are in the set. */
static size_t run_of(const struct walk *walk, size_t distance, const char *set)
{
	size_t count = 0;

	while (is_among(ahead(walk, distance + count), set))
		count++;
	return count;
}

/* Names the bytes of the item as far as they can be printed. */
static int foreign(const struct walk *walk, size_t len, struct err *err)
{
	char item[8] = { 0 };

	for (size_t i = 0; i < len && ahead(walk, i) > ' ' && ahead(walk, i) < '\x7f'; i++)
		item[i] = ahead(walk, i);
	return err_set(err, ERR_INVALID, "at byte %zu: ECMAScript has no %s", walk->at, item);
}

/* A reference to a group that is not there is an octal number to PCRE2. */
static bool is_reference(const struct walk *walk)
{
	const size_t digits = run_of(walk, 1, DIGITS);
	size_t number = 0;

	for (size_t i = 1; i <= digits && number <= walk->groups; i++)
		number = 10 * number + (size_t)(ahead(walk, i) - '0');
	return !walk->in_class && (digits == 1 || number <= walk->groups);
}

/* The braces of \u{41} and what is in them, as a length; 0 when there are none. */
static size_t braced_digits(const struct walk *walk)
{
	const size_t digits = run_of(walk, 3, HEX_DIGITS);

	return ahead(walk, 2) == '{' && digits && ahead(walk, 3 + digits) == '}' ? digits + 2 : 0;
}

/* PCRE2 also takes numbers without all their digits. */
static bool is_whole_number(const struct walk *walk)
{
	const char letter = ahead(walk, 1);
	const size_t hex_digits = run_of(walk, 2, HEX_DIGITS);

	if (letter == '0')
		return !is_among(ahead(walk, 2), DIGITS);
	if (is_among(letter, DIGITS))
		return is_reference(walk);
	if (letter == 'x')
		return hex_digits >= 2;
	return letter != 'u' || hex_digits >= 4 || braced_digits(walk) > 0;
}

/* ECMAScript has no \X, \C, \R, \h, \K, \G, \A, \Z, \Q, \g and the like. */
static int walk_escape(struct walk *walk, struct err *err)
{
	const char letter = ahead(walk, 1);
	const bool is_known =
		is_among(letter, ESCAPED) || (!walk->in_class && is_among(letter, ESCAPED_OUTSIDE));

	if (is_alnum(letter) && !is_known)
		return foreign(walk, 2, err);
	if (!is_whole_number(walk))
		return foreign(walk, 3, err);
	if (letter == 'k' && ahead(walk, 2) != '<')
		return foreign(walk, 3, err);
	walk->repeats = false;
	if (letter == 'c') { /* PCRE2 takes any byte here, also [ and \ */
		if (!is_letter(ahead(walk, 2)))
			return foreign(walk, 3, err);
		walk->at += 3;
		return 0;
	}
	walk->at += 2 + (letter == 'u' ? braced_digits(walk) : 0);
	return 0;
}

/* The length of what opens a group; 0 when ECMAScript has no such group. */
static size_t group_opens(const struct walk *walk)
{
	size_t modifiers = run_of(walk, 2, "ims-");

	if (ahead(walk, 1) == '*')
		return 0; /* a verb */
	if (ahead(walk, 1) != '?')
		return 1;
	if (ahead(walk, 2) == '<')
		return ahead(walk, 3) == '*' ? 0 : 3;
	if (ahead(walk, 2) == '=' || ahead(walk, 2) == '!')
		return 3;
	return ahead(walk, 2 + modifiers) == ':' ? 3 + modifiers : 0;
}

static bool is_named_group(const struct walk *walk)
{
	return ahead(walk, 2) == '<' && !is_among(ahead(walk, 3), "=!");
}

/* The length of a quantifier that starts here, or 0. */
static size_t quantifier(const struct walk *walk)
{
	size_t counts;

	if (is_among(ahead(walk, 0), "*+?"))
		return 1;
	counts = ahead(walk, 0) == '{' ? run_of(walk, 1, DIGITS ", ") : 0;
	return counts && ahead(walk, 1 + counts) == '}' ? 2 + counts : 0;
}

static int walk_outside(struct walk *walk, struct err *err)
{
	size_t len = quantifier(walk);
	const bool is_possessive = walk->repeats && ahead(walk, 0) == '+';

	if (is_possessive)
		return err_set(err, ERR_INVALID,
			"at byte %zu: ECMAScript has no + after a quantifier", walk->at);
	walk->repeats = len > 0;
	if (ahead(walk, 0) == '(') {
		len = group_opens(walk);
		if (!len)
			return foreign(walk, 3, err);
		walk->groups += len == 1 || is_named_group(walk);
	}
	if (ahead(walk, 0) == '[') {
		walk->in_class = true;
		walk->is_negated = ahead(walk, 1) == '^';
		walk->negates = walk->asks = false;
	}
	walk->at += len ? len : 1;
	return 0;
}

static int walk_class(struct walk *walk)
{
	walk->in_class = ahead(walk, 0) != ']';
	walk->at++;
	return 0;
}

/* PCRE2 10.42 finds characters in [^\W\p{Lu}] that the class excludes. */
static int walk_escape_in_class(struct walk *walk, struct err *err)
{
	walk->negates = walk->negates || is_among(ahead(walk, 1), "WSD");
	walk->asks = walk->asks || is_among(ahead(walk, 1), "pP");
	if (walk->is_negated && walk->negates && walk->asks)
		return err_set(err, ERR_INVALID,
			"at byte %zu: \\W, \\S or \\D beside \\p in a class that begins with ^ is not supported",
			walk->at);
	return walk_escape(walk, err);
}

int ecmascript_check(const char *text, size_t len, struct err *err)
{
	struct walk walk = { .text = text, .len = len };
	int answer = 0;

	while (!answer && walk.at < walk.len) {
		const bool escapes = ahead(&walk, 0) == '\\';

		if (escapes && walk.in_class)
			answer = walk_escape_in_class(&walk, err);
		else if (escapes)
			answer = walk_escape(&walk, err);
		else if (walk.in_class)
			answer = walk_class(&walk);
		else
			answer = walk_outside(&walk, err);
	}
	return answer;
}
