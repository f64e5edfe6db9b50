#include "sandbox/tiny_filter.h"

#include <assert.h>
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/prctl.h>

#include "sandbox/syscalls.h"

#define NR_AT          offsetof(struct seccomp_data, nr)
#define ARG_LOW_AT(n)  (offsetof(struct seccomp_data, args) + sizeof(uint64_t) * (size_t)(n))
#define ARG_HIGH_AT(n) (ARG_LOW_AT(n) + 4)

#define CALLS_MAX  96
#define LEAF_CALLS 3 /* compared one after the other at the end of a search */

/*
 * A program while it is written.  What does not fit ends in an assertion: its size is fixed by the
 * table.  Loading costs by the instruction, and the kernel walks through the program once for each
 * system call that it knows, hence a search by halves and as few instructions as possible.
 */
struct writer {
	struct sock_filter *code;
	size_t len;
	const struct syscall_list *more;
};

static struct sock_filter *put(struct writer *writer, unsigned code, uint32_t k)
{
	struct sock_filter *at = &writer->code[writer->len];

	assert(writer->len < TINY_FILTER_MAX);
	writer->len++;
	*at = (struct sock_filter){ (uint16_t)code, 0, 0, k };
	return at;
}

static void put_return(struct writer *writer, uint32_t verdict)
{
	put(writer, BPF_RET | BPF_K, verdict);
}

/* How far a jump of the instruction `from` goes when it is to end where the writer is now. */
static uint8_t distance(const struct writer *writer, const struct sock_filter *from)
{
	size_t distance = (size_t)(writer->code + writer->len - from) - 1;

	assert(distance <= UINT8_MAX);
	return (uint8_t)distance;
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
	return put(writer, BPF_JMP | BPF_JEQ | BPF_K, value);
}

/* All tests, then the verdict; a test that fails jumps behind the verdict. */
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
	put_return(writer, rule->verdict);
	for (size_t i = 0; i < HALVES_MAX; i++)
		if (failing[i])
			failing[i]->jf = distance(writer, failing[i]);
}

static const struct syscall_group *group_of(const struct syscall_list *more, int nr)
{
	for (size_t i = 0; more && i < more->count; i++)
		for (size_t k = 0; k < more->groups[i].call_count; k++)
			if (more->groups[i].calls[k] == nr)
				return &more->groups[i];
	return syscall_group_of(FILTER_JOB, nr);
}

/* What the job's list says to one call. */
static void put_call(struct writer *writer, int nr)
{
	const struct syscall_group *group = group_of(writer->more, nr);
	struct sock_filter *other = put(writer, BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)nr);

	for (size_t i = 0; group && i < group->rule_count; i++)
		put_rule(writer, &group->rules[i]);
	put_return(writer, group ? group->verdict : VERDICT_DEFAULT);
	other->jf = distance(writer, other);
}

/* Numbers in order: halves down to a few, which are compared one by one; none of them: allowed. */
static void put_search(struct writer *writer, const short *calls, size_t count)
{
	struct sock_filter *upper;

	if (count <= LEAF_CALLS) {
		for (size_t i = 0; i < count; i++)
			put_call(writer, calls[i]);
		put_return(writer, VERDICT_ALLOW);
		return;
	}
	upper = put(writer, BPF_JMP | BPF_JGE | BPF_K, (uint32_t)calls[count / 2]);
	put_search(writer, calls, count / 2);
	upper->jt = distance(writer, upper);
	put_search(writer, calls + count / 2, count - count / 2);
}

static int by_number(const void *one, const void *other)
{
	return *(const short *)one - *(const short *)other;
}

/* The calls about which zygote and slot are told something else than a job. */
static size_t gather_calls(short calls[CALLS_MAX])
{
	const struct syscall_group *group;
	size_t count = 0;

	for (size_t i = 0; (group = syscall_own_group_at(FILTER_HOUSE, i)); i++)
		for (size_t k = 0; k < group->call_count; k++) {
			assert(count < CALLS_MAX);
			calls[count++] = group->calls[k];
		}
	qsort(calls, count, sizeof(*calls), by_number);
	return count;
}

size_t tiny_filter_build(const struct syscall_list *more, struct sock_filter *ret_program)
{
	struct writer writer = { ret_program, 0, more };
	short calls[CALLS_MAX] = { 0 };
	size_t count = gather_calls(calls);

	put(&writer, BPF_LD | BPF_W | BPF_ABS, NR_AT);
	put_search(&writer, calls, count);
	return writer.len;
}

static struct sock_filter program[TINY_FILTER_MAX];
static size_t program_len;

void tiny_filter_prepare(const struct syscall_list *more)
{
	if (program_len == 0)
		program_len = tiny_filter_build(more, program);
}

int tiny_filter_load(struct err *err)
{
	struct sock_fprog filter = { 0, program };

	tiny_filter_prepare(NULL);
	filter.len = (unsigned short)program_len;
	if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter, 0, 0) < 0)
		return err_sys(err, "tiny filter");
	return 0;
}
