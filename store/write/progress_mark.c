#include "store/write/progress_mark.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "proto/base/cleanup.h"
#include "proto/base/container.h"
#include "store/base/db.h"
#include "store/base/record.h"

#define MARK_FILE  "ced.mark"
#define MARK_BYTES 512 /* always, so that a shorter line leaves no rest of a longer one */
#define SEAL_WORD  " seal="
#define SEAL_TEXT  ((size_t)2 * SIGN_SEAL_LEN)

/* The contents of a line. */
struct line {
	int64_t links;
	uint8_t head[DIGEST_LEN];
	char run[RUN_ID_LEN + 1]; /* "": none was written since the mark was begun */
	char key[SIGN_KEY_TEXT_LEN + 1];
	struct store_clock clock;
};

void progress_mark_init(struct progress_mark *mark)
{
	*mark = (struct progress_mark){ .fd = -1 };
}

void progress_mark_done(struct progress_mark *mark)
{
	if (mark->fd >= 0)
		(void)close(mark->fd);
	free(mark->path);
	progress_mark_init(mark);
}

/* ---- writing ------------------------------------------------------------------------------ */

static void seal_text(
	const struct signer *signer, const char *text, size_t len, char ret_text[SEAL_TEXT + 1])
{
	uint8_t seal[SIGN_SEAL_LEN];

	signer_seal(signer, text, len, seal);
	for (size_t i = 0; i < sizeof(seal); i++)
		(void)snprintf(ret_text + 2 * i, 3, "%02x", seal[i]);
}

static void print_line(const struct progress_mark *mark, const struct chain_head *chain,
	const char *last_run, char text[MARK_BYTES])
{
	char head[DIGEST_TEXT_LEN + 1];
	char key[SIGN_KEY_TEXT_LEN + 1];
	char seal[SEAL_TEXT + 1];
	char line[MARK_BYTES];
	int len;

	digest_text(chain->head, head);
	sign_key_text(signer_public(mark->signer), key);
	len = snprintf(line, sizeof(line),
		"ced-mark-1 links=%" PRId64 " head=%s run=%s key=%s wall_us=%" PRId64
		" surely_us=%" PRId64 " calm_us=%" PRId64 " ahead_us=%" PRId64,
		chain->links, head, last_run[0] ? last_run : "-", key, mark->clock.wall_us,
		mark->clock.surely_us, mark->clock.calm_us, mark->clock.ahead_us);
	seal_text(mark->signer, line, (size_t)len, seal);
	memset(text, ' ', MARK_BYTES);
	len = snprintf(text, MARK_BYTES, "%s" SEAL_WORD "%s", line, seal);
	text[len] = ' ';
	text[MARK_BYTES - 1] = '\n';
}

static bool is_open(const struct progress_mark *mark)
{
	struct stat st;

	return mark->fd >= 0 && stat(mark->path, &st) == 0 && st.st_dev == mark->device &&
	       st.st_ino == mark->inode;
}

/* If somebody has removed it, a new one is begun. */
static int open_mark(struct progress_mark *mark, struct err *err)
{
	struct stat st;

	if (is_open(mark))
		return 0;
	if (mark->fd >= 0)
		(void)close(mark->fd);
	mark->fd = open(mark->path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600);
	if (mark->fd < 0 || fstat(mark->fd, &st) < 0)
		return err_sys(err, "the store: %s", mark->path);
	if (!S_ISREG(st.st_mode))
		return err_set(err, ERR_INVALID, "the store: %s is no ordinary file", mark->path);
	mark->device = st.st_dev;
	mark->inode = st.st_ino;
	return 0;
}

void progress_mark_write(
	struct progress_mark *mark, const struct chain_head *chain, const char *last_run)
{
	struct err why = ERR_INIT;
	char text[MARK_BYTES];

	if (!mark->path)
		return;
	print_line(mark, chain, last_run, text);
	if (open_mark(mark, &why) == 0 &&
		pwrite(mark->fd, text, sizeof(text), 0) != (ssize_t)sizeof(text))
		(void)err_sys(&why, "the store: %s", mark->path);
	mark->why = why;
}

/* ---- reading ------------------------------------------------------------------------------ */

static int parse(const char *text, struct line *line)
{
	char head[DIGEST_TEXT_LEN + 1];
	char run[RUN_ID_LEN + 1];
	int end = 0;

	_Static_assert(DIGEST_TEXT_LEN == 71 && RUN_ID_LEN == 26 && SIGN_KEY_TEXT_LEN == 52,
		"widths below");
	/* NOLINTNEXTLINE(cert-err34-c): a number that does not fit breaks the seal, which is checked next */
	if (sscanf(text,
		    "ced-mark-1 links=%" SCNd64 " head=%71s run=%26s key=%52s wall_us=%" SCNd64
		    " surely_us=%" SCNd64 " calm_us=%" SCNd64 " ahead_us=%" SCNd64 SEAL_WORD "%n",
		    &line->links, head, run, line->key, &line->clock.wall_us,
		    &line->clock.surely_us, &line->clock.calm_us, &line->clock.ahead_us,
		    &end) != 8 ||
		!end || digest_from_text(head, line->head) < 0)
		return -1;
	cut_printf(line->run, sizeof(line->run), "%s", strcmp(run, "-") == 0 ? "" : run);
	return 0;
}

static bool is_sealed(const struct signer *signer, const char *text)
{
	const char *end = strstr(text, SEAL_WORD);
	char seal[SEAL_TEXT + 1];

	if (!end)
		return false;
	seal_text(signer, text, (size_t)(end - text), seal);
	return strncmp(end + strlen(SEAL_WORD), seal, SEAL_TEXT) == 0;
}

/* 1 read, 0 there is none, or it is empty or of another key, 2 its seal is wrong, -1. */
static int read_mark(const struct progress_mark *mark, struct line *ret_line, struct err *err)
{
	auto_fd int fd = -1;
	char key[SIGN_KEY_TEXT_LEN + 1];
	char text[MARK_BYTES + 1];
	ssize_t len;

	assert(mark->path);
	fd = open(mark->path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (fd < 0)
		return errno == ENOENT ? 0 : err_sys(err, "the store: %s", mark->path);
	len = read(fd, text, MARK_BYTES);
	if (len < 0)
		return err_sys(err, "the store: %s", mark->path);
	if (len == 0)
		return 0;
	text[len] = '\0';
	if (parse(text, ret_line) < 0)
		return 2;
	sign_key_text(signer_public(mark->signer), key);
	if (strcmp(key, ret_line->key) != 0)
		return 0;
	return is_sealed(mark->signer, text) ? 1 : 2;
}

/* ---- comparing ---------------------------------------------------------------------------- */

#define WHY "it was rolled back, or its log was cut off or removed"

static int compare(
	struct store *store, const struct line *line, struct store_mark *found, struct err *err)
{
	struct chain_head end = { 0, { 0 } };
	int64_t key = 0;
	int r = line->links ? chain_has(store, line->links, line->head, err) : 1;

	if (r < 0 || chain_end(store, &end, err) < 0)
		return -1;
	if (r == 0) {
		cut_printf(found->words, sizeof(found->words),
			"the mark beside the store says that link %lld was on the disk, and the store has %lld "
			"links without that one: " WHY,
			(long long)line->links, (long long)end.links);
		return 0;
	}
	if (!line->run[0])
		return 0;
	r = record_find(store, line->run, &key, err);
	if (r > 0)
		cut_printf(found->words, sizeof(found->words),
			"the mark beside the store says that run %s was on the disk, and the store has no "
			"such run: " WHY,
			line->run);
	return r < 0 ? -1 : 0;
}

static int name_file(struct progress_mark *mark, const char *db, struct err *err)
{
	const char *end = strrchr(db, '/');
	int len = end ? (int)(end - db) + 1 : 0;

	if (asprintf(&mark->path, "%.*s" MARK_FILE, len, db) < 0) {
		mark->path = NULL;
		return err_set(err, ERR_MEMORY, "the store: no memory");
	}
	return 0;
}

static int read_and_compare(const struct progress_mark *mark, struct store *store,
	struct store_mark *found, struct err *err)
{
	struct line line = { 0 };
	int r = read_mark(mark, &line, err);

	if (r < 0)
		return -1;
	found->is_there = r == 1;
	if (r == 2)
		cut_printf(found->words, sizeof(found->words),
			"%s, which says how far the store reached, is not what ced has written",
			mark->path);
	if (r != 1)
		return 0;
	found->clock = line.clock;
	return compare(store, &line, found, err);
}

int progress_mark_open(struct progress_mark *mark, struct store *store, const struct signer *signer,
	struct store_mark *ret_found, struct err *err)
{
	struct store_mark found = { .words = "" };

	mark->signer = signer;
	if (name_file(mark, store->path, err) < 0)
		return -1;
	if (read_and_compare(mark, store, &found, err) < 0) {
		progress_mark_done(mark);
		return -1;
	}
	mark->clock = found.clock;
	*ret_found = found;
	return 0;
}
