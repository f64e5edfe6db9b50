#include "cli/base/libexec.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "proto/base/cleanup.h"

int libexec_find(char ret_own[LIBEXEC_PATH_MAX], char *ret_folder, size_t size, struct err *err)
{
	ssize_t len = readlink("/proc/self/exe", ret_own, LIBEXEC_PATH_MAX - 1);
	char path[LIBEXEC_PATH_MAX + 32];
	auto_free char *real = NULL;

	if (len <= 0)
		return err_sys(err, "/proc/self/exe");
	ret_own[len] = '\0';
	cut_printf(path, sizeof(path), "%.*s/../libexec/ced",
		(int)(strrchr(ret_own, '/') - ret_own), ret_own);
	real = realpath(path, NULL);
	if (!real)
		return err_sys(err, "%s", path);
	cut_printf(ret_folder, size, "%s", real);
	return 0;
}
