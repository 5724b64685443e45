// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * private_trim.c - idle memory leaves, wherever it is, whenever it became idle; and only
 * idle memory does.
 */
#include <sys/syscall.h>
#include <unistd.h>
#include "kselftest_harness.h"
#include "private_fixture.h"

/* Pages that their user locked cannot go; they are zero all the same, where that counts. */
TEST(locked_pages_are_counted)
{
	struct upool_options o = PRIVATE_OPTIONS;
	struct upool *pool;
	size_t i, n = 0;
	unsigned char *buf;

	o.flags = UPOOL_F_CLEAR;
	o.buffer_bytes = 4096;
	ASSERT_EQ(0, upool_create(&pool, &o));
	buf = upool_alloc(pool, 1 << 16);
	ASSERT_NE(NULL, buf);
	memset(buf, 0xa5, 1 << 16);
	/* Sanitizers replace mlock() by one that does nothing. */
	ASSERT_EQ(0, syscall(SYS_mlock, buf, 1 << 16));
	EXPECT_EQ(0, upool_free(pool, buf));
	EXPECT_EQ(1, read_stats(pool).trim_errors);
	buf = upool_alloc(pool, 1 << 16);
	ASSERT_NE(NULL, buf);
	for (i = 0; i < 1 << 16; i++)
		n += buf[i] != 0;
	EXPECT_EQ(0, n);
	EXPECT_EQ(0, upool_free(pool, buf));
	EXPECT_EQ(0, upool_destroy(pool));
}

TEST_HARNESS_MAIN
