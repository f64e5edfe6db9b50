#include <string.h>

#include "daemon/inspector/shape.h"
#include "tests/check.h"

const TSLanguage *tree_sitter_python(void);
const TSLanguage *tree_sitter_bash(void);

/* `asked` is the name of the capture that a condition is about, or NULL. */
static void read_pattern(const TSLanguage *language, const char *text, const char *asked,
	struct shapes *shapes, uint32_t *ret_first)
{
	uint32_t asked_id = SHAPE_ASKED_NONE;
	TSQueryError kind;
	uint32_t at;
	TSQuery *query = ts_query_new(language, text, (uint32_t)strlen(text), &at, &kind);

	*shapes = (struct shapes){ 0 };
	CHECK(query);
	for (uint32_t i = 0; asked && i < ts_query_capture_count(query); i++) {
		uint32_t len;

		if (strcmp(ts_query_capture_name_for_id(query, i, &len), asked) == 0)
			asked_id = i;
	}
	CHECK(!asked || asked_id != SHAPE_ASKED_NONE);
	*ret_first = shape_read(shapes, query, language, text, strlen(text), asked_id);
	ts_query_delete(query);
}

static void check_taken(const TSLanguage *language, const char *text, const char *asked, bool taken)
{
	struct shapes shapes;
	uint32_t first = 0;

	read_pattern(language, text, asked, &shapes, &first);
	CHECK_EQ_INT(first > 0, taken);
	CHECK_EQ_INT(shapes.count > 0, taken);
	shapes_done(&shapes);
}

TEST(a_node_in_a_node_is_a_step_in_a_step)
{
	struct shapes shapes;
	uint32_t first = 0;
	const struct shape_step *call;
	const struct shape_step *function;
	const struct shape_step *list;
	const struct shape_step *argument;

	read_pattern(tree_sitter_python(),
		"(call ; its )\n function: (identifier) @a arguments: (argument_list . (_) @b)) @c @d",
		NULL, &shapes, &first);
	call = &shapes.steps[first];
	function = &shapes.steps[call->inside];
	list = &shapes.steps[function->next];
	argument = &shapes.steps[list->inside];

	CHECK(first > 0 && call->next == 0 && call->other == 0 && call->captured);
	CHECK_EQ_INT(call->capture_count, 2);
	CHECK(function->field && function->field != list->field && function->inside == 0);
	CHECK_EQ_INT(function->capture_count, 1);
	CHECK(list->capture_count == 0 && list->captured && list->next == 0);
	CHECK(argument->any && argument->immediate);
	shapes_done(&shapes);
}

TEST(each_alternative_is_followed_by_the_same)
{
	struct shapes shapes;
	uint32_t first = 0;
	const struct shape_step *one;
	const struct shape_step *other;

	read_pattern(tree_sitter_python(),
		"(call function: [(identifier) (attribute)] @a arguments: (argument_list))", NULL,
		&shapes, &first);
	one = &shapes.steps[shapes.steps[first].inside];
	other = &shapes.steps[one->other];

	CHECK(first > 0 && one->other > 0 && other->other == 0);
	CHECK(one->next > 0 && one->next == other->next && one->field == other->field);
	CHECK_EQ_INT(one->captures[0], other->captures[0]);
	shapes_done(&shapes);
}

TEST(what_may_come_more_than_once_or_not_at_all_is_left)
{
	static const char *const rows[] = { "(call (argument_list)? @a)", "(call (_)* @a)",
		"(module (comment)+ @a)", "((comment) @a (comment) @b)", "(_ (identifier)) @a",
		"(call !function) @a", "(expression) @a", "(module (_ (_)* @a))", "(MISSING) @a",
		"(call _ @a)", "[(identifier) [(call) (string)]] @a",
		"(argument_list (call) @a .)" };

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		check_taken(tree_sitter_python(), rows[i], NULL, false);
}

TEST(brackets_without_a_node_are_left)
{
	static const char *const rows[] = { "(call ((identifier) @a))", "(((identifier) @a))",
		"(call [((identifier)) (attribute)] @a)", "(argument_list (\"(\") @a)" };

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		check_taken(tree_sitter_python(), rows[i], NULL, false);
}

TEST(alternatives_that_one_node_may_go_both_of_are_left)
{
	static const char *const rows[] = { "(call [(identifier) (_)] @a)",
		"(call [(argument_list (call) @a) (argument_list (string) @a)])",
		"(call [(argument_list (call) @b) (identifier)] @a)" };

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		check_taken(tree_sitter_python(), rows[i], NULL, false);
	check_taken(tree_sitter_python(),
		"(call [(argument_list (call) @a) (attribute (string) @a)] @b)", NULL, true);
}

TEST(a_condition_is_about_one_node_that_is_always_there)
{
	const TSLanguage *python = tree_sitter_python();

	check_taken(python,
		"((call (identifier) @_b (argument_list [(call) (string)] @a)) (#any-of? @_b \"x\"))",
		"_b", true);
	check_taken(
		python, "((call [(identifier) (call)] @_b) @a (#any-of? @_b \"x\"))", "_b", false);
	check_taken(python,
		"((call (identifier) @_b (argument_list (identifier) @_b)) (#any-of? @_b \"x\"))",
		"_b", false);
}

TEST(a_dot_behind_what_is_only_looked_for_once_is_left)
{
	check_taken(tree_sitter_python(), "(call (attribute (call)) . (_) @a)", NULL, false);
	check_taken(tree_sitter_python(), "(call (attribute (call) @b) . (_) @a)", NULL, true);
	check_taken(tree_sitter_python(), "(call (attribute) . (_) @a)", NULL, true);
	check_taken(tree_sitter_python(), "(argument_list . [\"(\" (attribute)] . (_) @a)", NULL,
		false);
}

TEST(a_field_that_several_nodes_share_is_left_but_for_the_name_of_a_file)
{
	struct shapes shapes;
	uint32_t first = 0;
	const struct shape_step *word;

	read_pattern(tree_sitter_bash(), "(file_redirect destination: [(word) (string)] @a)", NULL,
		&shapes, &first);
	word = &shapes.steps[shapes.steps[first].inside];

	CHECK(first > 0 && word->once && shapes.steps[word->other].once);
	shapes_done(&shapes);
	check_taken(tree_sitter_bash(), "(if_statement condition: (command) @a)", NULL, false);
	check_taken(tree_sitter_python(), "(if_statement condition: (call) @a)", NULL, true);
}
