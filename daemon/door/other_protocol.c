#include "daemon/door/other_protocol.h"

#include <stdio.h>
#include <string.h>

#define EXPECTED                                                                                   \
	"this socket speaks MessagePack-RPC, not %s: pack [0, 1, 'hello', [{}]] with msgpack, or " \
	"use cectl"
#define LINE_MAX_BYTES 512

bool other_protocol_is_text(const char *bytes, size_t len)
{
	return len > 0 && ((bytes[0] >= ' ' && bytes[0] <= '~') || bytes[0] == '\n' ||
				  bytes[0] == '\r' || bytes[0] == '\t');
}

int other_protocol_answer(const char *bytes, size_t len, struct buf *buf)
{
	char line[LINE_MAX_BYTES];
	unsigned char first = len > 0 ? (unsigned char)bytes[0] : 0;
	int used;

	if (first >= 'A' && first <= 'Z') /* an HTTP method; HTTP clients show only the body */
		used = snprintf(line, sizeof(line),
			"HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain\r\n"
			"Connection: close\r\n\r\nced: " EXPECTED "\n",
			"HTTP");
	else if (first == '{' || first == '[' || first == '"')
		used = snprintf(line, sizeof(line), "{\"error\": \"ced: " EXPECTED "\"}\n", "JSON");
	else
		used = snprintf(line, sizeof(line), "ced: " EXPECTED "\n", "text");
	return buf_append(buf, line, (size_t)used);
}
