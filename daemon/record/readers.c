#include "daemon/record/readers.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define KEPT_MAX 4 /* as many as libuv has threads */

struct readers {
	pthread_mutex_t lock;
	char *folder;
	struct store *kept[KEPT_MAX];
	unsigned count;
};

struct readers *readers_new(const char *folder, struct err *err)
{
	struct readers *readers = calloc(1, sizeof(*readers));

	if (readers)
		readers->folder = strdup(folder);
	if (!readers || !readers->folder || pthread_mutex_init(&readers->lock, NULL) != 0) {
		(void)err_set(err, ERR_MEMORY, "no memory for readers of the store");
		readers_free(readers);
		return NULL;
	}
	return readers;
}

struct store *readers_take(struct readers *readers, struct err *err)
{
	struct store *store = NULL;

	pthread_mutex_lock(&readers->lock);
	if (readers->count)
		store = readers->kept[--readers->count];
	pthread_mutex_unlock(&readers->lock);
	return store ? store : store_open(readers->folder, STORE_READ, err);
}

void readers_give(struct readers *readers, struct store *store)
{
	pthread_mutex_lock(&readers->lock);
	if (readers->count < KEPT_MAX) {
		readers->kept[readers->count++] = store;
		store = NULL;
	}
	pthread_mutex_unlock(&readers->lock);
	store_close(store);
}

void readers_free(struct readers *readers)
{
	if (!readers)
		return;
	for (unsigned i = 0; i < readers->count; i++)
		store_close(readers->kept[i]);
	free(readers->folder);
	free(readers);
}
