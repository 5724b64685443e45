// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * digest.c - SHA-256 and XXH3, in the formats of sha256sum and xxhsum.
 * Owns: a worker's state.  Locks: none.  Entry: struct op.
 */
#include <openssl/evp.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>
#include "job.h"

struct sha256 {
	EVP_MD *md;
	EVP_MD_CTX *ctx;
};

static void *sha256_start(int level)
{
	struct sha256 *s = calloc(1, sizeof(*s));

	(void)level;
	if (!s)
		return NULL;
	s->md = EVP_MD_fetch(NULL, "SHA256", NULL);
	s->ctx = EVP_MD_CTX_new();
	if (s->md && s->ctx)
		return s;
	EVP_MD_CTX_free(s->ctx);
	EVP_MD_free(s->md);
	free(s);
	return NULL;
}

static bool sha256_reset(void *state)
{
	struct sha256 *s = state;

	return EVP_DigestInit_ex(s->ctx, s->md, NULL) == 1;
}

static bool sha256_add(void *state, const void *data, size_t len)
{
	struct sha256 *s = state;

	return EVP_DigestUpdate(s->ctx, data, len) == 1;
}

static bool sha256_finish(void *state, unsigned char *digest)
{
	struct sha256 *s = state;

	return EVP_DigestFinal_ex(s->ctx, digest, NULL) == 1;
}

static void *xxh_start(int level)
{
	(void)level;
	return XXH3_createState();
}

static bool xxh3_reset(void *state)
{
	return XXH3_64bits_reset(state) == XXH_OK;
}

static bool xxh3_add(void *state, const void *data, size_t len)
{
	return XXH3_64bits_update(state, data, len) == XXH_OK;
}

static bool xxh3_finish(void *state, unsigned char *digest)
{
	XXH64_canonical_t c;

	XXH64_canonicalFromHash(&c, XXH3_64bits_digest(state));
	memcpy(digest, &c, sizeof(c));
	return true;
}

static bool xxh128_reset(void *state)
{
	return XXH3_128bits_reset(state) == XXH_OK;
}

static bool xxh128_add(void *state, const void *data, size_t len)
{
	return XXH3_128bits_update(state, data, len) == XXH_OK;
}

static bool xxh128_finish(void *state, unsigned char *digest)
{
	XXH128_canonical_t c;

	XXH128_canonicalFromHash(&c, XXH3_128bits_digest(state));
	memcpy(digest, &c, sizeof(c));
	return true;
}

static void print_hex(FILE *to, const unsigned char *digest, size_t len)
{
	static const char hex[] = "0123456789abcdef";
	size_t i;

	for (i = 0; i < len; i++) {
		putc_unlocked(hex[digest[i] >> 4], to);
		putc_unlocked(hex[digest[i] & 15], to);
	}
}

/* sha256sum escapes names that would break a line, and marks the line. */
static void sha256_print(FILE *to, const unsigned char *digest, const char *name)
{
	const bool odd = strpbrk(name, "\\\n\r");

	if (odd)
		putc_unlocked('\\', to);
	print_hex(to, digest, 32);
	fputs("  ", to);
	for (; *name; name++) {
		switch (odd ? *name : 0) {
		case '\\':
			fputs("\\\\", to);
			break;
		case '\n':
			fputs("\\n", to);
			break;
		case '\r':
			fputs("\\r", to);
			break;
		default:
			putc_unlocked(*name, to);
		}
	}
	putc_unlocked('\n', to);
}

/* xxhsum -H3 has a BSD-style line and escapes nothing. */
static void xxh3_print(FILE *to, const unsigned char *digest, const char *name)
{
	fprintf(to, "XXH3 (%s) = ", name);
	print_hex(to, digest, 8);
	putc_unlocked('\n', to);
}

static void xxh128_print(FILE *to, const unsigned char *digest, const char *name)
{
	print_hex(to, digest, 16);
	fprintf(to, "  %s\n", name);
}

const struct op op_sha256 = {
	.name = "sha256",
	.stdin_name = "-",
	.start = sha256_start,
	.reset = sha256_reset,
	.add = sha256_add,
	.finish = sha256_finish,
	.print = sha256_print,
};

const struct op op_xxh3 = {
	.name = "xxh3",
	.stdin_name = "stdin",
	.start = xxh_start,
	.reset = xxh3_reset,
	.add = xxh3_add,
	.finish = xxh3_finish,
	.print = xxh3_print,
};

const struct op op_xxh128 = {
	.name = "xxh128",
	.stdin_name = "stdin",
	.start = xxh_start,
	.reset = xxh128_reset,
	.add = xxh128_add,
	.finish = xxh128_finish,
	.print = xxh128_print,
};
