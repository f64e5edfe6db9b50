#include "cli/doctor/doctor.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "cli/base/command.h"
#include "proto/base/container.h"
#include "proto/json.h"

#define PROBE_BYTES   ((size_t)64 << 10)
#define PROBE_SECONDS 180

#define NEWER_KERNEL "apt-get install linux-image-amd64, and restart"
#define NO_JAIL      "no jail can be made, and ced is never ready"
#define UNDER_FILTER                                                                        \
	"an older kernel or a filter around us does not give it: a newer kernel, or for a " \
	"container --security-opt seccomp=unconfined"
#define INSTEAD_RLIMIT                                                                          \
	"with cgroups = \"auto\" rlimits hold it for each process, not for all together; with " \
	"\"required\" ced does not start"

/* The steps of ced-probe that differ from the rest; the last row is for all others. */
/* clang-format off */
static const struct explanation {
	const char *step;
	enum need need;
	const char *layer;
	const char *means;
	const char *repair;
} explanations[] = {
	{ "populate", NEED_BETTER, NULL, "each worker rehearses, which takes longer", NEWER_KERNEL },
	{ "notifier", NEED_BETTER, NULL, "a refused system call is not reported", UNDER_FILTER },
	{ "Landlock", NEED_LAYER, "landlock",
	  "workers lack the second barrier around files; ced starts without it with require = {}",
	  "a kernel with CONFIG_SECURITY_LANDLOCK, and landlock in lsm=" },
	{ "memory", NEED_LAYER, "memory", INSTEAD_RLIMIT, "" },
	{ "pids", NEED_LAYER, "pids", INSTEAD_RLIMIT, "" },
	{ "cpu", NEED_LAYER, "cpu", INSTEAD_RLIMIT, "" },
	{ "cgroup.kill", NEED_LAYER, "cgroup_kill", "runs are killed by their pid namespace alone", "" },
	{ "swap", NEED_BETTER, NULL, "a run may use swap beyond its memory",
	  "swapoff -a, or swapaccount=1 on the kernel's command line" },
	{ "host uids", NEED_ROOT, "uids", "ced-spawner refuses to start",
	  "ced-spawner --uid-base N, with N from 65536 on where 4160 uids exist" },
	{ NULL, NEED_ALWAYS, NULL, NO_JAIL, UNDER_FILTER },
};
/* clang-format on */

const char *state_word(enum state state)
{
	static const char *const words[] = {
		[STATE_GOOD] = "good",
		[STATE_NOTE] = "note",
		[STATE_WEAKER] = "weaker",
		[STATE_MISSING] = "missing",
		[STATE_UNTRIED] = "untried",
	};

	return words[state];
}

const char *need_word(enum need need)
{
	static const char *const words[] = {
		[NEED_ALWAYS] = "always",
		[NEED_LAYER] = "configured",
		[NEED_ROOT] = "root",
		[NEED_BETTER] = "better",
		[NEED_NOBODY] = "nobody",
	};

	return words[need];
}

long doctor_sysctl(const char *name)
{
	char path[128];
	char line[32];
	char *end = NULL;
	long number;

	cut_printf(path, sizeof(path), "/proc/sys/%s", name);
	doctor_line(path, line, sizeof(line));
	number = strtol(line, &end, 10);
	return end == line ? -1 : number;
}

void doctor_line(const char *path, char *ret_line, size_t size)
{
	FILE *file = fopen(path, "re");

	ret_line[0] = '\0';
	if (file && fgets(ret_line, (int)size, file))
		ret_line[strcspn(ret_line, "\n")] = '\0';
	if (file)
		(void)fclose(file);
}

struct finding *doctor_add(struct findings *findings, const char *group, const char *name)
{
	struct finding *finding = &findings->rows[findings->count];

	if (findings->count < FINDINGS_MAX - 1)
		findings->count++;
	*finding = (struct finding){ .means = "" };
	cut_printf(finding->group, sizeof(finding->group), "%s", group);
	cut_printf(finding->name, sizeof(finding->name), "%s", name);
	return finding;
}

static bool is_needed(const struct patient *patient, const struct finding *finding)
{
	return finding->need == NEED_ALWAYS || (finding->need == NEED_ROOT && patient->root) ||
	       (finding->layer && settings_require(&patient->settings, finding->layer));
}

void doctor_fail(const struct patient *patient, struct finding *finding, const struct err *err)
{
	finding->state = STATE_WEAKER;
	if (is_needed(patient, finding))
		finding->state = STATE_MISSING;
	else if (finding->need == NEED_NOBODY)
		finding->state = STATE_NOTE;
	cut_printf(finding->found, sizeof(finding->found), "%s", err->text);
	repair_find(patient, err, finding);
}

/* ---- what ced-probe says ------------------------------------------------------------------- */

static void doctor_explain(struct finding *finding)
{
	const struct explanation *row = explanations;

	while (row->step && strcmp(row->step, finding->name) != 0)
		row++;
	finding->need = row->need;
	finding->layer = row->layer;
	finding->means = row->means;
	cut_printf(finding->repair, sizeof(finding->repair), "%s", row->repair);
}

/* An ordinary user's workers share one uid, which is a failure only when `uids` is required. */
static void judge_uids(const struct patient *patient, struct finding *finding)
{
	struct err err = ERR_INIT;

	finding->state = STATE_NOTE;
	if (!is_needed(patient, finding))
		return;
	(void)err_set(&err, ERR_DENIED, "only root can give each worker its own");
	doctor_fail(patient, finding, &err);
	cut_printf(finding->repair, sizeof(finding->repair), "root starts ced-spawner");
}

static void doctor_judge(
	const struct patient *patient, const struct value *line, struct finding *finding)
{
	const struct value *ok = value_get(line, "ok");
	struct err err = ERR_INIT;

	err.code = ERR_SYSTEM;
	err.sys_errno = (int)value_as_int(value_get(line, "errno"), 0);
	cut_printf(err.text, sizeof(err.text), "%s", value_as_text(value_get(line, "text")));
	if (ok && ok->type == VALUE_NIL) {
		finding->state = STATE_UNTRIED;
		cut_printf(finding->found, sizeof(finding->found),
			"not tried: an earlier step failed");
	} else if (!value_as_bool(ok, false)) {
		doctor_fail(patient, finding, &err);
		return;
	} else {
		cut_printf(finding->found, sizeof(finding->found), "%s", err.text);
	}
	finding->repair[0] = '\0';
	if (!patient->root && strcmp(finding->name, "host uids") == 0)
		judge_uids(patient, finding);
}

void doctor_take_line(const struct patient *patient, const char *text, struct findings *findings)
{
	struct err err = ERR_INIT;
	struct value *line = NULL;
	struct finding *finding;
	struct arena arena;

	arena_init(&arena, PROBE_BYTES);
	if (json_parse(&arena, text, strcspn(text, "\n"), NULL, &line, &err) == 0 &&
		value_as_text(value_get(line, "group")) && value_as_text(value_get(line, "step")) &&
		value_as_text(value_get(line, "what")) && value_as_text(value_get(line, "text"))) {
		finding = doctor_add(findings, value_as_text(value_get(line, "group")),
			value_as_text(value_get(line, "step")));
		cut_printf(finding->what, sizeof(finding->what), "%s",
			value_as_text(value_get(line, "what")));
		doctor_explain(finding);
		doctor_judge(patient, line, finding);
	}
	arena_done(&arena);
}

static void run_probe(const struct patient *patient, struct findings *findings)
{
	static char text[PROBE_BYTES];
	char path[SETTINGS_PATH_MAX + 16];
	const char *const argv[] = { path, NULL };
	const struct command_line line = { argv, .seconds = PROBE_SECONDS };
	struct err err = ERR_INIT;
	struct finding *finding;
	int status;

	cut_printf(path, sizeof(path), "%s/ced-probe", patient->settings.libexec);
	status = command_run(&line, text, sizeof(text), NULL, &err);
	for (const char *at = text; *at; at += strcspn(at, "\n"), at += *at == '\n')
		doctor_take_line(patient, at, findings);
	if (status == 0)
		return;
	if (status > 0)
		(void)err_set(
			&err, ERR_SYSTEM, "%s ended with wait status %#x", path, (unsigned)status);
	finding = doctor_add(findings, "jail", "ced-probe");
	cut_printf(finding->what, sizeof(finding->what), "tries each step of a jail");
	finding->means = "nothing is known of jails here";
	cut_printf(finding->repair, sizeof(finding->repair), "cmake --install build/release");
	doctor_fail(patient, finding, &err);
}

/* ---- all of them --------------------------------------------------------------------------- */

void doctor_try_all(const struct patient *patient, struct findings *findings)
{
	findings->count = 0;
	doctor_check_kernel(patient, findings);
	run_probe(patient, findings);
	doctor_check_installation(patient, findings);
}

struct finding *doctor_find(struct findings *findings, const char *name)
{
	for (size_t i = 0; i < findings->count; i++)
		if (strcmp(findings->rows[i].name, name) == 0)
			return &findings->rows[i];
	return NULL;
}

bool doctor_is_well(const struct findings *findings)
{
	for (size_t i = 0; i < findings->count; i++)
		if (findings->rows[i].state == STATE_MISSING)
			return false;
	return true;
}
