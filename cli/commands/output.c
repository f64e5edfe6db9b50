#include <inttypes.h>
#include <string.h>

#include "cli/base/exits.h"
#include "cli/base/units.h"
#include "cli/commands/commands.h"
#include "cli/commands/record.h"
#include "cli/session/page.h"
#include "cli/terminal/passthrough.h"
#include "proto/base/buf.h"
#include "proto/base/container.h"
#include "proto/base/nearest.h"
#include "proto/fill.h"

#define PAGE_BYTES ((uint64_t)1 << 20)
#define STREAM_MAX ((size_t)1 << 30)
#define TAIL_BYTES ((uint64_t)64 << 10)
#define NO_END     UINT64_MAX

/* The part to fetch, and how much of it to show. */
struct reading {
	struct cli *cli;
	const char *stream;
	const char *run_id; /* as it was named, or the whole one */
	const char *
		state; /* of a run that has not ended; NULL: it has ended, or its state is unknown */
	uint64_t from, to;   /* bytes of the stream */
	uint64_t head_lines; /* 0: no limit */
	uint64_t tail_lines; /* the same */
	struct buf bytes;
};

static int parse_range(const char *text, struct reading *reading, struct err *err)
{
	const char *colon = strchr(text, ':');
	char from[UNITS_TEXT_MAX];

	if (!colon || (size_t)(colon - text) >= sizeof(from))
		return err_set(err, ERR_INVALID, "--range is written as A:B");
	memcpy(from, text, (size_t)(colon - text));
	from[colon - text] = '\0';
	if (from[0] && units_parse_bytes(from, &reading->from, err) < 0)
		return -1;
	if (colon[1] && units_parse_bytes(colon + 1, &reading->to, err) < 0)
		return -1;
	if (reading->from > reading->to)
		return err_set(err, ERR_INVALID, "--range ends before it begins");
	return 0;
}

static size_t count_lines(const char *bytes, size_t len)
{
	size_t lines = 0;

	for (size_t i = 0; i < len; i++)
		lines += bytes[i] == '\n';
	return lines;
}

static bool has_enough(const struct reading *reading)
{
	return reading->head_lines > 0 &&
	       count_lines(reading->bytes.bytes, reading->bytes.len) >= reading->head_lines;
}

/* Page by page until the end, the range's end, or enough lines. */
static int fetch(struct reading *reading)
{
	uint64_t at = reading->from;
	uint64_t before;
	int status;

	do {
		uint64_t to = reading->to - at < PAGE_BYTES ? reading->to : at + PAGE_BYTES;

		before = at;
		status = record_fetch(
			reading->cli, reading->run_id, reading->stream, &at, to, &reading->bytes);
	} while (status == 0 && at - before == PAGE_BYTES && at < reading->to &&
		 !has_enough(reading));
	return status;
}

/* How long the stream is: 0 with it, or the exit status. */
static int find_total(struct reading *reading, uint64_t *ret_total)
{
	const struct value *page = NULL;
	int status = record_page(reading->cli, reading->run_id, reading->stream, 0, 1, &page);

	if (status == 0)
		*ret_total = (uint64_t)value_as_int(value_get(page, "total"), 0);
	return status;
}

/* From the end back, in larger and larger pieces, until there are enough lines. */
static int fetch_tail(struct reading *reading)
{
	uint64_t total = 0;
	int status = find_total(reading, &total);

	for (uint64_t len = TAIL_BYTES; status == 0; len *= 8) {
		reading->from = total > len ? total - len : 0;
		reading->bytes.len = 0;
		status = fetch(reading);
		/* One more than wanted: the first of these lines may be the end of one. */
		if (reading->from == 0 ||
			count_lines(reading->bytes.bytes, reading->bytes.len) > reading->tail_lines)
			break;
	}
	return status;
}

/* The bytes of the first `lines` lines. */
static size_t head_len(const char *bytes, size_t len, uint64_t lines)
{
	for (size_t i = 0; i < len; i++) {
		if (bytes[i] == '\n' && --lines == 0)
			return i + 1;
	}
	return len;
}

/* Where the last `lines` lines begin. */
static size_t tail_start(const char *bytes, size_t len, uint64_t lines)
{
	for (size_t i = len; i-- > 1;) {
		if (bytes[i - 1] == '\n' && --lines == 0)
			return i;
	}
	return 0;
}

static int parse_lines(const char *option, const char *text, uint64_t *ret_lines, struct err *err)
{
	if (!text)
		return 0;
	if (units_parse_count(text, ret_lines, err) < 0)
		return err_wrap(err, "%s", option);
	return *ret_lines > 0 ? 0 : err_set(err, ERR_INVALID, "%s 0 shows nothing", option);
}

static int reading_document(
	const struct reading *reading, const char *bytes, size_t len, uint64_t offset)
{
	struct fill fill = fill_start(&reading->cli->arena);

	fill_text(&fill, "run_id", reading->run_id);
	fill_optional_text(&fill, "state", reading->state);
	fill_text(&fill, "stream", reading->stream);
	fill_uint(&fill, "offset", offset);
	fill_value(&fill, "data", value_blob_borrowed(fill.arena, bytes, len));
	return cli_document(reading->cli, fill_done(&fill), reading->state ? EXIT_FAILED : EXIT_OK);
}

/* Without --raw it is shown in safe form, into a pipe too: a pager leads to a terminal. */
static int reading_show(struct reading *reading)
{
	struct cli *cli = reading->cli;
	const char *bytes = reading->bytes.bytes ? reading->bytes.bytes : "";
	size_t len = reading->bytes.len;
	size_t start = 0;
	struct passthrough stream;

	if (reading->head_lines > 0)
		len = head_len(bytes, len, reading->head_lines);
	if (reading->tail_lines > 0)
		start = tail_start(bytes, len, reading->tail_lines);
	if (cli->json)
		return reading_document(reading, bytes + start, len - start, reading->from + start);
	passthrough_init(&stream, &cli->out);
	stream.escape = !cli_flag(cli, "raw") && !(cli_text(cli, "display") && !cli->out.terminal);
	passthrough_write(&stream, bytes + start, len - start);
	passthrough_end(&stream);
	return reading->state ? EXIT_FAILED : EXIT_OK;
}

static const char *const streams[] = { "stdout", "stderr", "stdout_tail", "stderr_tail", "stdin",
	"code" };

static int refuse_stream(struct cli *cli, const char *name)
{
	struct nearest nearest = NEAREST_OF(name);

	for (size_t i = 0; i < COUNT_OF(streams); i++)
		nearest_offer(&nearest, streams[i]);
	return cli_usage(cli,
		"--stream %s: there are stdout, stderr, stdout_tail, stderr_tail, stdin, code, "
		"artifact:PATH and file:PATH%s",
		name, nearest_hint(&nearest));
}

/* ---- what it displayed ---------------------------------------------------------------------- */

/* From the best for a file to the last resort; any other type comes before text/plain. */
static const char *const preferred[] = { "image/png", "image/jpeg", "image/svg+xml",
	"application/pdf", "text/html", "text/markdown", "text/latex" };

static bool has_type(const struct value *types, const char *type)
{
	return value_get(types, type) != NULL;
}

/* The type to write of an item, or NULL: it has none. */
static const char *choose_type(const struct value *types)
{
	const char *last = NULL;

	for (size_t i = 0; i < COUNT_OF(preferred); i++)
		if (has_type(types, preferred[i]))
			return preferred[i];
	for (size_t i = 0; value_is(types, VALUE_MAP) && i < types->map.count; i++) {
		last = types->map.entries[i].key;
		if (strcmp(last, "text/plain") != 0)
			return last;
	}
	return last;
}

static size_t count_items(const struct value *record)
{
	const struct value *display = value_get(record, "display");

	return value_is(display, VALUE_LIST) ? display->list.count : 0;
}

/* "image/png, text/plain" */
static const char *type_names(struct cli *cli, const struct value *types)
{
	const char *names = "";

	for (size_t i = 0; value_is(types, VALUE_MAP) && i < types->map.count && names; i++)
		names = arena_printf(&cli->arena, "%s%s%s", names, i ? ", " : "",
			output_safe(&cli->arena, types->map.entries[i].key));
	return names ? names : "";
}

static int find_display(struct reading *reading, const char *number, const char *type)
{
	struct cli *cli = reading->cli;
	const struct value *record = NULL;
	const struct value *types;
	uint64_t item = 0;
	struct err err = ERR_INIT;
	int status;

	if (units_parse_count(number, &item, &err) < 0 || item == 0)
		return cli_usage(
			cli, "--display %s: items count from 1", output_safe(&cli->arena, number));
	status = record_get(cli, reading->run_id, &record);
	if (status != 0)
		return status;
	types = value_get(value_at(value_get(record, "display"), (size_t)item - 1), "bytes");
	if (!types)
		return cli_fail_with(cli, ERR_MISSING,
			"run %s has no item %" PRIu64 " in its display, which has %zu",
			page_text(cli, record, "run_id"), item, count_items(record));
	if (type && !has_type(types, type))
		return cli_fail_with(cli, ERR_MISSING,
			"item %" PRIu64 " of run %s has no %s; it has %s", item,
			page_text(cli, record, "run_id"), output_safe(&cli->arena, type),
			type_names(cli, types));
	type = type ? type : choose_type(types);
	if (cli->out.terminal && !cli->json && strncmp(type, "text/", 5) != 0)
		return cli_usage(cli, "%s is not for a terminal; send it to a file or a pipe",
			output_safe(&cli->arena, type));
	reading->run_id = page_text(cli, record, "run_id");
	reading->stream =
		arena_printf(&cli->arena, "display:%" PRIu64 ":%s", item, type ? type : "");
	return reading->stream ? 0 : cli_no_memory(cli);
}

/* ---- the options ---------------------------------------------------------------------------- */

static bool is_stream(const char *name)
{
	for (size_t i = 0; i < COUNT_OF(streams); i++) {
		if (strcmp(streams[i], name) == 0)
			return true;
	}
	return strncmp(name, "artifact:", 9) == 0 || strncmp(name, "file:", 5) == 0;
}

static int output_parse(struct cli *cli, struct reading *reading)
{
	const char *stream = cli_text(cli, "stream");
	const char *head = cli_text(cli, "head");
	const char *tail = cli_text(cli, "tail");
	const char *range = cli_text(cli, "range");
	struct err err = ERR_INIT;

	if (cli_text(cli, "type") && !cli_text(cli, "display"))
		return cli_usage(cli, "--type belongs to --display");
	if (stream && cli_text(cli, "display"))
		return cli_usage(cli, "--stream and --display: one of them");
	if (stream && !is_stream(stream))
		return refuse_stream(cli, stream);
	if (cli_flag(cli, "raw") && cli->out.terminal)
		return cli_usage(cli, "--raw would let the program write to your terminal; "
				      "send it to a file or a pipe");
	if ((head != NULL) + (tail != NULL) + (range != NULL) > 1)
		return cli_usage(cli, "--head, --tail and --range: one of them");
	if (parse_lines("--head", head, &reading->head_lines, &err) < 0 ||
		parse_lines("--tail", tail, &reading->tail_lines, &err) < 0 ||
		(range && parse_range(range, reading, &err) < 0))
		return cli_usage(cli, "%s", err.text);
	reading->stream = stream ? stream : "stdout";
	return 0;
}

/* The request is stored from the start; output is stored when the run ends. */
static bool comes_with_the_end(const char *stream)
{
	return strncmp(stream, "std", 3) == 0 && strcmp(stream, "stdin") != 0;
}

static void note_unended(struct reading *reading, const struct value *record)
{
	struct cli *cli = reading->cli;
	const char *state = page_text(cli, record, "state");

	if (page_text(cli, record, "outcome")[0] || !state[0] ||
		!comes_with_the_end(reading->stream))
		return;
	reading->state = state;
	say(&cli->err, PAINT_PLAIN,
		"cectl: run %s has not ended (%s): its output comes with its end%s%s\n",
		reading->run_id, state, cli->store ? "" : "; ",
		cli->store ? "" : cli_more(cli, "wait", reading->run_id));
}

/* Nothing came: a stream that was taken away, or that is still to come, is not an empty one. */
static int look_why_empty(struct reading *reading)
{
	struct cli *cli = reading->cli;
	const struct value *record = NULL;
	const struct value *pruned;
	int status = record_get(cli, reading->run_id, &record);

	if (status != 0)
		return status;
	pruned = value_get(record, "pruned");
	if (value_is(pruned, VALUE_MAP))
		return cli_fail_with(cli, ERR_MISSING,
			"the contents of run %s have left the store: act %s of cectl acts",
			page_text(cli, record, "run_id"), page_text(cli, pruned, "act"));
	reading->run_id = page_text(cli, record, "run_id");
	note_unended(reading, record);
	return 0;
}

static int output_run(struct cli *cli)
{
	struct reading reading = { .cli = cli, .run_id = cli_operand(cli, 0), .to = NO_END };
	int status = output_parse(cli, &reading);

	if (status == 0 && cli_text(cli, "display"))
		status = find_display(&reading, cli_text(cli, "display"), cli_text(cli, "type"));
	if (status == 0 && cli->json) /* "last" may be another run soon */
		status = record_resolve(cli, reading.run_id, &reading.run_id);
	if (status != 0)
		return status;
	buf_init(&reading.bytes, STREAM_MAX);
	status = reading.tail_lines > 0 ? fetch_tail(&reading) : fetch(&reading);
	if (status == 0 && reading.bytes.len == 0)
		status = look_why_empty(&reading);
	if (status == 0)
		status = reading_show(&reading);
	buf_done(&reading.bytes);
	return status;
}

// clang-format off
const struct command output_command = {
	.name = "output",
	.operands = "RUN",
	.summary = "stored output, code or artifacts of a run",
	.about = "Prints stored output, code or artifacts of a run. Control characters are "
		 "escaped, also in a pipe; --raw prints the bytes as they are. Output is stored "
		 "when a run ends: for a run that has not ended, cectl says so and exits with 1.",
	.options = OPTIONS(
		{ 's', "stream", "NAME", OPTION_TEXT, NULL, NULL,
			"stdout (default), stderr, stdin, code, artifact:PATH, or file:PATH for a file that "
			"came with it; stdout_tail and stderr_tail are what truncate kept of the end" },
		{ 0, "display", "N", OPTION_TEXT, NULL, NULL,
			"item N of what it displayed, as `cectl show` counts them; into a file or a pipe as it is, "
			"on a terminal only text, escaped" },
		{ 0, "type", "TYPE", OPTION_TEXT, NULL, NULL,
			"of that item, for instance image/png; else the best for a file that it has" },
		{ 0, "head", "LINES", OPTION_TEXT, NULL, NULL, "only the first lines" },
		{ 0, "tail", "LINES", OPTION_TEXT, NULL, NULL, "only the last lines" },
		{ 0, "range", "A:B", OPTION_TEXT, NULL, NULL,
			"only the bytes from A up to B; sizes such as 1M are accepted, B may be left out" },
		{ 0, "raw", NULL, OPTION_FLAG, NULL, NULL,
			"every byte as it is; refused when stdout is a terminal" }),
	.operand_least = 1, .operand_most = 1,
	.examples = EXAMPLES(
		{ "cectl output last --tail 20", "the end of the newest run's stdout" },
		{ "cectl output last --stream code", "the program itself" },
		{ "cectl output 01JD3 --stream artifact:plot.png --raw > plot.png", "a file that it made" },
		{ "cectl output last --display 1 --type image/png > plot.png", "a figure that it displayed" },
		{ "cectl output last --range 1M:2M", "the second mebibyte" }),
	.reads_copy = true,
	.run = output_run,
};
// clang-format on
