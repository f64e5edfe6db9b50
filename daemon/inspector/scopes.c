#include "daemon/inspector/scopes.h"

#include <stdlib.h>
#include <string.h>

#include "daemon/inspector/bytes_check.h"
#include "daemon/inspector/shellword.h"
#include "proto/internal/inspectmsg.h"

/* Which captures excuse a single name. */
static const uint32_t excuses[CAPTURE_COUNT] = {
	[CAPTURE_ATTRIBUTE] = UNLESS_ATTRIBUTE,
	[CAPTURE_KEYWORD] = UNLESS_KEYWORD,
	[CAPTURE_STORE] = UNLESS_STORE,
	[CAPTURE_PART] = UNLESS_PART,
	[CAPTURE_HARMLESS] = UNLESS_HARMLESS,
	[CAPTURE_CALLED] = UNLESS_CALLED,
};

int scopes_init(struct scopes *scopes)
{
	*scopes = (struct scopes){ 0 };
	map_init(&scopes->names);
	scopes->suspects = calloc(SUSPECTS_MAX, sizeof(*scopes->suspects));
	scopes->bindings = calloc(BINDINGS_MAX, sizeof(*scopes->bindings));
	scopes->regions = calloc(REGIONS_MAX, sizeof(*scopes->regions));
	scopes->unbound = calloc(SUSPECTS_MAX, sizeof(*scopes->unbound));
	scopes->calls = calloc(CALLS_MAX, sizeof(*scopes->calls));
	if (scopes->suspects && scopes->bindings && scopes->regions && scopes->unbound &&
		scopes->calls)
		return 0;
	scopes_done(scopes);
	return -1;
}

void scopes_done(struct scopes *scopes)
{
	free(scopes->suspects);
	free(scopes->bindings);
	free(scopes->regions);
	free(scopes->unbound);
	free(scopes->calls);
	map_done(&scopes->names);
	*scopes = (struct scopes){ 0 };
}

void scopes_reset(struct scopes *scopes, const char *code)
{
	if (scopes->names.count > 0) {
		map_done(&scopes->names);
		map_init(&scopes->names);
		memset(scopes->unbound, 0, scopes->name_count * sizeof(*scopes->unbound));
	}
	scopes->code = code;
	scopes->suspect_count = 0;
	scopes->binding_count = 0;
	scopes->region_count = 0;
	scopes->name_count = 0;
	scopes->joined_count = 0;
	scopes->call_count = 0;
	scopes->all_joined = false;
	scopes->too_much = false;
}

static void read_at(const struct scopes *scopes, struct place at, struct name *ret_name)
{
	name_read(scopes->code + at.start, at.end - at.start, ret_name);
}

/* The number of a suspicious name, from 1; 0 if it is none. */
static uint32_t find_name(const struct scopes *scopes, const struct name *name)
{
	return (uint32_t)(uintptr_t)map_get(&scopes->names, name->text, name->len);
}

static uint32_t number_name(struct scopes *scopes, const struct name *name)
{
	uint32_t number = find_name(scopes, name);

	if (number > 0)
		return number;
	number = scopes->name_count + 1;
	if (map_put(&scopes->names, name->text, name->len, (void *)(uintptr_t)number, NULL) < 0)
		return 0;
	scopes->name_count = number;
	return number;
}

bool scopes_suspect(struct scopes *scopes, const struct suspect *suspect)
{
	struct suspect *copy = &scopes->suspects[scopes->suspect_count];
	struct name name;
	uint32_t number;

	if (scopes->suspect_count == SUSPECTS_MAX)
		return false;
	read_at(scopes, suspect->name, &name);
	number = number_name(scopes, &name);
	if (number == 0)
		return false;
	*copy = *suspect;
	copy->name_id = number - 1;
	copy->excused = false;
	scopes->suspect_count++;
	return true;
}

static int compare_suspects(const void *left, const void *right)
{
	const struct suspect *a = left;
	const struct suspect *b = right;

	return (a->name.start > b->name.start) - (a->name.start < b->name.start);
}

void scopes_sort(struct scopes *scopes)
{
	qsort(scopes->suspects, scopes->suspect_count, sizeof(*scopes->suspects), compare_suspects);
}

/* The first suspect whose name begins at this place or later. */
static uint32_t first_from(const struct scopes *scopes, uint32_t start)
{
	uint32_t low = 0;
	uint32_t high = scopes->suspect_count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (scopes->suspects[middle].name.start < start)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static void excuse_at(struct scopes *scopes, struct place at, uint32_t excuse)
{
	for (uint32_t i = first_from(scopes, at.start); i < scopes->suspect_count; i++) {
		struct suspect *suspect = &scopes->suspects[i];

		if (suspect->name.start != at.start)
			return;
		if (suspect->name.end == at.end && (suspect->unless & excuse))
			suspect->excused = true;
	}
}

static void excuse_range(struct scopes *scopes, struct place at, uint32_t excuse)
{
	for (uint32_t i = first_from(scopes, at.start); i < scopes->suspect_count; i++) {
		struct suspect *suspect = &scopes->suspects[i];

		if (suspect->name.start >= at.end)
			return;
		if (suspect->unless & excuse)
			suspect->excused = true;
	}
}

/* The grammar reads $((a + b)) in a here-document as commands. */
static void excuse_sum(struct scopes *scopes, struct place at)
{
	if (shellword_is_sum(scopes->code + at.start, at.end - at.start))
		excuse_range(scopes, at, UNLESS_HARMLESS);
}

static void add_region(struct scopes *scopes, struct place at, bool is_class)
{
	if (scopes->region_count == REGIONS_MAX)
		scopes->too_much = true;
	else
		scopes->regions[scopes->region_count++] = (struct region){ at, is_class };
}

static void add_call(struct scopes *scopes, struct place at)
{
	if (scopes->call_count == CALLS_MAX)
		scopes->too_much = true;
	else
		scopes->calls[scopes->call_count++] = at;
}

static void check_statement(struct scopes *scopes, struct place at)
{
	if (!bytes_join_lines(scopes->code + at.start, at.end - at.start))
		return;
	if (scopes->joined_count == JOINED_MAX)
		scopes->all_joined = true;
	else
		scopes->joined[scopes->joined_count++] = at;
}

static bool is_joined(const struct scopes *scopes, uint32_t place)
{
	for (uint32_t i = 0; i < scopes->joined_count; i++)
		if (scopes->joined[i].start <= place && place < scopes->joined[i].end)
			return true;
	return scopes->all_joined;
}

/* Whether the shell expands this text, alone or as a part of a word, to something else. */
static bool is_remade(const char *text, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (strchr("\\*?[{", text[i]))
			return true;
	return false;
}

/*
 * Unbinds every word in the range, whatever it is.  It is safe if too many lose their excuse.  An
 * open word may be any name.
 */
static void unbind_words(struct scopes *scopes, struct place at)
{
	struct name name;

	if (is_remade(scopes->code + at.start, at.end - at.start))
		scopes->too_much = true;
	for (uint32_t i = at.start; i < at.end;) {
		uint32_t end = i + (uint32_t)name_span(scopes->code + i, at.end - i);

		if (end > i) {
			uint32_t number;

			read_at(scopes, (struct place){ i, end }, &name);
			number = find_name(scopes, &name);
			if (number > 0)
				scopes->unbound[number - 1] = true;
		}
		i = end + 1;
	}
}

/* The range in which a match binds a name, by its other captures. */
static struct binding binding_of(const struct match *match)
{
	struct binding binding = { .in_function = true };

	for (uint32_t i = 0; i < match->count; i++) {
		struct place at = match->captures[i].at;
		enum capture what = match->captures[i].what;

		if (what == CAPTURE_IN || what == CAPTURE_BLOCK) {
			binding.in_function = false;
			binding.not_in_class = what == CAPTURE_BLOCK;
			binding.range = at;
		} else if (what == CAPTURE_AFTER) {
			binding.in_function = false;
			binding.not_in_class = true;
			binding.range.start = at.end;
		} else if (what == CAPTURE_WITHIN) {
			binding.range.end = at.end;
		} else if (what == CAPTURE_LATER) {
			binding.in_function = false;
			binding.later = true;
			binding.range.end = UINT32_MAX;
		}
	}
	return binding;
}

static void add_binding(
	struct scopes *scopes, const struct match *match, struct place at, bool by_import)
{
	struct binding binding;
	struct name name;
	uint32_t number;

	read_at(scopes, at, &name);
	number = find_name(scopes, &name);
	if (number == 0)
		return;
	if (scopes->binding_count == BINDINGS_MAX) {
		scopes->too_much = true;
		return;
	}
	binding = binding_of(match);
	binding.name_id = number - 1;
	binding.place = at.start;
	binding.by_import = by_import;
	scopes->bindings[scopes->binding_count++] = binding;
}

void scopes_note(struct scopes *scopes, const struct match *match)
{
	for (uint32_t i = 0; i < match->count; i++) {
		struct place at = match->captures[i].at;
		enum capture what = match->captures[i].what;

		if (excuses[what])
			excuse_at(scopes, at, excuses[what]);
		else if (what == CAPTURE_BIND || what == CAPTURE_IMPORTED)
			add_binding(scopes, match, at, what == CAPTURE_IMPORTED);
		else if (what == CAPTURE_UNBIND)
			unbind_words(scopes, at);
		else if (what == CAPTURE_STATEMENT)
			check_statement(scopes, at);
		else if (what == CAPTURE_FUNCTION || what == CAPTURE_CLASS)
			add_region(scopes, at, what == CAPTURE_CLASS);
		else if (what == CAPTURE_OWN)
			excuse_range(scopes, at, UNLESS_OWN);
		else if (what == CAPTURE_SUM)
			excuse_sum(scopes, at);
		else if (what == CAPTURE_CALL)
			add_call(scopes, at);
	}
}

/* The innermost function or class around a place, or NULL. */
static const struct region *region_around(const struct scopes *scopes, uint32_t place)
{
	const struct region *best = NULL;

	for (uint32_t i = 0; i < scopes->region_count && !effort_add(scopes->effort, 1); i++) {
		const struct region *region = &scopes->regions[i];

		if (region->at.start <= place && place < region->at.end &&
			(!best || region->at.start >= best->at.start))
			best = region;
	}
	return best;
}

/* Makes the range final; an empty one binds nothing. */
static void settle(const struct scopes *scopes, struct binding *binding)
{
	const struct region *region = region_around(scopes, binding->place);
	bool in_class = region && region->is_class;

	binding->is_local = !binding->not_in_class || region;
	if (binding->in_function)
		binding->range = region && !in_class ? region->at : (struct place){ 0, 0 };
	else if (binding->not_in_class && in_class)
		binding->range = (struct place){ 0, 0 };
	if (is_joined(scopes, binding->place))
		binding->range = (struct place){ 0, 0 };
}

/* Whether the suspect is in the body of a class within the range of a local name. */
static bool is_skipped(const struct binding *binding, const struct region *region)
{
	return binding->is_local && region && region->is_class &&
	       binding->range.start <= region->at.start;
}

static bool binds(const struct binding *binding, const struct suspect *suspect)
{
	return binding->name_id == suspect->name_id &&
	       !(binding->by_import && suspect->by_import) &&
	       binding->range.start <= suspect->name.start &&
	       suspect->name.start < binding->range.end;
}

/* A function may run after a definition that follows it in the text. */
static bool comes_in_time(
	const struct scopes *scopes, const struct binding *binding, const struct region *region)
{
	return !binding->later || (region && binding->place < scopes->first_call);
}

static void find_first_call(struct scopes *scopes)
{
	scopes->first_call = UINT32_MAX;
	for (uint32_t i = 0; i < scopes->call_count; i++)
		if (scopes->calls[i].start < scopes->first_call &&
			!region_around(scopes, scopes->calls[i].start))
			scopes->first_call = scopes->calls[i].start;
}

static bool is_bound(const struct scopes *scopes, const struct suspect *suspect)
{
	const struct region *region = region_around(scopes, suspect->name.start);

	if (scopes->unbound[suspect->name_id])
		return false;
	for (uint32_t i = 0; i < scopes->binding_count && !effort_add(scopes->effort, 1); i++) {
		const struct binding *binding = &scopes->bindings[i];

		if (binds(binding, suspect) && !is_skipped(binding, region) &&
			comes_in_time(scopes, binding, region))
			return true;
	}
	return false;
}

void scopes_judge(struct scopes *scopes, struct effort *effort)
{
	scopes->effort = effort;
	for (uint32_t i = 0; i < scopes->binding_count; i++)
		settle(scopes, &scopes->bindings[i]);
	find_first_call(scopes);
	for (uint32_t i = 0; i < scopes->suspect_count; i++) {
		struct suspect *suspect = &scopes->suspects[i];

		if (is_joined(scopes, suspect->name.start))
			suspect->excused = false;
		else if (!suspect->excused && (suspect->unless & UNLESS_BOUND))
			suspect->excused = !scopes->too_much && is_bound(scopes, suspect);
	}
}
