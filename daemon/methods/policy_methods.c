/* policies.list, policies.show, policies.test. */
#include "daemon/methods/policy_methods.h"

#include "daemon/methods/rehearsal.h"
#include "daemon/policy/policy.h"
#include "daemon/services.h"
#include "proto/base/nearest.h"

void method_policies_list(struct call *call)
{
	struct value *map = value_map(&call->arena);

	value_map_put(&call->arena, map, "policies",
		policies_describe(call->services->policies, &call->arena));
	call_result(call, map);
}

void method_policies_show(struct call *call)
{
	const char *name = value_as_text(value_get(call->params, "name"));
	const struct policy *policy = policies_find(call->services->policies, name);
	struct nearest nearest = NEAREST_OF(name);
	const struct value *all;

	if (policy) {
		call_result(call, policies_show(call->services->policies, policy, &call->arena));
		return;
	}
	all = policies_describe(call->services->policies, &call->arena);
	for (size_t i = 0; value_at(all, i); i++)
		nearest_offer(&nearest, value_as_text(value_get(value_at(all, i), "name")));
	call_error(call, RPC_CODE_NOT_FOUND, "there is no policy \"%s\"%s", name,
		nearest_hint(&nearest));
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
