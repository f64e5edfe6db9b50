#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "daemon/request/approvals.h"
#include "daemon/request/pipeline.h"
#include "proto/digest.h"
#include "tests/check.h"
#include "tests/unit/house.h"

#define APPROVER 4001U /* not this process's user */

static const char ASKS[] = "{\"name\":\"asks\",\"description\":\"Asks.\",\"extends\":\"observe\","
			   "\"rules\":{\"*\":\"observe\",\"python.bytes.nul\":\"ask\"}}";
static const char RUN[] = "{\"language\":\"python\",\"code\":\"print(1)\",\"policy\":\"asks\"}";
static const char DETACHED[] = "{\"language\":\"python\",\"code\":\"print(1)\",\"policy\":\"asks\","
			       "\"stdin\":\"in\",\"args\":[\"a\"],\"detach\":true}";

struct asking {
	struct house house;
	char folder[64];
	int client;
};

static bool write_policy(const char *folder)
{
	char path[96];
	FILE *file;

	(void)snprintf(path, sizeof(path), "%s/asks.json", folder);
	file = fopen(path, "we");
	return file && fputs(ASKS, file) > 0 && fclose(file) == 0;
}

/* A daemon whose inspector finds in every program what the policy asks about. */
static bool open_asking(struct asking *asking, const char *settings)
{
	char all[512];

	(void)snprintf(asking->folder, sizeof(asking->folder), "/tmp/ced-policies-XXXXXX");
	if (!mkdtemp(asking->folder) || !write_policy(asking->folder))
		return false;
	(void)snprintf(all, sizeof(all), "policies = \"%s\"\n%s\n", asking->folder, settings);
	if (!house_ready(&asking->house, all))
		return false;
	asking->house.denies = true;
	asking->client = house_connect(&asking->house);
	return asking->client >= 0;
}

static void close_asking(struct asking *asking)
{
	char path[96];

	close(asking->client);
	house_close(&asking->house);
	(void)snprintf(path, sizeof(path), "%s/asks.json", asking->folder);
	(void)unlink(path);
	(void)rmdir(asking->folder);
}

static struct request *parked(struct asking *asking, const char *params, struct reply *ret_reply)
{
	if (!house_send(asking->client, 1, "run", params) ||
		!house_hear(&asking->house, asking->client, ret_reply))
		return NULL;
	return registry_find(&asking->house.server->runs, house_text(ret_reply, "run_id"));
}

static void say(struct request *request, enum parking_decision word)
{
	approval_decide(request, word, APPROVER);
	request->parking->act = 1;
	approval_go_on(request);
}

TEST(what_the_policy_asks_about_waits_and_its_client_is_told)
{
	struct asking asking;
	struct reply reply;
	struct request *request;

	CHECK(open_asking(&asking, ""));
	request = parked(&asking, RUN, &reply);
	CHECK(request);
	CHECK_STR(house_text(&reply, "state"), "parked");
	CHECK_STR(value_as_text(value_get(value_get(reply.value, "policy"), "decision")), "ask");
	CHECK_EQ_INT(request->stage, STAGE_APPROVAL);
	CHECK_EQ_INT(request->parking->state, PARKING_WAITS);
	CHECK_EQ_INT(asking.house.server->approvals.count, 1);
	CHECK_EQ_INT(registry_count(&asking.house.server->runs), 1);
	CHECK(!list_is_empty(&asking.house.server->pool.runtimes[0].warm)); /* it took no worker */
	close_asking(&asking);
}

TEST(an_approved_run_is_judged_again_and_runs)
{
	struct asking asking;
	struct reply reply;
	struct request *request;
	unsigned seen;

	CHECK(open_asking(&asking, ""));
	request = parked(&asking, RUN, &reply);
	CHECK(request);
	seen = asking.house.seen;
	say(request, PARKING_APPROVED);
	CHECK(house_program(&asking.house, "1\n", 0));
	CHECK(house_hear(&asking.house, asking.client, &reply));
	CHECK_STR(house_text(&reply, "outcome"), "ok");
	CHECK_STR(value_as_text(value_get(value_get(reply.value, "approval"), "decision")),
		"approved");
	CHECK(asking.house.seen >= seen); /* or the verdict was cached */
	CHECK_EQ_INT(asking.house.server->approvals.count, 0);
	close_asking(&asking);
}

TEST(a_denied_run_ends_with_the_reason_and_never_had_a_worker)
{
	struct asking asking;
	struct reply reply;
	struct request *request;

	CHECK(open_asking(&asking, ""));
	request = parked(&asking, RUN, &reply);
	CHECK(request);
	approval_decide(request, PARKING_DENIED, APPROVER);
	request->parking->act = 1;
	request->parking->reason = "no";
	approval_go_on(request);
	CHECK(house_hear(&asking.house, asking.client, &reply));
	CHECK_STR(house_text(&reply, "outcome"), "approval_denied");
	CHECK_STR(house_text(&reply, "ran"), "no");
	CHECK_STR(house_text(&reply, "reason"), "uid 4001 denied the run: no.");
	close_asking(&asking);
}

TEST(nobody_decides_about_his_own_run)
{
	struct asking asking;
	struct reply reply;
	char params[64];

	CHECK(open_asking(&asking, ""));
	CHECK(parked(&asking, DETACHED, &reply));
	(void)snprintf(params, sizeof(params), "{\"run_id\":\"%s\"}", house_text(&reply, "run_id"));
	CHECK(house_call(&asking.house, asking.client, "approvals.approve", params, &reply));
	CHECK_STR(reply.code, "forbidden");
	CHECK(house_call(&asking.house, asking.client, "approvals.deny", params, &reply));
	CHECK_STR(reply.code, "forbidden");
	CHECK_EQ_INT(asking.house.server->approvals.count, 1);
	close_asking(&asking);
}

TEST(who_waits_too_long_has_expired)
{
	struct asking asking;
	struct reply reply;

	CHECK(open_asking(&asking, "approval_ms = 1s"));
	CHECK(parked(&asking, RUN, &reply));
	CHECK(house_hear(&asking.house, asking.client, &reply));
	CHECK_STR(house_text(&reply, "outcome"), "approval_expired");
	CHECK_STR(house_text(&reply, "reason"), "No approver decided within 1 s.");
	close_asking(&asking);
}

TEST(what_waits_is_cancelled_by_its_caller_and_when_it_leaves)
{
	struct asking asking;
	struct reply reply;
	char params[64];
	int other;

	CHECK(open_asking(&asking, ""));
	CHECK(parked(&asking, RUN, &reply));
	other = house_connect(&asking.house);
	(void)snprintf(params, sizeof(params), "{\"run_id\":\"%s\"}", house_text(&reply, "run_id"));
	CHECK(house_call(&asking.house, other, "cancel", params, &reply));
	CHECK(house_hear(&asking.house, asking.client, &reply));
	CHECK_STR(house_text(&reply, "outcome"), "canceled");
	CHECK(parked(&asking, RUN, &reply));
	CHECK_EQ_INT(asking.house.server->approvals.count, 1);
	close(asking.client);
	house_turn(&asking.house, 50);
	CHECK_EQ_INT(asking.house.server->approvals.count, 0);
	asking.client = other;
	close_asking(&asking);
}

TEST(only_so_many_wait)
{
	struct asking asking;
	struct reply reply;

	CHECK(open_asking(&asking, "parked_per_caller = 1"));
	CHECK(parked(&asking, DETACHED, &reply));
	CHECK(house_call(&asking.house, asking.client, "run", RUN, &reply));
	CHECK_STR(reply.code, "busy");
	close_asking(&asking);
}

TEST(who_is_cancelled_while_the_word_is_written_down_does_not_run)
{
	struct asking asking;
	struct reply reply;
	struct request *request;

	CHECK(open_asking(&asking, ""));
	request = parked(&asking, RUN, &reply);
	CHECK(request);
	approval_decide(request, PARKING_APPROVED, APPROVER);
	request_cancel(request, KILLED_CANCEL);
	CHECK_EQ_INT(request->parking->state, PARKING_DECIDING);
	approval_go_on(request);
	CHECK(house_hear(&asking.house, asking.client, &reply));
	CHECK_STR(house_text(&reply, "outcome"), "canceled");
	CHECK(!list_is_empty(&asking.house.server->pool.runtimes[0].warm));
	close_asking(&asking);
}

TEST(what_waits_outlives_the_daemon_with_all_that_was_asked)
{
	struct asking asking;
	struct reply reply;
	struct store *store;
	struct err err = ERR_INIT;
	const struct store_approvals_filter filter = { .limit = 10, .part_bytes = 100 };
	struct value *page = NULL;
	const struct value *request;

	CHECK(open_asking(&asking, ""));
	CHECK(parked(&asking, RUN, &reply));
	CHECK_EQ_INT(house_end(&asking.house), 0);
	CHECK(house_hear(&asking.house, asking.client, &reply));
	CHECK_STR(reply.code, "draining");

	store = store_open(asking.house.folder, STORE_WRITE, &err);
	CHECK(store);
	CHECK_EQ_INT(store_lost_count(store), 0);
	CHECK_EQ_INT(store_approvals(store, &filter, &asking.house.arena, &page, &err), 0);
	request = value_get(value_at(value_get(page, "waiting"), 0), "request");
	CHECK_STR(value_as_text(value_get(request, "policy")), "asks");
	store_close(store);
	close_asking(&asking);
}

#define PART_BYTES 100000U /* no more than a socket takes at once */
#define PARTS      10U

static bool put_part(struct asking *asking, unsigned number, const char *sha256)
{
	static char text[PART_BYTES + 1];
	static char params[PART_BYTES + 256];
	struct reply reply;

	memset(text, 'x', PART_BYTES);
	(void)snprintf(params, sizeof(params),
		"{\"sha256\":\"%s\",\"offset\":%u,\"total\":%u,\"data\":\"%s\"}", sha256,
		number * PART_BYTES, PARTS * PART_BYTES, text);
	return house_call(&asking->house, asking->client, "blob.put", params, &reply) &&
	       reply.value;
}

/* Asks for a reply larger than its socket holds and never reads it, so part of it stays unsent. */
static bool is_deaf(struct asking *asking)
{
	static char text[PARTS * PART_BYTES];
	char sha256[HASH_TEXT_LEN + 1];
	char params[160];
	bool done = true;

	memset(text, 'x', sizeof(text));
	digest_text_of(text, sizeof(text), sha256);
	for (unsigned i = 0; i < PARTS && done; i++)
		done = put_part(asking, i, sha256);
	(void)snprintf(
		params, sizeof(params), "{\"sha256\":\"%s\",\"length\":%zu}", sha256, sizeof(text));
	done = done && house_send(asking->client, 7, "blob.get", params);
	house_turn(&asking->house, 50);
	return done;
}

TEST(a_client_that_does_not_hear_that_the_daemon_ends_takes_nothing_along)
{
	struct asking asking;
	struct reply reply;
	struct store *store;
	struct err err = ERR_INIT;
	const struct store_approvals_filter filter = { .limit = 10, .part_bytes = 100 };
	struct value *page = NULL;

	CHECK(open_asking(&asking, "unsent_bytes = 4096"));
	CHECK(parked(&asking, RUN, &reply));
	CHECK(parked(&asking, RUN, &reply)); /* they leave one after the other */
	CHECK(is_deaf(&asking));
	CHECK_EQ_INT(asking.house.server->approvals.count, 2);
	CHECK_EQ_INT(house_end(&asking.house), 0);

	store = store_open(asking.house.folder, STORE_WRITE, &err);
	CHECK(store);
	CHECK_EQ_INT(store_lost_count(store), 0);
	CHECK_EQ_INT(store_approvals(store, &filter, &asking.house.arena, &page, &err), 0);
	/*
	 * The first run was answered as parked and still waits; the other run's client left while
	 * it waited.
	 */
	CHECK(value_at(value_get(page, "waiting"), 0));
	CHECK(!value_at(value_get(page, "waiting"), 1));
	store_close(store);
	close_asking(&asking);
}

TEST(a_word_is_about_what_was_judged)
{
	struct asking asking;
	struct reply reply;
	char first[HASH_TEXT_LEN + 1], second[HASH_TEXT_LEN + 1];
	struct job_input_file file = { "helper.py", { "1", 1 }, 0644 };
	struct request *request;

	CHECK(open_asking(&asking, ""));
	request = parked(&asking, RUN, &reply);
	CHECK(request);
	CHECK_EQ_INT(approval_subject(request, first), 0);
	CHECK_EQ_INT(approval_subject(request, second), 0);
	CHECK_STR(first, second);
	request->spec.files = &file;
	request->spec.file_count = 1;
	CHECK_EQ_INT(approval_subject(request, second), 0);
	CHECK(strcmp(first, second) != 0); /* the program could import it */
	file.path = "helper.csv";
	CHECK_EQ_INT(approval_subject(request, second), 0);
	CHECK_STR(first, second);
	request->spec.file_count = 0;
	close_asking(&asking);
}
