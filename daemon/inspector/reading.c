#include "daemon/inspector/reading.h"

#include <string.h>

#define NAME_BYTES "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-."

char reading_here(const struct reading *reading)
{
	return (char)(reading->at < reading->len ? reading->text[reading->at] : '\0');
}

void reading_skip_blanks(struct reading *reading)
{
	while (reading_here(reading) && strchr(" \t\r\n;", reading_here(reading))) {
		if (reading_here(reading) == ';')
			while (reading_here(reading) && reading_here(reading) != '\n')
				reading->at++;
		else
			reading->at++;
	}
}

void reading_skip_quotes(struct reading *reading)
{
	for (reading->at++; reading_here(reading) && reading_here(reading) != '"'; reading->at++)
		if (reading_here(reading) == '\\')
			reading->at++;
	reading->at++;
}

void reading_skip_inside(struct reading *reading)
{
	int depth = 1;

	while (depth > 0 && reading_here(reading)) {
		char byte = reading_here(reading);

		if (byte == '"') {
			reading_skip_quotes(reading);
		} else if (byte == ';') {
			reading_skip_blanks(reading);
		} else {
			depth += (byte == '(' || byte == '[') - (byte == ')' || byte == ']');
			reading->at++;
		}
	}
}

size_t reading_name_len(const struct reading *reading)
{
	size_t len = 0;

	while (reading->at + len < reading->len &&
		memchr(NAME_BYTES, reading->text[reading->at + len], sizeof(NAME_BYTES) - 1))
		len++;
	return len;
}

const char *reading_name(struct reading *reading, size_t *ret_len)
{
	const char *name = reading->text + reading->at;

	*ret_len = reading_name_len(reading);
	reading->at += *ret_len;
	return name;
}
