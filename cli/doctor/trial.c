#include "cli/doctor/trial.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cli/doctor/probe.h"
#include "proto/base/cleanup.h"
#include "proto/base/fdio.h"

/* ---- small files --------------------------------------------------------------------------- */

int cgroups_put(const char *folder, const char *name, const char *text, struct err *err)
{
	auto_fd int fd = -1;
	char path[TRIAL_PATH_ROOM];

	cut_printf(path, sizeof(path), "%s/%s", folder, name);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0 || write(fd, text, strlen(text)) != (ssize_t)strlen(text))
		return err_sys(err, "%s", path);
	return 0;
}

void cgroups_get(const char *folder, const char *name, char *ret_line, size_t size)
{
	char path[TRIAL_PATH_ROOM];

	cut_printf(path, sizeof(path), "%s/%s", folder, name);
	probe_line(path, ret_line, size);
}

unsigned long long cgroups_number(const char *folder, const char *name)
{
	char line[64];

	cgroups_get(folder, name, line, sizeof(line));
	return strtoull(line, NULL, 10);
}

static bool has_word(const char *list, const char *word, const char *parts)
{
	size_t len = strlen(word);

	while (*list) {
		size_t found = strcspn(list, parts);

		if (found == len && strncmp(list, word, len) == 0)
			return true;
		list += found;
		list += strspn(list, parts);
	}
	return false;
}

/* ---- where are we? ------------------------------------------------------------------------- */

/* Our line of /proc/self/cgroup for a controller, or for v2's hierarchy. */
void cgroups_find_own(const char *controller, struct place *place)
{
	FILE *table = fopen("/proc/self/cgroup", "re");
	char line[2 * TRIAL_TEXT_MAX];

	place->version = 0;
	while (table && place->version != 1 && fgets(line, sizeof(line), table)) {
		char list[TRIAL_TEXT_MAX] = "";
		char path[TRIAL_TEXT_MAX] = "";

		line[strcspn(line, "\n")] = '\0';
		if (sscanf(line, "0::%511[^\n]", path) == 1)
			place->version = 2;
		else if (controller && sscanf(line, "%*u:%511[^:]:%511[^\n]", list, path) == 2 &&
			 has_word(list, controller, ","))
			place->version = 1;
		else
			continue;
		cut_printf(place->own, sizeof(place->own), "%s", path);
	}
	if (table)
		(void)fclose(table);
}

/* A line of /proc/self/mountinfo: is it the hierarchy that we look for, and where? */
static bool is_mounted(const char *line, const char *controller, struct place *place)
{
	const char *behind = strstr(line, " - ");
	char type[32];
	char options[TRIAL_TEXT_MAX];
	char root[TRIAL_TEXT_MAX];
	char mount[TRIAL_TEXT_MAX];
	size_t len;

	if (!behind || sscanf(behind, " - %31s %*s %511s", type, options) != 2 ||
		sscanf(line, "%*s %*s %*s %511s %511s", root, mount) != 2)
		return false;
	if (place->version == 2
			? strcmp(type, "cgroup2") != 0
			: strcmp(type, "cgroup") != 0 || !has_word(options, controller, ","))
		return false;
	len = strcmp(root, "/") == 0 ? 0 : strlen(root);
	if (strncmp(place->own, root, len) != 0 || strstr(place->own, "/.."))
		return false;
	cut_printf(place->folder, sizeof(place->folder), "%s%s", mount, place->own + len);
	len = strlen(place->folder);
	if (len > 1 && place->folder[len - 1] == '/')
		place->folder[len - 1] = '\0';
	return true;
}

int cgroups_find(const char *controller, struct place *place, struct err *err)
{
	const char *what = controller ? controller : "cgroup2";
	char line[4096];
	bool found = false;
	FILE *mounts;

	cgroups_find_own(controller, place);
	if (place->version == 0)
		return err_set(err, ERR_UNSUPPORTED, "the kernel has no %s", what);
	mounts = fopen("/proc/self/mountinfo", "re");
	while (mounts && !found && fgets(line, sizeof(line), mounts))
		found = is_mounted(line, controller, place);
	if (mounts)
		(void)fclose(mounts);
	if (!found)
		return err_set(err, ERR_MISSING, "%s is mounted nowhere", what);
	if (access(place->folder, F_OK) < 0)
		return err_sys(err, "%s", place->folder);
	return 0;
}

/* ---- a leaf of our own --------------------------------------------------------------------- */

static int switch_it(const char *folder, char sign, const char *controller, struct err *err)
{
	char word[32];

	cut_printf(word, sizeof(word), "%c%s", sign, controller);
	return cgroups_put(folder, "cgroup.subtree_control", word, err);
}

/* Ourselves and who waits for us: cectl. */
static int move_to(const char *folder, struct err *err)
{
	char pid[16];

	cut_printf(pid, sizeof(pid), "%d", (int)getppid());
	return cgroups_put(folder, "cgroup.procs", pid, err) < 0
		       ? -1
		       : cgroups_put(folder, "cgroup.procs", "0", err);
}

/* Whoever else is in our cgroup stays there, and then nothing can be handed down from it. */
static int step_aside(struct leaf *leaf, struct err *err)
{
	char others[32];

	if (mkdir(leaf->main, 0755) < 0)
		return err_sys(err, "%s", leaf->main);
	leaf->moved = true;
	if (move_to(leaf->main, err) < 0)
		return -1;
	cgroups_get(leaf->place.folder, "cgroup.procs", others, sizeof(others));
	if (others[0] == '\0')
		return 0;
	errno = EBUSY;
	return err_sys(err, "%s: process %s is in it too", leaf->place.folder, others);
}

/* As ced-spawner does it.  The root of the hierarchy hands down with processes in it. */
static int hand_down(struct leaf *leaf, struct err *err)
{
	const char *base = leaf->place.folder;
	char text[TRIAL_TEXT_MAX];
	bool is_root;

	cgroups_get(base, "cgroup.subtree_control", text, sizeof(text));
	if (has_word(text, leaf->controller, " "))
		return 0;
	cgroups_get(base, "cgroup.type", text, sizeof(text));
	is_root = text[0] == '\0';
	if (!is_root && step_aside(leaf, err) < 0)
		return -1;
	leaf->handed_down = switch_it(base, '+', leaf->controller, err) == 0;
	return leaf->handed_down ? 0 : -1;
}

static int make_folders(struct leaf *leaf, struct err *err)
{
	bool hands_down = leaf->place.version == 2 && leaf->controller;

	cut_printf(leaf->house, sizeof(leaf->house), "%s/ced-doctor-%d", leaf->place.folder,
		(int)getpid());
	cut_printf(leaf->main, sizeof(leaf->main), "%s/main", leaf->house);
	cut_printf(
		leaf->folder, sizeof(leaf->folder), "%s%s", leaf->house, hands_down ? "/leaf" : "");
	if (mkdir(leaf->house, 0755) < 0)
		return err_sys(err, "a folder in %s", leaf->place.folder);
	if (!hands_down)
		return 0;
	if (hand_down(leaf, err) < 0 || switch_it(leaf->house, '+', leaf->controller, err) < 0)
		return -1;
	return mkdir(leaf->folder, 0755) < 0 ? err_sys(err, "%s", leaf->folder) : 0;
}

/* A cgroup is let go a moment after its last process. */
static void remove_folder(const char *folder)
{
	const struct timespec moment = { .tv_nsec = 10000000 };

	for (int tries = 0; tries < 100 && rmdir(folder) < 0 && errno == EBUSY; tries++)
		(void)nanosleep(&moment, NULL);
}

static void take_back(struct leaf *leaf)
{
	if (strcmp(leaf->folder, leaf->house) != 0) {
		remove_folder(leaf->folder);
		(void)switch_it(leaf->house, '-', leaf->controller, NULL);
	}
	if (leaf->handed_down)
		(void)switch_it(leaf->place.folder, '-', leaf->controller, NULL);
	if (leaf->moved) {
		(void)move_to(leaf->place.folder, NULL);
		remove_folder(leaf->main);
	}
	remove_folder(leaf->house);
}

static int offers(const struct leaf *leaf, struct err *err)
{
	char offered[TRIAL_TEXT_MAX];

	if (leaf->place.version != 2 || !leaf->controller)
		return 0;
	cgroups_get(leaf->place.folder, "cgroup.controllers", offered, sizeof(offered));
	if (!has_word(offered, leaf->controller, " "))
		return err_set(err, ERR_MISSING, "%s offers \"%s\"", leaf->place.folder, offered);
	return 0;
}

/* ---- a member ------------------------------------------------------------------------------ */

__attribute__((noreturn)) static void be_member(int sock, bool (*work)(void))
{
	char byte = 'n';

	if (read(sock, &byte, 1) == 1) {
		byte = work && !work() ? 'n' : 'y';
		(void)!write(sock, &byte, 1);
		(void)!read(sock, &byte, 1);
	}
	_exit(0);
}

static int member_start(struct member *member, bool (*work)(void), struct err *err)
{
	int pair[2];

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0)
		return err_sys(err, "socketpair");
	member->pid = fork();
	if (member->pid == 0) {
		close(pair[0]);
		be_member(pair[1], work);
	}
	close(pair[1]);
	member->sock = pair[0];
	return member->pid < 0 ? err_sys(err, "fork") : 0;
}

static void member_end(struct member *member)
{
	if (member->pid > 0) {
		(void)kill(member->pid, SIGKILL);
		(void)waitpid(member->pid, NULL, 0);
	}
	cleanup_fd(&member->sock);
}

static int member_work(const struct member *member, struct err *err)
{
	struct pollfd watched = { .fd = member->sock, .events = POLLIN };
	char byte = 0;

	if (write_all(member->sock, "g", 1, err) < 0)
		return -1;
	if (poll(&watched, 1, TRIAL_ANSWER_MS) != 1 || read(member->sock, &byte, 1) != 1)
		return err_set(err, ERR_TIMEOUT, "who was put there did not answer");
	return byte == 'y' ? 0 : err_set(err, ERR_UNSUPPORTED, "its limit does not hold");
}

static int try_member(
	const struct leaf *leaf, const struct trial *trial, struct member *member, struct err *err)
{
	char pid[16];

	if (member_start(member, trial->work, err) < 0)
		return -1;
	cut_printf(pid, sizeof(pid), "%d", (int)member->pid);
	if (cgroups_put(leaf->folder, "cgroup.procs", pid, err) < 0)
		return -1;
	if (trial->limit && trial->limit(leaf, err) < 0)
		return -1;
	if (member_work(member, err) < 0)
		return -1;
	return trial->check ? trial->check(leaf, member, err) : 0;
}

int trial_run(const struct trial *trial, struct leaf *leaf, struct err *err)
{
	struct member member = { -1, -1 };
	int answer = -1;

	leaf->controller = trial->controller;
	if (cgroups_find(trial->controller, &leaf->place, err) < 0 || offers(leaf, err) < 0)
		return -1;
	if (make_folders(leaf, err) == 0)
		answer = try_member(leaf, trial, &member, err);
	member_end(&member);
	take_back(leaf);
	return answer;
}
