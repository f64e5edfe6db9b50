#include "daemon/inspector/template.h"

bool template_reaches(const char *text, size_t len, const struct words *allowed)
{
	size_t depth = 0;

	for (size_t at = 0; at + 1 < len; at++) {
		size_t end;

		if (text[at] == '{')
			depth++;
		else if (text[at] == '}' && depth > 0)
			depth--;
		if (depth == 0 || text[at] != '.' || text[at + 1] != '_')
			continue;
		end = at + 1 + name_span(text + at + 1, len - at - 1);
		if (!words_have(allowed, text + at + 1, end - at - 1))
			return true;
	}
	return false;
}
