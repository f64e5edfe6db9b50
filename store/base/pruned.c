#include "store/base/pruned.h"

#include <string.h>

#include "store/base/stmt.h"

void pruned_put_number(uint8_t *bytes, uint64_t number, unsigned len)
{
	for (unsigned i = 0; i < len; i++)
		bytes[i] = (uint8_t)(number >> (8 * i));
}

void pruned_put_entry(
	uint8_t entry[PRUNED_ENTRY_LEN], uint8_t table, uint32_t row, uint8_t tag, uint64_t bytes)
{
	entry[0] = table;
	pruned_put_number(entry + 1, row, 4);
	entry[5] = tag;
	pruned_put_number(entry + PRUNED_PLACE_LEN, bytes, 8);
}

int pruned_read(struct store *store, int64_t key, struct buf *room, struct pruned *ret_pruned,
	struct err *err)
{
	auto_of(stmt_leave) sqlite3_stmt *row = stmt_take_for(store, STMT_PRUNED_READ, key, err);
	int r = stmt_step(store, row, err);

	*ret_pruned = (struct pruned){ NULL, 0, 0 };
	if (r <= 0)
		return r;
	room->len = 0;
	r = buf_append(room, sqlite3_column_blob(row, 0), (size_t)sqlite3_column_bytes(row, 0));
	if (r < 0)
		return err_set(err, ERR_MEMORY, "the store: no memory for digests of a pruned run");
	*ret_pruned = (struct pruned){ (const uint8_t *)room->bytes, room->len, 0 };
	return 0;
}

const uint8_t *pruned_next(struct pruned *pruned, uint8_t table, uint32_t row, uint8_t tag)
{
	const uint8_t *entry;
	uint8_t place[PRUNED_ENTRY_LEN];

	if (pruned->len - pruned->at < PRUNED_ENTRY_LEN)
		return NULL;
	entry = pruned->bytes + pruned->at;
	pruned_put_entry(place, table, row, tag, 0);
	if (memcmp(entry, place, PRUNED_PLACE_LEN) != 0)
		return NULL;
	pruned->at += PRUNED_ENTRY_LEN;
	return entry + PRUNED_PLACE_LEN;
}
