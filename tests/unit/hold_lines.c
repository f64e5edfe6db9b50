/*
 * Checks each line of stdin against the JSON Schema in a file with ced's own validator.  Prints
 * the number of lines and the first invalid ones.  Exits with 1 if any line is invalid.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proto/base/fdio.h"
#include "proto/json.h"
#include "proto/schema/schema.h"

#define FILE_BYTES  ((size_t)1 << 20)
#define ARENA_BYTES ((size_t)512 << 20)
#define TOLD_MAX    5

static const struct schema *load(struct arena *arena, const char *path)
{
	struct schema_mistake mistake = { .message = "" };
	const struct schema *schema = NULL;
	struct value *text = NULL;
	struct err err = ERR_INIT;
	char *bytes = NULL;
	size_t len = 0;

	if (read_file(path, FILE_BYTES, &bytes, &len, &err) < 0 ||
		json_parse(arena, bytes, len, NULL, &text, &err) < 0 ||
		schema_compile(arena, text, SCHEMA_JSON, &schema, &mistake, &err) != 0) {
		fprintf(stderr, "%s: %s%s\n", path, err.text, mistake.message);
		exit(2);
	}
	free(bytes);
	return schema;
}

/* Returns 1 if the line is invalid, and prints it unless enough lines were printed already. */
static unsigned hold(const struct schema *schema, const char *line, size_t len, unsigned told)
{
	struct schema_report report = { 0 };
	struct value *value = NULL;
	struct err err = ERR_INIT;
	struct arena arena;
	bool bad;

	arena_init(&arena, ARENA_BYTES);
	bad = json_parse(&arena, line, len, NULL, &value, &err) < 0 ||
	      schema_check(&arena, schema, value, &report, &err) < 0 || report.count > 0;
	if (bad && told < TOLD_MAX)
		printf("%s%s %s in %.200s\n", err.text,
			report.count ? report.errors[0].pointer : "",
			report.count ? report.errors[0].message : "", line);
	arena_done(&arena);
	return bad;
}

int main(int argc, char **argv)
{
	const struct schema *schema;
	unsigned long lines = 0;
	struct arena arena;
	unsigned bad = 0;
	char *line = NULL;
	size_t size = 0;
	ssize_t len;

	if (argc != 2)
		return 2;
	arena_init(&arena, ARENA_BYTES);
	schema = load(&arena, argv[1]);
	while ((len = getline(&line, &size, stdin)) > 0) {
		lines++;
		bad += hold(schema, line, (size_t)len, bad);
	}
	printf("%lu lines, %u of them do not hold\n", lines, bad);
	free(line);
	arena_done(&arena);
	return bad > 0;
}
