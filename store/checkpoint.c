#include "store/checkpoint.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "store/db.h"

#define LINE_WORDS "ced-checkpoint-1 links=%" PRId64 " head=%s at_us=%" PRId64 " key=%s"

/* ---- words -------------------------------------------------------------------------------- */

static size_t write_signed(const struct checkpoint *checkpoint, char line[STORE_CHECKPOINT_MAX])
{
	char head[DIGEST_TEXT_LEN + 1];
	char key[SIGN_KEY_TEXT_LEN + 1];
	int len;

	digest_text(checkpoint->head, head);
	sign_key_text(checkpoint->public_key, key);
	len = snprintf(line, STORE_CHECKPOINT_MAX, LINE_WORDS, checkpoint->links, head,
		checkpoint->at_us, key);
	return (size_t)len;
}

void checkpoint_write(const struct checkpoint *checkpoint, char ret_line[STORE_CHECKPOINT_MAX])
{
	size_t len = write_signed(checkpoint, ret_line);
	char signature[SIGN_TEXT_LEN + 1];

	(void)base64_write(checkpoint->signature, SIGN_LEN, signature);
	(void)snprintf(ret_line + len, STORE_CHECKPOINT_MAX - len, " signature=%s", signature);
}

/* The value behind "name=", up to the next space. */
static int read_word(const char *line, const char *name, char *room, size_t size)
{
	const char *at = strstr(line, name);
	size_t len = at ? strcspn(at + strlen(name), " ") : 0;

	if (!len || len >= size)
		return -1;
	memcpy(room, at + strlen(name), len);
	room[len] = '\0';
	return 0;
}

static int read_fields(const char *line, struct checkpoint *ret)
{
	char head[DIGEST_TEXT_LEN + 1];
	char key[SIGN_KEY_TEXT_LEN + 1];
	char text[SIGN_TEXT_LEN + 1];
	size_t len = 0;

	/* NOLINTBEGIN(cert-err34-c): a number that is too large was never signed */
	if (sscanf(line, "ced-checkpoint-1 links=%" SCNd64, &ret->links) != 1 ||
		read_word(line, " head=", head, sizeof(head)) < 0 ||
		digest_from_text(head, ret->head) < 0 ||
		read_word(line, " at_us=", text, sizeof(text)) < 0 ||
		sscanf(text, "%" SCNd64, &ret->at_us) != 1 ||
		read_word(line, " key=", key, sizeof(key)) < 0 ||
		sign_key_from_text(key, ret->public_key) < 0 ||
		read_word(line, " signature=", text, sizeof(text)) < 0 ||
		base64_read(text, ret->signature, SIGN_LEN, &len) < 0)
		return -1;
	/* NOLINTEND(cert-err34-c) */
	return len == SIGN_LEN ? 0 : -1;
}

int checkpoint_read(const char *line, size_t len, struct checkpoint *ret_checkpoint)
{
	char text[STORE_CHECKPOINT_MAX];
	char again[STORE_CHECKPOINT_MAX];
	struct checkpoint checkpoint;

	if (len >= sizeof(text) || memchr(line, '\0', len))
		return -1;
	memcpy(text, line, len);
	text[len] = '\0';
	if (read_fields(text, &checkpoint) < 0)
		return -1;
	/* Written in one way only: whatever else stands in the line was not signed. */
	checkpoint_write(&checkpoint, again);
	if (strcmp(text, again) != 0)
		return -1;
	*ret_checkpoint = checkpoint;
	return 0;
}

bool checkpoint_is_torn(const char *line, size_t len)
{
	static const char words[] = "ced-checkpoint-1 links=";
	static const char mark[] = " signature=";
	const char *signature = memmem(line, len, mark, sizeof(mark) - 1);
	size_t least = len < sizeof(words) - 1 ? len : sizeof(words) - 1;

	if (memcmp(line, words, least) != 0)
		return false;
	return !signature || (size_t)(line + len - signature) < sizeof(mark) - 1 + SIGN_TEXT_LEN;
}

bool checkpoint_holds(const struct checkpoint *checkpoint)
{
	char line[STORE_CHECKPOINT_MAX];
	size_t len = write_signed(checkpoint, line);

	return sign_holds(checkpoint->public_key, line, len, checkpoint->signature);
}

/* ---- making one --------------------------------------------------------------------------- */

static void sign(struct checkpoint *checkpoint, const struct signer *signer)
{
	char line[STORE_CHECKPOINT_MAX];
	size_t len;

	memcpy(checkpoint->public_key, signer_public(signer), SIGN_PUBLIC_LEN);
	len = write_signed(checkpoint, line);
	signer_sign(signer, line, len, checkpoint->signature);
}

static int insert(struct store *store, const struct checkpoint *checkpoint, struct err *err)
{
	sqlite3_stmt *stmt = stmt_take(store, STMT_CHECKPOINT_INSERT, err);
	struct binding binding;

	if (!stmt)
		return -1;
	binding = bind_to(stmt);
	bind_int(&binding, checkpoint->at_us);
	bind_int(&binding, checkpoint->links);
	bind_blob(&binding, checkpoint->head, DIGEST_LEN);
	bind_blob(&binding, checkpoint->public_key, SIGN_PUBLIC_LEN);
	bind_blob(&binding, checkpoint->signature, SIGN_LEN);
	if (bind_run(store, &binding, err) < 0)
		return -1;
	return chain_add(store, CHAIN_CHECKPOINT, sqlite3_last_insert_rowid(store->db), err);
}

static bool read_bytes(sqlite3_stmt *row, int column, uint8_t *bytes, size_t len)
{
	const void *there = sqlite3_column_blob(row, column);

	if (!there || (size_t)sqlite3_column_bytes(row, column) != len)
		return false;
	memcpy(bytes, there, len);
	return true;
}

bool checkpoint_row(sqlite3_stmt *row, struct checkpoint *ret_checkpoint)
{
	ret_checkpoint->at_us = sqlite3_column_int64(row, 1);
	ret_checkpoint->links = sqlite3_column_int64(row, 2);
	return read_bytes(row, 3, ret_checkpoint->head, DIGEST_LEN) &&
	       read_bytes(row, 4, ret_checkpoint->public_key, SIGN_PUBLIC_LEN) &&
	       read_bytes(row, 5, ret_checkpoint->signature, SIGN_LEN);
}

/* Whether the key that signs now has signed it. */
static bool is_ours(const struct checkpoint *checkpoint, const struct signer *signer)
{
	return memcmp(checkpoint->public_key, signer_public(signer), SIGN_PUBLIC_LEN) == 0 &&
	       checkpoint_holds(checkpoint);
}

/* The last one: 1 with its line when nothing but its own link has come since, 0, -1. */
static int find_last(struct store *store, struct store_checkpoint *ret, struct err *err)
{
	sqlite3_stmt *row = stmt_take(store, STMT_CHECKPOINT_LAST, err);
	struct checkpoint last;
	int r = row ? stmt_step(store, row, err) : -1;
	int is_last = 0;

	if (r < 0)
		return -1;
	if (r > 0 && checkpoint_row(row, &last)) {
		is_last = last.links == store->chain.links - 1 && is_ours(&last, ret->signer);
		ret->links = last.links;
		checkpoint_write(&last, ret->line);
	}
	(void)sqlite3_reset(row);
	return is_last;
}

static int make(struct store *store, struct store_checkpoint *ret, struct err *err)
{
	struct checkpoint checkpoint = { .links = store->chain.links, .at_us = ret->at_wall_us };

	memcpy(checkpoint.head, store->chain.head, DIGEST_LEN);
	sign(&checkpoint, ret->signer);
	if (insert(store, &checkpoint, err) < 0)
		return -1;
	ret->is_new = true;
	ret->links = checkpoint.links;
	checkpoint_write(&checkpoint, ret->line);
	return 0;
}

int store_put_checkpoint(struct store *store, struct store_checkpoint *checkpoint, struct err *err)
{
	int r;

	checkpoint->is_new = false;
	checkpoint->links = 0;
	checkpoint->line[0] = '\0';
	r = find_last(store, checkpoint, err);
	if (r == 0 && store->chain.links)
		r = make(store, checkpoint, err);
	if (r < 0)
		store->failed = true;
	return r < 0 ? -1 : 0;
}
