// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * compress.c - zstd: one independent frame per buffer.
 * Owns: a worker's compression context.  Locks: none.  Entry: struct op.
 *
 * A buffer is filled only so far that its frame fits a buffer even when nothing
 * can be compressed: one buffer in, one buffer out, whatever the data.
 */
#include <zstd.h>
#include "job.h"

static void *zstd_start(int level)
{
	ZSTD_CCtx *c = ZSTD_createCCtx();

	if (!c)
		return NULL;
	if (ZSTD_isError(ZSTD_CCtx_setParameter(c, ZSTD_c_compressionLevel, level)) ||
	    ZSTD_isError(ZSTD_CCtx_setParameter(c, ZSTD_c_checksumFlag, 1)))
		return NULL;
	return c;
}

static size_t zstd_frame(void *state, void *out, size_t room, const void *in, size_t len)
{
	size_t n = ZSTD_compress2(state, out, room, in, len);

	return ZSTD_isError(n) ? 0 : n;
}

static size_t zstd_room(size_t buffer_bytes)
{
	const size_t page = 4096;
	size_t n = buffer_bytes;

	while (n && ZSTD_compressBound(n) > buffer_bytes)
		n -= ZSTD_compressBound(n) - buffer_bytes;
	return n > 4 * page ? n / page * page : n;
}

const struct op op_zstd = {
	.name = "zstd",
	.frames = true,
	.start = zstd_start,
	.frame = zstd_frame,
	.room = zstd_room,
};
