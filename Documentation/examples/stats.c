// SPDX-License-Identifier: MIT
/* stats.c - print every statistic of a pool after some use of it */
#include <stdio.h>
#include <upool.h>

int main(void)
{
	struct upool_options o = UPOOL_OPTIONS_INIT;
	struct upool_stats st = { .size = sizeof(st) };
	struct upool *pool;
	int i;

	if (upool_create(&pool, &o))
		return 1;
	for (i = 0; i < 1000; i++)
		upool_free(pool, upool_alloc(pool, 100));
	if (upool_stats_read(pool, &st))
		return 1;
	printf("%s\n", upool_mode(pool));
#define PRINT(name, help) printf("%-16s %10llu  %s\n", #name, (unsigned long long)st.name, help);
	UPOOL_POOL_STATS(PRINT)
	UPOOL_LOCAL_STATS(PRINT)
	return upool_close(pool);
}
