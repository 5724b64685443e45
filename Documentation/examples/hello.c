// SPDX-License-Identifier: MIT
/* hello.c - a pool, a buffer, a token */
#include <upool.h>
#include <string.h>

int main(void)
{
	struct upool_options o = UPOOL_OPTIONS_INIT;
	struct upool *pool;
	upool_token_t token;
	char *buf;
	void *same;

	o.buffer_bytes = 65536;
	o.nr_buffers = 1024;
	if (upool_create(&pool, &o))
		return 1;
	buf = upool_alloc(pool, 4000);		/* NULL when all 1024 are out */
	if (!buf)
		return 1;
	strcpy(buf, "hello");
	token = upool_token(pool, buf);		/* send this number to another process ... */
	if (upool_accept(pool, token, &same))	/* ... which claims the buffer, once */
		return 1;
	upool_free(pool, same);
	return upool_close(pool);
}
