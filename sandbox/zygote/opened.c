#include "sandbox/zygote/opened.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "proto/base/cleanup.h"
#include "proto/base/fdio.h"
#include "proto/internal/slotmsg.h"

#define FOLDERS_MAX 64
#define EVENT_BYTES 16384
#define SCAN_BYTES  4096
#define TAKES_MAX \
	1024 /* at the end: more than the kernel's queue holds, in case a process dies slowly */

#define EVENTS                                                                              \
	((uint32_t)(IN_OPEN | IN_CLOSE_WRITE | IN_CLOSE_NOWRITE | IN_CREATE | IN_MOVED_TO | \
		    IN_DELETE | IN_ONLYDIR | IN_DONT_FOLLOW | IN_EXCL_UNLINK))

struct folder {
	int watch;
	char path[SLOTMSG_OPENED_PATH_MAX];
};

struct opened_notes {
	int mount;
	struct slotmsg_opened_head head;
	struct slotmsg_opened rows[SLOTMSG_OPENED_MAX];
	struct folder folders[FOLDERS_MAX];
	uint32_t folder_count;
	char events[EVENT_BYTES] __attribute__((aligned(8)));
};

/* ---- rows ----------------------------------------------------------------------------------- */

/* NULL: there is no room for another row, and it is counted. */
static struct slotmsg_opened *row_of(struct opened_notes *notes, const char *path)
{
	struct slotmsg_opened *row;

	for (uint32_t i = 0; i < notes->head.count; i++)
		if (strcmp(notes->rows[i].path, path) == 0)
			return &notes->rows[i];
	if (notes->head.count == SLOTMSG_OPENED_MAX) {
		notes->head.others++;
		return NULL;
	}
	row = &notes->rows[notes->head.count++];
	cut_printf(row->path, sizeof(row->path), "%s", path);
	return row;
}

static bool join(char path[SLOTMSG_OPENED_PATH_MAX], const char *folder, const char *name)
{
	int len = snprintf(path, SLOTMSG_OPENED_PATH_MAX, "%s/%s", folder, name);

	return len > 0 && len < SLOTMSG_OPENED_PATH_MAX;
}

/* ---- folders -------------------------------------------------------------------------------- */

static void watch_folder(struct opened *opened, const char *path, bool is_new);

/* A file that is older than our watch was made, opened and written at least once. */
static void take_found(struct opened *opened, const char *path)
{
	struct slotmsg_opened *row = row_of(opened->notes, path);

	if (row && !row->created)
		row->created = row->opens = row->writes = 1;
}

static void take_entry(struct opened *opened, const char *folder, const struct dirent64 *entry)
{
	char path[SLOTMSG_OPENED_PATH_MAX];

	if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
		return;
	if (!join(path, folder, entry->d_name))
		opened->notes->head.others++;
	else if (entry->d_type == DT_DIR)
		watch_folder(opened, path, true);
	else
		take_found(opened, path);
}

/* The link to the modules of a package set is not followed: other runs use what is behind it. */
static int open_folder(const struct opened *opened, const char *path, uint64_t flags)
{
	struct open_how how = {
		.flags = flags | O_DIRECTORY | O_CLOEXEC,
		.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_XDEV,
	};

	return (int)syscall(SYS_openat2, opened->notes->mount, path, &how, sizeof(how));
}

/* Notes the contents of a folder that is watched only now. */
static void take_contents(struct opened *opened, const char *folder)
{
	auto_fd int fd = open_folder(opened, folder, O_RDONLY);
	char entries[SCAN_BYTES] __attribute__((aligned(8)));
	ssize_t got;

	while (fd >= 0 && (got = getdents64(fd, entries, sizeof(entries))) > 0)
		for (ssize_t at = 0; at < got;) {
			const struct dirent64 *entry = (const void *)(entries + at);

			take_entry(opened, folder, entry);
			at += entry->d_reclen;
		}
}

/* Paths start at the tmpfs, which is mounted nowhere in our namespace. */
static int add_watch(struct opened *opened, const char *path)
{
	const char *slash = strrchr(path, '/');
	char above[SLOTMSG_OPENED_PATH_MAX] = ".";
	auto_fd int back = open(".", O_PATH | O_DIRECTORY | O_CLOEXEC);
	auto_fd int folder = -1;
	int watch = -1;

	if (slash)
		cut_printf(above, sizeof(above), "%.*s", (int)(slash - path), path);
	folder = open_folder(opened, above, O_PATH);
	if (back < 0 || folder < 0 || fchdir(folder) < 0)
		return -1;
	watch = inotify_add_watch(opened->notify, slash ? slash + 1 : path, EVENTS);
	if (fchdir(back) < 0)
		return -1;
	return watch;
}

static const char *folder_of(const struct opened_notes *notes, int watch)
{
	for (uint32_t i = 0; i < notes->folder_count; i++)
		if (notes->folders[i].watch == watch)
			return notes->folders[i].path;
	return NULL;
}

/* When a folder is renamed, the paths below it change. */
static void rename_folders(struct opened_notes *notes, const char *known_as, const char *now)
{
	char before[SLOTMSG_OPENED_PATH_MAX];
	char path[SLOTMSG_OPENED_PATH_MAX];

	cut_printf(before, sizeof(before), "%s", known_as); /* one of the folders that change */
	for (uint32_t i = 0; i < notes->folder_count; i++) {
		struct folder *folder = &notes->folders[i];
		const size_t len = strlen(before);

		if (strncmp(folder->path, before, len) != 0 ||
			(folder->path[len] && folder->path[len] != '/'))
			continue;
		if (snprintf(path, sizeof(path), "%s%s", now, folder->path + len) <
			(int)sizeof(path))
			cut_printf(folder->path, sizeof(folder->path), "%s", path);
		else
			notes->head.incomplete = 1;
	}
}

static void watch_folder(struct opened *opened, const char *path, bool is_new)
{
	struct opened_notes *notes = opened->notes;
	struct folder *folder = &notes->folders[notes->folder_count];
	const char *known_as;

	if (notes->folder_count == FOLDERS_MAX) {
		notes->head.incomplete = 1;
		return;
	}
	folder->watch = add_watch(opened, path);
	if (folder->watch < 0) {
		notes->head.incomplete = 1;
		return;
	}
	known_as = folder_of(notes, folder->watch);
	if (known_as) {
		rename_folders(notes, known_as, path);
		return;
	}
	notes->folder_count++;
	cut_printf(folder->path, sizeof(folder->path), "%s", path);
	if (is_new)
		take_contents(opened, path);
}

/* ---- events --------------------------------------------------------------------------------- */

static void take_file(struct opened *opened, const struct inotify_event *event, const char *path)
{
	struct slotmsg_opened *row = row_of(opened->notes, path);

	if (!row)
		return;
	row->opens += (event->mask & IN_OPEN) != 0;
	row->writes += (event->mask & IN_CLOSE_WRITE) != 0;
	row->reads += (event->mask & IN_CLOSE_NOWRITE) != 0;
	row->created += (event->mask & (IN_CREATE | IN_MOVED_TO)) != 0;
	row->deleted += (event->mask & IN_DELETE) != 0;
}

static void take_event(struct opened *opened, const struct inotify_event *event)
{
	const char *folder = folder_of(opened->notes, event->wd);
	char path[SLOTMSG_OPENED_PATH_MAX];

	if (event->mask & IN_Q_OVERFLOW)
		opened->notes->head.incomplete = 1;
	if (!folder || event->len == 0)
		return; /* about the folder itself */
	if (!join(path, folder, event->name))
		opened->notes->head.others++;
	else if (!(event->mask & IN_ISDIR))
		take_file(opened, event, path);
	else if (event->mask & (IN_CREATE | IN_MOVED_TO))
		watch_folder(opened, path, true);
}

bool opened_take(struct opened *opened)
{
	struct opened_notes *notes = opened->notes;
	ssize_t got = -1;

	if (opened->notify >= 0)
		got = read(opened->notify, notes->events, sizeof(notes->events));
	for (ssize_t at = 0; at < got;) {
		const struct inotify_event *event = (const void *)(notes->events + at);

		take_event(opened, event);
		at += (ssize_t)(sizeof(*event) + event->len);
	}
	return got > 0;
}

/* ---- folders of the job ------------------------------------------------------------------------ */

static bool is_below_work(const char *path)
{
	return strncmp(path, "work/", 5) == 0 && !strstr(path, "/../") && !strstr(path, "//");
}

/* We make the job's folders, so that nothing is opened in them before we watch. */
static int make_folders(struct opened *opened, struct err *err)
{
	char *text = opened->notes->events;
	ssize_t got = pread(opened->report, text, EVENT_BYTES - 1, 0);

	if (got < 0 || ftruncate(opened->report, 0) < 0 || lseek(opened->report, 0, SEEK_SET) < 0)
		return err_sys(err, "folders of the job");
	text[got] = '\0';
	for (const char *path = text; path < text + got; path += strlen(path) + 1)
		if (is_below_work(path) &&
			(mkdirat(opened->notes->mount, path, 0755) == 0 || errno == EEXIST))
			watch_folder(opened, path, false);
	return 0;
}

/* ---- starting and ending ------------------------------------------------------------------- */

int opened_start(struct opened *opened, int mount, int report, struct err *err)
{
	void *notes;

	opened_forget(opened);
	opened->report = report;
	notes = mmap(NULL, sizeof(*opened->notes), PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (notes == MAP_FAILED)
		return err_sys(err, "notes about files");
	opened->notes = notes;
	opened->notes->mount = mount;
	opened->notes->head.magic = SLOTMSG_MAGIC;
	opened->notify = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
	if (opened->notify < 0)
		return err_sys(err, "inotify");
	watch_folder(opened, "work", false);
	watch_folder(opened, "tmp", false);
	if (opened->notes->folder_count < 2)
		return err_sys(err, "inotify of /work and /tmp");
	return make_folders(opened, err);
}

void opened_tell(struct opened *opened)
{
	const struct opened_notes *notes = opened->notes;
	size_t len = sizeof(notes->head);
	struct err err = ERR_INIT;

	if (!notes)
		return;
	for (int takes = 0; opened_take(opened); takes++)
		if (takes == TAKES_MAX) {
			opened->notes->head.incomplete = 1;
			break;
		}
	if (write_all(opened->report, (const char *)&notes->head, len, &err) == 0)
		(void)write_all(opened->report, (const char *)notes->rows,
			notes->head.count * sizeof(notes->rows[0]), &err);
}

void opened_forget(struct opened *opened)
{
	if (opened->notes)
		(void)munmap(opened->notes, sizeof(*opened->notes));
	opened->notes = NULL;
	close_fds(&opened->notify, 1);
	close_fds(&opened->report, 1);
}
