#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "proto/json.h"
#include "tests/check.h"
#include "tests/unit/house.h"

#define RUN                                                                              \
	"{\"language\":\"python\",\"code\":\"print('hunter2')\",\"args\":[\"hunter2\"]," \
	"\"agent\":\"a hunter2\",\"secrets\":[\"hunter2\"]}"

/* The last run's record as text. */
static const char *record_of(struct house *house, int client)
{
	struct reply reply;
	struct bytes text = { "", 0 };

	if (!house_call(house, client, "runs.get", "{\"run_id\":\"last\"}", &reply) || reply.code)
		return "";
	(void)json_write_text(&house->arena, reply.value, JSON_WRITE_BASE64, 1 << 24, &text, NULL);
	return text.data;
}

TEST(a_caller_gets_what_was_written_and_the_record_has_masks)
{
	struct house house;
	struct reply reply;
	const char *record;
	int client;

	CHECK(house_ready(&house, ""));
	client = house_connect(&house);
	CHECK(house_send(client, 1, "run", RUN));
	CHECK(house_program(&house, "hunter2\n", 0));
	CHECK(house_hear(&house, client, &reply));
	CHECK_STR(house_text(&reply, "stdout"), "hunter2\n");
	CHECK_EQ_INT(value_as_int(value_get(reply.value, "masks"), 0), 4);
	record = record_of(&house, client);
	CHECK(strstr(record, "[masked:secret]"));
	CHECK(!strstr(record, "hunter2"));
	CHECK(strstr(record, "\"secrets\":1")); /* only how many there are */
	CHECK(!strstr(record, "\"secrets\":["));
	CHECK(strstr(record, house_text(&reply, "code_hash"))); /* of the unmasked bytes */
	close(client);
	house_close(&house);
}

TEST(what_is_long_is_masked_on_a_thread_and_all_the_same)
{
	static char params[400000], output[60000];
	struct house house;
	struct reply reply;
	const char *record;
	int client, at;

	at = snprintf(params, sizeof(params),
		"{\"language\":\"python\",\"secrets\":[\"hunter2\"],\"stdin\":\"");
	memset(params + at, 'x', 70000);
	(void)snprintf(params + at + 70000, 200, " hunter2\",\"code\":\"hunter2\"}");
	memset(output, 'y', sizeof(output) - 20);
	memcpy(output + 50000, "hunter2", 7);
	CHECK(house_ready(&house, ""));
	client = house_connect(&house);
	CHECK(house_send(client, 1, "run", params));
	CHECK(house_program(&house, output, 0));
	CHECK(house_hear(&house, client, &reply));
	CHECK_EQ_INT(value_as_int(value_get(reply.value, "masks"), 0), 3);
	record = record_of(&house, client);
	CHECK(!strstr(record, "hunter2"));
	close(client);
	house_close(&house);
}

TEST(what_the_contract_refuses_is_kept_with_masks)
{
	struct house house;
	struct reply reply;
	const char *record;
	int client;

	CHECK(house_ready(&house, ""));
	client = house_connect(&house);
	CHECK(house_call(&house, client, "run",
		"{\"language\":\"python\",\"code\":\"hunter2\",\"secrets\":[\"hunter2\"],\"odd\":1}",
		&reply));
	CHECK_STR(reply.code, "bad_request");
	record = record_of(&house, client);
	CHECK(strstr(record, "\"code\":\"[masked:secret]\""));
	CHECK(!strstr(record, "hunter2"));
	CHECK(house_call(&house, client, "run",
		"{\"language\":\"no-such-hunter2\",\"code\":\"hunter2\",\"secrets\":[\"hunter2\"]}",
		&reply));
	record = record_of(&house, client);
	CHECK(strstr(record, "no-such-[masked:secret]"));
	CHECK(!strstr(record, "hunter2"));
	close(client);
	house_close(&house);
}
