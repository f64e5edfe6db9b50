#include "daemon/record/store_failure.h"

#include <errno.h>

#include "daemon/record/recorder.h"
#include "proto/fill.h"

#define RETRY_MS 1000 /* as often as the recorder tries */

static bool is_over_soon(const struct err *err)
{
	return err->code == ERR_BUSY || (err->code == ERR_SYSTEM && err->sys_errno == ETIMEDOUT);
}

enum rpc_code store_failure_code(const struct err *err)
{
	return is_over_soon(err) ? RPC_CODE_BUSY : RPC_CODE_INTERNAL;
}

int64_t store_failure_retry_ms(const struct err *err)
{
	return is_over_soon(err) ? RETRY_MS : 0;
}

struct value *store_failure_data(struct arena *arena, const struct err *err)
{
	struct fill fill = fill_start(arena);

	fill_text(&fill, "reason", store_trouble(err));
	if (store_failure_retry_ms(err))
		fill_int(&fill, "retry_after_ms", store_failure_retry_ms(err));
	return fill_done(&fill);
}

void store_failure_describe(
	struct arena *arena, const struct recorder *recorder, struct value *status)
{
	const struct err *trouble = recorder_trouble(recorder);

	if (!trouble)
		trouble = recorder_stall(recorder);
	if (!trouble) {
		value_map_put(arena, status, "trouble", value_nil(arena));
		return;
	}
	value_map_put(arena, status, "trouble", value_text(arena, trouble->text));
	value_map_put(arena, status, "trouble_word", value_text(arena, store_trouble(trouble)));
	value_map_put(arena, status, "trouble_ms", value_int(arena, recorder_trouble_ms(recorder)));
}

void store_failure_describe_log(
	struct arena *arena, const struct recorder *recorder, struct value *status)
{
	const struct store_long_log *held = recorder_held(recorder);
	struct fill fill = fill_start(arena);

	if (!held) {
		value_map_put(arena, status, "log_held", value_nil(arena));
		return;
	}
	fill_int(&fill, "bytes", held->bytes);
	fill_int(&fill, "most_bytes", held->most_bytes);
	fill_text(&fill, "by", held->by);
	fill_text(&fill, "command", held->command);
	value_map_put(arena, status, "log_held", fill_done(&fill));
}
