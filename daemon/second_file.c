#include "daemon/second_file.h"

#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "proto/base/cleanup.h"
#include "proto/base/fdio.h"

#define MODE      0640
#define TEXT_MAX_ 1024

/* Whether what is there ends in the middle of a line, as the power may leave it. */
static bool is_torn(int fd)
{
	struct stat st;
	char last = '\n';

	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || !st.st_size)
		return false;
	return pread(fd, &last, 1, st.st_size - 1) == 1 && last != '\n';
}

int second_file_append(const char *path, const char *line, struct err *err)
{
	auto_fd int fd =
		open(path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, MODE);
	char text[TEXT_MAX_];
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0)
		return err_sys(err, "%s", path);
	if (!S_ISREG(st.st_mode))
		return err_set(err, ERR_INVALID, "%s is no ordinary file", path);
	cut_printf(text, sizeof(text), "%s%s\n", is_torn(fd) ? "\n" : "", line);
	/* In one call: others may append to it too. */
	if (write_all(fd, text, strlen(text), err) < 0)
		return err_wrap(err, "%s", path);
	return fdatasync(fd) < 0 ? err_sys(err, "%s", path) : 0;
}

int second_file_read(
	const char *path, size_t most, char **ret_text, size_t *ret_len, struct err *err)
{
	struct err why = ERR_INIT;

	if (read_file(path, most, ret_text, ret_len, &why) == 0)
		return 0;
	if (why.code != ERR_MISSING)
		return err_pass(err, &why);
	*ret_text = calloc(1, 1);
	*ret_len = 0;
	return *ret_text ? 0 : err_set(err, ERR_MEMORY, "no memory for %s", path);
}
