/* Checkpoints of the record, and the key that they are signed with. */
#include <stddef.h>
#include <string.h>

#include "cli/commands.h"
#include "cli/exits.h"
#include "cli/page.h"
#include "proto/digest.h"
#include "proto/sign.h"

/* What stands in front of an Ed25519 key in a SubjectPublicKeyInfo (RFC 8410). */
static const uint8_t pem_head[] = { 0x30, 0x2a, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x03,
	0x21, 0x00 };

struct key_options {
	bool pem;
};

// clang-format off
static const struct option_row key_rows[] = {
	{ 0, "pem", NULL, OPTION_FLAG, offsetof(struct key_options, pem),
		"as openssl and others read it" },
	{ 0, NULL, NULL, OPTION_FLAG, 0, NULL },
};

static const struct example key_examples[] = {
	{ "cectl audit key > ced.key", "keep it elsewhere, for audit verify --key" },
	{ "cectl audit key --pem > ced.pem", "to check a checkpoint without ced" },
	{ NULL, NULL },
};

static const struct example checkpoint_examples[] = {
	{ "cectl audit checkpoint", "sign what has been recorded so far" },
	{ NULL, NULL },
};
// clang-format on

static int run_checkpoint(struct cli *cli, const void *given)
{
	const struct value *result = NULL;
	int status = cli_ask(cli, "audit.checkpoint", value_map(&cli->arena), NULL, &result);

	(void)given;
	if (status != 0)
		return status;
	if (cli->json)
		return cli_document(cli, result, EXIT_OK);
	if (!value_as_bool(value_get(result, "new"), true))
		say(&cli->err, PAINT_DIM, "cectl: nothing has been recorded since the last one\n");
	say(&cli->out, PAINT_PLAIN, "%s\n", page_text(cli, result, "checkpoint"));
	return EXIT_OK;
}

static int print_pem(struct cli *cli, const char *key)
{
	uint8_t bytes[sizeof(pem_head) + SIGN_PUBLIC_LEN];
	char text[128];

	if (!key || sign_key_from_text(key, bytes + sizeof(pem_head)) < 0)
		return cli_usage(cli, "the daemon told no key");
	memcpy(bytes, pem_head, sizeof(pem_head));
	(void)base64_write(bytes, sizeof(bytes), text);
	say(&cli->out, PAINT_PLAIN, "-----BEGIN PUBLIC KEY-----\n%s\n-----END PUBLIC KEY-----\n",
		text);
	return EXIT_OK;
}

static int run_key(struct cli *cli, const void *given)
{
	const struct key_options *options = given;
	const struct value *result = NULL;
	int status = cli_ask(cli, "audit.key", value_map(&cli->arena), NULL, &result);

	if (status != 0)
		return status;
	if (cli->json)
		return cli_document(cli, result, EXIT_OK);
	if (options->pem)
		return print_pem(cli, value_as_text(value_get(result, "key")));
	say(&cli->out, PAINT_PLAIN, "%s\n", page_text(cli, result, "key"));
	return EXIT_OK;
}

const struct command audit_checkpoint_command = {
	.name = "audit checkpoint",
	.operands = "",
	.summary = "sign the record as it stands",
	.about = "For administrators. Makes a checkpoint now and prints it: how long the chain of "
		 "records is, its head, the time, and a signature. The daemon makes one by itself "
		 "after so many records and so much time, and appends each to its second file and "
		 "the journal. Kept elsewhere, a line of it tells later whether the store was "
		 "rolled back or made anew: `cectl audit verify --checkpoints FILE`.",
	.examples = checkpoint_examples,
	.run = run_checkpoint,
};

const struct command audit_key_command = {
	.name = "audit key",
	.operands = "",
	.summary = "the public key that checkpoints are signed with",
	.about = "For administrators. The secret half lies in the state folder as audit.key and "
		 "never leaves it.",
	.options = key_rows,
	.options_size = sizeof(struct key_options),
	.examples = key_examples,
	.run = run_key,
};
