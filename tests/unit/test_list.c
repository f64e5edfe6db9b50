#include <stdint.h>

#include "proto/base/list.h"
#include "tests/check.h"

struct item {
	int number;
	struct list link;
};

static int sum_in_order(const struct list *head)
{
	int sum = 0;

	list_for_each(link, (struct list *)(uintptr_t)head) {
		struct item *item = container_of(link, struct item, link);

		sum = sum * 10 + item->number;
	}
	return sum;
}

TEST(links_keep_the_order_of_their_coming)
{
	struct list head;
	struct item items[3] = { { .number = 1 }, { .number = 2 }, { .number = 3 } };

	list_init(&head);
	CHECK(list_is_empty(&head));
	CHECK(!list_first(&head));
	list_append(&head, &items[0].link);
	list_append(&head, &items[1].link);
	list_prepend(&head, &items[2].link);
	CHECK_EQ_INT(sum_in_order(&head), 312);
	CHECK(list_first(&head) == &items[2].link);
}

TEST(removing_twice_is_harmless)
{
	struct list head;
	struct item items[2] = { { .number = 1 }, { .number = 2 } };

	list_init(&head);
	list_append(&head, &items[0].link);
	list_append(&head, &items[1].link);
	list_remove(&items[0].link);
	list_remove(&items[0].link);
	CHECK_EQ_INT(sum_in_order(&head), 2);
	list_append(&head, &items[0].link);
	CHECK_EQ_INT(sum_in_order(&head), 21);
}

TEST(the_link_one_stands_on_may_be_removed)
{
	struct list head;
	struct item items[3] = { { .number = 1 }, { .number = 2 }, { .number = 3 } };

	list_init(&head);
	for (int i = 0; i < 3; i++)
		list_append(&head, &items[i].link);
	list_for_each(link, &head)
		list_remove(link);
	CHECK(list_is_empty(&head));
}
