#include "daemon/policy/remembered.h"

#include <stdlib.h>
#include <string.h>

#include "proto/base/list.h"
#include "proto/base/map.h"

/* One block of memory: the entry, its findings, their texts. */
struct entry {
	struct list link; /* most recently asked for first */
	struct remembered_key key;
	size_t size;
	struct policy_verdict verdict;
	struct policy_finding findings[];
};

struct remembered {
	struct map map;
	struct list order;
	size_t bytes;
	struct remembered_counts counts;
};

struct remembered *remembered_new(void)
{
	struct remembered *remembered = calloc(1, sizeof(*remembered));

	if (!remembered)
		return NULL;
	map_init(&remembered->map);
	list_init(&remembered->order);
	return remembered;
}

static void forget(struct remembered *remembered, struct entry *entry)
{
	(void)map_remove(&remembered->map, &entry->key, sizeof(entry->key));
	list_remove(&entry->link);
	remembered->bytes -= entry->size;
	remembered->counts.kept--;
	free(entry);
}

static void forget_oldest(struct remembered *remembered)
{
	forget(remembered, container_of(remembered->order.prev, struct entry, link));
}

void remembered_free(struct remembered *remembered)
{
	if (!remembered)
		return;
	while (!list_is_empty(&remembered->order))
		forget_oldest(remembered);
	map_done(&remembered->map);
	free(remembered);
}

/* Bytes behind the text count as part of the key, so there must be nothing there. */
static struct remembered_key clean(const struct remembered_key *key)
{
	struct remembered_key copy;

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

bool remembered_get(struct remembered *remembered, const struct remembered_key *key,
	struct arena *arena, struct policy_verdict *ret_verdict)
{
	struct remembered_key wanted = clean(key);
	struct entry *entry = map_get(&remembered->map, &wanted, sizeof(wanted));

	if (!entry || !copy_out(arena, entry, ret_verdict)) {
		remembered->counts.misses++;
		return false;
	}
	remembered->counts.hits++;
	list_remove(&entry->link);
	list_prepend(&remembered->order, &entry->link);
	return true;
}

static struct entry *make_entry(
	const struct remembered_key *key, const struct policy_verdict *verdict)
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

void remembered_put(struct remembered *remembered, const struct remembered_key *key,
	const struct policy_verdict *verdict)
{
	struct entry *entry = make_entry(key, verdict);
	void *old = NULL;

	if (!entry)
		return; /* a memory that forgets does no harm */
	old = map_get(&remembered->map, &entry->key, sizeof(entry->key));
	if (old)
		forget(remembered, old);
	if (map_put(&remembered->map, &entry->key, sizeof(entry->key), entry, NULL) < 0) {
		free(entry);
		return;
	}
	list_prepend(&remembered->order, &entry->link);
	remembered->bytes += entry->size;
	remembered->counts.kept++;
	while (remembered->counts.kept > REMEMBERED_MAX ||
		(remembered->bytes > REMEMBERED_BYTES_MAX && remembered->counts.kept > 1))
		forget_oldest(remembered);
}

struct remembered_counts remembered_counts(const struct remembered *remembered)
{
	return remembered->counts;
}
