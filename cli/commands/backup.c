/* cectl audit backup: copies the store into a file, and verifies it before it gets its name. */
#include <fcntl.h>
#include <inttypes.h>
#include <libgen.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/base/exits.h"
#include "cli/base/units.h"
#include "cli/commands/commands.h"
#include "cli/session/offline.h"
#include "cli/terminal/progress.h"
#include "proto/base/fdio.h"
#include "proto/digest.h"
#include "proto/fill.h"

#define PIECE_ARENA ((size_t)16 << 20)

/* One copy on its way. */
struct copy {
	struct cli *cli;
	const char *target;
	const char *part; /* its name until it is whole */
	int fd;
	int64_t number, bytes, offset;
	const char *sha256;
	struct digest digest;
	bool eof;
	struct bar bar;
};

static int fail_sys(struct cli *cli, const char *path)
{
	struct err err = ERR_INIT;

	(void)err_sys(&err, "%s", path);
	return cli_fail(cli, &err);
}

/* ---- the file ------------------------------------------------------------------------------- */

static int open_part(struct copy *copy)
{
	struct cli *cli = copy->cli;
	struct stat there;

	if (strcmp(copy->target, "-") == 0)
		return cli_usage(cli, "a backup needs a file, since it is verified before it gets "
				      "its name: not - but FILE, or ./- for a file of that name");
	if (stat(copy->target, &there) == 0 && !S_ISREG(there.st_mode))
		return cli_fail_with(
			cli, ERR_EXISTS, "FILE is there already and is not an ordinary file");
	if (!cli_flag(cli, "force") && access(copy->target, F_OK) == 0)
		return cli_fail_with(
			cli, ERR_EXISTS, "that file is there already: --force replaces it");
	copy->part = arena_printf(&cli->arena, "%s.part", copy->target);
	if (!copy->part)
		return cli_no_memory(cli);
	(void)unlink(copy->part);
	copy->fd = open(copy->part, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	return copy->fd < 0 ? fail_sys(cli, copy->part) : 0;
}

/* The name of a file is on the disk when its folder is. */
static int sync_folder(struct copy *copy)
{
	char *path = arena_strdup(&copy->cli->arena, copy->target);
	int fd = path ? open(dirname(path), O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
	int r = fd < 0 ? -1 : fsync(fd);

	if (fd >= 0)
		(void)close(fd);
	return r < 0 ? fail_sys(copy->cli, copy->target) : 0;
}

static int give_name(struct copy *copy)
{
	if (fsync(copy->fd) < 0)
		return fail_sys(copy->cli, copy->part);
	if (rename(copy->part, copy->target) < 0)
		return fail_sys(copy->cli, copy->target);
	return sync_folder(copy);
}

/* ---- its bytes ------------------------------------------------------------------------------ */

static int ask_copy(struct copy *copy)
{
	const struct client_watch watch = { .timeout_ms = 0 }; /* a large store takes a while */
	const struct value *answer = NULL;
	struct cli *cli = copy->cli;
	int status = cli_ask(cli, "audit.backup", value_map(&cli->arena), &watch, &answer);

	if (status != 0)
		return status;
	copy->number = value_as_int(value_get(answer, "backup"), 0);
	copy->bytes = value_as_int(value_get(answer, "bytes"), 0);
	copy->sha256 = value_as_text(value_get(answer, "sha256"));
	return 0;
}

static int take_piece(struct copy *copy, const struct value *answer)
{
	const struct value *data = value_get(answer, "data");
	struct err err = ERR_INIT;
	char note[64];

	copy->eof = value_as_bool(value_get(answer, "eof"), true);
	if (!value_is(data, VALUE_BYTES))
		return cli_fail_with(
			copy->cli, ERR_PROTOCOL, "the daemon sent no piece of the copy");
	digest_add(&copy->digest, data->text.bytes, data->text.len);
	copy->offset += (int64_t)data->text.len;
	if (write_all(copy->fd, data->text.bytes, data->text.len, &err) < 0)
		return cli_fail(copy->cli, &err);
	cut_printf(note, sizeof(note), "%" PRId64 " of %" PRId64 " MiB", copy->offset >> 20,
		copy->bytes >> 20);
	bar_update(&copy->bar, (double)copy->offset / (double)copy->bytes, note);
	return 0;
}

/* Uses an arena of its own, because written parts need not be kept. */
static int fetch_piece(struct copy *copy)
{
	struct cli *cli = copy->cli;
	struct arena kept = cli->arena;
	const struct value *answer = NULL;
	struct fill params;
	int status;

	arena_init(&cli->arena, PIECE_ARENA);
	params = fill_start(&cli->arena);
	fill_int(&params, "backup", copy->number);
	fill_int(&params, "offset", copy->offset);
	status = cli_ask(cli, "audit.backup", fill_done(&params), NULL, &answer);
	if (status == 0)
		status = take_piece(copy, answer);
	arena_done(&cli->arena);
	cli->arena = kept;
	return status;
}

/* The daemon need not wait for our patience to end. */
static void end_copy(struct copy *copy)
{
	struct cli *cli = copy->cli;
	const struct value *answer = NULL;
	struct fill params = fill_start(&cli->arena);

	fill_int(&params, "backup", copy->number);
	fill_bool(&params, "end", true);
	(void)cli_ask(cli, "audit.backup", fill_done(&params), NULL, &answer);
}

/* The copy has the digest that the daemon sent, and it opens as a store. */
static int verify(struct copy *copy, int64_t *ret_runs)
{
	char digest[DIGEST_TEXT_LEN + 1];
	struct err err = ERR_INIT;

	digest_end_text(&copy->digest, digest);
	if (copy->offset != copy->bytes || !copy->sha256 || strcmp(digest, copy->sha256) != 0)
		return cli_fail_with(
			copy->cli, ERR_CORRUPT, "the copy is not what the daemon sent");
	if (offline_check(copy->part, ret_runs, &err) < 0)
		return cli_fail(copy->cli, &err);
	return 0;
}

static int fetch(struct copy *copy, int64_t *ret_runs)
{
	int status = ask_copy(copy);

	digest_start(&copy->digest);
	while (status == 0 && !copy->eof)
		status = fetch_piece(copy);
	bar_erase(&copy->bar);
	if (status != 0)
		return status;
	end_copy(copy);
	status = verify(copy, ret_runs);
	return status == 0 ? give_name(copy) : status;
}

/* ---- the command ---------------------------------------------------------------------------- */

static int backup_show(struct copy *copy, int64_t runs)
{
	struct cli *cli = copy->cli;
	struct fill fill = fill_start(&cli->arena);
	char size[UNITS_TEXT_MAX];

	if (cli->json) {
		fill_text(&fill, "file", copy->target);
		fill_int(&fill, "bytes", copy->bytes);
		fill_int(&fill, "runs", runs);
		fill_text(&fill, "sha256", copy->sha256);
		return cli_document(cli, fill_done(&fill), EXIT_OK);
	}
	units_print_bytes(size, copy->bytes);
	say(&cli->out, PAINT_GREEN, "%s", output_mark(&cli->out, MARK_GOOD));
	say(&cli->out, PAINT_PLAIN, " %s: %" PRId64 " runs, %s, every page looked at\n",
		output_safe(&cli->arena, copy->target), runs, size);
	return EXIT_OK;
}

static int backup_run(struct cli *cli)
{
	struct copy copy = { .cli = cli,
		.target = cli_operand(cli, 0),
		.fd = -1,
		.bar = { .out = &cli->err, .what = "copying" } };
	int64_t runs = 0;
	int status = open_part(&copy);

	if (status != 0)
		return status;
	status = fetch(&copy, &runs);
	(void)close(copy.fd);
	if (status != 0) {
		(void)unlink(copy.part);
		return status;
	}
	return backup_show(&copy, runs);
}

// clang-format off
const struct command backup_command = {
	.name = "audit backup",
	.operands = "FILE",
	.summary = "copy the store while the daemon runs",
	.about = "For administrators. Writes the state of the store at one moment to FILE (mode "
		 "0600), while the daemon keeps running. The copy is written as FILE.part, "
		 "compared with the digest that the daemon sent, opened, checked page by page "
		 "and synced. Only then does it get its name.\n\n"
		 "While the copy is made, the daemon needs the same room again beside its store.",
	.options = OPTIONS(
		{ 0, "force", NULL, OPTION_FLAG, NULL, NULL, "replaces a FILE that is there" }),
	.operand_least = 1, .operand_most = 1,
	.examples = EXAMPLES(
		{ "cectl audit backup /srv/backup/ced-$(date +%F).db", "while the daemon runs" },
		{ "cectl --store /srv/backup/ced-2026-11-21.db runs", "what is in it" }),
	.run = backup_run,
};
// clang-format on
