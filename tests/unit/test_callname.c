#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include "proto/callname.h"
#include "proto/internal/slotmsg.h"
#include "sandbox/filter/syscalls.h"
#include "tests/check.h"

static bool is_told(const struct syscall_group *group)
{
	bool told = syscall_plain(group->verdict) != group->verdict;

	for (size_t i = 0; i < group->rule_count; i++)
		told = told || syscall_plain(group->rules[i].verdict) != group->rules[i].verdict;
	return told;
}

TEST(every_call_that_is_told_has_a_name_and_no_other_has)
{
	for (int nr = 0; nr < SLOTMSG_CALLS_MAX; nr++) {
		const struct syscall_group *group = syscall_group_of(FILTER_JOB, nr);
		bool told = group && is_told(group);

		if (told != (call_name((uint32_t)nr) != NULL))
			printf("# call %d\n", nr);
		CHECK(told == (call_name((uint32_t)nr) != NULL));
	}
}

TEST(a_socket_is_told_by_its_family)
{
	struct arena arena;

	arena_init(&arena, 4096);
	CHECK_STR(call_name(SYS_socket), "socket");
	CHECK_STR(call_kind(&arena, SYS_socket, AF_INET), "AF_INET");
	CHECK_STR(call_kind(&arena, SYS_socket, AF_NETLINK), "AF_NETLINK");
	CHECK_STR(call_kind(&arena, SYS_socket, 4000000000U), "AF_4000000000");
	CHECK_STR(call_wish(SYS_socket, AF_INET6), "open an internet socket");
	CHECK_STR(call_wish(SYS_socket, 77), "open a socket");
	CHECK(!call_kind(&arena, SYS_connect, AF_INET));
	CHECK_STR(call_wish(SYS_connect, AF_INET), "connect a socket");
	arena_done(&arena);
}

TEST(a_number_without_a_name_is_told_as_a_number)
{
	struct arena arena;

	arena_init(&arena, 4096);
	CHECK_STR(call_name_or_number(&arena, 1000), "call 1000");
	CHECK_STR(call_name_or_number(&arena, SYS_ptrace), "ptrace");
	CHECK(strlen(call_wish(1000, 0)) > 0);
	arena_done(&arena);
}
