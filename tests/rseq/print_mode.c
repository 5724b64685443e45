// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * print_mode.c - prints the back end that a pool gets in this process.
 */
#include <stdio.h>
#include "pool_fixture.h"

int main(void)
{
	struct upool *pool;

	if (make_pool(&pool, 64, 4, 0))
		return 1;
	puts(upool_mode(pool));
	return upool_close(pool) ? 1 : 0;
}
