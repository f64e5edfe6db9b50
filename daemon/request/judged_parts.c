#include "daemon/request/judged_parts.h"

#include <string.h>

#include "daemon/workers/runtime.h"
#include "proto/base/container.h"

static const struct {
	const char *language, *ending;
	enum file_kind kind;
} endings[] = {
	{ "python", ".py", FILE_OF_CODE },
	{ "python", ".pyc", FILE_OF_BYTECODE },
	{ "bash", ".sh", FILE_OF_CODE },
	{ "bash", ".bash", FILE_OF_CODE },
	{ "javascript", ".js", FILE_OF_CODE },
	{ "javascript", ".mjs", FILE_OF_CODE },
	{ "javascript", ".cjs", FILE_OF_CODE },
	{ "javascript", ".node", FILE_OF_BYTECODE },
	{ "javascript", ".wasm", FILE_OF_BYTECODE },
};

static bool has_ending(const char *path, const char *ending)
{
	size_t len = strlen(path);

	return len >= strlen(ending) && !strcmp(path + len - strlen(ending), ending);
}

enum file_kind judged_file_kind(const struct request *request, const struct job_input_file *file)
{
	const char *language = runtime_language(request->runtime);

	for (size_t i = 0; i < COUNT_OF(endings); i++)
		if (!strcmp(endings[i].language, language) &&
			has_ending(file->path, endings[i].ending))
			return endings[i].kind;
	return FILE_OF_DATA;
}

/* Variables that the interpreter runs as code, or that change how it reads the program. */
static const struct {
	const char *language, *name;
	bool begins; /* matches every name with this prefix */
} variables[] = {
	{ "bash", "BASH_", true },
	{ "bash", "BASHOPTS", false },
	{ "bash", "PS4", false },
	{ "bash", "SHELLOPTS", false },
};

bool judged_variable(const struct request *request, const char *name)
{
	const char *language = runtime_language(request->runtime);

	for (size_t i = 0; i < COUNT_OF(variables); i++) {
		const char *known = variables[i].name;
		bool fits = variables[i].begins ? !strncmp(name, known, strlen(known))
						: !strcmp(name, known);

		if (fits && !strcmp(variables[i].language, language))
			return true;
	}
	return false;
}

uint64_t judged_masks(const struct request *request)
{
	const struct job_spec *masked = &request->masked.spec;
	uint64_t masks = masked->masks_unseen;

	for (size_t i = 0; i < request->spec.env_count && i < masked->env_count; i++) {
		const struct bytes given = request->spec.env[i].value;
		const struct bytes kept = masked->env[i].value;

		if (request->runtime && judged_variable(request, request->spec.env[i].key) &&
			(given.len != kept.len || memcmp(given.data, kept.data, given.len) != 0))
			masks++;
	}
	return masks;
}
