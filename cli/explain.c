#include "cli/explain.h"

#include <string.h>

#include "cli/page.h"
#include "proto/base/buf.h"
#include "proto/base/container.h"

#define SENTENCE_MAX 4096U

/* Numbers that name something; those that count have their thousands apart. */
static bool is_name(const char *key, size_t len)
{
	static const char *const keys[] = { "by", "act", "uid" };

	for (size_t i = 0; i < COUNT_OF(keys); i++) {
		if (strlen(keys[i]) == len && memcmp(keys[i], key, len) == 0)
			return true;
	}
	return false;
}

/* What the record has under "a.b.c", with the unit that the name's end says; "" for nothing. */
static const char *shown_under(
	struct cli *cli, const struct value *record, const char *path, size_t len)
{
	const struct value *at = record;
	const char *name = path;
	size_t name_len = 0;

	for (const char *part = path; part < path + len; part += name_len + 1) {
		const char *dot = memchr(part, '.', (size_t)(path + len - part));

		name = part;
		name_len = dot ? (size_t)(dot - part) : (size_t)(path + len - part);
		at = value_get_len(at, name, name_len);
	}
	if ((value_is(at, VALUE_INT) || value_is(at, VALUE_UINT)) && !is_name(name, name_len))
		return page_number(cli, arena_copy(&cli->arena, name, name_len), at);
	return output_text(&cli->arena, at);
}

/* Fills the holes of a text.  NULL when the record has nothing for one of them. */
static const char *fill(struct cli *cli, const struct value *record, const char *text)
{
	__attribute__((cleanup(buf_done))) struct buf sentence;

	buf_init(&sentence, SENTENCE_MAX);
	while (*text) {
		size_t plain = strcspn(text, "{");
		const char *end = strchr(text + plain, '}');
		const char *found;

		(void)buf_append(&sentence, text, plain); /* past the ceiling: what fits */
		if (!text[plain] || !end)
			break;
		found = shown_under(
			cli, record, text + plain + 1, (size_t)(end - text) - plain - 1);
		if (!found[0])
			return NULL;
		(void)buf_append_text(&sentence, found);
		text = end + 1;
	}
	return arena_copy(&cli->arena, sentence.bytes ? sentence.bytes : "", sentence.len);
}

static void add(struct explanation *explanation, enum explain_part part, const char *sentence)
{
	if (sentence && explanation->counts[part] < EXPLAIN_SENTENCES_MAX)
		explanation->sentences[part][explanation->counts[part]++] = sentence;
}

/* The limit that it broke, as it was in force. */
static void add_limit(struct cli *cli, const struct value *record, struct explanation *explanation)
{
	const char *limit = page_text(cli, value_get(record, "evidence"), "limit");
	const struct value *limits = value_get(record, "limits");
	const char *holder = page_text(cli, value_get(limits, "enforced_by"), limit);
	const struct value *number = value_get(limits, limit);

	if (limit[0] && number && holder[0])
		add(explanation, EXPLAIN_KNOWN,
			arena_printf(&cli->arena, "%s was limited to %s, held by: %s.", limit,
				page_number(cli, limit, number), holder));
}

/* What a policy found; where it refused, with what it would have instead. */
static void add_findings(
	struct cli *cli, const struct value *record, struct explanation *explanation)
{
	const struct value *policy = value_get(record, "policy");
	const struct value *findings = value_get(policy, "findings");
	bool denied = strcmp(page_text(cli, policy, "decision"), "deny") == 0;
	bool asked = strcmp(page_text(cli, policy, "decision"), "ask") == 0;
	const char *before = denied  ? ""
			     : asked ? "The policy found: "
				     : "The policy let pass and noted: ";

	for (size_t i = 0; value_at(findings, i); i++) {
		const struct value *finding = value_at(findings, i);
		const char *hint = page_text(cli, finding, "hint");
		const char *path = page_text(cli, finding, "path");

		add(explanation, EXPLAIN_KNOWN,
			arena_printf(&cli->arena, "%s%s%sline %s, column %s: %s (%s)", before, path,
				path[0] ? ", " : "", page_text(cli, finding, "line"),
				page_text(cli, finding, "column"),
				page_text(cli, finding, "message"),
				page_text(cli, finding, "rule")));
		if (denied && hint[0])
			add(explanation, EXPLAIN_CHANGE,
				arena_printf(&cli->arena, "line %s: %s",
					page_text(cli, finding, "line"), hint));
	}
}

/* What it was refused on its way, which a sentence about its end need not tell. */
static void add_refused(
	struct cli *cli, const struct value *record, struct explanation *explanation)
{
	const struct value *calls = value_get(record, "refused_calls");

	for (size_t i = 0; value_at(calls, i); i++)
		add(explanation, EXPLAIN_KNOWN,
			arena_printf(&cli->arena, "It %s.", page_refused(cli, value_at(calls, i))));
}

static void add_output_errors(
	struct cli *cli, const struct value *record, struct explanation *explanation)
{
	const struct value *errors = value_get(record, "output_errors");

	for (size_t i = 0; value_at(errors, i); i++) {
		const struct value *error = value_at(errors, i);
		const char *pointer = page_text(cli, error, "pointer");

		add(explanation, EXPLAIN_KNOWN,
			arena_printf(&cli->arena, "%s %s (schema: %s)",
				pointer[0] ? pointer : "the whole output",
				page_text(cli, error, "message"),
				page_text(cli, error, "schema_pointer")));
	}
}

/* What is told from evidence would be guessed where the evidence has left the store. */
static void explain_pruned(
	struct cli *cli, const struct value *record, struct explanation *explanation)
{
	add(explanation, EXPLAIN_HAPPENED, fill(cli, record, "{reason}"));
	add(explanation, EXPLAIN_KNOWN,
		fill(cli, record,
			"The contents of the run have left the store (act {pruned.act} of cectl acts), "
			"and the evidence with them."));
}

int explain(struct cli *cli, const struct value *record, struct explanation *ret_explanation)
{
	const char *outcome = page_text(cli, record, "outcome");

	*ret_explanation = (struct explanation){ .counts = { 0 } };
	if (value_is(value_get(record, "pruned"), VALUE_MAP)) {
		explain_pruned(cli, record, ret_explanation);
		return cli->arena.failed ? -1 : 0;
	}
	for (const struct explain_text *row = explain_texts; row->text; row++)
		if ((!row->outcome || strcmp(row->outcome, outcome) == 0) &&
			(!row->when || row->when(record)))
			add(ret_explanation, row->part, fill(cli, record, row->text));
	add_limit(cli, record, ret_explanation);
	add_findings(cli, record, ret_explanation);
	add_output_errors(cli, record, ret_explanation);
	add_refused(cli, record, ret_explanation);
	return cli->arena.failed ? -1 : 0;
}
