#include <stdlib.h>
#include <string.h>

#include "proto/base/buf.h"
#include "sandbox/runtimes/command/run_program.h"
#include "tests/check.h"

static struct err err = ERR_INIT;

static const char *const args[] = { "-w", NULL };
static const char *const env[] = { "HOME=/work", "TZ=UTC", NULL };
static const struct command command = { "/usr/bin/bash", args, env, NULL };

static void put_text(struct buf *packed, const char *text, size_t len)
{
	uint32_t size = (uint32_t)len;

	(void)buf_append(packed, &size, sizeof(size));
	(void)buf_append(packed, text, len);
}

struct job {
	struct buf args, env;
	struct program program;
	struct process_start start;
};

static void job_init(struct job *job, const char *entrypoint)
{
	memset(job, 0, sizeof(*job));
	buf_init(&job->args, 8U << 20);
	buf_init(&job->env, 8U << 20);
	job->program.entrypoint = (struct span){ entrypoint, strlen(entrypoint) };
}

static int prepare(struct job *job)
{
	job->program.args = (struct span){ job->args.bytes, job->args.len };
	job->program.env = (struct span){ job->env.bytes, job->env.len };
	return run_program_prepare(&command, &job->program, &job->start, &err);
}

static void add_arg(struct job *job, const char *text)
{
	put_text(&job->args, text, strlen(text));
	job->program.arg_count++;
}

static void add_env(struct job *job, const char *text)
{
	put_text(&job->env, text, strlen(text));
	job->program.env_count++;
}

static void free_texts(char **texts)
{
	for (size_t i = 0; texts && texts[i]; i++)
		free(texts[i]);
	free(texts);
}

static void job_done(struct job *job)
{
	buf_done(&job->args);
	buf_done(&job->env);
	free_texts(job->start.argv);
	free_texts(job->start.env);
}

TEST(the_program_stands_between_its_interpreters_arguments_and_its_own)
{
	struct job job;

	job_init(&job, "main.sh");
	add_arg(&job, "first");
	add_arg(&job, "");
	CHECK_EQ_INT(prepare(&job), 0);
	CHECK_STR(job.start.argv[0], "/usr/bin/bash");
	CHECK_STR(job.start.argv[1], "-w");
	CHECK_STR(job.start.argv[2], "main.sh");
	CHECK_STR(job.start.argv[3], "first");
	CHECK_STR(job.start.argv[4], "");
	CHECK(job.start.argv[5] == NULL);
	job_done(&job);
}

TEST(a_programs_name_is_never_an_option)
{
	struct job job;

	job_init(&job, "-c");
	CHECK_EQ_INT(prepare(&job), 0);
	CHECK_STR(job.start.argv[2], "./-c");
	job_done(&job);
}

TEST(a_jobs_variables_take_the_places_of_ours)
{
	struct job job;

	job_init(&job, "main.sh");
	add_env(&job, "TZ=Europe/Berlin");
	add_env(&job, "HOMELY=yes");
	CHECK_EQ_INT(prepare(&job), 0);
	CHECK_STR(job.start.env[0], "HOME=/work");
	CHECK_STR(job.start.env[1], "TZ=Europe/Berlin");
	CHECK_STR(job.start.env[2], "HOMELY=yes");
	CHECK(job.start.env[3] == NULL);
	job_done(&job);
}

TEST(what_no_process_can_have_is_refused_before_it_is_one)
{
	static char text[(128 << 10) + 1];
	struct job job;

	memset(text, 'x', sizeof(text) - 1);
	job_init(&job, "main.sh");
	add_arg(&job, text);
	CHECK_EQ_INT(prepare(&job), -1);
	CHECK(err.code == ERR_TOO_BIG);
	job_done(&job);

	text[100 << 10] = '\0';
	job_init(&job, "main.sh");
	for (int i = 0; i < 20; i++)
		add_arg(&job, text);
	CHECK_EQ_INT(prepare(&job), -1);
	job_done(&job);
}
