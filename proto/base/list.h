/*
 * An intrusive doubly linked list.  The head and every link are the same struct.  A link that is on
 * no list points to itself, so removing it twice is harmless.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "proto/base/container.h"

struct list {
	struct list *next;
	struct list *prev;
};

static inline void list_init(struct list *list)
{
	list->next = list;
	list->prev = list;
}

static inline bool list_is_empty(const struct list *list)
{
	return list->next == list;
}

static inline void list_insert_between(struct list *link, struct list *prev, struct list *next)
{
	link->prev = prev;
	link->next = next;
	prev->next = link;
	next->prev = link;
}

static inline void list_append(struct list *head, struct list *link)
{
	list_insert_between(link, head->prev, head);
}

static inline void list_prepend(struct list *head, struct list *link)
{
	list_insert_between(link, head, head->next);
}

static inline void list_remove(struct list *link)
{
	link->prev->next = link->next;
	link->next->prev = link->prev;
	list_init(link);
}

/* The first link, or NULL when the list is empty. */
static inline struct list *list_first(const struct list *head)
{
	return list_is_empty(head) ? NULL : head->next;
}

/* Visits each link.  The body may remove the current link. */
#define list_for_each(link, head)                                                         \
	for (struct list *link = (head)->next, *link##_next = link->next; link != (head); \
		link = link##_next, link##_next = link->next)
