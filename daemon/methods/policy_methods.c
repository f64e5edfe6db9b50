/* policies.list, policies.show, policies.test. */
#include "daemon/methods/policy_methods.h"

#include "daemon/methods/rehearsal.h"
#include "daemon/policy/policy.h"
#include "daemon/server.h"

void method_policies_list(struct call *call)
{
	struct value *map = value_map(&call->arena);

	value_map_put(&call->arena, map, "policies",
		policies_describe(call->server->policies, &call->arena));
	call_result(call, map);
}

void method_policies_show(struct call *call)
{
	const char *name = value_as_text(value_get(call->params, "name"));
	const struct policy *policy = policies_find(call->server->policies, name);

	if (policy)
		call_result(call, policies_show(call->server->policies, policy, &call->arena));
	else
		call_error(call, RPC_CODE_NOT_FOUND, "there is no policy \"%s\"", name);
}

void method_policies_test(struct call *call)
{
	bool fresh = value_as_bool(value_get(call->params, "fresh"), false);

	if (fresh && call->right != RIGHT_YES)
		call_error(call, RPC_CODE_FORBIDDEN,
			"rules that are not in force are for administrators to try");
	else
		rehearsal_start(call, fresh);
}
