#include <string.h>

#include "proto/job/call_room.h"
#include "tests/check.h"

static uint64_t room(const char *text)
{
	return call_room_of((struct bytes){ text, strlen(text) }) - 2 * strlen(text);
}

TEST(values_are_counted_outside_of_texts)
{
	const uint64_t one = room("1");

	CHECK(one > 0);
	CHECK_EQ_INT(room("\"a,b:c[d\""), one);
	CHECK_EQ_INT(room("\"a\\\",b\\\\\""), one);
	CHECK(room("[1,2,3]") >= 4 * one);
	CHECK(room("{\"a\":1,\"b\":[\"x,y\"]}") >= 4 * one);
	CHECK(room("[\"\\\\\",1,2]") >= 4 * one);
	CHECK_EQ_INT(call_room_of((struct bytes){ "", 0 }), one);
}
