/* Separate from err.c, because the privileged program does not print the words of error codes. */
#include "proto/base/container.h"
#include "proto/base/err.h"

static const char *const words[] = {
	[ERR_NONE] = "none",
	[ERR_SYSTEM] = "system",
	[ERR_MEMORY] = "memory",
	[ERR_INVALID] = "invalid",
	[ERR_TOO_BIG] = "too_big",
	[ERR_PROTOCOL] = "protocol",
	[ERR_CLOSED] = "closed",
	[ERR_MISSING] = "missing",
	[ERR_EXISTS] = "exists",
	[ERR_BUSY] = "busy",
	[ERR_DENIED] = "denied",
	[ERR_CORRUPT] = "corrupt",
	[ERR_FULL] = "full",
	[ERR_TIMEOUT] = "timeout",
	[ERR_UNSUPPORTED] = "unsupported",
};

const char *err_word(enum err_code code)
{
	if ((unsigned)code >= COUNT_OF(words))
		return "unknown";
	return words[code];
}
