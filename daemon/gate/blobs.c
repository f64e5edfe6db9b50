#include "daemon/gate/blobs.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "proto/base/clock.h"
#include "proto/base/container.h"
#include "proto/base/err.h"

struct blob_key {
	uint32_t uid;
	char sha256[DIGEST_TEXT_LEN + 1];
};

static struct blob_key key_of(uint32_t uid, const char *sha256)
{
	struct blob_key key;

	memset(&key, 0, sizeof(key));
	key.uid = uid;
	cut_printf(key.sha256, sizeof(key.sha256), "%s", sha256);
	return key;
}

static size_t cost_of(size_t total)
{
	return total + sizeof(struct blob);
}

void blobs_init(
	struct blobs *blobs, struct ceilings *ceilings, uint64_t bytes_per_uid, uint64_t kept_s)
{
	*blobs = (struct blobs){ .ceilings = ceilings,
		.bytes_per_uid = bytes_per_uid,
		.kept_ms = (int64_t)kept_s * 1000 };
	map_init(&blobs->map);
	list_init(&blobs->used);
}

void blobs_set(struct blobs *blobs, uint64_t bytes_per_uid, uint64_t kept_s)
{
	blobs->bytes_per_uid = bytes_per_uid;
	blobs->kept_ms = (int64_t)kept_s * 1000;
}

struct blob *blob_ref(struct blob *blob)
{
	blob->refs++;
	return blob;
}

void blob_unref(struct blob *blob)
{
	if (!blob || --blob->refs)
		return;
	ceilings_let_go(blob->blobs->ceilings, blob->uid, cost_of(blob->total));
	free(blob->data);
	free(blob);
}

static void leave_shelf(struct blob *blob)
{
	struct blob_key key = key_of(blob->uid, blob->sha256);

	if (!blob->shelved)
		return;
	blob->shelved = false;
	list_remove(&blob->link);
	(void)map_remove(&blob->blobs->map, &key, sizeof(key));
	blob_unref(blob);
}

void blobs_done(struct blobs *blobs)
{
	list_for_each(at, &blobs->used)
		leave_shelf(container_of(at, struct blob, link));
	map_done(&blobs->map);
}

void blobs_drop(struct blob *blob)
{
	leave_shelf(blob);
}

/* Expired blobs are at the head of the list, since it is in order of last use. */
void blobs_expire(struct blobs *blobs)
{
	int64_t now_ms = clock_ms();

	list_for_each(at, &blobs->used) {
		struct blob *blob = container_of(at, struct blob, link);

		if (now_ms - blob->used_ms < blobs->kept_ms)
			return;
		leave_shelf(blob);
	}
}

/* Returns how many bytes this user's blobs cost. */
static uint64_t bytes_of(const struct blobs *blobs, uint32_t uid, unsigned *ret_count)
{
	uint64_t bytes = 0;

	*ret_count = 0;
	list_for_each(at, &blobs->used) {
		const struct blob *blob = container_of(at, struct blob, link);

		if (blob->uid != uid)
			continue;
		bytes += cost_of(blob->total);
		(*ret_count)++;
	}
	return bytes;
}

static void drop_least_used(struct blobs *blobs, uint32_t uid)
{
	list_for_each(at, &blobs->used) {
		struct blob *blob = container_of(at, struct blob, link);

		if (blob->uid != uid)
			continue;
		leave_shelf(blob);
		return;
	}
}

static bool make_room(struct blobs *blobs, uint32_t uid, size_t cost)
{
	unsigned count = 0;

	if (cost > blobs->bytes_per_uid)
		return false;
	while (bytes_of(blobs, uid, &count) + cost > blobs->bytes_per_uid || count >= BLOBS_PER_UID)
		drop_least_used(blobs, uid);
	while (!ceilings_hold(blobs->ceilings, uid, cost)) {
		if (!bytes_of(blobs, uid, &count))
			return false;
		drop_least_used(blobs, uid);
	}
	return true;
}

struct blob *blobs_find(struct blobs *blobs, uint32_t uid, const char *sha256)
{
	struct blob_key key = key_of(uid, sha256);
	struct blob *blob;

	blobs_expire(blobs);
	blob = map_get(&blobs->map, &key, sizeof(key));
	if (!blob)
		return NULL;
	blob->used_ms = clock_ms();
	list_remove(&blob->link);
	list_append(&blobs->used, &blob->link);
	return blob;
}

static struct blob *blob_new(struct blobs *blobs, uint32_t uid, const char *sha256, size_t total)
{
	struct blob *blob = calloc(1, sizeof(*blob));

	if (blob)
		blob->data = malloc(total ? total : 1);
	if (!blob || !blob->data) {
		free(blob);
		return NULL;
	}
	list_init(&blob->link);
	blob->blobs = blobs;
	blob->uid = uid;
	cut_printf(blob->sha256, sizeof(blob->sha256), "%s", sha256);
	blob->total = total;
	blob->used_ms = clock_ms();
	return blob;
}

struct blob *blobs_begin(struct blobs *blobs, uint32_t uid, const char *sha256, size_t total)
{
	struct blob_key key = key_of(uid, sha256);
	struct blob *blob;

	assert(!map_get(&blobs->map, &key, sizeof(key)));

	if (!make_room(blobs, uid, cost_of(total)))
		return NULL;
	blob = blob_new(blobs, uid, sha256, total);
	if (!blob || map_put(&blobs->map, &key, sizeof(key), blob, NULL) < 0) {
		ceilings_let_go(blobs->ceilings, uid, cost_of(total));
		free(blob ? blob->data : NULL);
		free(blob);
		return NULL;
	}
	blob->refs = 1;
	blob->shelved = true;
	list_append(&blobs->used, &blob->link);
	return blob;
}

void blobs_add(struct blob *blob, const char *bytes, size_t len)
{
	assert(len <= blob->total - blob->len);

	if (len)
		memcpy(blob->data + blob->len, bytes, len);
	blob->len += len;
}

bool blobs_settle(struct blob *blob, const char *sha256)
{
	assert(blob->len == blob->total);

	if (strcmp(blob->sha256, sha256) == 0)
		return blob->settled = true;
	leave_shelf(blob); /* may free the blob, when no run uses it */
	return false;
}
