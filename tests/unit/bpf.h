/*
 * Computes a filter's answer without the kernel: runs a classic BPF program over one system call
 * as seccomp would, and picks the strictest of several answers.  For tests only.
 */
#pragma once

#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static inline uint32_t bpf_word_at(const struct seccomp_data *data, uint32_t offset)
{
	uint32_t word;

	if (offset > sizeof(*data) - sizeof(word) || offset % sizeof(word))
		abort();
	memcpy(&word, (const char *)data + offset, sizeof(word));
	return word;
}

static inline int bpf_jump(const struct sock_filter *at, uint32_t a)
{
	switch (BPF_OP(at->code)) {
	case BPF_JEQ:
		return a == at->k;
	case BPF_JGT:
		return a > at->k;
	case BPF_JGE:
		return a >= at->k;
	case BPF_JSET:
		return (a & at->k) != 0;
	default:
		abort();
	}
}

/* An instruction that our filters do not use ends the test program. */
static inline uint32_t bpf_run(
	const struct sock_filter *code, size_t len, const struct seccomp_data *data)
{
	uint32_t a = 0;

	for (size_t pc = 0; pc < len; pc++) {
		const struct sock_filter *at = &code[pc];

		if (at->code == (BPF_LD | BPF_W | BPF_ABS))
			a = bpf_word_at(data, at->k);
		else if (at->code == (BPF_ALU | BPF_AND | BPF_K))
			a &= at->k;
		else if (at->code == (BPF_JMP | BPF_JA))
			pc += at->k;
		else if (BPF_CLASS(at->code) == BPF_JMP)
			pc += bpf_jump(at, a) ? at->jt : at->jf;
		else if (at->code == (BPF_RET | BPF_K))
			return at->k;
		else
			abort();
	}
	abort();
}

/* The kernel takes the smallest action, compared as signed numbers. */
static inline uint32_t bpf_stricter(uint32_t one, uint32_t other)
{
	return (int32_t)(one & SECCOMP_RET_ACTION_FULL) <=
			       (int32_t)(other & SECCOMP_RET_ACTION_FULL)
		       ? one
		       : other;
}

static inline struct seccomp_data bpf_call(int nr, const uint64_t args[6])
{
	struct seccomp_data data = { .nr = nr, .arch = AUDIT_ARCH_X86_64 };

	memcpy(data.args, args, sizeof(data.args));
	return data;
}
