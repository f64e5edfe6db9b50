/*
 * Replaces libFuzzer where it is not available: after the empty input, passes each named file, or
 * each file of a named folder, to the target once.
 */

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/fuzz/fuzz.h"

#define INPUT_BYTES_MAX (1 << 20)

static unsigned tried;

/* The input is in memory of exactly its size, so that a sanitizer detects an access beyond it. */
static void try_bytes(const uint8_t *bytes, size_t len)
{
	uint8_t *copy = malloc(len ? len : 1);

	if (!copy)
		abort();
	for (size_t i = 0; i < len; i++)
		copy[i] = bytes[i];
	(void)LLVMFuzzerTestOneInput(copy, len);
	free(copy);
	tried++;
}

static void try_file(const char *path)
{
	static uint8_t bytes[INPUT_BYTES_MAX];
	FILE *file = fopen(path, "re");
	size_t len;

	if (!file) {
		printf("not ok 1 - %s can be opened\n", path);
		exit(1);
	}
	len = fread(bytes, 1, sizeof(bytes), file);
	(void)fclose(file);
	printf("# %s\n", path);
	try_bytes(bytes, len);
}

static void try_path(const char *path)
{
	DIR *folder = opendir(path);
	const struct dirent *entry;
	char inner[4096];

	if (!folder) {
		try_file(path);
		return;
	}
	while ((entry = readdir(folder))) {
		if (entry->d_name[0] == '.')
			continue;
		(void)snprintf(inner, sizeof(inner), "%s/%s", path, entry->d_name);
		try_file(inner);
	}
	(void)closedir(folder);
}

int main(int argc, char **argv)
{
	/* Flushes after each line: after a crash the last line names the input. */
	(void)setvbuf(stdout, NULL, _IOLBF, 0);
	if (LLVMFuzzerInitialize)
		(void)LLVMFuzzerInitialize(&argc, &argv);
	try_bytes(NULL, 0);
	for (int i = 1; i < argc; i++)
		try_path(argv[i]);
	printf("ok 1 - %u inputs do no harm\n1..1\n", tried);
	return 0;
}
