// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * private_objects.c - object pools: made once, reset between, destroyed once.
 */
#include "kselftest_harness.h"
#include "private_fixture.h"

#define NR 1000

struct thing {
	struct thing	*self;	/* set while it exists */
	unsigned int	uses;
};

struct counts {
	uint64_t	made, reset, ended, wrong;
	int		refuse_create, refuse_reset;
};

static void add(uint64_t *n)
{
	__atomic_fetch_add(n, 1, __ATOMIC_RELAXED);
}

static int make(void *obj, void *arg)
{
	struct thing *t = obj;
	struct counts *c = arg;

	if (c->refuse_create)
		return -1;
	t->self = t;
	t->uses = 0;
	add(&c->made);
	return 0;
}

static int reset(void *obj, void *arg)
{
	struct thing *t = obj;
	struct counts *c = arg;

	if (t->self != t)
		add(&c->wrong);
	add(&c->reset);
	return c->refuse_reset;
}

static void end(void *obj, void *arg)
{
	struct thing *t = obj;
	struct counts *c = arg;

	if (t->self != t)
		add(&c->wrong);
	t->self = NULL;
	add(&c->ended);
}

FIXTURE(objects)
{
	struct upool_objects *p;
	struct counts c;
	void *obj[NR];
};

static int make_pool_of(struct upool_objects **p, struct counts *c, size_t retained, size_t most)
{
	const struct upool_object_ops ops = {
		sizeof(ops), sizeof(struct thing), make, reset, end, c
	};
	const struct upool_objects_options opt = {
		.size = sizeof(opt), .max_retained = retained, .max_objects = most,
		.trim_age_ms = -1u,
	};

	return upool_objects_create(p, &ops, &opt);
}

FIXTURE_SETUP(objects)
{
	memset(&self->c, 0, sizeof(self->c));
	ASSERT_EQ(0, make_pool_of(&self->p, &self->c, 0, 0));
}

FIXTURE_TEARDOWN(objects)
{
	EXPECT_EQ(0, upool_objects_destroy(self->p));
	EXPECT_EQ(self->c.made, self->c.ended);
	EXPECT_EQ(0, self->c.wrong);
}

static size_t get(struct upool_objects *p, void **obj, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++) {
		obj[i] = upool_objects_get(p);
		if (!obj[i])
			break;
		((struct thing *)obj[i])->uses++;
	}
	return i;
}

static size_t put(struct upool_objects *p, void **obj, size_t n)
{
	size_t done = 0;

	while (n)
		done += !upool_objects_put(p, obj[--n]);
	return done;
}

TEST_F(objects, are_made_once)
{
	int round;

	for (round = 0; round < 5; round++) {
		ASSERT_EQ(NR, get(self->p, self->obj, NR));
		EXPECT_EQ(0, (uintptr_t)self->obj[7] & 15);
		ASSERT_EQ(NR, put(self->p, self->obj, NR));
	}
	EXPECT_EQ(NR, self->c.made);
	EXPECT_EQ(5 * NR, self->c.reset);
	EXPECT_EQ(0, self->c.ended);
}

TEST_F(objects, refused_by_reset)
{
	ASSERT_EQ(NR, get(self->p, self->obj, NR));
	self->c.refuse_reset = 1;
	ASSERT_EQ(NR, put(self->p, self->obj, NR));
	EXPECT_EQ(NR, self->c.ended);
	self->c.refuse_reset = 0;
	ASSERT_EQ(NR, get(self->p, self->obj, NR));
	EXPECT_EQ(2 * NR, self->c.made);
	ASSERT_EQ(NR, put(self->p, self->obj, NR));
}

TEST_F(objects, refused_by_create)
{
	self->c.refuse_create = 1;
	EXPECT_EQ(0, get(self->p, self->obj, 10));
	self->c.refuse_create = 0;
	EXPECT_EQ(10, get(self->p, self->obj, 10));
	EXPECT_EQ(10, put(self->p, self->obj, 10));
	EXPECT_EQ(10, self->c.made);
}

/* A wrong one is not shown to the callbacks. */
TEST_F(objects, wrong_ones)
{
	struct thing outside;

	ASSERT_EQ(1, get(self->p, self->obj, 1));
	EXPECT_EQ(-EINVAL, upool_objects_put(self->p, &outside));
	EXPECT_EQ(-EINVAL, upool_objects_put(self->p, (char *)self->obj[0] + 16));
	EXPECT_EQ(-EBUSY, upool_objects_destroy(self->p));
	EXPECT_EQ(0, upool_objects_put(self->p, self->obj[0]));
	EXPECT_EQ(-EALREADY, upool_objects_put(self->p, self->obj[0]));
	EXPECT_EQ(0, upool_objects_put(self->p, NULL));
	EXPECT_EQ(1, self->c.reset);
}

TEST_F(objects, trim)
{
	ASSERT_EQ(NR, get(self->p, self->obj, NR));
	ASSERT_EQ(NR, put(self->p, self->obj, NR));
	EXPECT_LE(NR, upool_objects_trim(self->p, 0));
	EXPECT_EQ(NR, self->c.ended);
	ASSERT_EQ(NR, get(self->p, self->obj, NR));
	EXPECT_EQ(2 * NR, self->c.made);
	ASSERT_EQ(NR, put(self->p, self->obj, NR));
}

TEST(limits)
{
	struct counts c = { 0 };
	struct upool_objects *p;
	struct upool_stats st = { .size = sizeof(st) };
	void *obj[NR];

	ASSERT_EQ(0, make_pool_of(&p, &c, 10, 100));
	EXPECT_EQ(100, get(p, obj, NR));
	ASSERT_EQ(0, upool_objects_stats_read(p, &st));
	EXPECT_EQ(100, st.held);
	EXPECT_EQ(100, put(p, obj, 100));
	EXPECT_LE(90, c.ended);
	EXPECT_EQ(0, upool_objects_destroy(p));
	EXPECT_EQ(c.made, c.ended);
	EXPECT_EQ(0, c.wrong);
}

TEST(bad_arguments)
{
	struct upool_object_ops ops = { .size = sizeof(ops), .bytes = 8 };
	struct upool_objects_options opt = { .size = sizeof(opt) };
	struct upool_objects *p = NULL;

	EXPECT_EQ(-EINVAL, upool_objects_create(&p, NULL, NULL));
	ops.bytes = 0;
	EXPECT_EQ(-EINVAL, upool_objects_create(&p, &ops, NULL));
	ops.bytes = SIZE_MAX;
	EXPECT_EQ(-EINVAL, upool_objects_create(&p, &ops, NULL));
	ops.bytes = 8;
	ops.size = 4;
	EXPECT_EQ(-EINVAL, upool_objects_create(&p, &ops, NULL));
	ops.size = sizeof(ops);
	opt.flags = 1;
	EXPECT_EQ(-EINVAL, upool_objects_create(&p, &ops, &opt));
	opt.flags = 0;
	opt.__resv[3] = 1;
	EXPECT_EQ(-EINVAL, upool_objects_create(&p, &ops, &opt));
	EXPECT_EQ(NULL, p);
	EXPECT_EQ(0, upool_objects_create(&p, &ops, NULL));
	EXPECT_NE(NULL, upool_objects_get(p));
	EXPECT_EQ(-EBUSY, upool_objects_destroy(p));
	EXPECT_EQ(0, upool_objects_destroy(NULL));
}

struct shared_work {
	struct upool_objects *p;
	struct counts *c;
};

static void *use(void *arg)
{
	struct shared_work *w = arg;
	void *obj[50];
	int i;

	for (i = 0; i < 2000; i++) {
		size_t n = get(w->p, obj, (size_t)i % 50);

		if (put(w->p, obj, n) != n)
			add(&w->c->wrong);
	}
	return NULL;
}

TEST_F(objects, by_threads)
{
	struct shared_work w = { self->p, &self->c };
	pthread_t thread[8];
	int i;

	for (i = 0; i < 8; i++)
		ASSERT_EQ(0, pthread_create(&thread[i], NULL, use, &w));
	for (i = 0; i < 8; i++)
		ASSERT_EQ(0, pthread_join(thread[i], NULL));
	EXPECT_GE(8 * 50, self->c.made);
}

TEST_HARNESS_MAIN
