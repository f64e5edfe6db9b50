#include "sandbox/worker/program.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#include "proto/base/cleanup.h"
#include "proto/base/fdio.h"
#include "proto/internal/slotmsg.h"

#define NAME_MAX_BYTES 255
#define PATH_MAX_BYTES 4095
#define AHEAD_NAME     "main.py" /* the name of a program without a name */
#define AHEAD_BYTES    4096
#define CODE_MODE      0644

/* ---- reading parts of the body ------------------------------------------------------------ */

static bool take_bytes(struct span *rest, uint64_t len, struct span *ret_bytes)
{
	if (len > rest->len)
		return false;
	*ret_bytes = (struct span){ rest->bytes, (size_t)len };
	rest->bytes += len;
	rest->len -= (size_t)len;
	return true;
}

static bool take_struct(struct span *rest, void *ret_struct, size_t size)
{
	struct span bytes;

	if (!take_bytes(rest, size, &bytes))
		return false;
	memcpy(ret_struct, bytes.bytes, size); /* a body is not aligned */
	return true;
}

bool program_next_text(struct span *rest, struct span *ret_text)
{
	uint32_t len;

	return take_struct(rest, &len, sizeof(len)) && take_bytes(rest, len, ret_text);
}

bool program_next_file(struct span *rest, struct program_file *ret_file)
{
	struct job_file head;

	if (!take_struct(rest, &head, sizeof(head)))
		return false;
	ret_file->mode = head.mode;
	return take_bytes(rest, head.path_len, &ret_file->path) &&
	       take_bytes(rest, head.data_len, &ret_file->data);
}

/* ---- checking everything once ------------------------------------------------------------- */

static bool has_nul(struct span text)
{
	return text.len > 0 && memchr(text.bytes, '\0', text.len) != NULL;
}

static bool is_name(struct span text)
{
	if (text.len == 0 || text.len > NAME_MAX_BYTES || has_nul(text))
		return false;
	if (memchr(text.bytes, '/', text.len))
		return false;
	return !(
		text.bytes[0] == '.' && (text.len == 1 || (text.len == 2 && text.bytes[1] == '.')));
}

/* Whether it is names with single slashes between them. */
static bool is_path(struct span path)
{
	const char *end = path.bytes + path.len;
	const char *from = path.bytes;

	if (path.len == 0 || path.len > PATH_MAX_BYTES)
		return false;
	while (from <= end) {
		const char *slash = memchr(from, '/', (size_t)(end - from));
		const char *to = slash ? slash : end;

		if (!is_name((struct span){ from, (size_t)(to - from) }))
			return false;
		from = to + 1;
	}
	return true;
}

static int check_texts(
	struct span *rest, uint32_t count, const char *what, struct span *ret_all, struct err *err)
{
	struct span text;

	*ret_all = *rest;
	for (uint32_t i = 0; i < count; i++) {
		if (!program_next_text(rest, &text))
			return err_set(err, ERR_PROTOCOL, "job: %s %u is cut off", what, i);
		if (has_nul(text))
			return err_set(err, ERR_PROTOCOL, "job: %s %u has a NUL", what, i);
	}
	ret_all->len -= rest->len;
	return 0;
}

static int check_files(struct span *rest, uint32_t count, struct span *ret_all, struct err *err)
{
	struct program_file file;

	*ret_all = *rest;
	for (uint32_t i = 0; i < count; i++) {
		if (!program_next_file(rest, &file))
			return err_set(err, ERR_PROTOCOL, "job: file %u is cut off", i);
		if (!is_path(file.path))
			return err_set(err, ERR_PROTOCOL, "job: file %u has a bad path", i);
	}
	ret_all->len -= rest->len;
	return 0;
}

/* The names become parts of paths. */
static int check_packages(struct span *rest, uint32_t count, struct span *ret_all, struct err *err)
{
	struct span text;

	*ret_all = *rest;
	for (uint32_t i = 0; i < count; i++) {
		if (!program_next_text(rest, &text))
			return err_set(err, ERR_PROTOCOL, "job: package set %u is cut off", i);
		if (!is_name(text))
			return err_set(err, ERR_PROTOCOL, "job: package set %u has a bad name", i);
	}
	ret_all->len -= rest->len;
	return 0;
}

int program_parse(const char *body, size_t len, struct program *ret_program, struct err *err)
{
	struct program program;
	struct job_body head;
	struct span rest = { body, len };

	if (!take_struct(&rest, &head, sizeof(head)))
		return err_set(err, ERR_PROTOCOL, "job: no room for a head");
	if (!take_bytes(&rest, head.code_len, &program.code) ||
		!take_bytes(&rest, head.entrypoint_len, &program.entrypoint) ||
		!take_bytes(&rest, head.rules_len, &program.rules) ||
		!take_bytes(&rest, head.tools_len, &program.tools))
		return err_set(err, ERR_PROTOCOL, "job: the program is cut off");
	if (!is_name(program.entrypoint))
		return err_set(err, ERR_PROTOCOL, "job: the entrypoint is not a file name");
	if (check_texts(&rest, head.arg_count, "argument", &program.args, err) < 0 ||
		check_texts(&rest, head.env_count, "variable", &program.env, err) < 0 ||
		check_packages(&rest, JOB_PACKAGES_OF(head.flags), &program.packages, err) < 0 ||
		check_files(&rest, head.file_count, &program.files, err) < 0)
		return -1;
	if (rest.len > 0)
		return err_set(err, ERR_PROTOCOL, "job: %zu bytes too many", rest.len);

	program.arg_count = head.arg_count;
	program.env_count = head.env_count;
	program.file_count = head.file_count;
	program.has_stdin = head.has_stdin != 0;
	program.flags = head.flags;
	program.turn = head.turn;
	*ret_program = program;
	return 0;
}

/* ---- writing the files -------------------------------------------------------------------- */

static int write_data(int fd, const char *path, struct span data, struct err *err)
{
	while (data.len > 0) {
		ssize_t written = write(fd, data.bytes, data.len);

		if (written < 0 && errno == EINTR)
			continue;
		if (written < 0)
			return err_sys(err, "file %s", path);
		data.bytes += written;
		data.len -= (size_t)written;
	}
	return 0;
}

/* Writing more than RLIMIT_FSIZE allows would raise a signal, before the program has begun. */
static int check_size(uint64_t size)
{
	struct rlimit most;

	if (getrlimit(RLIMIT_FSIZE, &most) < 0)
		return -1;
	if (size <= most.rlim_cur)
		return 0;
	errno = EFBIG;
	return -1;
}

static int write_file(int dir, const char *path, struct span data, mode_t mode, struct err *err)
{
	auto_fd int fd =
		openat(dir, path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);

	if (fd < 0)
		return err_sys(err, "file %s", path);
	if (write_data(fd, path, data, err) == 0)
		return 0;
	(void)unlinkat(dir, path, 0); /* a part of it helps nobody, and takes room */
	return -1;
}

/* Makes every folder of the path, from the top. */
static int make_parents(int dir, char *path, struct err *err)
{
	for (char *slash = strchr(path, '/'); slash; slash = strchr(slash + 1, '/')) {
		int result;

		*slash = '\0';
		result = mkdirat(dir, path, 0755);
		if (result < 0 && errno != EEXIST) {
			(void)err_sys(err, "folder %s", path);
			*slash = '/';
			return -1;
		}
		*slash = '/';
	}
	return 0;
}

/* The file may be one that its owner cannot write, so it is not opened. */
static int remove_old(int dir, const char *path, struct err *err)
{
	if (unlinkat(dir, path, 0) < 0 && errno != ENOENT)
		return err_sys(err, "file %s", path);
	return 0;
}

static int write_one(int dir, bool replaces, const struct program_file *file, struct err *err)
{
	char path[PATH_MAX_BYTES + 1];
	const mode_t mode = file->mode & 0777;

	memcpy(path, file->path.bytes, file->path.len);
	path[file->path.len] = '\0';
	if (check_size(file->data.len) < 0)
		return err_sys(err, "file %s", path);
	if (make_parents(dir, path, err) < 0 || (replaces && remove_old(dir, path, err) < 0))
		return -1;
	if (write_file(dir, path, file->data, mode, err) < 0)
		return -1;
	if (fchmodat(dir, path, mode, 0) < 0) /* the umask counted until now */
		return err_sys(err, "mode of %s", path);
	return 0;
}

int program_file_ahead(int dir)
{
	int fd = openat(
		dir, AHEAD_NAME, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, CODE_MODE);

	if (fd >= 0)
		(void)fallocate(fd, FALLOC_FL_KEEP_SIZE, 0, AHEAD_BYTES);
	return fd;
}

static int write_code(const struct program *program, int dir, int ahead, struct err *err)
{
	const struct program_file file = {
		.path = program->entrypoint,
		.mode = CODE_MODE,
		.data = program->code,
	};
	auto_fd int fd = ahead;
	char name[NAME_MAX_BYTES + 1];

	if (fd < 0)
		return write_one(dir, false, &file, err);
	memcpy(name, file.path.bytes, file.path.len);
	name[file.path.len] = '\0';
	if (strcmp(name, AHEAD_NAME) != 0 && renameat(dir, AHEAD_NAME, dir, name) < 0)
		return err_sys(err, "file %s", name);
	return write_data(fd, name, file.data, err);
}

static int write_files(const struct program *program, int dir, bool replaces, struct err *err)
{
	struct span rest = program->files;
	struct program_file file;

	while (program_next_file(&rest, &file))
		if (write_one(dir, replaces, &file, err) < 0)
			return -1;
	return 0;
}

int program_forget_ahead(int dir, int ahead, struct err *err)
{
	if (ahead < 0)
		return 0;
	close(ahead);
	return unlinkat(dir, AHEAD_NAME, 0) < 0 ? err_sys(err, "file %s", AHEAD_NAME) : 0;
}

int program_write(const struct program *program, int dir, int ahead, struct err *err)
{
	const bool is_cell = program->flags & JOB_FLAG_SESSION;
	int result = is_cell ? program_forget_ahead(dir, ahead, err)
			     : write_code(program, dir, ahead, err);

	return result < 0 ? -1 : write_files(program, dir, false, err);
}

int program_write_files(const struct program *program, const char *folder, struct err *err)
{
	auto_fd int dir = -1;

	if (program->file_count == 0)
		return 0;
	dir = open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
	return dir < 0 ? err_sys(err, "folder %s", folder) : write_files(program, dir, true, err);
}

/* ---- its stdin ------------------------------------------------------------------------------ */

static int copy_all(int from, off_t size, int to, struct err *err)
{
	if (check_size((uint64_t)size) < 0)
		return err_sys(err, "stdin");
	for (off_t left = size; left > 0;) {
		ssize_t sent = sendfile(to, from, NULL, (size_t)left);

		if (sent < 0)
			return err_sys(err, "stdin");
		if (sent == 0)
			return err_set(err, ERR_PROTOCOL, "stdin is shorter than it was");
		left -= sent;
	}
	return 0;
}

static int copy_into(int own, int from, off_t size, struct err *err)
{
	if (own < 0)
		return err_sys(err, "a file for stdin");
	if (copy_all(from, size, own, err) < 0)
		return -1;
	if (lseek(own, 0, SEEK_SET) < 0)
		return err_sys(err, "stdin");
	return 0;
}

int program_stdin_ahead(const char *folder)
{
	return open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
}

int program_stdin(int fd, int ahead, const char *folder, struct err *err)
{
	auto_fd int from = fd;
	auto_fd int own = ahead;
	struct stat status;

	if (fstat(from, &status) < 0)
		return err_sys(err, "stdin");
	if (S_ISREG(status.st_mode)) {
		if (own < 0)
			own = program_stdin_ahead(folder);
		if (copy_into(own, from, status.st_size, err) < 0)
			return -1;
		close(from);
		from = take_fd(&own);
	}
	if (dup2(from, STDIN_FILENO) < 0)
		return err_sys(err, "stdin");
	return 0;
}
