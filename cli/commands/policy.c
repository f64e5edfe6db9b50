/* cectl policy: lists policies, shows one, and tests them with examples. */
#include <string.h>

#include "cli/base/examples.h"
#include "cli/base/exits.h"
#include "cli/commands/commands.h"
#include "cli/commands/job_options.h"
#include "cli/session/page.h"
#include "proto/base/container.h"
#include "proto/base/nearest.h"

/* ---- list ---------------------------------------------------------------------------------------- */

/* The policy of runs that name none has a star. */
static const char *name_of(struct cli *cli, const struct value *policy, const char *key)
{
	bool is_default = value_as_bool(value_get(policy, "default"), false);
	const char *name = page_text(cli, policy, key);

	return is_default ? arena_printf(&cli->arena, "%s *", name) : name;
}

// clang-format off
static const struct page_column columns[] = {
	{ { "POLICY",      false, false, 0 }, "name",        PAINT_BOLD,  name_of,   NULL },
	{ { "LANGUAGES",   false, false, 0 }, "languages",   PAINT_PLAIN, page_list, NULL },
	{ { "RUNS",        false, false, 3 }, "executes",    PAINT_PLAIN, page_list, NULL },
	{ { "DIGEST",      false, true,  4 }, "digest",      PAINT_DIM,   NULL,      NULL },
	{ { "DESCRIPTION", false, true,  0 }, "description", PAINT_PLAIN, NULL,      NULL },
};
// clang-format on

static int run_list(struct cli *cli)
{
	const struct value *result = NULL;
	int status = cli_ask(cli, "policies.list", value_map(&cli->arena), NULL, &result);

	if (status != 0)
		return status;
	if (cli->json)
		return cli_document(cli, result, EXIT_OK);
	page_table(cli, columns, COUNT_OF(columns), value_get(result, "policies"), 0);
	say(&cli->out, PAINT_DIM, "* of runs that name none\n");
	return EXIT_OK;
}

/* ---- show ---------------------------------------------------------------------------------------- */

static bool is_wanted(const struct words *prefixes, const char *id)
{
	for (size_t i = 0; i < prefixes->count; i++)
		if (strncmp(id, prefixes->items[i], strlen(prefixes->items[i])) == 0)
			return true;
	return prefixes->count == 0;
}

static enum paint paint_of(const char *severity)
{
	if (strcmp(severity, "deny") == 0)
		return PAINT_RED;
	if (strcmp(severity, "off") == 0)
		return PAINT_DIM;
	return strcmp(severity, "ask") == 0 ? PAINT_YELLOW : PAINT_PLAIN;
}

static void show_rule(struct cli *cli, const struct value *rule)
{
	const char *severity = page_text(cli, rule, "severity");
	const char *words = page_list(cli, rule, "words");
	const char *number = page_text(cli, rule, "number");

	say(&cli->out, paint_of(severity), "  %-7s ", severity);
	say(&cli->out, PAINT_BOLD, "%s", page_text(cli, rule, "id"));
	say(&cli->out, PAINT_DIM, "  %s%s%s\n", page_text(cli, rule, "finds"),
		number[0] ? "  number " : "", number);
	page_wrapped(cli, PAINT_PLAIN, page_text(cli, rule, "message"), 10);
	if (words[0] && strcmp(severity, "off") != 0)
		page_wrapped(cli, PAINT_DIM, words, 10);
}

static void show_limits(struct cli *cli, const char *title, const struct value *limits)
{
	if (!value_is(limits, VALUE_MAP) || limits->map.count == 0)
		return;
	output_heading(&cli->out, title);
	for (size_t i = 0; i < limits->map.count; i++) {
		const struct value_entry *entry = &limits->map.entries[i];

		page_field(cli, limit_word(cli, entry->key),
			page_number(cli, entry->key, entry->value));
	}
}

/* In the order in which they count.  An empty list `allow` means: none but those above. */
static void show_tools(struct cli *cli, const struct value *tools)
{
	static const char *const lists[] = { "deny", "ask", "allow" };

	if (!value_is(tools, VALUE_MAP) || tools->map.count == 0)
		return;
	output_heading(&cli->out, "calls of tools");
	for (size_t i = 0; i < COUNT_OF(lists); i++) {
		const char *names = page_list(cli, tools, lists[i]);

		if (value_get(tools, lists[i]))
			page_field(cli, lists[i], names[0] ? names : "none");
	}
	if (value_get(tools, "allow"))
		page_field(cli, "others", "deny");
}

static bool any_begins(struct cli *cli, const struct value *rules, const char *prefix)
{
	for (size_t i = 0; value_at(rules, i); i++) {
		const char *id = page_text(cli, value_at(rules, i), "id");

		if (strncmp(id, prefix, strlen(prefix)) == 0)
			return true;
	}
	return false;
}

/* A prefix that no rule has is a slip: nothing behind it would look like a policy without rules. */
static int check_prefixes(struct cli *cli, const struct value *rules)
{
	const struct words *prefixes = cli_words(cli, "rule");

	for (size_t k = 0; k < prefixes->count; k++) {
		struct nearest nearest = NEAREST_OF(prefixes->items[k]);

		if (any_begins(cli, rules, nearest.word))
			continue;
		for (size_t i = 0; value_at(rules, i); i++)
			nearest_offer(&nearest, page_text(cli, value_at(rules, i), "id"));
		return cli_fail_with(cli, ERR_MISSING, "no rule of policy %s begins with \"%s\"%s",
			cli_operand(cli, 1), nearest.word, nearest_hint(&nearest));
	}
	return 0;
}

static void show_rules(struct cli *cli, const struct value *rules)
{
	output_heading(&cli->out, "rules");
	for (size_t i = 0; value_at(rules, i); i++)
		if (is_wanted(cli_words(cli, "rule"), page_text(cli, value_at(rules, i), "id")))
			show_rule(cli, value_at(rules, i));
}

static int run_show(struct cli *cli)
{
	struct value *params = value_map(&cli->arena);
	const struct value *result = NULL;
	const struct value *rules;
	int status;

	if (cli->given.operands.count != 2)
		return cli_usage(cli, "policy show needs the name of one policy");
	(void)value_map_put(
		&cli->arena, params, "name", value_text(&cli->arena, cli_operand(cli, 1)));
	status = cli_ask(cli, "policies.show", params, NULL, &result);
	if (status != 0)
		return status;
	rules = value_get(result, "rules");
	status = check_prefixes(cli, rules);
	if (status != 0)
		return status;
	if (cli->json)
		return cli_document(cli, result, EXIT_OK);
	say(&cli->out, PAINT_BOLD, "%s\n", page_text(cli, result, "name"));
	page_wrapped(cli, PAINT_PLAIN, page_text(cli, result, "description"), 2);
	page_field(cli, "languages", page_list(cli, result, "languages"));
	page_field(cli, "runs", page_list(cli, result, "executes"));
	page_field(cli, "unread", page_list(cli, result, "unread"));
	page_field(cli, "entries", page_list(cli, result, "entries"));
	page_field(cli, "code bytes", page_unit(cli, result, "code_bytes"));
	page_field(cli, "digest", page_text(cli, result, "digest"));
	show_limits(cli, "limits of its runs", value_get(result, "limits"));
	show_limits(cli, "at most", value_get(result, "most"));
	show_tools(cli, value_get(result, "tools"));
	show_rules(cli, rules);
	return EXIT_OK;
}

/* ---- test ---------------------------------------------------------------------------------------- */

struct tally {
	const char *language;
	size_t good, all;
};

#define LANGUAGES_MAX 32

struct testing {
	struct cli *cli;
	struct example_cases cases;
	struct value *results; /* of --json */
	struct tally tallies[LANGUAGES_MAX];
	size_t tally_count;
	size_t bad;
};

static struct value *params_of(struct testing *testing, bool fresh)
{
	struct arena *arena = &testing->cli->arena;
	struct value *params = value_map(arena);
	struct value *list = value_list(arena);

	for (size_t i = 0; i < testing->cases.count; i++) {
		const struct example_case *one = &testing->cases.items[i];
		struct value *map = value_map(arena);

		(void)value_map_put(arena, map, "policy", value_text(arena, one->policy));
		(void)value_map_put(arena, map, "language", value_text(arena, one->language));
		(void)value_map_put(
			arena, map, "code", value_bytes(arena, one->code, one->code_len));
		(void)value_list_add(arena, list, map);
	}
	(void)value_map_put(arena, params, "cases", list);
	(void)value_map_put(arena, params, "fresh", value_bool(arena, fresh));
	return params;
}

static void count(struct testing *testing, const char *language, bool good)
{
	size_t at = 0;

	while (at < testing->tally_count && strcmp(testing->tallies[at].language, language) != 0)
		at++;
	if (at == LANGUAGES_MAX)
		return;
	if (at == testing->tally_count)
		testing->tallies[testing->tally_count++].language = language;
	testing->tallies[at].good += good;
	testing->tallies[at].all++;
	testing->bad += !good;
}

static void policy_note(
	struct testing *testing, const struct example_case *one, const char *found, bool good)
{
	struct arena *arena = &testing->cli->arena;
	struct value *map = value_map(arena);

	(void)value_map_put(arena, map, "name", value_text(arena, one->name));
	(void)value_map_put(arena, map, "policy", value_text(arena, one->policy));
	(void)value_map_put(arena, map, "language", value_text(arena, one->language));
	(void)value_map_put(arena, map, "ok", value_bool(arena, good));
	(void)value_map_put(arena, map, "expected", value_text(arena, one->expected));
	(void)value_map_put(arena, map, "found", value_text(arena, found));
	(void)value_list_add(arena, testing->results, map);
}

static void print_lines(struct cli *cli, const char *title, const char *text)
{
	say(&cli->out, PAINT_DIM, "    %s\n", title);
	while (*text) {
		size_t len = strcspn(text, "\n");
		const char *line = arena_copy(&cli->arena, text, len);

		say(&cli->out, PAINT_PLAIN, "      %s\n",
			line ? output_safe(&cli->arena, line) : "");
		text += len + (text[len] == '\n');
	}
}

static void policy_judge(
	struct testing *testing, const struct example_case *one, const struct value *verdict)
{
	struct cli *cli = testing->cli;
	const char *found = examples_write(&cli->arena, verdict);
	bool good = examples_match(one->expected, found);

	count(testing, one->language, good);
	policy_note(testing, one, found, good);
	if (good || cli->json)
		return;
	say(&cli->out, PAINT_RED, "%s ", output_mark(&cli->out, MARK_BAD));
	say(&cli->out, PAINT_BOLD, "%s\n", output_safe(&cli->arena, one->name));
	print_lines(cli, "expected", one->expected);
	print_lines(cli, "found", found);
}

static int policy_tell(struct testing *testing)
{
	struct cli *cli = testing->cli;
	struct value *map = value_map(&cli->arena);
	int status = testing->bad ? EXIT_FAILED : EXIT_OK;

	if (cli->json) {
		(void)value_map_put(
			&cli->arena, map, "ok", value_bool(&cli->arena, testing->bad == 0));
		(void)value_map_put(&cli->arena, map, "results", testing->results);
		return cli_document(cli, map, status);
	}
	for (size_t i = 0; i < testing->tally_count; i++) {
		const struct tally *tally = &testing->tallies[i];
		bool good = tally->good == tally->all;

		say(&cli->out, good ? PAINT_GREEN : PAINT_RED, "%s ",
			output_mark(&cli->out, good ? MARK_GOOD : MARK_BAD));
		say(&cli->out, PAINT_PLAIN, "%s: %zu of %zu as expected\n",
			output_safe(&cli->arena, tally->language), tally->good, tally->all);
	}
	return status;
}

static int complain(struct cli *cli, const char *complaint)
{
	say(&cli->err, PAINT_PLAIN, "cectl: the rules cannot be used: %s\n", complaint);
	return EXIT_FAILED;
}

static int run_test(struct cli *cli)
{
	struct testing testing = { .cli = cli, .results = value_list(&cli->arena) };
	const struct value *result = NULL;
	struct err err = ERR_INIT;
	int status;

	if (cli->given.operands.count < 2)
		return cli_usage(cli, "policy test needs files NAME.case, or folders of them");
	for (size_t i = 1; i < cli->given.operands.count; i++)
		if (examples_add(&cli->arena, cli->given.operands.items[i], &testing.cases, &err) <
			0)
			return cli_fail(cli, &err);
	if (testing.cases.count == 0)
		/* a test that looks at nothing must not look like one that passed */
		return cli_fail_with(cli, ERR_MISSING,
			"no example in %s: no file is called NAME.case", cli_operand(cli, 1));
	status = cli_ask(
		cli, "policies.test", params_of(&testing, cli_flag(cli, "new")), NULL, &result);
	if (status != 0)
		return status;
	if (value_get(result, "complaint"))
		return cli->json ? cli_document(cli, result, EXIT_FAILED)
				 : complain(cli, page_text(cli, result, "complaint"));
	for (size_t i = 0; i < testing.cases.count; i++)
		policy_judge(&testing, &testing.cases.items[i],
			value_at(value_get(result, "results"), i));
	return policy_tell(&testing);
}

/* ---- the command ----------------------------------------------------------------------------------- */

static int policy_run(struct cli *cli)
{
	const char *word = cli->given.operands.count ? cli_operand(cli, 0) : "";
	struct nearest nearest = NEAREST_OF(word);

	if (strcmp(word, "list") == 0 && cli->given.operands.count == 1)
		return run_list(cli);
	if (strcmp(word, "show") == 0)
		return run_show(cli);
	if (strcmp(word, "test") == 0)
		return run_test(cli);
	nearest_offer(&nearest, "list");
	nearest_offer(&nearest, "show");
	nearest_offer(&nearest, "test");
	return cli_usage(cli, "policy needs one of: list, show NAME, test FILE...%s",
		word[0] ? nearest_hint(&nearest) : "");
}

// clang-format off
const struct command policy_command = {
	.name = "policy",
	.operands = "list | show NAME | test FILE...",
	.summary = "list policies, and test them with examples",
	.about = "`list` lists the policies; `show` shows one: its languages, its limits, and "
		 "each rule with its severity, what it looks for and its message.  `test` checks "
		 "examples against policies and runs nothing. An example is a file NAME.case in "
		 "three parts between lines of `---`: settings (policy, language), the program, "
		 "and the expected result (the decision, then each finding: rule line:column "
		 "severity text; the end of a finding may be left out).  With --new it reads the "
		 "daemon's folder of policies and rules as it is now, so that you can test new "
		 "ones before a restart; it reports a fault in them with file and line.  Exits "
		 "with 1 when an example has another result.",
	.options = OPTIONS(
		{ 0, "new", NULL, OPTION_FLAG, NULL, NULL,
			"test: read the daemon's folder of policies and rules anew; for administrators" },
		{ 'r', "rule", "PREFIX", OPTION_LIST, NULL, NULL,
			"show: only rules whose names begin so" }),
	.operand_most = 1024,
	.examples = EXAMPLES(
		{ "cectl policy list", "which there are, and for which languages" },
		{ "cectl policy show strict --rule python.import", "its rules, with what they look for" },
		{ "cectl policy test tests/", "do the examples in tests/*.case come out as written?" },
		{ "cectl policy test --new tests/", "and with the rules that I have just written?" },
		{ "cectl policy show strict --json | jq -r '.rules[].id'", "the names of all rules" }),
	.run = policy_run,
};
// clang-format on
