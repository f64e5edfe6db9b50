#include "daemon/runs/opened_files.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "proto/base/buf.h"
#include "proto/base/cleanup.h"
#include "proto/base/fdio.h"
#include "proto/base/utf8.h"
#include "proto/internal/slotmsg.h"
#include "proto/jail_dirs.h"

#define FOLDERS_BYTES_MAX 16000

/* Adds every folder above a file, from the top. */
static void add_folders(struct buf *folders, const char *path)
{
	for (const char *slash = strchr(path, '/'); slash; slash = strchr(slash + 1, '/')) {
		(void)buf_printf(folders, "work/%.*s", (int)(slash - path), path);
		(void)buf_append_byte(folders, 0);
	}
}

int opened_files_make(const struct job_spec *spec, struct err *err)
{
	auto_fd int fd = memfd_create("opened", MFD_CLOEXEC);
	__attribute__((cleanup(buf_done))) struct buf folders;

	buf_init(&folders, FOLDERS_BYTES_MAX);
	for (size_t i = 0; i < spec->file_count; i++)
		add_folders(&folders, spec->files[i].path);
	if (fd < 0)
		return err_sys(err, "memfd_create");
	if (folders.len && write_all(fd, folders.bytes, folders.len, err) < 0)
		return -1;
	return take_fd(&fd);
}

/* Returns "/work/a/b", as the program names the file.  NULL: no slot writes such a name. */
static const char *path_of(struct arena *arena, const struct slotmsg_opened *row)
{
	size_t len = strnlen(row->path, sizeof(row->path));

	if (len == 0 || len == sizeof(row->path) || !utf8_is_valid(row->path, len))
		return NULL;
	return arena_printf(arena, "/%s", row->path);
}

static bool is_of_job(const struct job_spec *spec, const char *path)
{
	static const char work[] = JAIL_WORK_DIR "/";
	const char *name = path + sizeof(work) - 1;

	if (strncmp(path, work, sizeof(work) - 1) != 0)
		return false;
	if (strcmp(name, spec->entrypoint) == 0)
		return true;
	for (size_t i = 0; i < spec->file_count; i++)
		if (strcmp(name, spec->files[i].path) == 0)
			return true;
	return false;
}

/*
 * Removes our own open of a job's file: the worker opens each one once, to write it.  It opens the
 * program's own file earlier, before the slot watches; then more was closed than opened.
 */
static void leave_out_own_open(struct slotmsg_opened *row)
{
	if (row->writes > 0)
		row->writes--;
	if (row->created > 0) {
		row->created--;
		row->opens -= row->opens > row->reads + row->writes;
	}
}

static void add_opened_file(
	struct arena *arena, struct value *list, const char *path, const struct slotmsg_opened *row)
{
	struct value *map = value_map(arena);

	value_map_put(arena, map, "path", value_text(arena, path));
	value_map_put(arena, map, "opens", value_uint(arena, row->opens));
	value_map_put(
		arena, map, "read", value_bool(arena, row->reads > 0 || row->opens > row->writes));
	value_map_put(arena, map, "written", value_bool(arena, row->writes > 0));
	value_map_put(arena, map, "created", value_bool(arena, row->created > 0));
	value_map_put(arena, map, "deleted", value_bool(arena, row->deleted > 0));
	(void)value_list_add(arena, list, map);
}

static struct value *read_rows(
	struct arena *arena, int fd, uint32_t count, const struct job_spec *spec, uint64_t *others)
{
	struct value *list = value_list(arena);

	for (uint32_t i = 0; i < count; i++) {
		struct slotmsg_opened row;
		off_t at = (off_t)(sizeof(struct slotmsg_opened_head) + i * sizeof(row));
		const char *path;

		if (pread(fd, &row, sizeof(row), at) != (ssize_t)sizeof(row))
			break;
		path = path_of(arena, &row);
		if (!path) {
			++*others;
			continue;
		}
		if (is_of_job(spec, path))
			leave_out_own_open(&row);
		if (row.opens || row.writes || row.created || row.deleted)
			add_opened_file(arena, list, path, &row);
	}
	return list;
}

struct value *opened_files_read(struct arena *arena, int fd, const struct job_spec *spec)
{
	struct slotmsg_opened_head head;
	struct value *map = value_map(arena);
	struct value *list;
	uint64_t others;

	if (pread(fd, &head, sizeof(head), 0) != (ssize_t)sizeof(head) ||
		head.magic != SLOTMSG_MAGIC || head.count > SLOTMSG_OPENED_MAX)
		return NULL;
	others = head.others;
	list = read_rows(arena, fd, head.count, spec, &others);
	value_map_put(arena, map, "complete", value_bool(arena, !head.incomplete && !others));
	value_map_put(arena, map, "others", value_uint(arena, others));
	value_map_put(arena, map, "opened", list);
	return map;
}
