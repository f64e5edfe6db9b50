#include "daemon/door/decoding.h"

#include <stdlib.h>

struct decoding {
	struct decoded decoded;
	bool read;
	void (*done)(void *context, struct decoded *decoded);
	void *context;
};

/* NOLINTNEXTLINE(readability-non-const-parameter): takes ownership; reading writes to the bytes */
struct decoded decoded_of(char *bytes, size_t len, size_t arena_bytes)
{
	struct decoded decoded = { .bytes = bytes, .len = len, .err = ERR_INIT };

	arena_init(&decoded.arena, arena_bytes);
	return decoded;
}

void decoded_read(struct decoded *decoded)
{
	decoded->good = rpc_read(&decoded->arena, decoded->bytes, decoded->len, &decoded->message,
				&decoded->fault, &decoded->err) == 0;
}

void decoded_done(struct decoded *decoded)
{
	arena_done(&decoded->arena);
	free(decoded->bytes);
	decoded->bytes = NULL;
}

static void on_thread(void *context)
{
	struct decoding *decoding = context;

	decoded_read(&decoding->decoded);
	decoding->read = true;
	if (!decoding->decoded.good)
		decoded_done(&decoding->decoded); /* `fault` and `err` do not point into them */
}

static void on_done(void *context)
{
	struct decoding *decoding = context;

	if (!decoding->read)
		decoded_done(&decoding->decoded);
	decoding->done(decoding->context, decoding->read ? &decoding->decoded : NULL);
	free(decoding);
}

int decoding_start(struct thread_work *work, uint32_t uid, const struct decoded *decoded,
	void (*done)(void *context, struct decoded *decoded), void *context)
{
	struct decoding *decoding = calloc(1, sizeof(*decoding));

	if (!decoding)
		return -1;
	*decoding = (struct decoding){ .decoded = *decoded, .done = done, .context = context };
	if (thread_work_start(work, uid, on_thread, on_done, decoding) == 0)
		return 0;
	free(decoding);
	return -1;
}
