#include "cli/doctor/settings.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#include "cli/base/command.h"
#include "cli/base/libexec.h"
#include "proto/base/cleanup.h"
#include "proto/base/container.h"

#define OUTPUT_BYTES ((size_t)64 << 10)
#define ANSWER_S     20

static unsigned long at_most(unsigned long number, unsigned long ceiling)
{
	return number < ceiling ? number : ceiling;
}

/* As daemon/settings/config.c has them. */
void settings_init(struct settings *settings)
{
	unsigned long processors = (unsigned long)get_nprocs();

	memset(settings, 0, sizeof(*settings));
	cut_printf(settings->required, sizeof(settings->required), " memory pids cpu ");
	cut_printf(settings->state, sizeof(settings->state), "/var/lib/ced");
	settings->workers_min = at_most(processors * 2, 16);
	settings->workers_max = at_most(processors * 4, 64);
	settings->workers_reserve = 4;
	settings->runtime_count = 1;
	cut_printf(settings->runtimes[0].name, sizeof(settings->runtimes[0].name), "python");
	cut_printf(settings->runtimes[0].interpreter, sizeof(settings->runtimes[0].interpreter),
		"/usr/bin/python3");
}

bool settings_require(const struct settings *settings, const char *layer)
{
	char word[40];

	cut_printf(word, sizeof(word), " %s ", layer);
	return strstr(settings->required, word) != NULL;
}

static void take_required(struct settings *settings, const char *layer, bool required)
{
	size_t len = strlen(layer);
	char *at;

	if (settings_require(settings, layer) == required)
		return;
	if (required) {
		at = settings->required + strlen(settings->required);
		cut_printf(at, sizeof(settings->required) - (size_t)(at - settings->required),
			"%s%s ", at == settings->required ? " " : "", layer);
		return;
	}
	for (at = strstr(settings->required, layer); at[-1] != ' ' || at[len] != ' ';)
		at = strstr(at + 1, layer);
	memmove(at, at + len + 1, strlen(at + len + 1) + 1);
}

static void take_interpreter(struct settings *settings, const char *name, const char *value)
{
	struct settings_runtime *runtime = NULL;

	for (size_t i = 0; i < settings->runtime_count; i++)
		if (strcmp(settings->runtimes[i].name, name) == 0)
			runtime = &settings->runtimes[i];
	if (!runtime && settings->runtime_count < COUNT_OF(settings->runtimes))
		runtime = &settings->runtimes[settings->runtime_count++];
	if (!runtime)
		return;
	cut_printf(runtime->name, sizeof(runtime->name), "%s", name);
	cut_printf(runtime->interpreter, sizeof(runtime->interpreter), "%s", value);
}

/* "sha256:... python /srv/ced/sets/data2024" */
static void take_package(struct settings *settings, const char *name, const char *value)
{
	struct settings_package *package = &settings->packages[settings->package_count];
	int at = 0;

	if (settings->package_count == SETTINGS_PACKAGES_MAX ||
		sscanf(value, "%79s %*s %n", package->digest, &at) != 1 || at == 0)
		return;
	cut_printf(package->name, sizeof(package->name), "%s", name);
	cut_printf(package->path, sizeof(package->path), "%s", value + at);
	settings->package_count++;
}

void settings_take(struct settings *settings, const char *line)
{
	char name[64];
	char value[SETTINGS_PATH_MAX] = "";
	char word[32];
	int end = 0;

	if (sscanf(line, "%63[^=]=%511[^\n]", name, value) != 2)
		return;
	if (sscanf(name, "require.%31s", word) == 1)
		take_required(settings, word, strcmp(value, "yes") == 0);
	else if (strcmp(name, "state") == 0)
		cut_printf(settings->state, sizeof(settings->state), "%s", value);
	else if (strcmp(name, "checkpoint_file") == 0)
		cut_printf(
			settings->checkpoint_file, sizeof(settings->checkpoint_file), "%s", value);
	else if (strcmp(name, "workers_min") == 0)
		settings->workers_min = strtoul(value, NULL, 10);
	else if (strcmp(name, "workers_max") == 0)
		settings->workers_max = strtoul(value, NULL, 10);
	else if (strcmp(name, "workers_reserve") == 0)
		settings->workers_reserve = strtoul(value, NULL, 10);
	else if (sscanf(name, "packages.%31s", word) == 1)
		take_package(settings, word, value);
	else if (sscanf(name, "runtime.%31[^.].interpreter%n", word, &end) == 1 && end > 0)
		take_interpreter(settings, word, value);
}

/* Takes each line that it prints.  The last one says what went wrong, when something did. */
static int run_ced(struct settings *settings, char ret_said[ERR_TEXT_MAX])
{
	static char text[OUTPUT_BYTES];
	char ced[SETTINGS_PATH_MAX + 8];
	const char *const argv[] = { ced, "--in-force", settings->config[0] ? "--config" : NULL,
		settings->config, NULL };
	struct command_line line = { argv, .as_daemon = true, .with_stderr = true,
		.seconds = ANSWER_S };
	struct err err = ERR_INIT;
	int status;

	cut_printf(ced, sizeof(ced), "%s/ced", settings->libexec);
	status = command_run(&line, text, sizeof(text), NULL, &err);
	if (status < 0) { /* a check of its own says that the daemon's user cannot start it */
		line.as_daemon = false;
		status = command_run(&line, text, sizeof(text), NULL, &err);
	}
	for (char *at = text, *end; *at; at = end) {
		end = at + strcspn(at, "\n");
		if (*end)
			*end++ = '\0';
		cut_printf(ret_said, ERR_TEXT_MAX, "%s", at);
		settings_take(settings, at);
	}
	if (status < 0)
		cut_printf(ret_said, ERR_TEXT_MAX, "%s", err.text);
	return status;
}

/* The command that reads the settings runs in another folder, so the path must be absolute. */
static void take_config(struct settings *settings, const char *path)
{
	auto_free char *whole = realpath(path, NULL);

	cut_printf(settings->config, sizeof(settings->config), "%s", whole ? whole : path);
}

void settings_read(struct settings *settings, const char *config)
{
	static struct settings defaults;
	char said[ERR_TEXT_MAX] = "";
	char own[LIBEXEC_PATH_MAX];

	settings_init(settings);
	(void)libexec_find(own, settings->libexec, sizeof(settings->libexec), NULL);
	if (config || access(HOST_CONFIG, F_OK) == 0)
		take_config(settings, config ? config : HOST_CONFIG);
	if (settings->libexec[0] == '\0')
		return; /* a check of its own says so */
	defaults = *settings;
	settings->runtime_count = 0; /* one that is off is not named */
	if (run_ced(settings, said) == 0)
		return;
	*settings = defaults;
	cut_printf(settings->trouble, sizeof(settings->trouble), "%s",
		said[0] ? said : "libexec/ced/ced does not start");
}
