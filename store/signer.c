#include "store/signer.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "proto/base/fdio.h"
#include "proto/digest.h"

#define KEY_FILE   "audit.key"
#define KEY_PREFIX "ced-ed25519-secret:"
#define KEY_ROOM   128 /* of the file: prefix, 88 characters, a line's end */

struct signer {
	uint8_t secret[SIGN_SECRET_LEN];
	uint8_t public_key[SIGN_PUBLIC_LEN];
};

/* ---- the file ----------------------------------------------------------------------------- */

static int check_file(int fd, const char *path, struct err *err)
{
	struct stat st;

	if (fstat(fd, &st) < 0)
		return err_sys(err, "%s", path);
	if (!S_ISREG(st.st_mode))
		return err_set(err, ERR_INVALID, "%s is no ordinary file", path);
	if (st.st_mode & 077)
		return err_set(err, ERR_DENIED,
			"%s may be read or written by others, so its signatures prove nothing: "
			"chmod 600 it if it was always in good hands, else remove it for a new key",
			path);
	return 0;
}

static int parse(const char *text, uint8_t ret_secret[SIGN_SECRET_LEN])
{
	size_t prefix = strlen(KEY_PREFIX);
	size_t len = 0;

	if (strncmp(text, KEY_PREFIX, prefix) != 0 ||
		base64_read(text + prefix, ret_secret, SIGN_SECRET_LEN, &len) < 0)
		return -1;
	return len == SIGN_SECRET_LEN ? 0 : -1;
}

/* 0, 1: there is none, -1. */
static int read_key(const char *path, uint8_t ret_secret[SIGN_SECRET_LEN], struct err *err)
{
	auto_fd int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	char text[KEY_ROOM];
	ssize_t len;
	int r;

	if (fd < 0)
		return errno == ENOENT ? 1 : err_sys(err, "%s", path);
	if (check_file(fd, path, err) < 0)
		return -1;
	len = read(fd, text, sizeof(text) - 1);
	if (len < 0)
		return err_sys(err, "%s", path);
	text[len] = '\0';
	text[strcspn(text, "\n")] = '\0';
	r = parse(text, ret_secret);
	sign_forget(text, sizeof(text));
	return r < 0 ? err_set(err, ERR_CORRUPT, "%s holds no key", path) : 0;
}

static int write_file(const char *path, const uint8_t secret[SIGN_SECRET_LEN], struct err *err)
{
	auto_fd int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
	char text[KEY_ROOM] = KEY_PREFIX;
	size_t len = strlen(KEY_PREFIX);
	int r;

	if (fd < 0 || fchmod(fd, 0600) < 0)
		return err_sys(err, "%s", path);
	len += base64_write(secret, SIGN_SECRET_LEN, text + len);
	text[len++] = '\n';
	r = write_all(fd, text, len, err);
	sign_forget(text, sizeof(text));
	if (r < 0)
		return err_wrap(err, "%s", path);
	return fsync(fd) < 0 ? err_sys(err, "%s", path) : 0;
}

static int sync_folder(const char *folder, struct err *err)
{
	auto_fd int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	return fd < 0 || fsync(fd) < 0 ? err_sys(err, "%s", folder) : 0;
}

/* The file is complete or missing, even after a power failure. */
static int make_key(
	const char *folder, const char *path, uint8_t ret_secret[SIGN_SECRET_LEN], struct err *err)
{
	auto_free char *beside = NULL;

	if (asprintf(&beside, "%s.new", path) < 0)
		return err_set(err, ERR_MEMORY, "no memory for a key");
	sign_new_key(ret_secret);
	if (write_file(beside, ret_secret, err) < 0)
		return -1;
	if (rename(beside, path) < 0)
		return err_sys(err, "%s", path);
	return sync_folder(folder, err);
}

/* ---- open, sign, close -------------------------------------------------------------------- */

struct signer *signer_open(const char *folder, bool *ret_is_new, struct err *err)
{
	auto_of(signer_close) struct signer *signer = calloc(1, sizeof(*signer));
	auto_free char *path = NULL;
	int there;

	if (!signer || asprintf(&path, "%s/" KEY_FILE, folder) < 0) {
		(void)err_set(err, ERR_MEMORY, "no memory for a key");
		return NULL;
	}
	there = read_key(path, signer->secret, err);
	if (there < 0 || (there > 0 && make_key(folder, path, signer->secret, err) < 0))
		return NULL;
	sign_public(signer->secret, signer->public_key);
	*ret_is_new = there > 0;
	return take_ptr(signer);
}

struct signer *signer_open_file(const char *path, struct err *err)
{
	auto_of(signer_close) struct signer *signer = calloc(1, sizeof(*signer));
	int there;

	if (!signer) {
		(void)err_set(err, ERR_MEMORY, "no memory for a key");
		return NULL;
	}
	there = read_key(path, signer->secret, err);
	if (there > 0)
		(void)err_set(err, ERR_MISSING,
			"there is no %s: put the key there, or take audit_key out of the settings",
			path);
	if (there != 0)
		return NULL;
	sign_public(signer->secret, signer->public_key);
	return take_ptr(signer);
}

void signer_close(struct signer *signer)
{
	if (signer)
		sign_forget(signer, sizeof(*signer));
	free(signer);
}

const uint8_t *signer_public(const struct signer *signer)
{
	return signer->public_key;
}

void signer_sign(
	const struct signer *signer, const void *bytes, size_t len, uint8_t ret_signature[SIGN_LEN])
{
	sign_make(signer->secret, bytes, len, ret_signature);
}

void signer_seal(
	const struct signer *signer, const void *bytes, size_t len, uint8_t ret_seal[SIGN_SEAL_LEN])
{
	sign_seal(signer->secret, bytes, len, ret_seal);
}
