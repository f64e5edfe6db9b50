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

/* Who does not see its name does not know that a shell runs its value. */
static bool is_shown(const struct job_pair *given, const struct job_pair *kept)
{
	return strcmp(given->key, kept->key) == 0 && given->value.len == kept->value.len &&
	       memcmp(given->value.data, kept->value.data, given->value.len) == 0;
}

uint64_t judged_masks(const struct request *request)
{
	const struct job_spec *masked = &request->masked.spec;
	uint64_t masks = masked->masks_unseen;

	for (size_t i = 0; i < request->spec.env_count && i < masked->env_count; i++)
		if (request->runtime && judged_variable(request, request->spec.env[i].key) &&
			!is_shown(&request->spec.env[i], &masked->env[i]))
			masks++;
	return masks;
}
