/* The commands of `cectl repl`: %help and the others. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/base/outdir.h"
#include "cli/base/source.h"
#include "cli/base/units.h"
#include "cli/commands/job_options.h"
#include "cli/commands/repl.h"
#include "cli/commands/results.h"
#include "cli/commands/session.h"
#include "cli/session/page.h"
#include "proto/base/cleanup.h"
#include "proto/base/container.h"
#include "proto/base/fdio.h"
#include "proto/base/nearest.h"

#define PROGRAM_BYTES ((size_t)64 << 20)
#define WILD          "*?["

/* A cell that a command has made begins with this. */
static const char *ours(const struct repl *repl)
{
	static const char *const begins[] = {
		[CELL_PYTHON] = "pass  # %",
		[CELL_JAVASCRIPT] = "0  // %",
		[CELL_BASH] = ":  # %",
	};

	return begins[repl->language];
}

static void complain(struct repl *repl, const char *what, const struct err *err)
{
	say(&repl->cli->err, PAINT_PLAIN, "cectl: %s%s%s\n", what, what[0] ? ": " : "",
		output_safe(&repl->cli->arena, err->text));
}

/* A cell that does nothing: its files and artifacts are what it is for. */
static struct bytes own_cell(struct repl *repl, const char *word, const char *what)
{
	const char *safe = output_safe(&repl->cli->arena, what);
	const char *code = arena_printf(&repl->cli->arena, "%s%s %s", ours(repl), word, safe);

	return code ? (struct bytes){ code, strlen(code) } : (struct bytes){ "0", 1 };
}

/* ---- files ---------------------------------------------------------------------------------- */

/* Asks for the files of this name, and for those in a folder of this name. */
static struct value *params_with_artifacts(struct repl *repl, struct bytes code, const char *glob)
{
	struct arena *arena = &repl->cli->arena;
	struct value *params = repl_params(repl, code);
	struct value *globs = value_list(arena);

	(void)value_list_add(arena, globs, value_text(arena, glob));
	if (!strpbrk(glob, WILD))
		(void)value_list_add(
			arena, globs, value_text(arena, arena_printf(arena, "%s/*", glob)));
	(void)value_map_put(arena, params, "artifacts", globs);
	return params;
}

/* All of them come back, and only their names are shown. */
static void show_files(struct repl *repl, const char *rest)
{
	struct cli *cli = repl->cli;
	struct bytes code = own_cell(repl, "files", rest);
	struct value *params = params_with_artifacts(repl, code, "*");
	const struct value *result = NULL;
	const struct value *files;

	if (cli_ask(cli, "run", params, NULL, &result) != 0)
		return;
	files = value_get(result, "artifacts");
	for (size_t i = 0; value_at(files, i); i++)
		say(&cli->out, PAINT_PLAIN, "%10s  %s\n",
			page_unit(cli, value_at(files, i), "bytes"),
			page_text(cli, value_at(files, i), "path"));
	if (!value_at(files, 0))
		say(&cli->out, PAINT_DIM, "no file lies below /work\n");
	results_note_undone(cli, result);
	repl_note(repl, code, result);
}

static const char *base_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static void put_file(struct repl *repl, const char *path)
{
	struct arena *arena = &repl->cli->arena;
	struct bytes code = own_cell(repl, "put", base_of(path));
	struct value *params = repl_params(repl, code);
	struct value *files = value_list(arena);
	struct value *file = value_map(arena);
	struct source source;
	struct err err = ERR_INIT;

	if (source_read(arena, path, &source, &err) < 0) {
		complain(repl, "", &err);
		return;
	}
	(void)value_map_put(arena, file, "path", value_text(arena, base_of(path)));
	(void)value_map_put(
		arena, file, "data", value_blob_borrowed(arena, source.bytes, source.len));
	(void)value_list_add(arena, files, file);
	(void)value_map_put(arena, params, "files", files);
	if (repl_run(repl, code, params) && repl->status == 0)
		say(&repl->cli->out, PAINT_PLAIN, "copied %s into /work, %zu byte%s\n",
			output_safe(arena, base_of(path)), source.len, source.len == 1 ? "" : "s");
}

/* Whether it is one that was asked for; the others are in a folder of that name. */
static bool is_wanted(const char *path, const struct value *artifact)
{
	const char *name = value_as_text(value_get(artifact, "path"));

	return strpbrk(path, WILD) || (name && strcmp(name, path) == 0);
}

static void write_here(struct repl *repl, int dir, const struct value *artifact)
{
	struct cli *cli = repl->cli;
	const char *name = value_as_text(value_get(artifact, "path"));
	const struct value *data = value_get(artifact, "data");
	struct err err = ERR_INIT;

	if (!name || !page_is_bytes(data))
		(void)err_set(&err, ERR_INVALID, "the answer holds no data for it");
	else if (outdir_write_new(dir, name, data->text.bytes, data->text.len, &err) == 0) {
		say(&cli->out, PAINT_PLAIN, "copied %s into the present folder, %zu byte%s\n",
			output_safe(&cli->arena, name), data->text.len,
			data->text.len == 1 ? "" : "s");
		return;
	}
	complain(repl, page_text(cli, artifact, "path"), &err);
}

static void tell_nothing_came(struct repl *repl, const char *path, bool is_folder)
{
	const char *safe = output_safe(&repl->cli->arena, path);

	if (is_folder)
		say(&repl->cli->err, PAINT_PLAIN,
			"cectl: %s is a folder; %%get %s/* copies the files in it\n", safe, safe);
	else
		say(&repl->cli->err, PAINT_PLAIN, "cectl: no file below /work has the name %s%s\n",
			safe, strchr(path, ' ') ? ", which is all that follows %get" : "");
}

static void get_file(struct repl *repl, const char *path)
{
	struct bytes code = own_cell(repl, "get", path);
	struct value *params = params_with_artifacts(repl, code, path);
	const struct value *result = repl_run(repl, code, params);
	const struct value *files = value_get(result, "artifacts");
	struct err err = ERR_INIT;
	auto_fd int dir = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	bool came = false;

	if (!result || repl->status != 0)
		return;
	if (dir < 0) {
		(void)err_sys(&err, "cannot open it");
		complain(repl, "the present folder", &err);
		return;
	}
	for (size_t i = 0; value_at(files, i); i++) {
		if (!is_wanted(path, value_at(files, i)))
			continue;
		write_here(repl, dir, value_at(files, i));
		came = true;
	}
	if (!came && !value_at(value_get(result, "artifacts_skipped"), 0))
		tell_nothing_came(repl, path, value_at(files, 0) != NULL);
}

/* ---- states --------------------------------------------------------------------------------- */

static void show_states(struct repl *repl, const char *rest)
{
	const struct value *row = NULL;

	(void)rest;
	if (session_find(repl->cli, repl->session, &row) != 0)
		return;
	for (size_t i = 0; i < repl->cell_count; i++) {
		struct state_row *cell = &repl->cells[i];

		cell->is_kept = !cell->is_undone && session_has_kept(row, cell->cell);
		cell->pin = cell->is_kept ? session_pin(repl->cli, row, cell->cell) : NULL;
		cell->is_here =
			!cell->is_undone && cell->cell == (repl->from ? repl->from : repl->state);
	}
	if (!repl->cell_count)
		say(&repl->cli->out, PAINT_DIM, "no cell has run\n");
	state_tree_show(repl->cli, repl->cells, repl->cell_count);
	if (page_text(repl->cli, row, "not_kept")[0])
		say(&repl->cli->out, PAINT_DIM, "the newest state is not kept: %s\n",
			page_text(repl->cli, row, "not_kept"));
}

/* "3, 5, 7" */
static const char *list_kept(struct cli *cli, const struct value *row)
{
	const struct value *kept = value_get(row, "kept");
	const char *text = "";

	for (size_t i = 0; value_at(kept, i) && text; i++)
		text = arena_printf(&cli->arena, "%s%s%" PRId64, text, i ? ", " : "",
			value_as_int(value_at(kept, i), 0));
	return text ? text : "";
}

/* The number of a kept state; 0 after telling what is wrong. */
static uint64_t kept_state(struct repl *repl, const char *word)
{
	struct cli *cli = repl->cli;
	const struct value *row = NULL;
	const char *kept;
	uint64_t state = 0;

	if (units_parse_count(word, &state, NULL) < 0) {
		say(&cli->err, PAINT_PLAIN, "cectl: a state is a number, not \"%s\"\n",
			output_safe(&cli->arena, word));
		return 0;
	}
	if (session_find(cli, repl->session, &row) != 0)
		return 0;
	if (session_has_kept(row, state))
		return state;
	kept = list_kept(cli, row);
	say(&cli->err, PAINT_PLAIN,
		"cectl: state %" PRIu64 " is not kept; %s%s\n"
		"       cectl repl --states N keeps more of them, and %%keep pins one\n",
		state, kept[0] ? "these are: " : "none is", kept);
	return 0;
}

static void go_back(struct repl *repl, const char *word)
{
	struct cli *cli = repl->cli;
	const uint64_t state = kept_state(repl, word);
	struct value *params = session_close_params(cli, repl->session);
	const struct value *result = NULL;

	if (!state)
		return;
	(void)value_map_put(&cli->arena, params, "state", value_uint(&cli->arena, state));
	if (cli_ask(cli, "session.rollback", params, NULL, &result) != 0)
		return;
	repl->state = state;
	repl->from = 0;
	say(&cli->out, PAINT_PLAIN, "back in state %" PRIu64 "\n", state);
}

static void fork_state(struct repl *repl, const char *word)
{
	const uint64_t state = kept_state(repl, word);

	if (!state)
		return;
	repl->from = state;
	say(&repl->cli->out, PAINT_PLAIN, "the next cell begins in state %" PRIu64 "\n", state);
}

static void keep_state(struct repl *repl, const char *name)
{
	const struct value *result = NULL;

	if (session_keep(repl->cli, repl->session, name[0] ? name : NULL, &result) == 0)
		say(&repl->cli->out, PAINT_PLAIN, "pinned state %" PRId64 "\n",
			page_int(result, "state"));
}

static void drop_state(struct repl *repl, const char *word)
{
	struct cli *cli = repl->cli;
	const uint64_t state = kept_state(repl, word);
	const struct value *result = NULL;

	if (state && session_drop(cli, repl->session, value_uint(&cli->arena, state), &result) == 0)
		say(&cli->out, PAINT_PLAIN, "no longer kept: state %" PRIu64 "\n", state);
}

/* ---- programs ------------------------------------------------------------------------------- */

static bool is_ours(const struct repl *repl, const struct state_row *cell)
{
	const char *mark = ours(repl);

	return cell->len >= strlen(mark) && memcmp(cell->text, mark, strlen(mark)) == 0;
}

/* Marks the cells that led to a state; how many there are. */
static size_t mark_path(struct repl *repl, uint64_t state, bool *on_path)
{
	size_t count = 0;

	while (state) {
		struct state_row *cell = state_tree_find(repl->cells, repl->cell_count, state);

		if (!cell || cell->from >= cell->cell)
			return count;
		if (!is_ours(repl, cell)) {
			on_path[cell - repl->cells] = true;
			count++;
		}
		state = cell->from;
	}
	return count;
}

static int append_cell(struct buf *program, const struct state_row *cell)
{
	const char *gap = cell->len && cell->text[cell->len - 1] == '\n' ? "\n" : "\n\n";

	if (buf_append(program, cell->text, cell->len) < 0)
		return -1;
	return buf_append_text(program, gap);
}

static int write_new(const char *path, const struct buf *program, struct err *err)
{
	auto_fd int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);

	if (fd < 0 && errno == EEXIST)
		return err_set(err, ERR_EXISTS, "there is such a file already");
	if (fd < 0)
		return err_sys(err, "cannot make it");
	if (program->len == 0)
		return 0;
	return write_all(fd, program->bytes, program->len, err);
}

static void save_program(struct repl *repl, const char *path)
{
	auto_free bool *on_path = calloc(repl->cell_count + 1, sizeof(*on_path));
	struct err err = ERR_INIT;
	struct buf program;
	size_t count;
	bool fits = on_path != NULL;

	if (!on_path) {
		(void)cli_no_memory(repl->cli);
		return;
	}
	count = mark_path(repl, repl->from ? repl->from : repl->state, on_path);
	buf_init(&program, PROGRAM_BYTES);
	for (size_t i = 0; i < repl->cell_count && fits; i++)
		fits = !on_path[i] || append_cell(&program, &repl->cells[i]) == 0;
	if (!fits)
		(void)err_set(&err, ERR_TOO_BIG, "the program is too large");
	if (!fits || write_new(path, &program, &err) < 0)
		complain(repl, output_safe(&repl->cli->arena, path), &err);
	else
		say(&repl->cli->out, PAINT_PLAIN, "%zu cell%s in %s\n", count,
			count == 1 ? "" : "s", output_safe(&repl->cli->arena, path));
	buf_done(&program);
}

static void load_program(struct repl *repl, const char *path)
{
	struct source source;
	struct err err = ERR_INIT;

	if (source_read(&repl->cli->arena, path, &source, &err) < 0)
		complain(repl, "", &err);
	else
		repl_run_text(repl, (struct bytes){ source.bytes, source.len });
}

/* ---- the session ---------------------------------------------------------------------------- */

static void show_limits(struct repl *repl, const char *rest)
{
	const struct value *limits = value_get(repl->opened, "limits");

	(void)rest;
	for (size_t i = 0; value_is(limits, VALUE_MAP) && i < limits->map.count; i++)
		say(&repl->cli->out, PAINT_PLAIN, "%-16s %s\n",
			limit_word(repl->cli, limits->map.entries[i].key),
			page_number(repl->cli, limits->map.entries[i].key,
				limits->map.entries[i].value));
	say(&repl->cli->out, PAINT_PLAIN, "session          %s\n", repl->session);
}

static void close_it(struct repl *repl, const char *rest)
{
	const struct value *result = NULL;

	(void)rest;
	repl->ended = true;
	repl->status = session_close(repl->cli, repl->session, &result);
}

/* ---- the table ------------------------------------------------------------------------------ */

static void show_help(struct repl *repl, const char *rest);

// clang-format off
static const struct {
	const char *word;
	const char *operand; /* NULL: none; one in brackets may lack */
	void (*run)(struct repl *repl, const char *rest);
	const char *about;
} words[] = {
	{ "%help",     NULL,   show_help,    "these commands" },
	{ "%states",   NULL,   show_states,  "the cells so far as a tree, and which states are kept" },
	{ "%rollback", "N",    go_back,      "goes back to the kept state N, with variables and files" },
	{ "%fork",     "N",    fork_state,   "the next cell begins in the kept state N" },
	{ "%keep",     "[NAME]", keep_state, "pins the present state: newer ones do not replace it" },
	{ "%drop",     "N",    drop_state,   "gives up the kept state N, and its memory" },
	{ "%save",     "FILE", save_program, "writes the cells that led here to a new file, as a program" },
	{ "%load",     "FILE", load_program, "runs a file's cells, with a line %% between two" },
	{ "%put",      "FILE", put_file,     "copies a file into /work, and replaces one that is there" },
	{ "%get",      "FILE", get_file,     "copies a file of /work into the present folder, as a new file" },
	{ "%files",    NULL,   show_files,   "what lies below /work" },
	{ "%limits",   NULL,   show_limits,  "limits of the session and its cells, and its id" },
	{ "%exit",     NULL,   close_it,     "ends the session; so does Ctrl-D" },
	{ "%close",    NULL,   close_it,     "the same" },
};
// clang-format on

static void show_help(struct repl *repl, const char *rest)
{
	const struct output *out = &repl->cli->out;

	(void)rest;
	for (size_t i = 0; i < COUNT_OF(words); i++)
		say(out, PAINT_PLAIN, "%-9s %-6s  %s\n", words[i].word,
			words[i].operand ? words[i].operand : "", words[i].about);
	say(out, PAINT_PLAIN,
		"\nCtrl-C cancels the cell that runs, and drops one that is not whole.\n%s\n"
		"%%files, %%put and %%get are cells of their own.\n",
		repl->language == CELL_PYTHON
			? "A block ends with an empty line; an open bracket goes on until it is closed."
		: repl->language == CELL_JAVASCRIPT
			? "A cell goes on until each bracket, backquote and block is closed."
			: "A cell goes on until each bracket, quote and block is closed.");
}

static void obey(struct repl *repl, size_t word, const char *rest)
{
	if (words[word].operand && words[word].operand[0] != '[' && !rest[0])
		say(&repl->cli->err, PAINT_PLAIN, "cectl: %s needs one word: %s %s\n",
			words[word].word, words[word].word, words[word].operand);
	else if (!words[word].operand && rest[0])
		say(&repl->cli->err, PAINT_PLAIN, "cectl: %s takes no word\n", words[word].word);
	else
		words[word].run(repl, rest);
}

bool repl_knows(const char *line, size_t len)
{
	size_t end = 0;

	while (end < len && !strchr("\n\r \t", line[end]))
		end++;
	for (size_t i = 0; i < COUNT_OF(words); i++)
		if (strlen(words[i].word) == end && memcmp(words[i].word, line, end) == 0)
			return true;
	return false;
}

void repl_obey(struct repl *repl, const char *line, size_t len)
{
	char *text;
	struct nearest nearest = NEAREST_OF(NULL);
	size_t end;

	while (len && strchr("\n\r \t", line[len - 1]))
		len--;
	text = arena_copy(&repl->cli->arena, line, len);
	if (!text) {
		(void)cli_no_memory(repl->cli);
		return;
	}
	end = strcspn(text, " \t");
	nearest.word = arena_copy(&repl->cli->arena, text, end);
	for (size_t i = 0; i < COUNT_OF(words) && nearest.word; i++) {
		if (strcmp(words[i].word, nearest.word) == 0) {
			obey(repl, i, text + end + strspn(text + end, " \t"));
			return;
		}
		nearest_offer(&nearest, words[i].word);
	}
	say(&repl->cli->err, PAINT_PLAIN, "cectl: there is no such command%s; %%help lists them\n",
		nearest.word ? nearest_hint(&nearest) : "");
}
