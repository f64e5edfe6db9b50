/* The methods about policies themselves; each answers its call (call.h). */
#pragma once

#include "daemon/methods/call.h"

void method_policies_list(struct call *call);
void method_policies_show(struct call *call);
void method_policies_test(struct call *call);
