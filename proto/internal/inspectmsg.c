#include "proto/internal/inspectmsg.h"

#include <string.h>

#include "proto/base/utf8.h"

/* The longest body of each kind. */
static const struct {
	const char *name;
	uint32_t len_max;
} kinds_table[] = {
	[INSPECT_NONE] = { "nothing", 0 },
	[INSPECT_RULES] = { "rules", INSPECT_RULES_MAX },
	[INSPECT_READY] = { "ready", INSPECT_READY_MAX },
	[INSPECT_CHECK] = { "check", INSPECT_CHECK_MAX },
	[INSPECT_FINDINGS] = { "findings", INSPECT_ANSWER_MAX },
	[INSPECT_WORKING] = { "a sign of work", 0 },
};

int inspect_head_check(const struct inspect_head *head, uint32_t kinds, struct err *err)
{
	if (head->magic != INSPECT_MAGIC)
		return err_set(
			err, ERR_PROTOCOL, "this is not a message between ced and an inspector");
	if (head->kind >= INSPECT_KIND_COUNT || !(kinds & (1U << head->kind)))
		return err_set(err, ERR_PROTOCOL, "message %u is out of turn", head->kind);
	if (head->len > kinds_table[head->kind].len_max)
		return err_set(err, ERR_PROTOCOL, "%s of %u bytes is too long",
			kinds_table[head->kind].name, head->len);
	return 0;
}

/* ---- writing: a failure is kept, so that one check at the end is enough -------------------- */

struct writer {
	struct buf *out;
	size_t head_at;
	bool failed;
};

static void put_bytes(struct writer *writer, const void *bytes, size_t len)
{
	if (!writer->failed && buf_append(writer->out, bytes, len) < 0)
		writer->failed = true;
}

static void put_number(struct writer *writer, uint32_t number)
{
	put_bytes(writer, &number, sizeof(number));
}

static void put_text(struct writer *writer, const char *text, size_t len)
{
	if (len > INSPECT_RULES_MAX)
		writer->failed = true;
	put_number(writer, (uint32_t)len);
	put_bytes(writer, text, len);
}

static struct writer begin_message(struct buf *out, enum inspect_kind kind, uint32_t id)
{
	struct inspect_head head = { INSPECT_MAGIC, (uint32_t)kind, id, 0 };
	struct writer writer = { .out = out, .head_at = out->len };

	put_bytes(&writer, &head, sizeof(head));
	return writer;
}

/* Fills in the length.  On failure removes the message from the buffer. */
static int end_message(struct writer *writer, struct err *err)
{
	size_t body_at = writer->head_at + sizeof(struct inspect_head);

	if (!writer->failed) {
		struct inspect_head head;
		uint32_t kinds;

		memcpy(&head, writer->out->bytes + writer->head_at, sizeof(head));
		kinds = 1U << head.kind;
		head.len = (uint32_t)(writer->out->len - body_at);
		memcpy(writer->out->bytes + writer->head_at, &head, sizeof(head));
		if (inspect_head_check(&head, kinds, err) == 0)
			return 0;
	} else {
		(void)err_set(err, ERR_MEMORY, "no room for a message to or from an inspector");
	}
	writer->out->len = writer->head_at;
	return -1;
}

static void put_language(struct writer *writer, const struct inspect_language *language)
{
	put_text(writer, language->name, strlen(language->name));
	put_text(writer, language->rules, language->rules_len);
	put_text(writer, language->scope, language->scope_len);
	put_number(writer, language->rule_first);
	put_number(writer, language->rule_count);
}

static void put_list(struct writer *writer, const struct inspect_list *list)
{
	put_number(writer, list->count);
	for (uint32_t i = 0; i < list->count; i++)
		put_text(writer, list->words[i], strlen(list->words[i]));
}

int inspect_rules_encode(const struct inspect_rules *rules, struct buf *out, struct err *err)
{
	struct writer writer = begin_message(out, INSPECT_RULES, 0);

	put_number(&writer, rules->language_count);
	put_number(&writer, rules->rule_count);
	put_number(&writer, rules->list_count);
	put_number(&writer, rules->policy_count);
	for (uint32_t i = 0; i < rules->language_count; i++)
		put_language(&writer, &rules->languages[i]);
	put_bytes(&writer, rules->rules, rules->rule_count * sizeof(*rules->rules));
	for (uint32_t i = 0; i < rules->list_count; i++)
		put_list(&writer, &rules->lists[i]);
	for (uint32_t i = 0; i < rules->policy_count; i++)
		put_bytes(&writer, rules->policies[i].settings,
			rules->rule_count * sizeof(struct inspect_setting));
	return end_message(&writer, err);
}

int inspect_ready_encode(const char *why_not, struct buf *out, struct err *err)
{
	struct writer writer = begin_message(out, INSPECT_READY, 0);

	put_bytes(&writer, why_not, strlen(why_not));
	return end_message(&writer, err);
}

int inspect_findings_encode(
	uint32_t id, const struct inspect_findings *findings, struct buf *out, struct err *err)
{
	struct writer writer = begin_message(out, INSPECT_FINDINGS, id);

	put_number(&writer, findings->count);
	put_number(&writer, findings->cut);
	for (uint32_t i = 0; i < findings->count; i++) {
		const struct inspect_finding *finding = &findings->findings[i];

		put_number(&writer, finding->rule);
		put_number(&writer, finding->line);
		put_number(&writer, finding->column);
		put_text(&writer, finding->text, finding->text_len);
	}
	return end_message(&writer, err);
}

struct inspect_check_head inspect_check_head(
	uint32_t id, uint32_t policy, uint32_t language, size_t *code_len)
{
	if (*code_len > INSPECT_CODE_MAX)
		*code_len = INSPECT_CODE_MAX + 1U;
	return (struct inspect_check_head){
		.head = { INSPECT_MAGIC, INSPECT_CHECK, id, (uint32_t)(8U + *code_len) },
		.policy = policy,
		.language = language,
	};
}

/* ---- reading: a read past the end returns 0 and sets `failed` ------------------------------ */

struct reader {
	struct arena *arena;
	const char *at;
	size_t left;
	bool failed;
};

static const char *take_bytes(struct reader *reader, size_t len)
{
	const char *bytes = reader->at;

	if (reader->failed || len > reader->left) {
		reader->failed = true;
		return NULL;
	}
	reader->at += len;
	reader->left -= len;
	return bytes;
}

static uint32_t take_number(struct reader *reader)
{
	const char *bytes = take_bytes(reader, sizeof(uint32_t));
	uint32_t number = 0;

	if (bytes)
		memcpy(&number, bytes, sizeof(number));
	return number;
}

/* Reads a number of at most `most`. */
static uint32_t take_count(struct reader *reader, uint32_t most)
{
	uint32_t count = take_number(reader);

	if (count <= most)
		return count;
	reader->failed = true;
	return 0;
}

/* Reads a text into a NUL-terminated copy; "" after a failure. */
static const char *take_text(struct reader *reader, size_t *ret_len)
{
	uint32_t len = take_number(reader);
	const char *bytes = take_bytes(reader, len);
	const char *text = bytes ? arena_copy(reader->arena, bytes, len) : NULL;

	if (!text)
		reader->failed = true;
	*ret_len = text ? len : 0;
	return text ? text : "";
}

/* Allocates an array of `count` items.  On failure returns NULL and sets `failed`. */
static void *take_room(struct reader *reader, size_t count, size_t size)
{
	void *room = reader->failed ? NULL : arena_calloc(reader->arena, count, size);

	if (!room)
		reader->failed = true;
	return room;
}

static void take_language(
	struct reader *reader, struct inspect_language *language, uint32_t rule_count)
{
	size_t len;

	language->name = take_text(reader, &len);
	language->rules = take_text(reader, &language->rules_len);
	language->scope = take_text(reader, &language->scope_len);
	language->rule_first = take_count(reader, rule_count);
	language->rule_count = take_count(reader, rule_count - language->rule_first);
}

static void take_languages(struct reader *reader, struct inspect_rules *rules)
{
	rules->languages = take_room(reader, rules->language_count, sizeof(*rules->languages));
	for (uint32_t i = 0; i < rules->language_count && !reader->failed; i++)
		take_language(reader, &rules->languages[i], rules->rule_count);
}

static bool rule_is_sound(const struct inspect_rule *rule, uint32_t rule_count)
{
	return rule->subject < SUBJECT_COUNT && rule->relation < RELATION_COUNT &&
	       (rule->unless & ~(uint32_t)UNLESS_ALL) == 0 && rule->first < rule_count &&
	       rule->beside <= rule_count;
}

static void take_rules(struct reader *reader, struct inspect_rules *rules)
{
	size_t size = rules->rule_count * sizeof(*rules->rules);
	const char *bytes = take_bytes(reader, size);

	rules->rules = take_room(reader, rules->rule_count, sizeof(*rules->rules));
	if (reader->failed)
		return;
	memcpy(rules->rules, bytes, size);
	for (uint32_t i = 0; i < rules->rule_count; i++)
		if (!rule_is_sound(&rules->rules[i], rules->rule_count))
			reader->failed = true;
}

static void take_list(struct reader *reader, struct inspect_list *list, uint32_t *words_left)
{
	size_t len;

	list->count = take_count(reader, *words_left);
	*words_left -= list->count;
	list->words = take_room(reader, list->count, sizeof(*list->words));
	for (uint32_t i = 0; i < list->count && !reader->failed; i++)
		list->words[i] = take_text(reader, &len);
}

static void take_lists(struct reader *reader, struct inspect_rules *rules)
{
	uint32_t words_left = INSPECT_WORDS_MAX;

	rules->lists = take_room(reader, rules->list_count, sizeof(*rules->lists));
	for (uint32_t i = 0; i < rules->list_count && !reader->failed; i++)
		take_list(reader, &rules->lists[i], &words_left);
}

bool inspect_subject_has_list(uint32_t subject)
{
	return subject != SUBJECT_ANY && subject != SUBJECT_MODULE && subject != SUBJECT_OPAQUE &&
	       subject != SUBJECT_DYNAMIC && subject != SUBJECT_DELIMITER &&
	       subject != SUBJECT_BACKTICK && subject != SUBJECT_SUBSCRIPT &&
	       subject != SUBJECT_SUBSTITUTION;
}

static bool setting_is_sound(
	const struct inspect_setting *setting, const struct inspect_rules *rules, uint32_t rule)
{
	if (setting->weight >= WEIGHT_COUNT)
		return false;
	return setting->weight == WEIGHT_OFF ||
	       !inspect_subject_has_list(rules->rules[rule].subject) ||
	       setting->list < rules->list_count;
}

static void take_policy(
	struct reader *reader, struct inspect_policy *policy, const struct inspect_rules *rules)
{
	size_t size = rules->rule_count * sizeof(*policy->settings);
	const char *bytes = take_bytes(reader, size);

	policy->settings = take_room(reader, rules->rule_count, sizeof(*policy->settings));
	if (reader->failed)
		return;
	memcpy(policy->settings, bytes, size);
	for (uint32_t i = 0; i < rules->rule_count; i++)
		if (!setting_is_sound(&policy->settings[i], rules, i))
			reader->failed = true;
}

static void take_policies(struct reader *reader, struct inspect_rules *rules)
{
	rules->policies = take_room(reader, rules->policy_count, sizeof(*rules->policies));
	for (uint32_t i = 0; i < rules->policy_count && !reader->failed; i++)
		take_policy(reader, &rules->policies[i], rules);
}

/* Rejects a message that is not read exactly to its last byte. */
static int end_reading(const struct reader *reader, const char *what, struct err *err)
{
	if (reader->failed || reader->left > 0)
		return err_set(err, ERR_PROTOCOL, "%s cannot be understood", what);
	return 0;
}

int inspect_rules_decode(struct arena *arena, const char *body, size_t len,
	struct inspect_rules *ret_rules, struct err *err)
{
	struct reader reader = { .arena = arena, .at = body, .left = len };
	struct inspect_rules rules = { 0 };

	rules.language_count = take_count(&reader, INSPECT_LANGUAGES_MAX);
	rules.rule_count = take_count(&reader, INSPECT_RULE_COUNT_MAX);
	rules.list_count = take_count(&reader, INSPECT_LISTS_MAX);
	rules.policy_count = take_count(&reader, INSPECT_POLICIES_MAX);
	take_languages(&reader, &rules);
	take_rules(&reader, &rules);
	take_lists(&reader, &rules);
	take_policies(&reader, &rules);
	if (end_reading(&reader, "the rules", err) < 0)
		return -1;
	*ret_rules = rules;
	return 0;
}

int inspect_check_decode(
	const char *body, size_t len, struct inspect_check *ret_check, struct err *err)
{
	struct reader reader = { .at = body, .left = len };
	struct inspect_check check = { 0 };

	check.policy = take_number(&reader);
	check.language = take_number(&reader);
	check.code_len = reader.left;
	check.code = take_bytes(&reader, check.code_len);
	if (end_reading(&reader, "the check", err) < 0)
		return -1;
	*ret_check = check;
	return 0;
}

static void take_finding(
	struct reader *reader, struct inspect_finding *finding, uint32_t rule_count)
{
	const char *text;

	finding->rule = take_count(reader, INSPECT_BUILTIN_COUNT + rule_count - 1);
	finding->line = take_number(reader);
	finding->column = take_number(reader);
	finding->text_len = take_count(reader, INSPECT_TEXT_MAX);
	text = take_bytes(reader, finding->text_len);
	if (!text || !utf8_is_valid(text, finding->text_len)) {
		reader->failed = true;
		return;
	}
	memcpy(finding->text, text, finding->text_len);
}

int inspect_findings_decode(struct arena *arena, const char *body, size_t len, uint32_t rule_count,
	struct inspect_findings *ret_findings, struct err *err)
{
	struct reader reader = { .arena = arena, .at = body, .left = len };
	struct inspect_findings found = { 0 };

	found.count = take_count(&reader, INSPECT_FINDINGS_MAX);
	found.cut = take_count(&reader, WEIGHT_COUNT - 1);
	found.findings = take_room(&reader, found.count, sizeof(*found.findings));
	for (uint32_t i = 0; i < found.count && !reader.failed; i++)
		take_finding(&reader, &found.findings[i], rule_count);
	if (end_reading(&reader, "the findings", err) < 0)
		return -1;
	*ret_findings = found;
	return 0;
}
