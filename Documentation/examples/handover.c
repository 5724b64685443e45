// SPDX-License-Identifier: MIT
/* handover.c - a parent fills buffers, its child claims them by token and frees them */
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>
#include <upool.h>

static int child(struct upool *inherited, int from)
{
	struct upool *pool;
	upool_token_t token;
	void *buf;

	/* the parent's attachment is not ours: join through its descriptor */
	if (upool_attach(&pool, upool_fd(inherited)))
		return 1;
	while (read(from, &token, sizeof(token)) == sizeof(token)) {
		if (upool_accept(pool, token, &buf))
			return 1;
		printf("child got \"%s\"\n", (char *)buf);
		if (upool_accept(pool, token, &buf) == 0)
			return 1;	/* a token works once */
		upool_free(pool, buf);
	}
	upool_close(inherited);
	return upool_close(pool);
}

int main(void)
{
	struct upool_options o = UPOOL_OPTIONS_INIT;
	struct upool *pool;
	int p[2], i, status;

	o.buffer_bytes = 4096;
	o.nr_buffers = 64;
	if (upool_create(&pool, &o) || pipe(p))
		return 1;
	if (fork() == 0) {
		close(p[1]);
		return child(pool, p[0]);
	}
	close(p[0]);
	for (i = 0; i < 3; i++) {
		char *buf = upool_alloc(pool, 4096);
		upool_token_t token;

		if (!buf)
			return 1;
		snprintf(buf, 4096, "message %d", i);
		token = upool_token(pool, buf);
		if (write(p[1], &token, sizeof(token)) != sizeof(token))
			return 1;
	}
	close(p[1]);
	if (wait(&status) < 0 || status)
		return 1;
	return upool_close(pool);
}
