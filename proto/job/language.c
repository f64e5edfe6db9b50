#include "proto/job/language.h"

#include <string.h>

#include "proto/base/container.h"

static const struct {
	const char *word;
	const char *language;
} aliases[] = {
	{ "py", "python" },
	{ "python3", "python" },
	{ "js", "javascript" },
	{ "node", "javascript" },
	{ "nodejs", "javascript" },
	{ "sh", "bash" },
	{ "shell", "bash" },
};

const char *language_of_alias(const char *word)
{
	for (size_t i = 0; i < COUNT_OF(aliases); i++) {
		if (strcmp(aliases[i].word, word) == 0)
			return aliases[i].language;
	}
	return NULL;
}
