/*
 * Prints the filters that jobs run under, as the bytes that are loaded.  The build puts their
 * digest into the daemon (cmake/filter_digest.cmake), which writes it into each record.
 */
#include <stdio.h>
#include <stdlib.h>

#include "sandbox/filter/seccomp.h"
#include "sandbox/filter/syscalls_runtime.h"
#include "sandbox/filter/tiny_filter.h"

static const enum filter_profile bases[] = { FILTER_ZYGOTE, FILTER_ZYGOTE_CODE, FILTER_ZYGOTE_NET,
	FILTER_ZYGOTE_NET_CODE };

/* Each kind of runtime in sandbox/runtimes/ has one of these. */
static const struct syscall_list *const kinds[] = { NULL, &SYSCALLS_FORKING, &SYSCALLS_COMMAND };

static void print(const struct sock_filter *code, size_t len)
{
	if (fwrite(code, sizeof(*code), len, stdout) != len)
		exit(EXIT_FAILURE);
}

static void print_base(enum filter_profile profile)
{
	struct err err = ERR_INIT;
	struct filter filter = { NULL, 0 };

	if (filter_build(profile, &filter, &err) < 0) {
		(void)fprintf(stderr, "%s\n", err.text);
		exit(EXIT_FAILURE);
	}
	print(filter.code, filter.len);
	filter_done(&filter);
}

static void print_kind(const struct syscall_list *more)
{
	static struct sock_filter code[TINY_FILTER_MAX];

	for (unsigned part = 0; part < TINY_PART_COUNT; part++)
		print(code, tiny_filter_build((enum tiny_part)part, more, code));
}

int main(void)
{
	for (size_t i = 0; i < sizeof(bases) / sizeof(bases[0]); i++)
		print_base(bases[i]);
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		print_kind(kinds[i]);
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		print_kind(syscalls_networked(kinds[i]));
	return fflush(stdout) == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
