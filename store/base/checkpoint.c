#include "store/base/checkpoint.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "proto/digest.h"

#define LINE_WORDS "ced-checkpoint-1 links=%" PRId64 " head=%s at_us=%" PRId64 " key=%s"

/* ---- the line ----------------------------------------------------------------------------- */

size_t checkpoint_write_signed(const struct checkpoint *checkpoint, char line[STORE_CHECKPOINT_MAX])
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
	size_t len = checkpoint_write_signed(checkpoint, ret_line);
	char signature[SIGN_TEXT_LEN + 1];

	(void)base64_write(checkpoint->signature, SIGN_LEN, signature);
	(void)snprintf(ret_line + len, STORE_CHECKPOINT_MAX - len, " signature=%s", signature);
}

/* The value after "name=", up to the next space. */
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
	/* There is one way to write a checkpoint; anything else in the line was not signed. */
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
	size_t len = checkpoint_write_signed(checkpoint, line);

	return sign_holds(checkpoint->public_key, line, len, checkpoint->signature);
}

/* ---- in the store ------------------------------------------------------------------------- */

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
