/*
 * Any bytes as the body of a job.  An accepted body has as many parts as it declares, all of them
 * inside the body, and no bytes are left over.
 */

#include <assert.h>
#include <string.h>

#include "sandbox/worker/program.h"
#include "tests/fuzz/fuzz.h"

static void check_inside(struct span part, const uint8_t *data, size_t len)
{
	const char *start = (const char *)data;

	assert(part.bytes >= start && part.len <= len);
	assert(part.bytes + part.len <= start + len);
}

static void check_texts(struct span texts, uint32_t count, const uint8_t *data, size_t len)
{
	struct span text;

	for (uint32_t i = 0; i < count; i++) {
		assert(program_next_text(&texts, &text));
		check_inside(text, data, len);
		assert(text.len == 0 || !memchr(text.bytes, 0, text.len));
	}
	assert(texts.len == 0 && !program_next_text(&texts, &text));
}

static void check_files(struct span files, uint32_t count, const uint8_t *data, size_t len)
{
	struct program_file file;

	for (uint32_t i = 0; i < count; i++) {
		assert(program_next_file(&files, &file));
		check_inside(file.path, data, len);
		check_inside(file.data, data, len);
		assert(file.path.len > 0 && file.path.bytes[0] != '/');
		assert(!memmem(file.path.bytes, file.path.len, "//", 2));
		assert(!memmem(file.path.bytes, file.path.len, "/../", 4));
	}
	assert(files.len == 0 && !program_next_file(&files, &file));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct program program;

	if (program_parse((const char *)data, len, &program, NULL) < 0)
		return 0;
	check_inside(program.code, data, len);
	check_inside(program.entrypoint, data, len);
	check_inside(program.rules, data, len);
	check_texts(program.args, program.arg_count, data, len);
	check_texts(program.env, program.env_count, data, len);
	check_files(program.files, program.file_count, data, len);
	return 0;
}
