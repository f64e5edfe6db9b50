#include "sandbox/jail/runtime.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "proto/base/container.h"
#include "proto/jail_dirs.h"
#include "sandbox/jail_env.h"

#define NAME_BYTES    "abcdefghijklmnopqrstuvwxyz0123456789._-"
#define PRELOAD_BYTES "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_. -+:=,/["

/*
 * How a kind of interpreter is started. argv[0] is the configured path, by which Python finds its
 * venv.  Without arguments the file in the harness folder is a program of ours, which starts the
 * interpreter itself.
 */
static const struct {
	const char *main; /* file in the harness folder */
	const char *const args[4];
} kinds[] = {
	[PRIV_RUNTIME_PYTHON] = { "zygote.py", { "-I", "-B", JAIL_HARNESS_DIR "/zygote.py" } },
	[PRIV_RUNTIME_COMMAND] = { "ced-zygote", { NULL } },
};

/* The whole environment, which is the same on every host. */
static const char *const fixed_env[] = { "PATH=/usr/local/bin:/usr/bin:/bin", "HOME=" JAIL_WORK_DIR,
	"TMPDIR=" JAIL_TMP_DIR, "LANG=C.UTF-8", "TZ=UTC", JAIL_ENV_SOCKET "=3",
	JAIL_ENV_PROC "=4" };

static int check_bytes(
	const char *what, const char *text, const char *allowed, size_t least, struct err *err)
{
	if (strlen(text) < least || strspn(text, allowed) != strlen(text))
		return err_set(
			err, ERR_INVALID, "%s is not made of the bytes \"%s\"", what, allowed);
	return 0;
}

static int check_interpreter(struct runtime *runtime, struct err *err)
{
	char real[MOUNT_PATH_MAX];
	struct stat stat_of;

	if (mount_real_path(runtime->asked.interpreter, real, err) < 0)
		return err_wrap(err, "interpreter");
	if (stat(real, &stat_of) < 0)
		return err_sys(err, "interpreter %s", real);
	if (!S_ISREG(stat_of.st_mode) || !(stat_of.st_mode & S_IXUSR))
		return err_set(err, ERR_INVALID, "interpreter %s is not a program", real);
	cut_printf(runtime->program, sizeof(runtime->program), "%s", real);
	return 0;
}

static int check_harness(const struct runtime *runtime, struct err *err)
{
	char real[MOUNT_PATH_MAX];
	char path[MOUNT_PATH_MAX + 32];

	if (mount_real_path(runtime->asked.harness, real, err) < 0)
		return err_wrap(err, "harness");
	cut_printf(path, sizeof(path), "%s/%s", real, kinds[runtime->asked.kind].main);
	return access(path, F_OK) < 0 ? err_sys(err, "harness %s", path) : 0;
}

static int check_binds(const struct runtime *runtime, struct err *err)
{
	for (uint32_t i = 0; i < runtime->asked.bind_count; i++) {
		const struct priv_bind *bind = &runtime->asked.binds[i];
		struct err failure = ERR_INIT;
		char real[MOUNT_PATH_MAX];

		if (bind->place[0] && (jail_path_check(bind->place, err) < 0 ||
					      strncmp(bind->place, JAIL_SETS_DIR "/", 6) != 0))
			return err_set(err, ERR_DENIED, "a bind at %s", bind->place);
		if (mount_real_path(bind->path, real, &failure) == 0)
			continue;
		if (!bind->optional || failure.sys_errno != ENOENT)
			return err_set(err, failure.code, "bind %s", failure.text);
	}
	return 0;
}

int runtime_check(struct runtime *runtime, const struct priv_runtime *asked, struct err *err)
{
	runtime->asked = *asked;
	if (asked->kind >= COUNT_OF(kinds) || !kinds[asked->kind].main)
		return err_set(err, ERR_INVALID, "there is no kind %u of runtime", asked->kind);
	if (check_bytes("name", asked->name, NAME_BYTES, 1, err) < 0 ||
		check_bytes("preload", asked->preload, PRELOAD_BYTES, 0, err) < 0)
		return -1;
	if (asked->bind_count > PRIV_BINDS_MAX)
		return err_set(err, ERR_TOO_BIG, "more than %d binds", PRIV_BINDS_MAX);
	if (check_interpreter(runtime, err) < 0 || check_harness(runtime, err) < 0)
		return -1;
	return check_binds(runtime, err);
}

static int add_mounts(const struct runtime *runtime, struct jail_spec *spec, struct err *err)
{
	const struct priv_runtime *asked = &runtime->asked;
	const struct mount_row harness = { MOUNT_TARGET, asked->harness, JAIL_HARNESS_DIR, false };
	const struct mount_row program = { MOUNT_TREE, runtime->program, runtime->program, false };

	for (uint32_t i = 0; i < asked->bind_count; i++) {
		const struct priv_bind *bind = &asked->binds[i];
		const struct mount_row row = { bind->place[0] ? MOUNT_TARGET : MOUNT_TREE,
			bind->path, bind->place[0] ? bind->place : bind->path, bind->optional };

		if (jail_spec_add(spec, &row, err) < 0)
			return -1;
	}
	if (jail_spec_add(spec, &harness, err) < 0)
		return -1;
	return jail_spec_add(spec, &program, err);
}

int runtime_start(const struct runtime *runtime, uint32_t slots, const char *uids,
	struct runtime_start *ret_start, struct err *err)
{
	const char *const *args = kinds[runtime->asked.kind].args;
	size_t count = 0;

	*ret_start = (struct runtime_start){ 0 }; /* ends argv and envp as well */
	jail_spec_init(&ret_start->spec, &PROFILE_ZYGOTE);
	ret_start->spec.mounts.texts += !runtime->asked.networked; /* the file of hosts is first */
	if (add_mounts(runtime, &ret_start->spec, err) < 0)
		return -1;

	ret_start->argv[0] = runtime->asked.interpreter;
	for (size_t i = 0; i < COUNT_OF(kinds[0].args) && args[i]; i++)
		ret_start->argv[1 + i] = args[i];
	for (; count < COUNT_OF(fixed_env); count++)
		ret_start->envp[count] = fixed_env[count];
	cut_printf(ret_start->slots, sizeof(ret_start->slots), JAIL_ENV_SLOTS "=%u", slots);
	cut_printf(ret_start->preload, sizeof(ret_start->preload), JAIL_ENV_PRELOAD "=%s",
		runtime->asked.preload);
	ret_start->envp[count++] = ret_start->slots;
	ret_start->envp[count++] = ret_start->preload;
	ret_start->envp[count] = uids;

	ret_start->spec.program = args[0] ? runtime->program : JAIL_HARNESS_DIR "/ced-zygote";
	ret_start->spec.argv = ret_start->argv;
	ret_start->spec.envp = ret_start->envp;
	return 0;
}
