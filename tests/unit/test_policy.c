#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "daemon/policy/policy.h"
#include "daemon/policy/rule_sources.h"
#include "proto/base/cleanup.h"
#include "tests/check.h"
#include "tests/inspecting.h"

#define HASH_A "sha256:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"

static struct bytes text(const char *code)
{
	return (struct bytes){ code, strlen(code) };
}

/* Makes a folder with one policy in it; drop_folder() removes it. */
static char folder[] = "/tmp/ced-test-policy-XXXXXX";
static char file_path[128];

static void write_policy(const char *json)
{
	FILE *file = fopen(file_path, "we");

	CHECK(file);
	(void)fputs(json, file);
	CHECK_EQ_INT(fclose(file), 0);
}

static void make_folder(const char *name, const char *json)
{
	(void)strcpy(folder, "/tmp/ced-test-policy-XXXXXX");
	CHECK(mkdtemp(folder));
	(void)snprintf(file_path, sizeof(file_path), "%s/%s", folder, name);
	write_policy(json);
}

static void drop_folder(void)
{
	(void)unlink(file_path);
	(void)rmdir(folder);
}

/* The error of policies_load() for a folder with this policy; "" if it is accepted. */
static const char *complaint_about(const char *json)
{
	static struct err err;
	struct policies *policies;

	err = (struct err)ERR_INIT;
	make_folder("x.json", json);
	policies = policies_load(folder, NULL, &err);
	policies_close(policies);
	drop_folder();
	return policies ? "" : err.text;
}

TEST(the_shipped_policies_load_and_one_is_the_default)
{
	struct err err = ERR_INIT;
	struct policies *policies = policies_load(NULL, NULL, &err);

	CHECK(policies);
	CHECK_STR(policy_name(policies_find(policies, NULL)), "standard");
	CHECK(policies_find(policies, "strict"));
	CHECK(policies_find(policies, "observe"));
	CHECK(policies_find(policies, "review"));
	CHECK(!policies_find(policies, "nonsense"));
	policies_close(policies);
}

TEST(the_default_can_be_another_and_must_exist)
{
	struct err err = ERR_INIT;
	struct policies *policies = policies_load(NULL, "strict", &err);

	CHECK(policies);
	CHECK_STR(policy_name(policies_find(policies, NULL)), "strict");
	policies_close(policies);
	CHECK(!policies_load(NULL, "nonsense", &err));
	CHECK_EQ_INT(err.code, ERR_INVALID);
}

TEST(policies_have_digests_of_their_own_that_stay)
{
	struct err err = ERR_INIT;
	struct policies *one = policies_load(NULL, NULL, &err);
	struct policies *two = policies_load(NULL, NULL, &err);

	CHECK(one && two);
	CHECK(strcmp(policy_digest(policies_find(one, "strict")),
		      policy_digest(policies_find(one, "observe"))) != 0);
	CHECK_STR(policy_digest(policies_find(one, "strict")),
		policy_digest(policies_find(two, "strict")));
	CHECK_EQ_INT(strlen(policy_digest(policies_find(one, "strict"))), HASH_TEXT_LEN);
	policies_close(one);
	policies_close(two);
}

TEST(an_operators_policy_stands_beside_the_shipped_ones)
{
	struct err err = ERR_INIT;
	struct policies *policies;

	make_folder("mine.json", "{\"name\":\"mine\",\"description\":\"d\",\"extends\":\"strict\","
				 "\"rules\":{\"python.import.denied\":\"observe\"},"
				 "\"lists_add\":{\"python.imports\":[\"numpy.*\"]}}");
	CHECK(check_ok());
	policies = policies_load(folder, "mine", &err);
	CHECK(policies);
	CHECK_STR(policy_name(policies_find(policies, NULL)), "mine");
	CHECK(policies_find(policies, "strict"));
	policies_close(policies);
	drop_folder();
}

TEST(an_operators_policy_may_take_a_shipped_ones_place)
{
	static struct inspecting in;
	struct policy_verdict verdict;

	make_folder("strict.json",
		"{\"name\":\"strict\",\"description\":\"d\",\"extends\":\"observe\"}");
	/* The shipped observe extends strict, so the two form a cycle. */
	CHECK(check_ok());
	CHECK(!inspecting_start(&in, folder, 0));
	inspecting_stop(&in);
	drop_folder();
	make_folder("observe.json", "{\"name\":\"observe\",\"description\":\"d\",\"extends\":"
				    "\"standard\",\"rules\":{\"python.bytes.nul\":\"off\"}}");
	CHECK(inspecting_start(&in, folder, 1));
	drop_folder();
	CHECK(inspecting_check(
		&in, "observe", "python", (struct bytes){ "x\0", 2 }, NULL, &verdict));
	CHECK_EQ_INT(verdict.decision, POLICY_ALLOW);
	inspecting_stop(&in);
}

TEST(a_policy_with_a_fault_is_refused_and_the_fault_is_named)
{
	static const struct {
		const char *json;
		const char *word;
	} rows[] = {
		{ "{", "x.json" },
		{ "[]", "map" },
		{ "{\"description\":\"d\"}", "name" },
		{ "{\"name\":\"a\"}", "description" },
		{ "{\"name\":\"A b\",\"description\":\"d\"}", "name" },
		{ "{\"name\":\"a\",\"description\":\"d\",\"rulez\":{}}", "rulez" },
		{ "{\"name\":\"a\",\"description\":\"d\",\"rules\":[]}", "rules" },
		{ "{\"name\":\"a\",\"description\":\"d\",\"rules\":{\"*\":\"perhaps\"}}", "deny" },
		{ "{\"name\":\"a\",\"description\":\"d\",\"extends\":\"strict\",\"rules\":"
		  "{\"python.import.nonsense\":\"deny\"}}",
			"python.import.nonsense" },
		{ "{\"name\":\"a\",\"description\":\"d\",\"extends\":\"nobody\"}", "nobody" },
		{ "{\"name\":\"a\",\"description\":\"d\",\"extends\":\"a\"}", "cycle" },
		{ "{\"name\":\"a\",\"description\":\"d\",\"languages\":[\"cobol\"]}", "cobol" },
		{ "{\"name\":\"a\",\"description\":\"d\",\"unread\":[\"python\"]}", "python" },
		{ "{\"name\":\"a\",\"description\":\"d\",\"lists\":{\"x\":[1]}}", "x" },
		{ "{\"name\":\"a\",\"description\":\"d\",\"lists\":{\"x\":[\"\"]}}", "x" },
		{ "{\"name\":\"a\",\"description\":\"d\"}", "needs the list" },
		{ "{\"name\":\"a\",\"description\":\"d\",\"extends\":\"strict\",\"lists_add\":"
		  "{\"python.nothing\":[]}}",
			"python.nothing" },
		{ "{\"name\":\"a\",\"description\":\"d\",\"extends\":\"strict\",\"rules\":"
		  "{\"policy.late\":\"off\"}}",
			"policy.late" },
		{ "{\"name\":\"a\",\"description\":\"d\",\"tools\":[]}", "tools: write a map" },
		{ "{\"name\":\"a\",\"description\":\"d\",\"tools\":{\"maybe\":[]}}",
			"no list \"maybe\"" },
		{ "{\"name\":\"a\",\"description\":\"d\",\"tools\":{\"ask\":\"send\"}}", "ask" },
		{ "{\"name\":\"a\",\"description\":\"d\",\"tools\":{\"deny\":[\"a*b\"]}}",
			"\"a*b\" is no name" },
		{ "{\"name\":\"a\",\"description\":\"d\",\"tools\":{\"deny\":[\"_a\"]}}",
			"\"_a\" is no name" },
		{ "{\"name\":\"a\",\"description\":\"d\",\"tools\":{\"deny\":[\"a-b\"]}}",
			"\"a-b\" is no name" },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const char *complaint = complaint_about(rows[i].json);

		if (!strstr(complaint, rows[i].word))
			CHECK_STR(complaint, rows[i].word);
	}
}

/* ---- calls of tools ------------------------------------------------------------------------- */

/* "deny send_*": what a policy decides about a tool, and by which item. */
static const char *decision_on(const struct policy *policy, const char *name)
{
	static char text[128];
	const struct policy_tool found = policy_of_tool(policy, name);

	(void)snprintf(text, sizeof(text), "%s: %s %s", policy_decision_word(found.decision),
		found.list ? found.list : "-", found.pattern ? found.pattern : "-");
	return text;
}

TEST(a_tool_is_in_the_first_list_that_fits_it)
{
	struct err err = ERR_INIT;
	struct policies *policies;
	const struct policy *policy;

	make_folder("x.json", "{\"name\":\"x\",\"description\":\"d\",\"extends\":\"observe\","
			      "\"tools\":{\"allow\":[\"search\",\"send_*\",\"drop\"],"
			      "\"ask\":[\"send_*\",\"drop\"],\"deny\":[\"drop\",\"send_all\"]}}");
	policies = policies_load(folder, NULL, &err);
	CHECK(policies);
	policy = policies_find(policies, "x");
	CHECK_STR(decision_on(policy, "drop"), "deny: deny drop");
	CHECK_STR(decision_on(policy, "send_all"), "deny: deny send_all");
	CHECK_STR(decision_on(policy, "send_mail"), "ask: ask send_*");
	CHECK_STR(decision_on(policy, "search"), "allow: allow search");
	CHECK_STR(decision_on(policy, "searches"), "deny: allow -");
	CHECK_STR(decision_on(policies_find(policies, "observe"), "drop"), "allow: - -");
	policies_close(policies);
	drop_folder();
}

TEST(a_policy_inherits_the_lists_of_tools_that_it_does_not_write)
{
	struct err err = ERR_INIT;
	struct policies *policies;
	char parent[sizeof(file_path)];

	make_folder("a.json", "{\"name\":\"a\",\"description\":\"d\",\"extends\":\"observe\","
			      "\"tools\":{\"deny\":[\"drop\"],\"ask\":[\"*\"]}}");
	(void)snprintf(parent, sizeof(parent), "%s", file_path);
	(void)snprintf(file_path, sizeof(file_path), "%s/b.json", folder);
	write_policy(
		"{\"name\":\"b\",\"description\":\"d\",\"extends\":\"a\",\"tools\":{\"ask\":[]}}");
	policies = policies_load(folder, NULL, &err);
	CHECK(policies);
	CHECK_STR(decision_on(policies_find(policies, "a"), "send"), "ask: ask *");
	CHECK_STR(decision_on(policies_find(policies, "b"), "send"), "allow: - -");
	CHECK_STR(decision_on(policies_find(policies, "b"), "drop"), "deny: deny drop");
	CHECK(strcmp(policy_digest(policies_find(policies, "a")),
		policy_digest(policies_find(policies, "b"))));
	policies_close(policies);
	(void)unlink(parent);
	drop_folder();
}

TEST(a_folder_that_is_not_there_is_an_error)
{
	struct err err = ERR_INIT;

	CHECK(!policies_load("/nonexistent/policies", NULL, &err));
	CHECK_EQ_INT(err.code, ERR_SYSTEM);
}

TEST(the_longest_pattern_that_fits_a_rule_counts)
{
	static struct inspecting in;
	struct policy_verdict verdict;

	make_folder("x.json",
		"{\"name\":\"x\",\"description\":\"d\",\"extends\":\"strict\",\"rules\":"
		"{\"python.bytes.nul\":\"observe\",\"*\":\"off\",\"python.bytes.*\":\"deny\"}}");
	CHECK(inspecting_start(&in, folder, 1));
	drop_folder();
	CHECK(inspecting_check(&in, "x", "python", (struct bytes){ "x\0", 2 }, NULL, &verdict));
	CHECK_EQ_INT(verdict.decision, POLICY_OBSERVE);
	CHECK(inspecting_check(&in, "x", "python", text("# \r"), NULL, &verdict));
	CHECK_EQ_INT(verdict.decision, POLICY_DENY);
	CHECK(inspecting_check(&in, "x", "python", text("import os"), NULL, &verdict));
	CHECK_EQ_INT(verdict.decision, POLICY_ALLOW);
	inspecting_stop(&in);
}

static bool tells(struct bytes rules, const char *id)
{
	return rules.len && memmem(rules.data, rules.len, id, strlen(id));
}

TEST(a_rule_holds_where_its_policy_says)
{
	static struct inspecting in;
	struct policy_verdict verdict;
	struct policy_finding finding;
	const struct policy *policy;
	struct bytes rules;

	make_folder("x.json",
		"{\"name\":\"x\",\"description\":\"d\",\"extends\":\"strict\",\"at\":{"
		"\"python.import.*\":\"run\",\"python.name.denied\":\"text\"}}");
	CHECK(inspecting_start(&in, folder, 1));
	drop_folder();
	policy = policies_find(in.policies, "x");
	rules = policy_run_rules(in.policies, policy, "python");
	CHECK(tells(rules, "python.import.denied\tpython.imports\t"));
	CHECK(tells(rules, "python.call.denied\tpython.calls\t"));
	CHECK(!tells(rules, "python.name.denied"));
	CHECK(!tells(rules, "python.import.dangerous"));
	CHECK(inspecting_check(&in, "x", "python", text("import os"), NULL, &verdict));
	CHECK_EQ_INT(verdict.decision, POLICY_ALLOW);
	CHECK(inspecting_check(&in, "x", "python", text("print(eval)"), NULL, &verdict));
	CHECK_EQ_INT(verdict.decision, POLICY_DENY);
	CHECK(policy_run_finding(in.policies, policy, "python", "python.import.denied", &finding));
	CHECK(finding.message && finding.hint);
	CHECK_STR(finding.severity, "deny");
	CHECK(!policy_run_finding(in.policies, policy, "python", "no.such.rule", &finding));
	policy = policies_find(in.policies, "standard");
	CHECK_EQ_INT(policy_run_rules(in.policies, policy, "python").len, 0);
	CHECK_EQ_INT(policy_run_rules(in.policies, policy, "cobol").len, 0);
	inspecting_stop(&in);
}

TEST(a_rule_that_no_worker_enforces_holds_over_the_text)
{
	static struct inspecting in;
	struct policy_verdict verdict;

	make_folder("x.json",
		"{\"name\":\"x\",\"description\":\"d\",\"extends\":\"strict\",\"at\":{\"*\":\"run\"}}");
	CHECK(inspecting_start(&in, folder, 1));
	drop_folder();
	CHECK(inspecting_check(&in, "x", "python", text("import os"), NULL, &verdict));
	CHECK_EQ_INT(verdict.decision, POLICY_ALLOW);
	CHECK(inspecting_check(&in, "x", "python", text("x = \"\0\""), NULL, &verdict));
	CHECK_EQ_INT(verdict.decision, POLICY_DENY);
	CHECK(inspecting_check(&in, "x", "javascript", text("require('fs')"), NULL, &verdict));
	CHECK_EQ_INT(verdict.decision, POLICY_DENY);
	CHECK_EQ_INT(
		policy_run_rules(in.policies, policies_find(in.policies, "x"), "javascript").len,
		0);
	inspecting_stop(&in);
	CHECK(strstr(complaint_about("{\"name\":\"x\",\"description\":\"d\",\"at\":{"
				     "\"javascript.import.denied\":\"run\"}}"),
		"javascript.import.denied cannot be enforced by workers alone"));
}

TEST(where_a_rule_holds_is_one_of_three_words)
{
	CHECK(strstr(
		complaint_about("{\"name\":\"x\",\"description\":\"d\",\"at\":{\"*\":\"often\"}}"),
		"write text, run or both"));
	CHECK(strstr(complaint_about("{\"name\":\"x\",\"description\":\"d\",\"at\":[]}"),
		"write text, run or both"));
	CHECK(strstr(complaint_about(
			     "{\"name\":\"x\",\"description\":\"d\",\"at\":{\"no.rule\":\"run\"}}"),
		"there is no rule no.rule"));
}

TEST(what_a_person_is_to_say_stands_between_noted_and_denied)
{
	static struct inspecting in;
	struct policy_verdict verdict;

	CHECK(inspecting_start(&in, NULL, 1));
	CHECK_EQ_INT(policy_strictest(policies_find(in.policies, "review")), POLICY_DENY);
	CHECK(inspecting_check(&in, "review", "python", text("print(1)"), NULL, &verdict));
	CHECK_EQ_INT(verdict.decision, POLICY_ALLOW);
	CHECK(inspecting_check(&in, "review", "python", text("eval(x)"), NULL, &verdict));
	CHECK_EQ_INT(verdict.decision, POLICY_ASK);
	CHECK_STR(verdict.findings[0].severity, "ask");
	CHECK(inspecting_check(
		&in, "review", "python", (struct bytes){ "eval\0", 5 }, NULL, &verdict));
	CHECK_EQ_INT(verdict.decision, POLICY_DENY);
	inspecting_stop(&in);
}

TEST(a_policy_that_only_asks_asks_when_there_is_too_much_to_tell)
{
	static struct inspecting in;
	struct policy_verdict verdict;
	const size_t len = (size_t)10 * (INSPECT_FINDINGS_MAX + 20);
	auto_free char *code = calloc(1, len + 1);

	CHECK(code);
	for (size_t i = 0; i < len; i += 10)
		memcpy(code + i, "eval('1')\n", 10);
	make_folder("x.json", "{\"name\":\"x\",\"description\":\"d\",\"extends\":\"standard\","
			      "\"rules\":{\"*\":\"off\",\"python.call.denied\":\"ask\"}}");
	CHECK(inspecting_start(&in, folder, 1));
	drop_folder();
	CHECK_EQ_INT(policy_strictest(policies_find(in.policies, "x")), POLICY_ASK);
	CHECK(inspecting_check(&in, "x", "python", text(code), NULL, &verdict));
	CHECK_EQ_INT(verdict.decision, POLICY_ASK);
	CHECK_STR(verdict.findings[INSPECT_FINDINGS_MAX].rule, "policy.cut");
	CHECK_STR(verdict.findings[INSPECT_FINDINGS_MAX].severity, "ask");
	inspecting_stop(&in);
}

TEST(a_verdict_tells_rule_place_text_message_and_hint)
{
	static struct inspecting in;
	struct policy_verdict verdict;

	CHECK(inspecting_start(&in, NULL, 1));
	CHECK(inspecting_check(
		&in, "strict", "python", text("x = 1\nimport os\n"), NULL, &verdict));
	CHECK_EQ_INT(verdict.decision, POLICY_DENY);
	CHECK_STR(verdict.name, "strict");
	CHECK(strncmp(verdict.digest, "sha256:", 7) == 0);
	CHECK_EQ_INT(verdict.finding_count, 1);
	CHECK_STR(verdict.findings[0].rule, "python.import.denied");
	CHECK_STR(verdict.findings[0].severity, "deny");
	CHECK_EQ_INT(verdict.findings[0].line, 2);
	CHECK_EQ_INT(verdict.findings[0].column, 8);
	CHECK_STR(verdict.findings[0].text, "os");
	CHECK(verdict.findings[0].message && verdict.findings[0].hint);
	inspecting_stop(&in);
}

TEST(a_program_seen_before_is_not_asked_about_again)
{
	static struct inspecting in;
	struct policy_verdict verdict;
	struct policy_question question;

	CHECK(inspecting_start(&in, NULL, 1));
	question = (struct policy_question){ policies_find(in.policies, "strict"), "python",
		text("eval('1')"), HASH_A, &in.arena, false, 0, NULL };
	CHECK(!policy_lookup(in.policies, &question, &verdict));
	CHECK(inspecting_check(&in, "strict", "python", question.code, HASH_A, &verdict));
	CHECK(policy_lookup(in.policies, &question, &verdict));
	CHECK_EQ_INT(verdict.decision, POLICY_DENY);
	CHECK_EQ_INT(verdict.finding_count, 1);
	CHECK_STR(verdict.findings[0].text, "eval");
	question.policy = policies_find(in.policies, "standard");
	CHECK(!policy_lookup(in.policies, &question, &verdict));
	inspecting_stop(&in);
}

TEST(a_language_that_the_policy_does_not_know_is_denied_at_once)
{
	static struct inspecting in;
	struct policy_verdict verdict;

	CHECK(inspecting_start(&in, NULL, 0));
	CHECK(inspecting_check(&in, "strict", "cobol", text("STOP RUN."), NULL, &verdict));
	CHECK_EQ_INT(verdict.decision, POLICY_DENY);
	CHECK_STR(verdict.findings[0].rule, "policy.language_denied_policy");
	inspecting_stop(&in);
}

TEST(a_policy_without_rules_allows_at_once)
{
	static struct inspecting in;
	struct policy_verdict verdict;

	make_folder("x.json", "{\"name\":\"x\",\"description\":\"d\",\"languages\":[\"python\"],"
			      "\"rules\":{\"*\":\"off\"}}");
	CHECK(inspecting_start(&in, folder, 0));
	drop_folder();
	CHECK(inspecting_check(&in, "x", "python", text("import os"), NULL, &verdict));
	CHECK_EQ_INT(verdict.decision, POLICY_ALLOW);
	inspecting_stop(&in);
}

TEST(a_language_that_nobody_can_read_runs_where_a_policy_says_so_and_is_noted)
{
	static struct inspecting in;
	struct policy_verdict verdict;

	make_folder("x.json", "{\"name\":\"x\",\"description\":\"d\",\"extends\":\"standard\","
			      "\"unread\":[\"perl\"]}");
	CHECK(inspecting_start(&in, folder, 0));
	drop_folder();
	CHECK(inspecting_check(&in, "x", "perl", text("print 1"), HASH_A, &verdict));
	CHECK_EQ_INT(verdict.decision, POLICY_OBSERVE);
	CHECK_STR(verdict.findings[0].rule, "policy.unread");
	CHECK(inspecting_check(&in, "x", "ruby", text("puts 1"), HASH_A, &verdict));
	CHECK_EQ_INT(verdict.decision, POLICY_DENY);
	CHECK(inspecting_check(&in, "standard", "perl", text("print 1"), HASH_A, &verdict));
	CHECK_EQ_INT(verdict.decision, POLICY_DENY);
	CHECK_STR(verdict.findings[0].rule, "policy.language_denied_policy");
	inspecting_stop(&in);
}

TEST(a_shells_program_is_looked_at)
{
	static struct inspecting in;
	struct policy_verdict verdict;

	CHECK(inspecting_start(&in, NULL, 1));
	CHECK(inspecting_check(&in, "standard", "bash", text("ls | wc -l"), HASH_A, &verdict));
	CHECK_EQ_INT(verdict.decision, POLICY_ALLOW);
	CHECK(inspecting_check(&in, "standard", "bash", text("if; then"), NULL, &verdict));
	CHECK_EQ_INT(verdict.decision, POLICY_OBSERVE);
	CHECK_STR(verdict.findings[0].rule, "bash.syntax.unreadable");
	CHECK(inspecting_check(&in, "strict", "bash", text("ls"), HASH_A, &verdict));
	CHECK_EQ_INT(verdict.decision, POLICY_DENY);
	CHECK_STR(verdict.findings[0].rule, "bash.command.denied");
	inspecting_stop(&in);
}

TEST(a_language_may_be_asked_about_and_not_run)
{
	static struct inspecting in;
	struct policy_verdict verdict;
	struct policy_question question;
	struct policy_finding finding;

	make_folder("x.json", "{\"name\":\"x\",\"description\":\"d\",\"extends\":\"strict\","
			      "\"executes\":[\"python\"]}");
	CHECK(inspecting_start(&in, folder, 1));
	drop_folder();
	CHECK(inspecting_check(&in, "x", "python", text("print(1)"), NULL, &verdict));
	CHECK_EQ_INT(verdict.decision, POLICY_ALLOW);
	CHECK(inspecting_check(&in, "x", "bash", text("echo 1"), NULL, &verdict));
	CHECK_EQ_INT(verdict.decision, POLICY_DENY);
	CHECK_STR(verdict.findings[0].rule, "policy.language_denied_execution");
	question = (struct policy_question){ policies_find(in.policies, "x"), "bash",
		text("echo 1"), NULL, &in.arena, true, 0, NULL };
	CHECK(!policy_lookup(in.policies, &question, &verdict));
	CHECK(!policy_executes(question.policy, "bash", &finding));
	CHECK_STR(finding.rule, "policy.language_denied_execution");
	CHECK(policy_executes(question.policy, "python", &finding));
	inspecting_stop(&in);
}

TEST(a_policy_s_languages_have_their_other_names)
{
	static struct inspecting in;
	struct policy_finding finding;
	const struct policy *policy;
	struct policy_verdict verdict;

	make_folder("x.json", "{\"name\":\"x\",\"description\":\"d\",\"extends\":\"strict\","
			      "\"languages\":[\"py\",\"js\"],\"executes\":[\"node\",\"sh\"],"
			      "\"unread\":[\"sh\"]}");
	CHECK(inspecting_start(&in, folder, 1));
	drop_folder();
	policy = policies_find(in.policies, "x");
	CHECK(policy_executes(policy, "javascript", &finding));
	CHECK(!policy_executes(policy, "python", &finding));
	/* The language "sh" exists on this host. */
	CHECK(policy_executes(policy, "sh", &finding));
	CHECK(!policy_executes(policy, "bash", &finding));
	CHECK(inspecting_check(&in, "x", "bash", text("echo 1"), NULL, &verdict));
	CHECK_STR(verdict.findings[0].rule, "policy.language_denied_policy");
	inspecting_stop(&in);
}

TEST(what_is_heavy_is_told_when_there_is_not_room_for_all)
{
	static struct inspecting in;
	struct policy_verdict verdict;
	const size_t len = (size_t)9 * (INSPECT_FINDINGS_MAX + 20);
	auto_free char *code = calloc(1, len + 16);

	CHECK(code);
	for (size_t i = 0; i < len; i += 9)
		memcpy(code + i, "import q\n", 9);
	(void)strcat(code, "eval('1')\n");
	make_folder("x.json", "{\"name\":\"x\",\"description\":\"d\",\"extends\":\"strict\","
			      "\"rules\":{\"*\":\"deny\",\"python.import.denied\":\"observe\"}}");
	CHECK(inspecting_start(&in, folder, 1));
	drop_folder();
	CHECK(inspecting_check(&in, "x", "python", text(code), NULL, &verdict));
	CHECK_EQ_INT(verdict.decision, POLICY_DENY);
	CHECK_EQ_INT(verdict.finding_count, INSPECT_FINDINGS_MAX + 1);
	CHECK_STR(verdict.findings[INSPECT_FINDINGS_MAX - 1].rule, "python.call.denied");
	CHECK_STR(verdict.findings[INSPECT_FINDINGS_MAX].severity, "observe");
	inspecting_stop(&in);
}

TEST(without_an_inspector_a_program_is_denied)
{
	static struct inspecting in;
	struct policy_verdict verdict;

	CHECK(inspecting_start(&in, NULL, 0));
	CHECK(inspecting_check(&in, "strict", "python", text("print(1)"), HASH_A, &verdict));
	CHECK_EQ_INT(verdict.decision, POLICY_DENY);
	CHECK_STR(verdict.findings[0].rule, "policy.absent");
	inspecting_stop(&in);
}

struct told {
	enum policy_decision decision;
	char rule[40];
	bool nothing; /* no decision was made */
	bool done;
	unsigned order;
};

static void note_told(void *context, const struct policy_verdict *verdict)
{
	struct told *told = context;

	told->nothing = verdict == NULL;
	if (verdict)
		told->decision = verdict->decision;
	if (verdict && verdict->finding_count > 0)
		(void)snprintf(told->rule, sizeof(told->rule), "%s", verdict->findings[0].rule);
	told->done = true;
}

/* Returns whether so many inspectors have loaded the rules. */
static bool all_ready(struct inspecting *in, uint64_t count)
{
	bool never = false;

	for (unsigned ms = 0; ms < 60000; ms += 5) {
		struct arena arena;
		struct value *status;
		uint64_t ready;

		arena_init(&arena, 1U << 16);
		status = policies_status(in->policies, &arena);
		ready = (uint64_t)value_get(status, "ready")->integer;
		arena_done(&arena);
		if (ready == count)
			return true;
		(void)inspecting_wait(in, &never, 5);
	}
	return false;
}

static struct policy_question question_of(struct inspecting *in, const char *code)
{
	return (struct policy_question){ policies_find(in->policies, "strict"), "python",
		text(code), NULL, &in->arena, false, 0, NULL };
}

/* Asks for the verdict on a program.  Sends the signals to the inspector before it can answer. */
static struct told told_after(struct inspecting *in, int signal, int then_signal, unsigned pause_ms)
{
	struct policy_question question = question_of(in, "print(1)");
	struct told told = { .decision = POLICY_ASK };
	struct err err = ERR_INIT;
	bool never = false;

	(void)kill(in->children[0], signal);
	if (policy_check(in->policies, &question, note_told, &told, &err) < 0)
		return told;
	if (pause_ms > 0)
		(void)inspecting_wait(in, &never, pause_ms);
	if (then_signal)
		(void)kill(in->children[0], then_signal);
	(void)inspecting_wait(in, &told.done, 60000);
	return told;
}

TEST(a_program_whose_inspector_is_killed_is_read_by_another)
{
	static struct inspecting in;
	struct told told;

	CHECK(inspecting_start(&in, NULL, 2));
	CHECK(all_ready(&in, 2));
	told = told_after(&in, SIGSTOP, SIGKILL, 20);
	CHECK_EQ_INT(told.decision, POLICY_ALLOW);
	CHECK_EQ_INT(in.lost, 1);
	inspecting_stop(&in);
}

TEST(a_program_is_not_given_to_an_inspector_that_is_dead)
{
	static struct inspecting in;
	struct told told;

	CHECK(inspecting_start(&in, NULL, 1));
	in.replace = true;
	told = told_after(&in, SIGKILL, 0, 0);
	CHECK_EQ_INT(told.decision, POLICY_ALLOW);
	CHECK_EQ_INT(in.lost, 1);
	inspecting_stop(&in);
}

/* A busy host stalls the inspector: the answer comes late but is the same. */
TEST(an_inspector_that_stands_still_for_a_while_gives_the_same_verdict)
{
	static struct inspecting in;
	struct told told;

	CHECK(inspecting_start(&in, NULL, 1));
	told = told_after(&in, SIGSTOP, SIGCONT, 2500);
	CHECK_EQ_INT(told.decision, POLICY_ALLOW);
	CHECK_EQ_INT(in.lost, 0);
	inspecting_stop(&in);
}

TEST(an_inspector_that_is_stuck_is_given_up_and_another_one_answers)
{
	static struct inspecting in;
	struct told told;

	CHECK(inspecting_start(&in, NULL, 2));
	CHECK(all_ready(&in, 2));
	policies_patience(in.policies, &(struct inspector_patience){ 300, 60000, 60000 });
	told = told_after(&in, SIGSTOP, 0, 0);
	CHECK_EQ_INT(told.decision, POLICY_ALLOW);
	CHECK_EQ_INT(in.lost, 1);
	CHECK_STR(in.last_why, "it is stuck");
	inspecting_stop(&in);
}

TEST(a_program_over_which_two_inspectors_are_lost_is_denied)
{
	static struct inspecting in;
	struct told told;

	CHECK(inspecting_start(&in, NULL, 2));
	CHECK(all_ready(&in, 2));
	policies_patience(in.policies, &(struct inspector_patience){ 300, 60000, 60000 });
	CHECK_EQ_INT(kill(in.children[1], SIGSTOP), 0);
	told = told_after(&in, SIGSTOP, 0, 0);
	CHECK_EQ_INT(told.decision, POLICY_DENY);
	CHECK_STR(told.rule, "policy.unreadable");
	CHECK_EQ_INT(in.lost, 2);
	inspecting_stop(&in);
}

TEST(where_nobody_is_left_to_read_a_program_it_is_denied)
{
	static struct inspecting in;
	struct told told;

	CHECK(inspecting_start(&in, NULL, 1));
	policies_patience(in.policies, &(struct inspector_patience){ 60000, 60000, 300 });
	told = told_after(&in, SIGKILL, 0, 0);
	CHECK_EQ_INT(told.decision, POLICY_DENY);
	CHECK_STR(told.rule, "policy.absent");
	inspecting_stop(&in);
}

TEST(where_all_inspectors_stay_busy_nothing_is_decided)
{
	static struct inspecting in;
	struct policy_question question;
	struct told first = { .decision = POLICY_ASK };
	struct told told = { .decision = POLICY_ASK };
	struct err err = ERR_INIT;

	CHECK(inspecting_start(&in, NULL, 1));
	policies_patience(in.policies, &(struct inspector_patience){ 60000, 300, 60000 });
	CHECK_EQ_INT(kill(in.children[0], SIGSTOP), 0);
	question = question_of(&in, "print(1)");
	CHECK_EQ_INT(policy_check(in.policies, &question, note_told, &first, &err), 0);
	CHECK_EQ_INT(policy_check(in.policies, &question, note_told, &told, &err), 0);
	CHECK(inspecting_wait(&in, &told.done, 60000));
	CHECK(told.nothing);
	CHECK(!first.done);
	CHECK_EQ_INT(kill(in.children[0], SIGCONT), 0);
	CHECK(inspecting_wait(&in, &first.done, 60000));
	CHECK_EQ_INT(first.decision, POLICY_ALLOW);
	inspecting_stop(&in);
}

/* Records the order of the answers. */
static void note_order(void *context, const struct policy_verdict *verdict)
{
	struct told *told = context;
	static unsigned count;

	(void)verdict;
	told->order = ++count;
	told->done = true;
}

TEST(users_take_turns_in_line)
{
	enum {
		MANY = 20
	};
	static struct inspecting in;
	struct told many[MANY] = { 0 };
	struct told one = { 0 };
	struct policy_question question;
	struct err err = ERR_INIT;

	CHECK(inspecting_start(&in, NULL, 1));
	question = question_of(&in, "print(1)");
	for (int i = 0; i < MANY; i++)
		CHECK_EQ_INT(policy_check(in.policies, &question, note_order, &many[i], &err), 0);
	question.uid = 7;
	CHECK_EQ_INT(policy_check(in.policies, &question, note_order, &one, &err), 0);
	for (int i = 0; i < MANY; i++)
		CHECK(inspecting_wait(&in, &many[i].done, 60000));
	CHECK(one.done);
	CHECK(one.order <= many[2].order);
	for (int i = 1; i < MANY; i++)
		CHECK(many[i].order > many[i - 1].order);
	inspecting_stop(&in);
}

/* Each of many checks takes a while, and there are only two inspectors. */
TEST(one_user_leaves_an_inspector_to_others_while_they_are_about)
{
	enum {
		MANY = 4,
		LINES = 10000
	};
	static struct inspecting in;
	static char large[LINES * 9 + 1];
	struct told many[MANY] = { 0 };
	struct told one = { 0 };
	struct policy_question question;
	struct policy_question small;
	struct err err = ERR_INIT;

	for (size_t i = 0; i < LINES; i++)
		memcpy(large + i * 9, "print(1)\n", 9);
	CHECK(inspecting_start(&in, NULL, 2));
	question = question_of(&in, large);
	small = question_of(&in, "print(2)");
	small.uid = 7;
	CHECK_EQ_INT(policy_check(in.policies, &small, note_order, &one, &err), 0);
	CHECK(inspecting_wait(&in, &one.done, 60000));
	one = (struct told){ 0 };
	for (int i = 0; i < MANY; i++)
		CHECK_EQ_INT(policy_check(in.policies, &question, note_order, &many[i], &err), 0);
	CHECK_EQ_INT(policy_check(in.policies, &small, note_order, &one, &err), 0);
	for (int i = 0; i < MANY; i++)
		CHECK(inspecting_wait(&in, &many[i].done, 60000));
	CHECK(one.done);
	CHECK(one.order < many[1].order);
	inspecting_stop(&in);
}

TEST(an_inspector_that_has_worked_long_enough_goes_between_two_questions)
{
	static struct inspecting in;
	struct policy_verdict verdict;

	CHECK(inspecting_start(&in, NULL, 1));
	in.replace = true;
	policies_retire_after(in.policies, 0);
	for (int i = 0; i < 3; i++) {
		CHECK(inspecting_ready(&in));
		CHECK(inspecting_check(&in, "strict", "python", text("print(1)"), NULL, &verdict));
		CHECK_EQ_INT(verdict.decision, POLICY_ALLOW);
	}
	CHECK_EQ_INT(in.lost, 3);
	CHECK(in.last_retired);
	inspecting_stop(&in);
}

static void count_verdict(void *context, const struct policy_verdict *verdict)
{
	unsigned *count = context;

	if (verdict->decision == POLICY_ALLOW)
		++*count;
}

TEST(many_programs_wait_in_line_and_a_full_line_says_so)
{
	static struct inspecting in;
	struct policy_question question;
	struct err err = ERR_INIT;
	unsigned allowed = 0;
	unsigned taken = 0;
	bool never = false;

	CHECK(inspecting_start(&in, NULL, 2));
	question = (struct policy_question){ policies_find(in.policies, "strict"), "python",
		text("print(1)"), NULL, &in.arena, false, 0, NULL };
	while (policy_check(in.policies, &question, count_verdict, &allowed, &err) == 0)
		taken++;
	CHECK_EQ_INT(err.code, ERR_BUSY);
	CHECK(taken >= INSPECT_QUEUE_MAX);
	for (int i = 0; i < 100 && allowed < taken; i++)
		(void)inspecting_wait(&in, &never, 20);
	CHECK_EQ_INT(allowed, taken);
	inspecting_stop(&in);
}

TEST(closing_answers_what_is_still_open)
{
	static struct inspecting in;
	struct policy_question question;
	struct err err = ERR_INIT;
	unsigned allowed = 0;

	CHECK(inspecting_start(&in, NULL, 1));
	question = (struct policy_question){ policies_find(in.policies, "strict"), "python",
		text("print(1)"), NULL, &in.arena, false, 0, NULL };
	CHECK_EQ_INT(policy_check(in.policies, &question, count_verdict, &allowed, &err), 0);
	CHECK_EQ_INT(policy_check(in.policies, &question, count_verdict, &allowed, &err), 0);
	inspecting_stop(&in);
	CHECK_EQ_INT(allowed, 0);
}

TEST(a_program_of_full_size_is_checked_and_one_more_byte_is_refused)
{
	static struct inspecting in;
	struct policy_verdict verdict;
	auto_free char *code = malloc(INSPECT_CODE_MAX + 2);

	CHECK(code);
	memset(code, '\n', INSPECT_CODE_MAX + 2);
	CHECK(inspecting_start(&in, NULL, 1));
	CHECK(inspecting_check(
		&in, "strict", "python", (struct bytes){ code, INSPECT_CODE_MAX }, NULL, &verdict));
	CHECK_EQ_INT(verdict.decision, POLICY_ALLOW);
	CHECK(inspecting_check(&in, "strict", "python",
		(struct bytes){ code, INSPECT_CODE_MAX + 2 }, NULL, &verdict));
	CHECK_EQ_INT(verdict.decision, POLICY_DENY);
	CHECK_STR(verdict.findings[0].rule, "python.bytes.size");
	inspecting_stop(&in);
}

TEST(what_is_too_much_to_tell_is_cut_and_denied)
{
	static struct inspecting in;
	struct policy_verdict verdict;
	const size_t len = (size_t)10 * (INSPECT_FINDINGS_MAX + 20);
	auto_free char *code = calloc(1, len + 1);

	CHECK(code);
	for (size_t i = 0; i < len; i += 10)
		memcpy(code + i, "eval('1')\n", 10);
	CHECK(inspecting_start(&in, NULL, 1));
	CHECK(inspecting_check(&in, "strict", "python", text(code), NULL, &verdict));
	CHECK_EQ_INT(verdict.finding_count, INSPECT_FINDINGS_MAX + 1);
	CHECK_STR(verdict.findings[INSPECT_FINDINGS_MAX].rule, "policy.cut");
	CHECK_STR(verdict.findings[INSPECT_FINDINGS_MAX].severity, "deny");
	CHECK(inspecting_check(&in, "observe", "python", text(code), NULL, &verdict));
	CHECK_EQ_INT(verdict.decision, POLICY_OBSERVE);
	inspecting_stop(&in);
}

TEST(policies_describe_themselves)
{
	struct err err = ERR_INIT;
	struct policies *policies = policies_load(NULL, NULL, &err);
	struct arena arena;
	struct value *list;

	CHECK(policies);
	arena_init(&arena, 1 << 20);
	list = policies_describe(policies, &arena);
	CHECK_EQ_INT(list->list.count, 4);
	CHECK(value_as_text(value_get(value_at(list, 0), "description")));
	CHECK_EQ_INT(value_as_int(value_get(policies_status(policies, &arena), "alive"), -1), 0);
	arena_done(&arena);
	policies_close(policies);
}

/* ---- the heads of rules files -------------------------------------------------------------- */

static int parse_rules(const char *source, struct arena *arena, struct rules_file *file)
{
	struct err err = ERR_INIT;

	return rules_file_parse(arena, source, strlen(source), file, &err);
}

/* A head with two lists is refused, not read as one list. */
TEST(a_rule_finds_one_thing)
{
	static const char source[] = ";;; a.b\n;;; finds word in { a b c d e f g }\n"
				     ";;; finds word in { h i }\n;;; message m\n(x) @name\n";
	struct rules_file file;
	struct arena arena;

	arena_init(&arena, 1 << 20);
	CHECK_EQ_INT(parse_rules(source, &arena, &file), -1);
	arena_done(&arena);
}

TEST(heads_in_a_row_share_the_patterns_behind_them)
{
	static const char source[] = "; words\n"
				     ";;; a.b\n;;; finds any\n;;; message m\n\n"
				     ";;; a.c\n;;; finds word not in list\n;;; unless store bound\n"
				     ";;; message n\n;;; hint h\n"
				     "(x) @name\n"
				     ";;; a.d\n;;; finds module\n;;; message o\n(y) @name\n";
	struct rules_file file;
	struct arena arena;

	arena_init(&arena, 1 << 20);
	CHECK_EQ_INT(parse_rules(source, &arena, &file), 0);
	CHECK_EQ_INT(file.count, 3);
	CHECK_STR(file.rules[0].id, "a.b");
	CHECK_EQ_INT(file.rules[0].how.start, 8);
	CHECK_EQ_INT(file.rules[1].how.start, 8);
	CHECK_EQ_INT(file.rules[1].how.subject, SUBJECT_WORD);
	CHECK_EQ_INT(file.rules[1].how.relation, RELATION_NOT_IN);
	CHECK_EQ_INT(file.rules[1].how.unless, UNLESS_STORE | UNLESS_BOUND);
	CHECK_STR(file.rules[1].list, "list");
	CHECK_STR(file.rules[1].hint, "h");
	CHECK(file.rules[2].how.start > file.rules[1].how.start);
	arena_done(&arena);
}

TEST(heads_with_faults_are_refused)
{
	static const char *const rows[] = {
		";;; finds any\n",
		";;; a.b\n",
		";;; a.b\n;;; finds any\n",
		";;; a.b\n;;; message m\n",
		";;; a.b\n;;; finds everything\n;;; message m\n",
		";;; a.b\n;;; finds any in list\n;;; message m\n",
		";;; a.b\n;;; finds word\n;;; message m\n",
		";;; a.b\n;;; finds word in\n;;; message m\n",
		";;; a.b\n;;; finds word in one two\n;;; message m\n",
		";;; a.b\n;;; finds any\n;;; message m\n;;; unless never\n",
		";;; a.b\n;;; finds any\n;;; message m\n;;; colour red\n",
		";;; a.b\n;;; finds any\n;;; message m\n(x)\n;;; hint late\n",
	};
	struct rules_file file;
	struct arena arena;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		arena_init(&arena, 1 << 20);
		CHECK_EQ_INT(parse_rules(rows[i], &arena, &file), -1);
		arena_done(&arena);
	}
}
