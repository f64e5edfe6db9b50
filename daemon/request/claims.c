#include "daemon/request/claims.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "proto/base/container.h"

#define ID_BYTES_MAX 512 /* 128 characters of at most four bytes */

struct claim {
	struct claim_entry *leader;
	struct list waiting;
	bool looking;
	size_t key_len;
	char key[sizeof(uint32_t) + ID_BYTES_MAX];
};

void claims_init(struct claims *claims)
{
	map_init(&claims->map);
}

void claims_done(struct claims *claims)
{
	map_done_with(&claims->map, free);
}

static bool has_same_content(const struct claim_entry *a, const struct claim_entry *b)
{
	return memcmp(a->content, b->content, DIGEST_LEN) == 0;
}

static struct claim *claim_new(struct claims *claims, const char *key, size_t key_len)
{
	struct claim *claim = calloc(1, sizeof(*claim));

	if (!claim)
		return NULL;
	list_init(&claim->waiting);
	claim->looking = true;
	claim->key_len = key_len;
	memcpy(claim->key, key, key_len);
	if (map_put(&claims->map, key, key_len, claim, NULL) < 0) {
		free(claim);
		return NULL;
	}
	return claim;
}

struct claim_key {
	char bytes[sizeof(uint32_t) + ID_BYTES_MAX];
	size_t len;
};

static struct claim_key claim_key_of(uint32_t uid, const char *id)
{
	struct claim_key key = { .len = sizeof(uid) + strlen(id) };

	assert(key.len <= sizeof(key.bytes));
	memcpy(key.bytes, &uid, sizeof(uid));
	memcpy(key.bytes + sizeof(uid), id, key.len - sizeof(uid));
	return key;
}

enum claim_answer claims_enter(
	struct claims *claims, uint32_t uid, const char *id, struct claim_entry *entry)
{
	struct claim_key key = claim_key_of(uid, id);
	struct claim *claim = map_get(&claims->map, key.bytes, key.len);

	assert(!entry->claim);

	list_init(&entry->link);
	if (!claim) {
		entry->claim = claim_new(claims, key.bytes, key.len);
		if (!entry->claim)
			return CLAIM_NO_ROOM;
		entry->claim->leader = entry;
		entry->leads = true;
		return CLAIM_FIRST;
	}
	if (!claim->looking && !has_same_content(claim->leader, entry))
		return CLAIM_OTHER;
	entry->claim = claim;
	list_append(&claim->waiting, &entry->link);
	return CLAIM_WAITS;
}

struct claim_entry *claims_find(const struct claims *claims, uint32_t uid, const char *id)
{
	struct claim_key key = claim_key_of(uid, id);
	const struct claim *claim = map_get(&claims->map, key.bytes, key.len);

	return claim ? claim->leader : NULL;
}

/* Moves an entry from its list to `to`; afterwards it holds no claim. */
static void release_entry(struct list *link, struct list *to)
{
	struct claim_entry *entry = container_of(link, struct claim_entry, link);

	list_remove(link);
	entry->claim = NULL;
	list_append(to, link);
}

void claims_decide(struct claim_entry *entry, struct list *ret_others)
{
	assert(entry->claim && entry->leads && entry->claim->looking);

	list_init(ret_others);
	entry->claim->looking = false;
	list_for_each(at, &entry->claim->waiting)
		if (!has_same_content(entry, container_of(at, struct claim_entry, link)))
			release_entry(at, ret_others);
}

static void claim_free(struct claims *claims, struct claim *claim)
{
	(void)map_remove(&claims->map, claim->key, claim->key_len);
	free(claim);
}

void claims_leave(struct claims *claims, struct claim_entry *entry, struct list *ret_waiting)
{
	struct claim *claim = entry->claim;
	struct list *first;

	list_init(ret_waiting);
	entry->claim = NULL;
	if (!claim)
		return;
	if (!entry->leads) {
		list_remove(&entry->link);
		return;
	}
	entry->leads = false;
	while ((first = list_first(&claim->waiting)))
		release_entry(first, ret_waiting);
	claim_free(claims, claim);
}

struct claim_entry *claims_pass_on(struct claims *claims, struct claim_entry *entry)
{
	struct claim *claim = entry->claim;
	struct list *first;

	assert(claim && entry->leads && !claim->looking);

	entry->claim = NULL;
	entry->leads = false;
	first = list_first(&claim->waiting);
	if (!first) {
		claim_free(claims, claim);
		return NULL;
	}
	list_remove(first);
	claim->leader = container_of(first, struct claim_entry, link);
	claim->leader->leads = true;
	return claim->leader;
}

bool claims_has_waiting(const struct claim_entry *entry)
{
	return entry->claim && entry->leads && !list_is_empty(&entry->claim->waiting);
}

struct claim_entry *claims_leader(const struct claim_entry *entry)
{
	return entry->claim && !entry->leads ? entry->claim->leader : NULL;
}
