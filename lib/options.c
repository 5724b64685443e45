// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * options.c - reads struct upool_options of any size and fills the defaults in.
 * Owns: what is in range.  Locks: none.  Entry: upool.c.
 */
#include <string.h>
#include "internal.h"

#define DEFAULT_NR		256
#define DEFAULT_BYTES		65536
#define DEFAULT_TTL_S		3600

static bool alnum(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
}

/* [A-Za-z0-9][A-Za-z0-9_.-]{0,62} */
bool name_valid(const char *name)
{
	size_t i;

	if (!alnum(name[0]))
		return false;
	for (i = 1; name[i]; i++)
		if (i == UPOOL_NAME_BYTES - 1 ||
		    !(alnum(name[i]) || name[i] == '_' || name[i] == '.' || name[i] == '-'))
			return false;
	return true;
}

/* A caller compiled with a shorter or longer struct. */
static int copy(struct upool_options *o, const struct upool_options *opt)
{
	const unsigned char *bytes = (const unsigned char *)opt;
	size_t i;

	memset(o, 0, sizeof(*o));
	if (!opt)
		return 0;
	if (opt->size < sizeof(opt->size))
		return -EINVAL;
	for (i = sizeof(*o); i < opt->size; i++)
		if (bytes[i])
			return -EINVAL;
	memcpy(o, opt, opt->size < sizeof(*o) ? opt->size : sizeof(*o));
	return 0;
}

static int check_range(const struct upool_options *o)
{
	size_t i;

	for (i = 0; i < sizeof(o->__resv) / sizeof(o->__resv[0]); i++)
		if (o->__resv[i])
			return -EINVAL;
	if (o->flags & ~UPOOL_FLAGS_ALL || o->backing > UPOOL_BACKING_DEVICE)
		return -EINVAL;
	if (o->nr_buffers > UPOOL_MAX_COUNT || o->buffer_bytes > UPOOL_MAX_BUF_BYTES)
		return -EINVAL;
	if (o->magazine > UPOOL_MAX_CAP || o->mode & ~0777u)
		return -EINVAL;
	if (o->name && !name_valid(o->name))
		return -EINVAL;
	return 0;
}

int options_read(struct upool_options *o, const struct upool_options *opt)
{
	size_t pow2;
	int ret = copy(o, opt);

	if (!ret)
		ret = check_range(o);
	if (ret)
		return ret;
	if (o->backing == UPOOL_BACKING_PRIVATE)
		return 0;
	if (!o->nr_buffers)
		o->nr_buffers = DEFAULT_NR;
	if (!o->buffer_bytes)
		o->buffer_bytes = DEFAULT_BYTES;
	if (o->token_ttl_s > UPOOL_MAX_TOKEN_TTL_S)
		return -EINVAL;
	if (!o->token_ttl_s)
		o->token_ttl_s = DEFAULT_TTL_S;
	if (!o->mode)
		o->mode = 0600;
	o->buffer_bytes = (size_t)upool_round_up(o->buffer_bytes, UPOOL_MIN_BUF_BYTES);
	if (o->flags & UPOOL_F_POW2) {
		for (pow2 = UPOOL_MIN_BUF_BYTES; pow2 < o->buffer_bytes;)
			pow2 *= 2;
		o->buffer_bytes = pow2;
	}
	if (o->buffer_bytes > UPOOL_MAX_DATA_BYTES / o->nr_buffers)
		return -EOVERFLOW;
	if (o->max_bytes && o->buffer_bytes > o->max_bytes / o->nr_buffers)
		return -EOVERFLOW;
	return 0;
}
