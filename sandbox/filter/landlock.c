#include "sandbox/filter/landlock.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/landlock.h>
#include <sys/syscall.h>

#include "proto/base/cleanup.h"
#include "proto/base/container.h"
#include "sandbox/jail_env.h"

/* Newer than Debian 12's header. */
#define ACCESS_TRUNCATE  (1ULL << 14) /* ABI 3 */
#define ACCESS_IOCTL_DEV (1ULL << 15) /* ABI 5 */

#define ACCESS_LOOK \
	(LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR)
#define ACCESS_MAKE                                                            \
	(LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_REMOVE_DIR |       \
		LANDLOCK_ACCESS_FS_REMOVE_FILE | LANDLOCK_ACCESS_FS_MAKE_DIR | \
		LANDLOCK_ACCESS_FS_MAKE_REG | LANDLOCK_ACCESS_FS_REFER | ACCESS_TRUNCATE)
#define ACCESS_REST                                                            \
	(LANDLOCK_ACCESS_FS_MAKE_CHAR | LANDLOCK_ACCESS_FS_MAKE_SOCK |         \
		LANDLOCK_ACCESS_FS_MAKE_FIFO | LANDLOCK_ACCESS_FS_MAKE_BLOCK | \
		LANDLOCK_ACCESS_FS_MAKE_SYM | ACCESS_IOCTL_DEV)

static const struct {
	const char *path;
	uint64_t access;
} rows[] = {
	{ "/", ACCESS_LOOK },
	{ JAIL_WORK_DIR, ACCESS_LOOK | ACCESS_MAKE },
	{ JAIL_TMP_DIR, ACCESS_LOOK | ACCESS_MAKE },
	{ "/dev/null", LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_WRITE_FILE },
};

uint32_t landlock_abi(void)
{
	long abi = syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);

	return abi < 0 ? 0 : (uint32_t)abi;
}

/* The rights that this kernel knows; it refuses a ruleset with others. */
static uint64_t known_access(uint32_t abi)
{
	uint64_t access = ACCESS_LOOK | ACCESS_MAKE | ACCESS_REST;

	if (abi < 2)
		access &= ~(uint64_t)LANDLOCK_ACCESS_FS_REFER;
	if (abi < 3)
		access &= ~ACCESS_TRUNCATE;
	if (abi < 5)
		access &= ~ACCESS_IOCTL_DEV;
	return access;
}

static int add_row(int ruleset, const char *path, uint64_t access, struct err *err)
{
	auto_fd int fd = open(path, O_PATH | O_CLOEXEC);
	struct landlock_path_beneath_attr rule = { .allowed_access = access, .parent_fd = fd };

	if (fd < 0)
		return err_sys(err, "landlock: %s", path);
	if (syscall(SYS_landlock_add_rule, ruleset, LANDLOCK_RULE_PATH_BENEATH, &rule, 0) < 0)
		return err_sys(err, "landlock: %s", path);
	return 0;
}

int landlock_confine(struct err *err)
{
	struct landlock_ruleset_attr attr = { .handled_access_fs = known_access(landlock_abi()) };
	auto_fd int ruleset = (int)syscall(SYS_landlock_create_ruleset, &attr, sizeof(attr), 0);

	if (ruleset < 0)
		return err_set(err, ERR_UNSUPPORTED, "this kernel has no Landlock");
	for (size_t i = 0; i < COUNT_OF(rows); i++)
		if (add_row(ruleset, rows[i].path, rows[i].access & attr.handled_access_fs, err) <
			0)
			return -1;
	if (syscall(SYS_landlock_restrict_self, ruleset, 0) < 0)
		return err_sys(err, "landlock");
	return 0;
}
