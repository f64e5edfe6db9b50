#include "daemon/settings/profiles.h"

#include <string.h>
#include <unistd.h>

#include "proto/base/container.h"
#include "proto/base/err.h"

/* Modules that most agent programs import.  The zygote imports each once, for all runs. */
#define USUAL                                                                                   \
	"abc array base64 bisect calendar cmath collections collections.abc contextlib copy "   \
	"csv dataclasses datetime decimal enum fractions functools hashlib heapq io itertools " \
	"json math numbers operator os pathlib pprint random re statistics string struct sys "  \
	"tempfile textwrap time traceback types typing unicodedata uuid warnings zoneinfo"

#define DATA \
	" numpy numpy.random pandas matplotlib.backends.backend_agg matplotlib.pyplot PIL.Image"

static const struct profile {
	const char *name, *preload;
	bool processes;
	const char *binds[CONFIG_BINDS_MAX + 1]; /* those that the host lacks are left out */
} profiles[] = {
	{ "python", USUAL, false, { NULL } },
	{ "python-data", USUAL DATA, false,
		{ "/etc/fonts", "/etc/matplotlibrc", "/usr/share/fonts", "/usr/share/matplotlib",
			"/usr/local/share/fonts" } },
	{ "python-mp", USUAL " multiprocessing concurrent.futures", true, { NULL } },
};

static const struct profile *profile_named(const char *name)
{
	for (size_t i = 0; i < COUNT_OF(profiles); i++)
		if (!strcmp(profiles[i].name, name))
			return &profiles[i];
	return NULL;
}

bool profile_fill(struct config_runtime *runtime, const char *name)
{
	const struct profile *profile = profile_named(name);

	if (!profile)
		return false;
	runtime->kind = KIND_PYTHON;
	runtime->processes = profile->processes;
	cut_printf(runtime->name, sizeof(runtime->name), "%s", name);
	cut_printf(runtime->language, sizeof(runtime->language), "python");
	cut_printf(runtime->interpreter, sizeof(runtime->interpreter), "/usr/bin/python3");
	cut_printf(runtime->preload, sizeof(runtime->preload), "%s", profile->preload);
	for (const char *const *bind = profile->binds; *bind; bind++)
		if (access(*bind, F_OK) == 0)
			cut_printf(runtime->binds[runtime->bind_count++], CONFIG_TEXT_MAX, "%s",
				*bind);
	return true;
}

static bool is_bound(const struct config_runtime *runtime, const char *path)
{
	for (unsigned i = 0; i < runtime->bind_count; i++)
		if (!strcmp(runtime->binds[i], path))
			return true;
	return false;
}

/* Binds the folder of a venv: for FOLDER/bin/python with FOLDER/pyvenv.cfg, that is FOLDER. */
static void bind_venv(struct config_runtime *runtime)
{
	char folder[CONFIG_TEXT_MAX];
	char mark[CONFIG_TEXT_MAX + 16];

	cut_printf(folder, sizeof(folder), "%s", runtime->interpreter);
	for (unsigned i = 0; i < 2; i++) {
		char *slash = strrchr(folder, '/');

		if (!slash || slash == folder)
			return;
		*slash = '\0';
	}
	cut_printf(mark, sizeof(mark), "%s/pyvenv.cfg", folder);
	if (access(mark, F_OK) == 0 && runtime->bind_count < CONFIG_BINDS_MAX &&
		!is_bound(runtime, folder))
		cut_printf(runtime->binds[runtime->bind_count++], CONFIG_TEXT_MAX, "%s", folder);
}

void profile_finish(struct config_runtime *runtime)
{
	bind_venv(runtime);
	if (!runtime->file[0])
		cut_printf(runtime->file, sizeof(runtime->file), "main.py");
}
