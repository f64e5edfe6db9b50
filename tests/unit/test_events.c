#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "daemon/news/events.h"
#include "tests/check.h"
#include "tests/unit/house.h"

static const char RUN[] = "{\"language\":\"python\",\"code\":\"print(1)\",\"agent\":\"ann\"}";

/* Reads the next event for this client, which must be of this kind. */
static bool hears(struct house *house, int client, const char *kind, struct reply *ret_reply)
{
	if (!house_hear(house, client, ret_reply))
		return false;
	if (strcmp(house_text(ret_reply, "kind"), kind) == 0)
		return true;
	(void)fprintf(stderr, "# hoped for %s, heard %s\n", kind, house_text(ret_reply, "kind"));
	return false;
}

static bool subscribes(struct house *house, int client, const char *params)
{
	struct reply reply;

	return house_call(house, client, "events.subscribe", params, &reply) && !reply.code;
}

static bool runs(struct house *house, int client, struct reply *ret_reply)
{
	return house_send(client, 1, "run", RUN) && house_program(house, "1\n", 0) &&
	       house_hear(house, client, ret_reply);
}

TEST(a_run_is_told_from_its_start_to_its_end_and_is_known_by_then)
{
	struct house house;
	struct reply reply, event;
	int client, watcher;

	CHECK(house_ready(&house, ""));
	client = house_connect(&house);
	watcher = house_connect(&house);
	CHECK(subscribes(&house, watcher, "{}"));
	CHECK(runs(&house, client, &reply));
	CHECK(hears(&house, watcher, "started", &event));
	CHECK_STR(house_text(&event, "run_id"), house_text(&reply, "run_id"));
	CHECK_STR(house_text(&event, "agent"), "ann");
	CHECK_EQ_INT(value_as_int(value_get(event.value, "uid"), -1), getuid());
	CHECK(hears(&house, watcher, "finished", &event));
	CHECK_STR(house_text(&event, "run_id"), house_text(&reply, "run_id"));
	CHECK_STR(house_text(&event, "outcome"), "ok");
	CHECK(value_as_bool(value_get(event.value, "ok"), false));
	close(watcher);
	close(client);
	house_close(&house);
}

TEST(a_denied_run_is_told_with_the_rules_and_never_as_started)
{
	struct house house;
	struct reply reply, event;
	int client, watcher;

	CHECK(house_ready(&house, ""));
	house.denies = true;
	client = house_connect(&house);
	watcher = house_connect(&house);
	CHECK(subscribes(&house, watcher, "{}"));
	CHECK(house_call(&house, client, "run", RUN, &reply));
	CHECK_STR(house_text(&reply, "outcome"), "policy_denied");
	CHECK(hears(&house, watcher, "denied", &event));
	CHECK_STR(value_as_text(value_at(value_get(event.value, "rules"), 0)), "python.bytes.nul");
	close(watcher);
	close(client);
	house_close(&house);
}

TEST(a_subscriber_hears_what_it_asked_for)
{
	struct house house;
	struct reply reply, event;
	int client, watcher;

	CHECK(house_ready(&house, ""));
	client = house_connect(&house);
	watcher = house_connect(&house);
	CHECK(subscribes(&house, watcher, "{\"agent\":\"bob\"}"));
	CHECK(subscribes(&house, watcher, "{\"kinds\":[\"finished\"]}")); /* replaces the first */
	CHECK_EQ_INT(house.server->events.count, 1);
	CHECK(runs(&house, client, &reply));
	CHECK(hears(&house, watcher, "finished", &event));
	close(watcher);
	close(client);
	house_close(&house);
}

TEST(admin_ops_and_alerts_are_told)
{
	struct house house;
	struct reply reply, event;
	int client, watcher;
	struct value *more;

	CHECK(house_ready(&house, ""));
	client = house_connect(&house);
	watcher = house_connect(&house);
	CHECK(subscribes(&house, watcher, "{}"));
	CHECK(house_call(&house, client, "admin.drain", "{\"reason\":\"noon\"}", &reply));
	CHECK(hears(&house, watcher, "admin_op", &event));
	CHECK_STR(house_text(&event, "method"), "admin.drain");
	CHECK_STR(house_text(&event, "reason"), "noon");
	more = value_map(&house.arena);
	value_map_put(&house.arena, more, "free_bytes", value_int(&house.arena, 7));
	events_alert(&house.server->events, "disk", "the disk is nearly full", more);
	CHECK(hears(&house, watcher, "alert", &event));
	CHECK_STR(house_text(&event, "alert"), "disk");
	CHECK_EQ_INT(value_as_int(value_get(event.value, "free_bytes"), 0), 7);
	close(watcher);
	close(client);
	house_close(&house);
}

TEST(a_slow_reader_is_told_how_many_it_missed_and_keeps_nobody_waiting)
{
	struct house house;
	struct reply event;
	char text[1000];
	uint64_t heard = 0;
	uint64_t missed;
	int watcher;

	CHECK(house_open(&house, ""));
	watcher = house_connect(&house);
	CHECK(subscribes(&house, watcher, "{}"));
	memset(text, 'x', sizeof(text));
	text[sizeof(text) - 1] = '\0';
	for (unsigned i = 0; i < 2000; i++) /* no reader, and the loop does not turn */
		events_alert(&house.server->events, "flood", text, NULL);
	while (house_hear(&house, watcher, &event) && !strcmp(house_text(&event, "kind"), "alert"))
		heard++;
	CHECK_STR(house_text(&event, "kind"), "missed");
	missed = (uint64_t)value_as_int(value_get(event.value, "count"), 0);
	CHECK(missed > 0);
	CHECK_EQ_INT(heard + missed, 2000);
	CHECK(heard < 1000);
	events_alert(&house.server->events, "again", "and it goes on", NULL);
	CHECK(hears(&house, watcher, "alert", &event));
	CHECK_STR(house_text(&event, "alert"), "again");
	close(watcher);
	house_close(&house);
}

TEST(a_subscription_goes_with_its_connection_and_one_user_has_so_many)
{
	struct house house;
	struct reply reply;
	int watchers[EVENTS_PER_UID];
	int client;

	CHECK(house_open(&house, ""));
	for (unsigned i = 0; i < EVENTS_PER_UID; i++) {
		watchers[i] = house_connect(&house);
		CHECK(subscribes(&house, watchers[i], "{}"));
	}
	client = house_connect(&house);
	CHECK(house_call(&house, client, "events.subscribe", "{}", &reply));
	CHECK_STR(reply.code, "busy");
	for (unsigned i = 0; i < EVENTS_PER_UID; i++)
		close(watchers[i]);
	house_turn(&house, 20);
	CHECK_EQ_INT(house.server->events.count, 0);
	CHECK(subscribes(&house, client, "{}"));
	close(client);
	house_close(&house);
}

TEST(who_leaves_while_an_event_is_told_is_forgotten)
{
	struct house house;
	int watchers[3];

	CHECK(house_open(&house, ""));
	for (unsigned i = 0; i < 3; i++) {
		watchers[i] = house_connect(&house);
		CHECK(subscribes(&house, watchers[i], "{}"));
		close(watchers[i]); /* the daemon notices when it writes */
	}
	for (unsigned i = 0; i < 10; i++)
		events_alert(&house.server->events, "gone", "nobody is there", NULL);
	house_turn(&house, 20);
	CHECK_EQ_INT(house.server->events.count, 0);
	house_close(&house);
}
