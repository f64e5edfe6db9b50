/*
 * Any text as a configuration: it is accepted, or refused with a sentence that begins with a line.
 */
#include <stdlib.h>
#include <string.h>

#include "daemon/settings/config_check.h"
#include "daemon/settings/config_file.h"
#include "daemon/settings/config_runtimes.h"
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	static struct config config;
	struct err err = ERR_INIT;
	char *text = malloc(len + 1);

	if (!text)
		abort();
	if (len > 0)
		memcpy(text, data, len);
	text[len] = '\0';
	config_init(&config);
	config_add_shipped(&config);
	if (config_parse(&config, text, &err) < 0) {
		if (err.code != ERR_MEMORY && strncmp(err.text, "line ", 5) != 0)
			abort();
	} else if (config_finish(&config, &err) < 0 && !err.text[0]) {
		abort();
	}
	free(text);
	return 0;
}
