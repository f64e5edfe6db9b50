/*
 * What we use of Node-API, which every node since 10 offers with these names and types.  Node exports
 * the functions; libuv's are in every node, too.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

typedef struct napi_env__ *napi_env;
typedef struct napi_value__ *napi_value;
typedef struct napi_callback_info__ *napi_callback_info;
typedef napi_value (*napi_callback)(napi_env env, napi_callback_info info);
typedef int napi_status; /* 0: done */

/* NOLINTBEGIN(readability-identifier-naming): names of others */
struct uv_loop_s;

napi_status napi_create_function(napi_env env, const char *name, size_t name_len,
	napi_callback callback, void *data, napi_value *ret_function);
napi_status napi_set_named_property(
	napi_env env, napi_value object, const char *name, napi_value value);
napi_status napi_get_cb_info(napi_env env, napi_callback_info info, size_t *argc, napi_value *argv,
	napi_value *ret_this, void **ret_data);
napi_status napi_get_value_bool(napi_env env, napi_value value, _Bool *ret_value);
napi_status napi_get_value_string_utf8(
	napi_env env, napi_value value, char *ret_text, size_t size, size_t *ret_len);
napi_status napi_get_value_uint32(napi_env env, napi_value value, uint32_t *ret_number);
napi_status napi_create_double(napi_env env, double number, napi_value *ret_value);
napi_status napi_get_uv_event_loop(napi_env env, struct uv_loop_s **ret_loop);

int uv_loop_fork(struct uv_loop_s *loop);
void uv_update_time(struct uv_loop_s *loop);
/* NOLINTEND(readability-identifier-naming) */
