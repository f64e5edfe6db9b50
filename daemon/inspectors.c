#include "daemon/inspectors.h"

#include "daemon/policy/inspector_link.h"
#include "daemon/server.h"
