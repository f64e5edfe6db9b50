/*
 * Both directions of the messages between daemon and inspector.  The first byte chooses the
 * message, the rest is its body.  Accepted rules are encoded and must be accepted again.
 */
#include <stdlib.h>
#include <string.h>

#include "proto/internal/inspectmsg.h"
#include "tests/fuzz/fuzz.h"

static void again(struct arena *arena, const struct inspect_rules *rules)
{
	const size_t head = sizeof(struct inspect_head);
	struct inspect_rules twice;
	struct err err = ERR_INIT;
	struct buf out;

	buf_init(&out, head + INSPECT_RULES_MAX);
	if (inspect_rules_encode(rules, &out, &err) == 0 &&
		inspect_rules_decode(arena, out.bytes + head, out.len - head, &twice, &err) < 0)
		abort();
	buf_done(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	const char *body = (const char *)data + 1;
	struct inspect_rules rules;
	struct inspect_findings findings;
	struct inspect_check check;
	struct inspect_head head;
	struct err err = ERR_INIT;
	struct arena arena;

	if (len == 0)
		return 0;
	arena_init(&arena, (size_t)64 << 20);
	if (data[0] == 'r') {
		if (inspect_rules_decode(&arena, body, len - 1, &rules, &err) == 0)
			again(&arena, &rules);
	} else if (data[0] == 'f') {
		(void)inspect_findings_decode(&arena, body, len - 1, 40, &findings, &err);
	} else if (data[0] == 'c') {
		(void)inspect_check_decode(body, len - 1, &check, &err);
	} else if (len > sizeof(head)) {
		memcpy(&head, body, sizeof(head));
		(void)inspect_head_check(&head, ~0U, &err);
	}
	arena_done(&arena);
	return 0;
}
