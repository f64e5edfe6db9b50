/*
 * Hostile programs through the whole of an inspector: bytes, tree, rules, scopes, findings.  Each
 * is checked as a program of every language that has rules.
 *
 * Besides doing no harm: every finding can be sent, and the other end accepts it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/inspector/inspector.h"
#include "daemon/policy/rulebook.h"
#include "proto/base/clock.h"
#include "tests/fuzz/fuzz.h"

static struct inspector *inspector;
static struct rulebook *book;
static uint32_t strict;

/* Compiling the rules takes longer than a check of any text may. */
int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	struct err err = ERR_INIT;
	const size_t head = sizeof(struct inspect_head);

	(void)argc;
	(void)argv;
	book = rulebook_load(NULL, &err);
	if (book)
		inspector =
			inspector_new(book->message.bytes + head, book->message.len - head, &err);
	if (!inspector) {
		(void)fprintf(stderr, "%s\n", err.text);
		abort();
	}
	strict = rulebook_find(book, "strict")->index;
	return 0;
}

static void send_and_take(const struct inspect_findings *findings)
{
	const size_t head = sizeof(struct inspect_head);
	struct inspect_findings taken;
	struct err err = ERR_INIT;
	struct arena arena;
	struct buf out;

	arena_init(&arena, (size_t)1 << 20);
	buf_init(&out, head + INSPECT_ANSWER_MAX);
	if (inspect_findings_encode(1, findings, &out, &err) < 0 ||
		inspect_findings_decode(&arena, out.bytes + head, out.len - head, book->rule_count,
			&taken, &err) < 0)
		abort();
	buf_done(&out);
	arena_done(&arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct effort effort;
	struct inspect_findings findings;
	struct inspect_check check = { 0 };
	struct err err = ERR_INIT;
	char *code;

	code = malloc(len + 1);
	if (!code)
		return 0;
	memcpy(code, data, len);
	code[len] = '\0';
	check.policy = strict;
	check.code = code;
	check.code_len = len;
	for (check.language = 0; check.language < book->language_count; check.language++) {
		effort_begin(&effort, INSPECT_LOOKS(check.code_len), INSPECT_CHECK_US, NULL, NULL);
		if (inspector_check(inspector, &check, &effort, &findings, &err) < 0)
			abort();
		send_and_take(&findings);
	}
	free(code);
	return 0;
}
