/* Room for the record, on the disk of the folder that the settings name. */
#include <errno.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

#include "cli/doctor/probe.h"
#include "proto/base/container.h"
#include "proto/store_room.h"

#define MIB (1024.0 * 1024.0)

/* The folder, or what is there of the way to it: ced's folder is made when it is installed. */
static int find_disk(const char *state, char ret_path[SETTINGS_PATH_MAX], struct err *err)
{
	struct stat st;

	cut_printf(ret_path, SETTINGS_PATH_MAX, "%s", state);
	while (stat(ret_path, &st) < 0) {
		char *slash = strrchr(ret_path, '/');

		if (errno != ENOENT || !slash)
			return err_sys(err, "%s", ret_path);
		slash[slash == ret_path] = '\0';
	}
	return 0;
}

static int look(
	const char *state, char ret_path[SETTINGS_PATH_MAX], int64_t *ret_bytes, struct err *err)
{
	struct statvfs fs;

	if (find_disk(state, ret_path, err) < 0)
		return -1;
	if (statvfs(ret_path, &fs) < 0)
		return err_sys(err, "%s", ret_path);
	if (!fs.f_frsize || fs.f_bavail > INT64_MAX / fs.f_frsize)
		*ret_bytes = INT64_MAX;
	else
		*ret_bytes = (int64_t)(fs.f_bavail * fs.f_frsize);
	return 0;
}

/* Who may not look into the folder is not told that a store is missing there. */
static bool is_new(const char *state)
{
	char path[SETTINGS_PATH_MAX + 8];
	struct stat st;

	cut_printf(path, sizeof(path), "%s/ced.db", state);
	return stat(path, &st) < 0 ? errno == ENOENT || errno == ENOTDIR : st.st_size == 0;
}

static int hold_against(const struct patient *patient, int64_t needed, const char *what,
	struct finding *finding, struct err *err)
{
	const char *state = patient->settings.state;
	char path[SETTINGS_PATH_MAX];
	int64_t bytes = 0;

	if (look(state, path, &bytes, err) < 0) {
		cut_printf(finding->repair, REPAIR_MAX,
			"name a folder that can be made and reached: state = \"...\"");
		return -1;
	}
	cut_printf(finding->found, FOUND_MAX, "%.1f MiB are free in %s, and %s %.0f MiB",
		(double)bytes / MIB, path, what, (double)needed / MIB);
	if (bytes >= needed)
		return 0;
	cut_printf(finding->repair, REPAIR_MAX,
		"make room (df -h %s), or name another folder: state = \"...\"", path);
	return err_set(err, ERR_FULL, "%s", finding->found);
}

PROBE(room)
{
	bool new_store = is_new(patient->settings.state);

	return hold_against(patient, new_store ? STORE_ROOM_NEW : STORE_ROOM_LEAST,
		new_store ? "a new store needs" : "runs are refused below", finding, err);
}

PROBE(room_to_spare)
{
	return hold_against(
		patient, STORE_ROOM_NEAR, "the disk counts as nearly full below", finding, err);
}
