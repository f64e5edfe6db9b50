#include "daemon/inspector/nodes.h"

#include <stdlib.h>

#define NODES_PER_LOOK 64U /* at the clock */
#define NODES_FIRST    4096U

/* One walk. */
struct walk {
	struct nodes *nodes;
	const struct nodes_wish *wish;
	TSTreeCursor cursor;
	uint32_t at; /* the last node that was kept, whose end is not known yet */
	uint32_t up; /* what the node at hand is in */
};

static bool is_wished(const bool *kinds, const struct nodes_wish *wish, TSSymbol kind)
{
	return kind >= wish->kind_count || kinds[kind];
}

static bool make_room(struct nodes *nodes)
{
	uint32_t size = nodes->size ? nodes->size * 2 : NODES_FIRST;
	struct node *larger;

	if (nodes->count < nodes->size)
		return true;
	larger = reallocarray(nodes->nodes, size, sizeof(*larger));
	if (!larger)
		return false;
	nodes->nodes = larger;
	nodes->size = size;
	return true;
}

static bool is_left_out(const struct walk *walk, TSNode node, TSSymbol kind, bool named)
{
	return !named && !is_wished(walk->wish->plain, walk->wish, kind) &&
	       ts_node_child_count(node) == 0;
}

static TSFieldId field_of(const struct walk *walk)
{
	const struct node *holder = &walk->nodes->nodes[walk->up];

	if (walk->at == 0 || !is_wished(walk->wish->holders, walk->wish, holder->kind))
		return 0;
	return ts_tree_cursor_current_field_id(&walk->cursor);
}

/* False without memory.  *ret_kept: whether it stands in the table. */
static bool keep(struct walk *walk, bool *ret_kept)
{
	TSNode node = ts_tree_cursor_current_node(&walk->cursor);
	TSSymbol kind = ts_node_symbol(node);
	bool named = ts_node_is_named(node);
	struct nodes *nodes = walk->nodes;

	*ret_kept = !is_left_out(walk, node, kind, named);
	if (!*ret_kept)
		return true;
	if (!make_room(nodes))
		return false;
	walk->at = nodes->count++;
	nodes->nodes[walk->at] = (struct node){
		.start = ts_node_start_byte(node),
		.end = ts_node_end_byte(node),
		.up = walk->up,
		.kind = kind,
		.field = field_of(walk),
		.named = named,
	};
	return true;
}

/* What ends with the node at hand. */
static bool leave(struct walk *walk, bool kept)
{
	struct node *nodes = walk->nodes->nodes;

	if (kept)
		nodes[walk->at].next = walk->nodes->count;
	while (!ts_tree_cursor_goto_next_sibling(&walk->cursor)) {
		if (!ts_tree_cursor_goto_parent(&walk->cursor))
			return false;
		nodes[walk->up].next = walk->nodes->count;
		walk->up = nodes[walk->up].up;
	}
	return true;
}

static bool step(struct walk *walk, bool kept)
{
	if (!kept || !ts_tree_cursor_goto_first_child(&walk->cursor))
		return leave(walk, kept);
	walk->up = walk->at;
	return true;
}

bool nodes_read(struct nodes *nodes, TSNode root, const struct nodes_wish *wish,
	nodes_is_late *is_late, void *context)
{
	struct walk walk = { .nodes = nodes, .wish = wish, .cursor = ts_tree_cursor_new(root) };
	uint32_t count = 0;
	bool whole = true;
	bool kept = true;

	nodes->count = 0;
	do {
		whole = keep(&walk, &kept) && (++count % NODES_PER_LOOK != 0 || !is_late(context));
	} while (whole && step(&walk, kept));
	ts_tree_cursor_delete(&walk.cursor);
	if (!whole)
		nodes->count = 0;
	return whole;
}

void nodes_done(struct nodes *nodes)
{
	free(nodes->nodes);
	*nodes = (struct nodes){ 0 };
}
