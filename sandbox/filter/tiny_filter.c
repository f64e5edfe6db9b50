#include "sandbox/filter/tiny_filter.h"

#include <assert.h>
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "proto/base/container.h"

#define NR_AT          offsetof(struct seccomp_data, nr)
#define ARG_LOW_AT(n)  (offsetof(struct seccomp_data, args) + sizeof(uint64_t) * (size_t)(n))
#define ARG_HIGH_AT(n) (ARG_LOW_AT(n) + 4)

#define CALLS_MAX 512 /* no list has numbers from here on: the base filter refuses them */
#define SPANS_MAX 160
#define JUMPS_MAX 256

/* ---- writing BPF --------------------------------------------------------------------------- */

/*
 * A program while it is written.  The table determines its size, so an assertion fails if it does
 * not fit.  Answers stand once, at the end; instructions jump to them.
 */
struct writer {
	struct sock_filter *code;
	size_t len;
	enum tiny_part part;
	const struct syscall_list *more;
	struct jump {
		uint8_t *distance;
		size_t from;
		uint32_t verdict;
	} jumps[JUMPS_MAX];
	size_t jump_count;
};

static struct sock_filter *put(struct writer *writer, unsigned code, uint32_t k)
{
	struct sock_filter *at = &writer->code[writer->len];

	assert(writer->len < TINY_FILTER_MAX);
	writer->len++;
	*at = (struct sock_filter){ (uint16_t)code, 0, 0, k };
	return at;
}

static struct sock_filter *put_jump(struct writer *writer, unsigned how, uint32_t k)
{
	return put(writer, BPF_JMP | BPF_K | how, k);
}

/* The distance of a jump from the instruction `from` to the place that is written next. */
static uint8_t distance(const struct writer *writer, size_t from)
{
	size_t distance = writer->len - from - 1;

	assert(distance <= UINT8_MAX);
	return (uint8_t)distance;
}

/* Makes one branch of the instruction `at` end in an answer. */
static void answer(struct writer *writer, struct sock_filter *at, bool if_true, uint32_t verdict)
{
	assert(writer->jump_count < JUMPS_MAX);
	writer->jumps[writer->jump_count++] =
		(struct jump){ if_true ? &at->jt : &at->jf, (size_t)(at - writer->code), verdict };
}

static void put_answers(struct writer *writer)
{
	for (size_t i = 0; i < writer->jump_count; i++) {
		const uint32_t verdict = writer->jumps[i].verdict;

		if (!writer->jumps[i].distance)
			continue;
		for (size_t k = i; k < writer->jump_count; k++) {
			struct jump *jump = &writer->jumps[k];

			if (!jump->distance || jump->verdict != verdict)
				continue;
			*jump->distance = distance(writer, jump->from);
			jump->distance = NULL;
		}
		put(writer, BPF_RET | BPF_K, verdict);
	}
}

/* ---- rules about arguments ----------------------------------------------------------------- */

/*
 * The kernel's verdict: all calls that are reported have the same one, whatever the slot answers.
 */
static uint32_t kernel_verdict(const struct writer *writer, uint32_t verdict)
{
	uint32_t plain = syscall_plain(verdict);

	return plain != verdict && writer->part != TINY_PLAIN ? SECCOMP_RET_USER_NOTIF : plain;
}

/* Rules at the end that repeat the default verdict are not needed. */
static size_t rules_needed(const struct writer *writer, const struct syscall_group *group)
{
	size_t count = group->rule_count;

	while (count > 0 && kernel_verdict(writer, group->rules[count - 1].verdict) ==
				    kernel_verdict(writer, group->verdict))
		count--;
	return count;
}

/* Whether one argument has to be in a list of small numbers. */
static bool is_list(const struct arg_rule *rules, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const struct arg_rule *rule = &rules[i];

		if (rule->tests[0].mask != UINT64_MAX || rule->tests[0].value > UINT32_MAX ||
			rule->tests[0].arg != rules->tests[0].arg || rule->tests[1].mask != 0)
			return false;
	}
	return count > 1;
}

static void put_list(
	struct writer *writer, const struct arg_rule *rules, size_t count, uint32_t otherwise)
{
	struct sock_filter *last;

	put(writer, BPF_LD | BPF_W | BPF_ABS, (uint32_t)ARG_HIGH_AT(rules->tests[0].arg));
	answer(writer, put_jump(writer, BPF_JEQ, 0), false, otherwise);
	put(writer, BPF_LD | BPF_W | BPF_ABS, (uint32_t)ARG_LOW_AT(rules->tests[0].arg));
	for (size_t i = 0; i < count; i++) {
		last = put_jump(writer, BPF_JEQ, (uint32_t)rules[i].tests[0].value);
		answer(writer, last, true, kernel_verdict(writer, rules[i].verdict));
		if (i + 1 == count)
			answer(writer, last, false, otherwise);
	}
}

#define HALVES_MAX ((size_t)2 * ARG_TESTS_MAX)

/* Compares one half of an argument.  A mask of 0 needs no comparison, a full one no AND. */
static struct sock_filter *put_half(struct writer *writer, size_t at, uint32_t mask, uint32_t value)
{
	if (mask == 0)
		return NULL;
	put(writer, BPF_LD | BPF_W | BPF_ABS, (uint32_t)at);
	if (mask != UINT32_MAX)
		put(writer, BPF_ALU | BPF_AND | BPF_K, mask);
	return put_jump(writer, BPF_JEQ, value);
}

/* All tests, then the verdict; a test that fails jumps behind it. */
static void put_rule(struct writer *writer, const struct arg_rule *rule)
{
	struct sock_filter *failing[HALVES_MAX];

	for (size_t i = 0; i < ARG_TESTS_MAX; i++) {
		const struct arg_test *test = &rule->tests[i];

		failing[2 * i] = put_half(
			writer, ARG_LOW_AT(test->arg), (uint32_t)test->mask, (uint32_t)test->value);
		failing[2 * i + 1] = put_half(writer, ARG_HIGH_AT(test->arg),
			(uint32_t)(test->mask >> 32), (uint32_t)(test->value >> 32));
	}
	put(writer, BPF_RET | BPF_K, kernel_verdict(writer, rule->verdict));
	for (size_t i = 0; i < HALVES_MAX; i++)
		if (failing[i])
			failing[i]->jf = distance(writer, (size_t)(failing[i] - writer->code));
}

static void put_rules(struct writer *writer, const struct syscall_group *group)
{
	const uint32_t otherwise = kernel_verdict(writer, group->verdict);
	const size_t count = rules_needed(writer, group);

	if (is_list(group->rules, count)) {
		put_list(writer, group->rules, count, otherwise);
		return;
	}
	for (size_t i = 0; i < count; i++)
		put_rule(writer, &group->rules[i]);
	put(writer, BPF_RET | BPF_K, otherwise);
}

/* ---- the answer for each number ------------------------------------------------------------- */

/* Neighbouring numbers with the same answer: a verdict, or the rules of a group. */
struct span {
	int from;
	uint32_t verdict;
	const struct syscall_group *rules;
};

static const struct syscall_group *group_of(const struct syscall_list *more, int nr)
{
	for (size_t i = 0; more && i < more->count; i++)
		for (size_t k = 0; k < more->groups[i].call_count; k++)
			if (more->groups[i].calls[k] == nr)
				return &more->groups[i];
	return syscall_group_of(FILTER_JOB, nr);
}

static bool is_notified(const struct syscall_group *group)
{
	bool notifies = syscall_plain(group->verdict) != group->verdict;

	for (size_t i = 0; i < group->rule_count; i++)
		notifies = notifies ||
			   syscall_plain(group->rules[i].verdict) != group->rules[i].verdict;
	return notifies;
}

/* The calls that sending the listener to the slot and loading the last filter need. */
static bool is_late(int nr)
{
	return nr == __NR_sendmsg || nr == __NR_prctl;
}

/* False: the base filter refuses it more strictly than we could. */
static bool decide(const struct writer *writer, int nr, struct span *ret_span)
{
	const bool networked = writer->more && writer->more->networked;
	const struct syscall_group *zygote =
		syscall_group_of(networked ? FILTER_ZYGOTE_NET : FILTER_ZYGOTE, nr);
	const struct syscall_group *job = group_of(writer->more, nr);
	const bool ours = writer->part == TINY_PLAIN || is_late(nr) == (writer->part == TINY_LAST);

	*ret_span = (struct span){ nr, VERDICT_ALLOW, NULL };
	if (!zygote)
		return false;
	if (!zygote->rule_count && zygote->verdict != VERDICT_ALLOW && !is_notified(zygote))
		return false;
	if (!ours || (job == zygote && !is_notified(job)))
		return true;
	ret_span->rules = job && rules_needed(writer, job) ? job : NULL;
	ret_span->verdict = kernel_verdict(writer, job ? job->verdict : VERDICT_DEFAULT);
	return true;
}

static bool is_same(const struct span *one, const struct span *other)
{
	return one->rules == other->rules && (one->rules || one->verdict == other->verdict);
}

/* For a call that the base filter refuses anyway: a verdict that does not outrank it. */
static bool is_weak(const struct span *span)
{
	return !span->rules &&
	       (span->verdict == VERDICT_ALLOW || span->verdict == SECCOMP_RET_USER_NOTIF ||
		       span->verdict == VERDICT_DEFAULT);
}

/* Numbers that need no answer of ours are joined to their neighbours. */
static size_t gather(const struct writer *writer, struct span spans[SPANS_MAX])
{
	struct span span;
	size_t count = 1;

	(void)decide(writer, 0, &spans[0]);
	for (int nr = 1; nr < CALLS_MAX; nr++) {
		if (!decide(writer, nr, &span) && is_weak(&spans[count - 1]))
			continue;
		if (is_same(&span, &spans[count - 1]))
			continue;
		assert(count < SPANS_MAX);
		spans[count++] = span;
	}
	return count;
}

/* ---- a search by halves --------------------------------------------------------------------- */

static void put_search(struct writer *writer, const struct span *spans, size_t count);

/* One side of a comparison: an answer, or the code that is written next. */
static void put_side(struct writer *writer, struct sock_filter *at, bool if_true,
	const struct span *spans, size_t count)
{
	if (count == 1 && !spans->rules) {
		answer(writer, at, if_true, spans->verdict);
		return;
	}
	if (if_true)
		at->jt = distance(writer, (size_t)(at - writer->code));
	put_search(writer, spans, count);
}

static void put_search(struct writer *writer, const struct span *spans, size_t count)
{
	const size_t half = count / 2;
	struct sock_filter *at;

	if (count == 1) {
		if (spans->rules)
			put_rules(writer, spans->rules);
		else
			put(writer, BPF_RET | BPF_K, spans->verdict);
		return;
	}
	at = put_jump(writer, BPF_JGE, (uint32_t)spans[half].from);
	put_side(writer, at, false, spans, half);
	put_side(writer, at, true, spans + half, count - half);
}

size_t tiny_filter_build(
	enum tiny_part part, const struct syscall_list *more, struct sock_filter *ret_program)
{
	struct writer writer = { .code = ret_program, .part = part, .more = more };
	struct span spans[SPANS_MAX];
	size_t count = gather(&writer, spans);

	put(&writer, BPF_LD | BPF_W | BPF_ABS, NR_AT);
	put_search(&writer, spans, count);
	put_answers(&writer);
	return writer.len;
}

/* ---- the prepared programs ------------------------------------------------------------------ */

static struct sock_filter programs[TINY_PART_COUNT][TINY_FILTER_MAX];
static struct sock_fprog prepared[TINY_PART_COUNT];
static const struct syscall_list *prepared_for;

void tiny_filter_prepare(const struct syscall_list *more)
{
	if (prepared[0].len > 0)
		return;
	prepared_for = more;
	for (unsigned part = 0; part < TINY_PART_COUNT; part++) {
		prepared[part].filter = programs[part];
		prepared[part].len = (unsigned short)tiny_filter_build(part, more, programs[part]);
	}
}

static int load(enum tiny_part part, struct err *err)
{
	if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prepared[part], 0, 0) < 0)
		return err_sys(err, "tiny filter");
	return 0;
}

/* A call that the slot has received waits for its answer through all signals but a deadly one. */
static int load_with_listener(void)
{
	static const unsigned ways[] = {
		SECCOMP_FILTER_FLAG_NEW_LISTENER | SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV,
		SECCOMP_FILTER_FLAG_NEW_LISTENER, /* before Linux 5.19 */
	};
	int listener = -1;

	for (size_t i = 0; i < COUNT_OF(ways) && listener < 0; i++)
		listener = (int)syscall(
			SYS_seccomp, SECCOMP_SET_MODE_FILTER, ways[i], &prepared[TINY_NOTIFY]);
	return listener;
}

int tiny_filter_load(int *ret_listener, struct err *err)
{
	tiny_filter_prepare(NULL);
	*ret_listener = load_with_listener();
	return *ret_listener < 0 ? load(TINY_PLAIN, err) : 0;
}

int tiny_filter_close(struct err *err)
{
	return load(TINY_LAST, err);
}

static bool rule_holds(const struct arg_rule *rule, const uint64_t args[6])
{
	for (size_t i = 0; i < ARG_TESTS_MAX; i++) {
		const struct arg_test *test = &rule->tests[i];

		if ((args[test->arg] & test->mask) != test->value)
			return false;
	}
	return true;
}

uint32_t tiny_filter_verdict(int nr, const uint64_t args[6])
{
	const struct syscall_group *group = group_of(prepared_for, nr);

	for (size_t i = 0; group && i < group->rule_count; i++)
		if (rule_holds(&group->rules[i], args))
			return group->rules[i].verdict;
	return group ? group->verdict : VERDICT_DEFAULT;
}
