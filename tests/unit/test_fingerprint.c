#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "daemon/workers/fingerprint.h"
#include "tests/check.h"

static char folder[64], harness[128];
static struct config_runtime runtime;

static void put(const char *name, const char *text)
{
	char path[256];
	FILE *file;

	(void)snprintf(path, sizeof(path), "%s/%s", folder, name);
	file = fopen(path, "w");
	CHECK(file && fputs(text, file) >= 0 && fclose(file) == 0);
}

static void prepare(void)
{
	struct err err = ERR_INIT;
	char line[160];

	(void)snprintf(folder, sizeof(folder), "/tmp/ced-fingerprint.XXXXXX");
	CHECK(mkdtemp(folder));
	(void)snprintf(harness, sizeof(harness), "%s/harness", folder);
	CHECK_EQ_INT(mkdir(harness, 0755), 0);
	put("interpreter", "#!");
	put("harness/b", "1");
	put("harness/a", "2");
	memset(&runtime, 0, sizeof(runtime));
	(void)snprintf(line, sizeof(line), "%s/interpreter", folder);
	(void)snprintf(runtime.interpreter, sizeof(runtime.interpreter), "%s", line);
	(void)err;
}

static void clear(void)
{
	static const char *const names[] = { "interpreter", "harness/a", "harness/b", "harness/c",
		"harness" };
	char path[256];

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		(void)snprintf(path, sizeof(path), "%s/%s", folder, names[i]);
		(void)remove(path);
	}
	(void)rmdir(folder);
}

static void taken(char *ret_text)
{
	struct err err = ERR_INIT;

	CHECK_EQ_INT(fingerprint_runtime(&runtime, harness, ret_text, &err), 0);
	CHECK_EQ_INT(strlen(ret_text), DIGEST_TEXT_LEN);
}

TEST(the_same_files_and_settings_have_the_same_fingerprint)
{
	char one[DIGEST_TEXT_LEN + 1], other[DIGEST_TEXT_LEN + 1];

	prepare();
	taken(one);
	taken(other);
	CHECK_STR(one, other);
	clear();
}

TEST(whatever_is_changed_changes_it)
{
	static const char *const files[][2] = { { "interpreter", "#!/" }, { "harness/a", "22" },
		{ "harness/c", "" } };
	char before[DIGEST_TEXT_LEN + 1], after[DIGEST_TEXT_LEN + 1];

	prepare();
	taken(before);
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		put(files[i][0], files[i][1]);
		taken(after);
		CHECK(strcmp(before, after) != 0);
		memcpy(before, after, sizeof(before));
	}
	(void)snprintf(runtime.preload, sizeof(runtime.preload), "json");
	taken(after);
	CHECK(strcmp(before, after) != 0);
	clear();
}

TEST(what_cannot_be_read_has_none)
{
	char text[DIGEST_TEXT_LEN + 1];
	struct err err = ERR_INIT;

	prepare();
	CHECK_EQ_INT(fingerprint_runtime(&runtime, "/nowhere", text, &err), -1);
	CHECK(strstr(err.text, "/nowhere"));
	err = (struct err)ERR_INIT;
	(void)snprintf(runtime.interpreter, sizeof(runtime.interpreter), "/dev/null");
	CHECK_EQ_INT(fingerprint_runtime(&runtime, harness, text, &err), -1);
	clear();
}
