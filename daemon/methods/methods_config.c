/* config.show: the settings in force, and where each comes from. */
#include "daemon/methods/methods.h"
#include "daemon/services.h"
#include "daemon/settings/config_report.h"
#include "proto/fill.h"

static struct value *describe_file(struct arena *arena, const void *items, size_t index)
{
	const struct config *config = items;

	return value_text(arena, config->files[index]);
}

void method_config_show(struct call *call)
{
	const struct services *services = call->services;
	const struct config *config = services->config;
	struct arena *arena = &call->arena;
	struct fill map = fill_start(arena);
	char digest[DIGEST_TEXT_LEN + 1];

	config_digest(config, digest);
	fill_text(&map, "digest", digest);
	fill_list(&map, "files", config->file_count, config, describe_file);
	fill_value(&map, "settings", config_describe_in_force(config, services->sources, arena));
	call_result(call, fill_done(&map));
}
