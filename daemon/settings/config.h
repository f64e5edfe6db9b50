/*
 * The settings of the daemon.  config_file.h reads them from a file:
 *
 *	queue_max = 200
 *	limits { wall_ms = 10s memory_bytes = 512mb }
 *	most   { wall_ms = 60s }
 *	admins = {1000, "ann"}
 *	require = {"landlock", "cgroup_kill"}
 *	runtime python { interpreter = "/usr/bin/python3" preload = {"json", "re"} }
 *	runtime perl { kind = "command" interpreter = "/usr/bin/perl" file = "main.pl" }
 *	packages data { runtime = "python" path = "/srv/ced/sets/data" digest = "sha256:..." }
 *	for_uid 1000 { most { wall_ms = 10min } }
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "daemon/settings/alert_rule.h"
#include "daemon/settings/config_table.h"
#include "daemon/settings/layers.h"
#include "daemon/settings/roles.h"
#include "proto/base/err.h"
#include "proto/digest.h"
#include "proto/job/job.h"

struct setting;

enum budget_scope {
	BUDGET_UID,
	BUDGET_AGENT,
	BUDGET_TASK,
	BUDGET_SCOPE_COUNT,
};

/*
 * Bounds on spending (budgets.h).  0: no bound.  The fields are in the order of enum
 * budget_measure.
 */
struct budget_limits {
#define BUDGET_FIELD(name, uid, agent, task, highest, meaning) uint64_t name;
	CONFIG_BUDGETS(BUDGET_FIELD)
#undef BUDGET_FIELD
};

#define CONFIG_TEXT_MAX     256
#define CONFIG_RUNTIMES_MAX 16
#define CONFIG_BINDS_MAX    11 /* in addition to those that every runtime of a kind has */
#define CONFIG_FORMS_MAX    8
#define CONFIG_PACKAGES_MAX 64
#define CONFIG_SETS_MAX     16 /* of one runtime */
#define CONFIG_KEY_MAX      128
#define CONFIG_WRITTEN_MAX  512 /* settings for which the place is kept, for messages and reports */
#define CONFIG_SHOWN_MAX    160 /* bytes of a written value in reports */
#define CONFIG_FILES_MAX    33  /* the file, and those of its folder */

/* How workers of an interpreter are made. */
enum config_kind {
	KIND_PYTHON,  /* a warm interpreter forks */
	KIND_COMMAND, /* a process forks and becomes the interpreter when its job comes */
	KIND_NODE,    /* a process forks, becomes node at once and waits for its job */
};

#define CONFIG_ALLOWANCES_MAX 64
#define CONFIG_LIMIT_UNSET    UINT64_MAX /* of an allowance: the general limit holds */

struct config_runtime {
	char name[32];
	enum config_kind kind;
	char language[32]; /* selects the rules for its programs; "": the runtime's name */
	char interpreter[CONFIG_TEXT_MAX];
	char preload[1024];         /* python: modules, separated by spaces */
	char args[CONFIG_TEXT_MAX]; /* command: before the program's name, separated by spaces */
	char tools[512];            /* command: programs that it may start, separated by spaces */
	char file[64];              /* file name of a program without a name; "": by its language */
	char forms[CONFIG_FORMS_MAX][128]; /* forms of errors on stderr: complaint.h */
	unsigned form_count;
	char binds[CONFIG_BINDS_MAX][CONFIG_TEXT_MAX];
	unsigned bind_count;
	uint64_t workers_min, workers_max; /* 0: the general setting */
	bool processes;                    /* python: programs may fork */
	bool off;
};

/* A package set: a folder of the host that runs of one runtime may read. */
struct config_package {
	char name[32];
	char runtime[32];
	char path[CONFIG_TEXT_MAX];
	char digest[80];  /* package_digest.h; while the folder has another one, the set is off */
	bool has_tools;   /* kind command: its folder bin is behind PATH */
	bool is_default;  /* for runs that do not say which sets they want */
	bool is_for_some; /* only the users and groups below may use it, and administrators */
	struct role_list users, groups;
};

/* Hosts that runs may ask for, separated by spaces: "api.example.org:443 *.example.org:443". */
#define CONFIG_EGRESS_MAX 1024

/* What runs may have of the network.  Nobody may ask for one while no list has a host. */
struct config_egress {
	char allow[CONFIG_EGRESS_MAX];
	char privates[CONFIG_EGRESS_MAX]; /* "10.0.0.5:5432 10.1.0.0/16" */
	char resolvers[CONFIG_TEXT_MAX];  /* "" : those of /etc/resolv.conf */
	char server_names[8];             /* where a request cannot do without them */
#define CONFIG_FIELD(name, otherwise, most, highest, meaning) uint64_t name, name##_most;
	CONFIG_EGRESS(CONFIG_FIELD)
#undef CONFIG_FIELD
};

/* The runs that an allowance applies to. */
enum config_for {
	FOR_RUNTIME, /* limits and most in a runtime's section */
	FOR_POLICY,
	FOR_UID,
	FOR_GID,
	FOR_COUNT,
};

/* Numbers that apply to some runs only.  allowances.h says how they are combined. */
struct config_allowance {
	enum config_for whom;
	char name[64]; /* as it was written */
	uint32_t id;   /* the same as a number, for FOR_UID and FOR_GID */
	struct job_limits limits, most;
	struct budget_limits budgets[BUDGET_SCOPE_COUNT];
	bool has_egress; /* `egress_allow` is set, perhaps to nothing */
	char egress_allow[CONFIG_EGRESS_MAX];
};

struct config {
#define CONFIG_FIELD(name, otherwise, lowest, highest, change, meaning) uint64_t name;
	CONFIG_NUMBERS(CONFIG_FIELD)
#undef CONFIG_FIELD
#define CONFIG_FIELD(name, otherwise, words, change, meaning) char name[CONFIG_TEXT_MAX];
	CONFIG_TEXTS(CONFIG_FIELD)
#undef CONFIG_FIELD
	struct job_limits limits; /* for a run that requests none */
	struct job_limits most;   /* the highest that a run may request */
	struct budget_limits budgets[BUDGET_SCOPE_COUNT];
	struct config_egress egress;
	struct layers_wish layers; /* config_finish() copies `cgroups` into it */
	struct roles roles;        /* users, approvers and administrators */
	struct config_allowance allowances[CONFIG_ALLOWANCES_MAX];
	unsigned allowance_count;
	struct alert_rule alerts[ALERT_RULES_MAX];
	unsigned alert_count;
	struct config_runtime runtimes[CONFIG_RUNTIMES_MAX];
	unsigned runtime_count;
	struct config_package packages[CONFIG_PACKAGES_MAX];
	unsigned package_count;
	char files[CONFIG_FILES_MAX][CONFIG_TEXT_MAX]; /* that were read, in this order */
	unsigned file_count;
	struct config_written {
		char key[CONFIG_KEY_MAX]; /* "queue_max", "limits.wall_ms", "runtime.bash.tools" */
		char value[CONFIG_SHOWN_MAX]; /* as it was written; cut when it is long */
		uint8_t digest[DIGEST_LEN];   /* of the whole value */
		const struct setting *row;    /* NULL: there is no such setting */
		bool is_named;                /* it stands in a section with a name */
		unsigned file, line;
		bool from_start; /* in force since the start: the files say something else now */
	} written[CONFIG_WRITTEN_MAX];
	unsigned written_count;
};
