#include "sandbox/tiny_filter.h"

#include <assert.h>
#include <errno.h>
#include <stdbool.h>
#include <sys/prctl.h>

#include "sandbox/syscalls.h"

#define NR_AT          offsetof(struct seccomp_data, nr)
#define ARG_LOW_AT(n)  (offsetof(struct seccomp_data, args) + 8 * (n))
#define ARG_HIGH_AT(n) (ARG_LOW_AT(n) + 4)

/* A program while it is written.  What does not fit ends in an assertion: its size is fixed. */
struct writer {
	struct sock_filter *code;
	size_t len;
};

static void put(
	struct writer *writer, unsigned code, uint32_t k, size_t jump_true, size_t jump_false)
{
	assert(writer->len < TINY_FILTER_MAX && jump_true <= UINT8_MAX && jump_false <= UINT8_MAX);
	writer->code[writer->len++] =
		(struct sock_filter){ (uint16_t)code, (uint8_t)jump_true, (uint8_t)jump_false, k };
}

static void put_return(struct writer *writer, uint32_t verdict)
{
	put(writer, BPF_RET | BPF_K, verdict, 0, 0);
}

/* Compares one half of an argument; jumps over `skip` instructions where it differs. */
static void put_half(struct writer *writer, size_t at, uint32_t mask, uint32_t value, size_t skip)
{
	put(writer, BPF_LD | BPF_W | BPF_ABS, (uint32_t)at, 0, 0);
	put(writer, BPF_ALU | BPF_AND | BPF_K, mask, 0, 0);
	put(writer, BPF_JMP | BPF_JEQ | BPF_K, value, 0, skip);
}

#define HALF_LEN 3
#define TEST_LEN (2 * HALF_LEN)

static size_t test_count(const struct arg_rule *rule)
{
	size_t count = 0;

	for (size_t i = 0; i < ARG_TESTS_MAX; i++)
		count += rule->tests[i].mask != 0;
	return count;
}

/* All tests, then the verdict; a test that fails jumps behind the verdict. */
static void put_rule(struct writer *writer, const struct arg_rule *rule)
{
	size_t left = test_count(rule) * TEST_LEN + 1;

	for (size_t i = 0; i < ARG_TESTS_MAX; i++) {
		const struct arg_test *test = &rule->tests[i];

		if (test->mask == 0)
			continue;
		left -= HALF_LEN;
		put_half(writer, ARG_LOW_AT(test->arg), (uint32_t)test->mask, (uint32_t)test->value,
			left);
		left -= HALF_LEN;
		put_half(writer, ARG_HIGH_AT(test->arg), (uint32_t)(test->mask >> 32),
			(uint32_t)(test->value >> 32), left);
	}
	put_return(writer, rule->verdict);
}

/* What the job's list says to one call.  Behind it the accumulator still holds the number. */
static void put_call(struct writer *writer, int nr)
{
	const struct syscall_group *group = syscall_group_of(FILTER_JOB, nr);
	size_t len = 1;

	for (size_t i = 0; group && i < group->rule_count; i++)
		len += test_count(&group->rules[i]) * TEST_LEN + 1;
	put(writer, BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)nr, 0, len);
	for (size_t i = 0; group && i < group->rule_count; i++)
		put_rule(writer, &group->rules[i]);
	put_return(writer, group ? group->verdict : VERDICT_DEFAULT);
}

size_t tiny_filter_build(struct sock_filter *ret_program)
{
	struct writer writer = { ret_program, 0 };
	const struct syscall_group *group;

	put(&writer, BPF_LD | BPF_W | BPF_ABS, NR_AT, 0, 0);
	for (size_t i = 0; (group = syscall_own_group_at(FILTER_HOUSE, i)); i++)
		for (size_t k = 0; k < group->call_count; k++)
			put_call(&writer, group->calls[k]);
	put_return(&writer, VERDICT_ALLOW);
	return writer.len;
}

static struct sock_filter program[TINY_FILTER_MAX];
static size_t program_len;

void tiny_filter_prepare(void)
{
	if (program_len == 0)
		program_len = tiny_filter_build(program);
}

int tiny_filter_load(struct err *err)
{
	struct sock_fprog filter = { 0, program };

	tiny_filter_prepare();
	filter.len = (unsigned short)program_len;
	if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter, 0, 0) < 0)
		return err_sys(err, "tiny filter");
	return 0;
}
