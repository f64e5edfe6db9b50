#include "sandbox/filter/seccomp.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>

#include <seccomp.h>

#include "proto/base/owned.h"

/* Verdicts are used as they are: libseccomp's actions are the kernel's numbers. */
_Static_assert(SCMP_ACT_ALLOW == VERDICT_ALLOW && SCMP_ACT_KILL_PROCESS == VERDICT_KILL &&
		       SCMP_ACT_ERRNO(1) == VERDICT_DEFAULT && SCMP_ACT_TRACE(0) == VERDICT_HELD,
	"libseccomp has other numbers");

static void release(scmp_filter_ctx *ctx)
{
	if (*ctx)
		seccomp_release(*ctx);
}

/* libseccomp returns -errno. */
static int failed(struct err *err, int answer, const char *what)
{
	errno = -answer;
	return err_sys(err, "libseccomp: %s", what);
}

/* The base filter holds back calls that workers report, so that the workers' own filter decides. */
static uint32_t real(enum filter_profile profile, uint32_t verdict)
{
	bool is_base = SYSCALL_IS_BASE(profile);

	return is_base && syscall_plain(verdict) != verdict ? VERDICT_HELD : syscall_plain(verdict);
}

/* No tests: the verdict does not depend on the arguments. */
static int add_rule(scmp_filter_ctx ctx, int nr, uint32_t verdict, const struct arg_test *tests,
	struct err *err)
{
	struct scmp_arg_cmp compare[ARG_TESTS_MAX];
	unsigned count = 0;
	int answer;

	for (size_t i = 0; tests && i < ARG_TESTS_MAX; i++)
		if (tests[i].mask)
			compare[count++] = SCMP_CMP64(
				tests[i].arg, SCMP_CMP_MASKED_EQ, tests[i].mask, tests[i].value);
	answer = seccomp_rule_add_array(ctx, verdict, nr, count, compare);
	return answer < 0 ? failed(err, answer, "rule") : 0;
}

/* Either rules about arguments or one verdict for the call: given both, libseccomp drops rules. */
static int add_call(scmp_filter_ctx ctx, enum filter_profile profile, int nr,
	const struct syscall_group *group, struct err *err)
{
	uint32_t verdict = real(profile, group->verdict);

	if (group->rule_count > 0 && verdict != VERDICT_DEFAULT)
		return err_set(err, ERR_INVALID, "rules and a verdict: %s", group->reason);
	for (size_t i = 0; i < group->rule_count; i++)
		if (add_rule(ctx, nr, real(profile, group->rules[i].verdict), group->rules[i].tests,
			    err) < 0)
			return -1;
	if (group->rule_count == 0 && verdict != VERDICT_DEFAULT)
		return add_rule(ctx, nr, verdict, NULL, err);
	return 0;
}

static int add_group(scmp_filter_ctx ctx, enum filter_profile profile,
	const struct syscall_group *group, struct err *err)
{
	for (size_t i = 0; i < group->call_count; i++) {
		/* An earlier group of the profile may have decided this call. */
		if (syscall_group_of(profile, group->calls[i]) != group)
			continue;
		if (add_call(ctx, profile, group->calls[i], group, err) < 0)
			return err_wrap(err, "system call %d", group->calls[i]);
	}
	return 0;
}

/* i386 and x32 kill; no_new_privs is a step of the jail; the filter searches numbers by halves. */
static int set_attributes(scmp_filter_ctx ctx, struct err *err)
{
	int answer = seccomp_attr_set(ctx, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS);

	if (answer == 0)
		answer = seccomp_attr_set(ctx, SCMP_FLTATR_CTL_NNP, 0);
	if (answer == 0)
		answer = seccomp_attr_set(ctx, SCMP_FLTATR_CTL_OPTIMIZE, 2);
	return answer < 0 ? failed(err, answer, "attribute") : 0;
}

static int export_filter(scmp_filter_ctx ctx, struct filter *ret_filter, struct err *err)
{
	auto_fd int fd = memfd_create("filter", MFD_CLOEXEC);
	auto_free struct sock_filter *code = NULL;
	struct stat stat;
	int answer;

	if (fd < 0)
		return err_sys(err, "memfd");
	answer = seccomp_export_bpf(ctx, fd);
	if (answer < 0)
		return failed(err, answer, "export");
	if (fstat(fd, &stat) < 0)
		return err_sys(err, "exported filter");
	code = malloc((size_t)stat.st_size);
	if (!code || pread(fd, code, (size_t)stat.st_size, 0) != stat.st_size)
		return err_sys(err, "exported filter");
	ret_filter->len = (size_t)stat.st_size / sizeof(*code);
	ret_filter->code = take_ptr(code);
	return 0;
}

int filter_build(enum filter_profile profile, struct filter *ret_filter, struct err *err)
{
	__attribute__((cleanup(release))) scmp_filter_ctx ctx = seccomp_init(VERDICT_DEFAULT);
	const struct syscall_group *group;

	if (!ctx)
		return err_set(err, ERR_MEMORY, "libseccomp does not start");
	if (set_attributes(ctx, err) < 0)
		return -1;
	for (size_t i = 0; (group = syscall_group_at(profile, i)); i++)
		if (add_group(ctx, profile, group, err) < 0)
			return -1;
	return export_filter(ctx, ret_filter, err);
}

void filter_done(struct filter *filter)
{
	free(filter->code);
	*filter = (struct filter){ NULL, 0 };
}

int filter_load(const struct filter *filter, struct err *err)
{
	struct sock_fprog program = { (unsigned short)filter->len, filter->code };

	if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) < 0)
		return err_sys(err, "filter of %zu instructions", filter->len);
	return 0;
}
