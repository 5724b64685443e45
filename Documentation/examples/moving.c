// SPDX-License-Identifier: MIT
/*
 * moving.c - moving from malloc: the calls change, the program does not.
 *
 * A struct of the program's own keeps its buffers; where it called malloc() and free()
 * it now names a pool.  What is different is at the end: a wrong free is an error, not
 * a crash later on, idle memory has a bound, and what happened can be read.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <upool_inline.h>

struct message {
	struct message	*next;
	size_t		len;
	char		text[];
};

static struct upool *pool;

static struct message *message_new(const char *text)
{
	size_t len = strlen(text);
	/* was: malloc(sizeof(*m) + len + 1) */
	struct message *m = upool_alloc_inline(pool, sizeof(*m) + len + 1);

	if (!m)
		return NULL;
	m->next = NULL;
	m->len = len;
	memcpy(m->text, text, len + 1);
	return m;
}

static void message_free(struct message *m)
{
	upool_free_inline(pool, m);	/* was: free(m) */
}

int main(void)
{
	struct upool_stats st = { .size = sizeof(st) };
	struct message *list = NULL, *m;
	int i;

	/* The process's own pool; a library would upool_create() one for itself. */
	pool = upool_shared();
	if (!pool)
		return 1;
	for (i = 0; i < 1000; i++) {
		m = message_new("a message of no great length");
		if (!m)
			return 1;
		m->next = list;
		list = m;
	}
	while (list) {
		m = list;
		list = m->next;
		message_free(m);
	}
	if (upool_free(pool, m) != -EALREADY || upool_free(pool, &st) != -EINVAL)
		return 1;
	if (upool_stats_read(pool, &st) || st.held)
		return 1;
	printf("%llu bytes idle, %llu given back after %llu frees that were refused\n",
	       (unsigned long long)st.idle_bytes, (unsigned long long)upool_trim(pool, 0),
	       (unsigned long long)(st.double_free + st.foreign_free));
	return 0;
}
