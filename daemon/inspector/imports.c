#include "daemon/inspector/imports.h"

#include <string.h>

#define IMPORTS_BYTES_MAX ((size_t)8 << 20)

void imports_init(struct imports *imports)
{
	arena_init(&imports->arena, IMPORTS_BYTES_MAX);
	map_init(&imports->map);
	imports->failed = false;
	imports->place_count = 0;
}

void imports_done(struct imports *imports)
{
	map_done(&imports->map);
	arena_done(&imports->arena);
}

void imports_reset(struct imports *imports)
{
	if (imports->map.count == 0 && !imports->failed)
		return;
	imports_done(imports);
	imports_init(imports);
}

const struct import *imports_find(const struct imports *imports, const char *text, size_t len)
{
	return imports->map.count > 0 ? map_get(&imports->map, text, len) : NULL;
}

static bool is_known(
	const struct imports *imports, const struct name *name, const struct import *other)
{
	const struct import *import = imports_find(imports, name->text, name->len);

	for (; import; import = import->next)
		if (import->is_module == other->is_module && import->path.len == other->path.len &&
			memcmp(import->path.text, other->path.text, other->path.len) == 0)
			return true;
	return false;
}

static void import_add(
	struct imports *imports, const struct name *name, const struct import *import)
{
	struct import *copy;

	if (is_known(imports, name, import))
		return;
	copy = arena_new(&imports->arena, struct import);
	if (!copy) {
		imports->failed = true;
		return;
	}
	*copy = *import;
	copy->next = map_get(&imports->map, name->text, name->len);
	if (map_put(&imports->map, name->text, name->len, copy, NULL) < 0)
		imports->failed = true;
}

static void keep_place(struct imports *imports, struct place at)
{
	if (imports->place_count < IMPORTS_PLACES_MAX)
		imports->places[imports->place_count++] = at;
}

bool imports_hold(const struct imports *imports, struct place at)
{
	for (uint32_t i = 0; i < imports->place_count; i++)
		if (imports->places[i].start <= at.start && at.end <= imports->places[i].end)
			return true;
	return false;
}

static bool is_of_import(const struct match *match, uint32_t index)
{
	enum capture what = match->captures[index].what;

	return what >= CAPTURE_IMPORT_MODULE && what <= CAPTURE_IMPORT_ALIAS;
}

static void note_import(struct imports *imports, const char *code, const struct match *match)
{
	struct import import = { .is_module = true };
	struct name name = { 0 };
	struct name part;
	bool has_alias = false;

	for (uint32_t i = 0; i < match->count; i++) {
		const struct place *at = &match->captures[i].at;
		enum capture what = match->captures[i].what;

		if (!is_of_import(match, i) ||
			!path_read(code + at->start, at->end - at->start, &part))
			continue;
		keep_place(imports, *at);
		if (what == CAPTURE_IMPORT_ALIAS) {
			has_alias = true;
			name = part;
			continue;
		}
		import.is_module = what == CAPTURE_IMPORT_MODULE;
		path_join(&import.path, part.text, part.len);
		if (!has_alias)
			name = part;
	}
	if (import.path.len == 0)
		return;
	/* `import a.b` binds a, and to a. */
	if (!has_alias && import.is_module) {
		name_read(import.path.text, path_head_len(&import.path), &name);
		import.path = name;
	}
	import_add(imports, &name, &import);
}

void imports_note(struct imports *imports, const char *code, const struct match *match)
{
	for (uint32_t i = 0; i < match->count; i++)
		if (is_of_import(match, i)) {
			note_import(imports, code, match);
			return;
		}
}
