#include "cli/record.h"

#include <string.h>

#include "cli/page.h"
#include "proto/base/buf.h"
#include "proto/job/job.h"

#define PAGE_BYTES ((uint64_t)1 << 20)

int record_get(struct cli *cli, const char *name, const struct value **ret_record)
{
	struct arena *arena = &cli->arena;
	struct value *params = value_map(arena);

	if (value_map_put(arena, params, "run_id", value_text(arena, name)) < 0)
		return cli_no_memory(cli);
	return cli_ask(cli, "runs.get", params, NULL, ret_record);
}

int record_resolve(struct cli *cli, const char *name, const char **ret_run_id)
{
	const struct value *record = NULL;
	int status;

	if (strlen(name) == RUN_ID_LEN) {
		*ret_run_id = name;
		return 0;
	}
	status = record_get(cli, name, &record);
	if (status != 0)
		return status;
	*ret_run_id = output_text(&cli->arena, value_get(record, "run_id"));
	return 0;
}

int record_page(struct cli *cli, const char *name, const char *stream, uint64_t offset,
	uint64_t len, const struct value **ret_page)
{
	struct arena *arena = &cli->arena;
	struct value *params = value_map(arena);

	if (value_map_put(arena, params, "run_id", value_text(arena, name)) < 0 ||
		value_map_put(arena, params, "stream", value_text(arena, stream)) < 0 ||
		value_map_put(arena, params, "offset", value_uint(arena, offset)) < 0 ||
		value_map_put(arena, params, "length", value_uint(arena, len)) < 0)
		return cli_no_memory(cli);
	return cli_ask(cli, "runs.output", params, NULL, ret_page);
}

int record_fetch(struct cli *cli, const char *name, const char *stream, uint64_t *offset,
	uint64_t to, struct buf *out)
{
	bool eof = false;

	while (!eof && *offset < to) {
		uint64_t len = to - *offset < PAGE_BYTES ? to - *offset : PAGE_BYTES;
		const struct value *page = NULL;
		const struct value *data;
		int status = record_page(cli, name, stream, *offset, len, &page);

		if (status != 0)
			return status;
		data = value_get(page, "data");
		if (!page_is_bytes(data) || data->text.len == 0)
			return 0;
		if (buf_append(out, data->text.bytes, data->text.len) < 0)
			return cli_no_memory(cli);
		*offset += data->text.len;
		eof = value_as_bool(value_get(page, "eof"), false);
	}
	return 0;
}
