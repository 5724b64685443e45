// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * private_shards.c - what a private pool has does not grow with its shards, nor what a
 * call does with the number of idle buffers.
 *
 * The linker puts the functions below around two that the library calls: it moves the
 * threads to any CPU, as often as it likes, and counts the locks they take.
 */
#include <stdio.h>
#include "kselftest_harness.h"
#include "private_fixture.h"
#include "priv.h"
#include "sys.h"

#define LIVE		64
#define OPERATIONS	350000
#define NR_CPUS		512
#define MAGAZINE	128	/* buffers of 64 bytes in one, at most */

int __wrap_sys_cpu(void);
int __real_pthread_mutex_lock(pthread_mutex_t *lock);
int __wrap_pthread_mutex_lock(pthread_mutex_t *lock);

static unsigned int cpu, step;	/* where the next call is, and the one after it */
static __thread uint64_t locks;

int __wrap_sys_cpu(void)
{
	return (int)(__atomic_fetch_add(&cpu, step, __ATOMIC_RELAXED) % NR_CPUS);
}

int __wrap_pthread_mutex_lock(pthread_mutex_t *lock)
{
	locks++;
	return __real_pthread_mutex_lock(lock);
}

static struct upool *pool_with_shards(unsigned int nr)
{
	struct upool_options o = PRIVATE_OPTIONS;
	struct upool *pool = NULL;

	o.nr_shards = nr;
	o.trim_age_ms = -1u;
	return upool_create(&pool, &o) ? NULL : pool;
}

static unsigned int nr_shards(const struct upool *pool)
{
	const struct priv *p = priv_of(pool);
	unsigned int i, n = 0;

	for (i = 0; i < PRIV_MAX_SHARDS; i++)
		n += !!load_acquire(&p->shard[i]);
	return n;
}

/* A queue of buffers on their way from who allocates to who frees. */
struct queue {
	struct upool	*pool;
	void		*buf[LIVE];
	unsigned int	put;
	unsigned int	got;
	int		refused;
};

static void *consume(void *arg)
{
	struct queue *q = arg;
	unsigned int i;

	for (i = 0; i < OPERATIONS; i++) {
		while (__atomic_load_n(&q->put, __ATOMIC_ACQUIRE) == i)
			sched_yield();
		q->refused |= upool_free(q->pool, q->buf[i % LIVE]);
		__atomic_store_n(&q->got, i + 1, __ATOMIC_RELEASE);
	}
	return NULL;
}

static int produce(struct queue *q, struct upool_stats *warm)
{
	unsigned int i;

	for (i = 0; i < OPERATIONS; i++) {
		while (i - __atomic_load_n(&q->got, __ATOMIC_ACQUIRE) == LIVE)
			sched_yield();
		q->buf[i % LIVE] = upool_alloc(q->pool, 64);
		if (!q->buf[i % LIVE])
			return -1;
		__atomic_store_n(&q->put, i + 1, __ATOMIC_RELEASE);
		if (i == OPERATIONS / 8)
			*warm = read_stats(q->pool);
	}
	return 0;
}

/* One thread only allocates, one only frees, and each call may be on another CPU. */
TEST(from_one_thread_to_another_on_any_cpu)
{
	struct queue q = { .pool = pool_with_shards(NR_CPUS) };
	struct upool_stats warm, st;
	pthread_t consumer;

	ASSERT_NE(NULL, q.pool);
	step = 7;
	ASSERT_EQ(0, pthread_create(&consumer, NULL, consume, &q));
	ASSERT_EQ(0, produce(&q, &warm));
	ASSERT_EQ(0, pthread_join(consumer, NULL));
	EXPECT_EQ(0, q.refused);
	EXPECT_LE(PRIV_MAX_SHARDS / 4, nr_shards(q.pool));
	st = read_stats(q.pool);
	EXPECT_EQ(0, st.held);
	/* in use, and two magazines of each thread and one on its way, whatever the shards */
	EXPECT_GE(LIVE + 5 * MAGAZINE, st.nr_buffers);
	EXPECT_EQ(warm.control_bytes, st.control_bytes);
	EXPECT_EQ(0, upool_destroy(q.pool));
}

struct cost {
	uint64_t locks;		/* of one allocation, at most */
	uint64_t moved;		/* out of the depot by one allocation, at most */
	uint64_t from_depot;
};

/* @nr idle buffers, spread over all shards; then the dearest of some allocations. */
static struct cost cost_of_alloc(size_t nr)
{
	struct upool *pool = pool_with_shards(PRIV_MAX_SHARDS);
	void **bufs = calloc(nr, sizeof(*bufs));
	struct cost most = { 0, 0, 0 };
	uint64_t before, idle, left;
	size_t n, i;

	step = 1;
	n = upool_alloc_bulk(pool, 64, bufs, nr);
	upool_free_bulk(pool, bufs, n);
	idle = priv_of(pool)->sizes[upool__class_of(64)].depot;
	for (i = 0; i < nr && i < 1000; i++) {
		before = locks;
		bufs[i] = upool_alloc(pool, 64);
		most.locks = locks - before > most.locks ? locks - before : most.locks;
		left = priv_of(pool)->sizes[upool__class_of(64)].depot;
		most.moved = idle - left > most.moved ? idle - left : most.moved;
		most.from_depot += idle - left;
		idle = left;
	}
	upool_free_bulk(pool, bufs, i);
	if (upool_destroy(pool))
		most.locks = UINT64_MAX;
	free(bufs);
	return most;
}

TEST(a_refill_is_one_magazine)
{
	struct cost few = cost_of_alloc(2000), many = cost_of_alloc(1000000);

	EXPECT_LE(500, few.from_depot);
	EXPECT_LE(500, many.from_depot);
	EXPECT_GE(MAGAZINE, few.moved);
	EXPECT_GE(MAGAZINE, many.moved);
	EXPECT_EQ(few.locks, many.locks);
	EXPECT_GE(4, many.locks);
}

#define NR_PARALLEL	48
#define NR_PAIRS	10000

struct user {
	pthread_t	thread;
	struct upool	*pool;
	uint64_t	locks;
	int		refused;
};

/* Never more in use than a thread's magazine has. */
static void *use(void *arg)
{
	struct user *u = arg;
	void *bufs[4];
	int i, j;

	for (i = 0; i < NR_PAIRS + 100; i++) {
		if (i == 100)
			u->locks = locks;
		for (j = 0; j < 4; j++)
			bufs[j] = upool_alloc(u->pool, 1024);
		for (j = 0; j < 4; j++)
			u->refused |= upool_free(u->pool, bufs[j]);
	}
	u->locks = locks - u->locks;
	return NULL;
}

/* Threads that never said that they use the pool. */
TEST(hits_take_no_lock)
{
	struct upool *pool = pool_with_shards(0);
	static struct user user[NR_PARALLEL];
	int i;

	ASSERT_NE(NULL, pool);
	for (i = 0; i < NR_PARALLEL; i++) {
		user[i].pool = pool;
		ASSERT_EQ(0, pthread_create(&user[i].thread, NULL, use, &user[i]));
	}
	for (i = 0; i < NR_PARALLEL; i++) {
		ASSERT_EQ(0, pthread_join(user[i].thread, NULL));
		EXPECT_EQ(0, user[i].locks);
		EXPECT_EQ(0, user[i].refused);
	}
	EXPECT_EQ(0, upool_destroy(pool));
}

#define NR_THREADS	256

static void *overflow(void *arg)
{
	void *bufs[200];
	size_t n = upool_alloc_bulk(arg, 64, bufs, 200);

	return n == 200 && upool_free_bulk(arg, bufs, n) == 200 ? arg : NULL;
}

/* All on one CPU, with a high number, of many: its shard, and the one that is always there. */
TEST(shards_are_made_when_a_cpu_needs_them)
{
	struct upool *pool = pool_with_shards(PRIV_MAX_SHARDS);
	pthread_t thread[NR_THREADS];
	void *result;
	int i;

	ASSERT_NE(NULL, pool);
	cpu = 5;
	step = 0;
	EXPECT_EQ(1, nr_shards(pool));
	ASSERT_EQ(0, run_on_cpu(0));
	for (i = 0; i < NR_THREADS; i++)
		ASSERT_EQ(0, pthread_create(&thread[i], NULL, overflow, pool));
	for (i = 0; i < NR_THREADS; i++) {
		ASSERT_EQ(0, pthread_join(thread[i], &result));
		EXPECT_EQ(pool, result);
	}
	EXPECT_EQ(2, nr_shards(pool));
	EXPECT_EQ(0, read_stats(pool).held);
	EXPECT_EQ(0, upool_destroy(pool));
}

TEST_HARNESS_MAIN
