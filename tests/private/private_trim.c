// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * private_trim.c - idle memory leaves, wherever it is, whenever it became idle; and only
 * idle memory does.
 *
 * The linker puts the functions below between the library and its clock, and the number
 * of the CPU: time passes when a test says so.
 */
#include <sys/syscall.h>
#include <unistd.h>
#include "kselftest_harness.h"
#include "private_fixture.h"

#define MIB	((size_t)1 << 20)
#define AGE	1000	/* ms */
#define FLOOR	(2 * MIB)
#define NR	200

uint64_t __wrap_sys_age_ms(void);
int __wrap_sys_cpu(void);

static uint64_t now;		/* ms */
static unsigned int cpu;

uint64_t __wrap_sys_age_ms(void)
{
	return __atomic_load_n(&now, __ATOMIC_RELAXED);
}

int __wrap_sys_cpu(void)
{
	return (int)(__atomic_fetch_add(&cpu, 1, __ATOMIC_RELAXED) % 1024);
}

static struct upool *aging_pool(unsigned int nr_shards, unsigned int age, size_t floor)
{
	struct upool_options o = PRIVATE_OPTIONS;
	struct upool *pool = NULL;

	o.nr_shards = nr_shards;
	o.trim_age_ms = age;
	o.idle_floor_bytes = floor;
	return upool_create(&pool, &o) ? NULL : pool;
}

/* 16 bytes to a MiB, NR of each size. */
static void burst(void *pool)
{
	void *bufs[NR];
	size_t bytes, n;

	for (bytes = 16; bytes <= MIB; bytes *= 2) {
		n = upool_alloc_bulk(pool, bytes, bufs, NR);
		upool_free_bulk(pool, bufs, n);
	}
}

/* A call that takes a slow path of the calling thread's own cache. */
static void call(struct upool *pool)
{
	void *bufs[NR];
	size_t n = upool_alloc_bulk(pool, 16, bufs, NR);

	upool_free_bulk(pool, bufs, n);
}

FIXTURE(idle)
{
	struct upool *pool;
};

FIXTURE_VARIANT(idle)
{
	unsigned int nr_shards;
	uint64_t begin;
};

FIXTURE_VARIANT_ADD(idle, one_shard) { 1, 1000000 };
FIXTURE_VARIANT_ADD(idle, seventeen_shards) { 17, 1000000 };
FIXTURE_VARIANT_ADD(idle, all_shards) { 64, 1000000 };
FIXTURE_VARIANT_ADD(idle, clock_of_32_bits_wraps) { 2, (uint64_t)UINT32_MAX - AGE };
FIXTURE_VARIANT_ADD(idle, clock_of_31_bits_wraps) { 2, (uint64_t)INT32_MAX - AGE };
FIXTURE_VARIANT_ADD(idle, clock_begins) { 2, 0 };

FIXTURE_SETUP(idle)
{
	now = variant->begin;
	self->pool = aging_pool(variant->nr_shards, AGE, FLOOR);
	ASSERT_NE(NULL, self->pool);
}

FIXTURE_TEARDOWN(idle)
{
	EXPECT_EQ(0, upool_destroy(self->pool));
}

/* Of threads that sleep, of the one that goes on, and of the depot. */
TEST_F(idle, leaves_with_age)
{
	struct sleeper sleeper[4];
	struct upool_stats st;
	int i;

	burst(self->pool);
	for (i = 0; i < 4; i++)
		sleeper_start(&sleeper[i], burst, NULL, self->pool);
	EXPECT_LE(100 * MIB, read_stats(self->pool).idle_bytes);
	for (i = 0; i < 10; i++) {
		now += AGE / 2;
		call(self->pool);
	}
	st = read_stats(self->pool);
	EXPECT_GE(FLOOR, st.idle_bytes);
	/* Whole magazines go, of up to a MiB, and one may be on its way to a thread. */
	EXPECT_LE(FLOOR / 4, st.idle_bytes);
	EXPECT_EQ(0, st.trim_errors);
	for (i = 0; i < 4; i++)
		sleeper_end(&sleeper[i]);
}

TEST_F(idle, stays_while_young)
{
	burst(self->pool);
	now += AGE - 1;
	call(self->pool);
	EXPECT_EQ(0, read_stats(self->pool).dropped_age);
}

/* Older than the machine itself nothing is. */
TEST(ages_before_the_beginning)
{
	struct upool *pool;

	now = 1000;
	pool = aging_pool(1, 100000, 1);
	ASSERT_NE(NULL, pool);
	burst(pool);
	now = 60000;
	burst(pool);
	EXPECT_EQ(0, read_stats(pool).dropped_age);
	EXPECT_EQ(0, upool_destroy(pool));
}

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
