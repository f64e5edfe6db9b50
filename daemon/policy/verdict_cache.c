#include "daemon/policy/verdict_cache.h"

#include <stdlib.h>
#include <string.h>

#include "proto/base/list.h"
#include "proto/base/map.h"

/* One block of memory: the entry, its findings, their texts. */
struct entry {
	struct list link; /* most recently asked for first */
	struct verdict_cache_key key;
	size_t size;
	struct policy_verdict verdict;
	struct policy_finding findings[];
};

struct verdict_cache {
	struct map map;
	struct list order;
	size_t bytes;
	struct verdict_cache_counts counts;
};

struct verdict_cache *verdict_cache_new(void)
{
	struct verdict_cache *cache = calloc(1, sizeof(*cache));

	if (!cache)
		return NULL;
	map_init(&cache->map);
	list_init(&cache->order);
	return cache;
}

static void forget(struct verdict_cache *cache, struct entry *entry)
{
	(void)map_remove(&cache->map, &entry->key, sizeof(entry->key));
	list_remove(&entry->link);
	cache->bytes -= entry->size;
	cache->counts.kept--;
	free(entry);
}

static void forget_oldest(struct verdict_cache *cache)
{
	forget(cache, container_of(cache->order.prev, struct entry, link));
}

void verdict_cache_free(struct verdict_cache *cache)
{
	if (!cache)
		return;
	while (!list_is_empty(&cache->order))
		forget_oldest(cache);
	map_done(&cache->map);
	free(cache);
}

/* Zeroes the bytes after the text, because they are part of the key. */
static struct verdict_cache_key clean(const struct verdict_cache_key *key)
{
	struct verdict_cache_key copy;

	memset(&copy, 0, sizeof(copy));
	copy.policy = key->policy;
	copy.language = key->language;
	memcpy(copy.code_hash, key->code_hash, strnlen(key->code_hash, HASH_TEXT_LEN));
	return copy;
}

static bool copy_out(
	struct arena *arena, const struct entry *entry, struct policy_verdict *ret_verdict)
{
	struct policy_verdict verdict = entry->verdict;

	verdict.findings = arena_array(arena, struct policy_finding, verdict.finding_count);
	if (!verdict.findings)
		return false;
	for (size_t i = 0; i < verdict.finding_count; i++) {
		verdict.findings[i] = entry->findings[i];
		verdict.findings[i].text = arena_strdup(arena, entry->findings[i].text);
		if (!verdict.findings[i].text)
			return false;
	}
	*ret_verdict = verdict;
	return true;
}

bool verdict_cache_get(struct verdict_cache *cache, const struct verdict_cache_key *key,
	struct arena *arena, struct policy_verdict *ret_verdict)
{
	struct verdict_cache_key wanted = clean(key);
	struct entry *entry = map_get(&cache->map, &wanted, sizeof(wanted));

	if (!entry || !copy_out(arena, entry, ret_verdict)) {
		cache->counts.misses++;
		return false;
	}
	cache->counts.hits++;
	list_remove(&entry->link);
	list_prepend(&cache->order, &entry->link);
	return true;
}

static struct entry *make_entry(
	const struct verdict_cache_key *key, const struct policy_verdict *verdict)
{
	size_t texts_at =
		sizeof(struct entry) + verdict->finding_count * sizeof(struct policy_finding);
	size_t size = texts_at;
	struct entry *entry;
	char *text;

	for (size_t i = 0; i < verdict->finding_count; i++)
		size += strlen(verdict->findings[i].text) + 1;
	entry = malloc(size);
	if (!entry)
		return NULL;
	entry->key = clean(key);
	entry->size = size;
	entry->verdict = *verdict;
	entry->verdict.findings = NULL;
	text = (char *)entry + texts_at;
	for (size_t i = 0; i < verdict->finding_count; i++) {
		entry->findings[i] = verdict->findings[i];
		entry->findings[i].text = text;
		text = stpcpy(text, verdict->findings[i].text) + 1;
	}
	return entry;
}

void verdict_cache_put(struct verdict_cache *cache, const struct verdict_cache_key *key,
	const struct policy_verdict *verdict)
{
	struct entry *entry = make_entry(key, verdict);
	void *old = NULL;

	if (!entry)
		return; /* a missing entry does no harm */
	old = map_get(&cache->map, &entry->key, sizeof(entry->key));
	if (old)
		forget(cache, old);
	if (map_put(&cache->map, &entry->key, sizeof(entry->key), entry, NULL) < 0) {
		free(entry);
		return;
	}
	list_prepend(&cache->order, &entry->link);
	cache->bytes += entry->size;
	cache->counts.kept++;
	while (cache->counts.kept > VERDICT_CACHE_MAX ||
		(cache->bytes > VERDICT_CACHE_BYTES_MAX && cache->counts.kept > 1))
		forget_oldest(cache);
}

struct verdict_cache_counts verdict_cache_counts(const struct verdict_cache *cache)
{
	return cache->counts;
}
