// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * private_model.c - random operations of many threads against a model: no buffer is held
 * twice, none is lost, whatever is passed on, refused, stolen or interrupted meanwhile.
 *
 * The model is in the buffers: the holder's number and a stamp at both ends, written
 * after an allocation, checked and erased before the free.  Threads end and begin again,
 * are moved between CPUs and interrupted by signals; others trim, wait and steal.
 *
 *	private_model [OPERATIONS [THREADS [SEED]]]
 */
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/time.h>
#include <time.h>
#include <upool_inline.h>
#include "kselftest.h"
#include "private_fixture.h"

#define HOLD		24
#define MAX_THREADS	256
#define SLOTS		64
#define LIFE		20000	/* operations of a thread before the next one */

struct mark {
	uint64_t owner;
	uint64_t stamp;
};

struct held {
	void	*buf;
	size_t	bytes;
};

struct actor {
	unsigned int	number;
	uint64_t	seed;
	uint64_t	stamp;
	size_t		n;
	struct held	held[HOLD];
};

static struct upool *pool;
static uint64_t left, errors, passed_on, refused;
static struct held slot[SLOTS];
static pthread_mutex_t slot_lock[SLOTS];
static uint64_t tokens[SLOTS];

static uint64_t next_random(struct actor *a)
{
	a->seed ^= a->seed << 13;
	a->seed ^= a->seed >> 7;
	a->seed ^= a->seed << 17;
	return a->seed;
}

static void wrong(const char *what, const void *buf)
{
	if (__atomic_fetch_add(&errors, 1, __ATOMIC_RELAXED) < 5)
		ksft_print_msg("%s: %p\n", what, buf);
}

/* Sizes of at least two marks; 0 is erased. */
static void mark(struct actor *a, const struct held *h)
{
	struct mark m = { a->number + 1, ++a->stamp };

	memcpy(h->buf, &m, sizeof(m));
	memcpy((char *)h->buf + h->bytes - sizeof(m), &m, sizeof(m));
}

static void unmark(struct actor *a, const struct held *h)
{
	static const struct mark none;
	struct mark first, last;

	memcpy(&first, h->buf, sizeof(first));
	memcpy(&last, (char *)h->buf + h->bytes - sizeof(last), sizeof(last));
	if (first.owner != a->number + 1 || memcmp(&first, &last, sizeof(first)))
		wrong("somebody else wrote to it", h->buf);
	memcpy(h->buf, &none, sizeof(none));
}

static size_t random_size(struct actor *a)
{
	uint64_t r = next_random(a);

	switch (r % 8) {
	case 0:
		return 32 + r / 8 % 100000;
	case 1:
		return 4096;
	default:
		return 32 + r / 8 % 1500;
	}
}

static void do_alloc(struct actor *a)
{
	struct held h = { .bytes = random_size(a) };
	uint64_t how = next_random(a) % 16;

	if (a->n == HOLD)
		return;
	if (how == 0)
		h.buf = upool_alloc_wait(pool, h.bytes, 1);
	else if (how < 8)
		h.buf = upool_alloc(pool, h.bytes);
	else
		h.buf = upool_alloc_inline(pool, h.bytes);
	if (!h.buf)
		return;
	mark(a, &h);
	a->held[a->n++] = h;
}

static void do_free(struct actor *a)
{
	size_t i;
	struct held h;

	if (!a->n)
		return;
	i = next_random(a) % a->n;
	h = a->held[i];
	a->held[i] = a->held[--a->n];
	unmark(a, &h);
	if (next_random(a) % 2 ? upool_free(pool, h.buf) : upool_free_inline(pool, h.buf))
		wrong("a right free was refused", h.buf);
}

/* Through a slot, so that another thread frees it; every fourth by token. */
static void do_pass(struct actor *a)
{
	unsigned int i = next_random(a) % SLOTS;
	struct held mine = { 0 }, got;
	uint64_t token = 0, other;
	void *buf;

	if (a->n) {
		mine = a->held[--a->n];
		if (i % 4 == 0)
			token = upool_token(pool, mine.buf);
	}
	pthread_mutex_lock(&slot_lock[i]);
	got = slot[i];
	other = tokens[i];
	if (mine.buf)
		unmark(a, &mine);
	slot[i] = mine;
	tokens[i] = token;
	pthread_mutex_unlock(&slot_lock[i]);
	if (!got.buf)
		return;
	if (other && (upool_accept(pool, other, &buf) || buf != got.buf))
		wrong("a token did not work", got.buf);
	if (other && upool_accept(pool, other, &buf) != -ESTALE)
		wrong("a token worked twice", got.buf);
	mark(a, &got);
	a->held[a->n++] = got;
	__atomic_fetch_add(&passed_on, 1, __ATOMIC_RELAXED);
}

/* Frees that must be refused. */
static void do_wrong(struct actor *a)
{
	void *buf;

	if (!a->n)
		return;
	buf = a->held[a->n - 1].buf;
	if (!upool_free(pool, (char *)buf + 1) || !upool_free(pool, a))
		wrong("a wrong free was not refused", buf);
	__atomic_fetch_add(&refused, 2, __ATOMIC_RELAXED);
}

static void move(struct actor *a)
{
	run_on_cpu((int)(next_random(a) % (unsigned int)sysconf(_SC_NPROCESSORS_ONLN)));
}

static void step(struct actor *a)
{
	uint64_t r = next_random(a) % 1024;

	if (r < 470)
		do_alloc(a);
	else if (r < 940)
		do_free(a);
	else if (r < 1010)
		do_pass(a);
	else if (r < 1021)
		do_wrong(a);
	else if (r < 1023)
		move(a);
	else if (next_random(a) % 64 == 0)
		upool_trim(pool, next_random(a) % (8 << 20));
}

static void *one_life(void *arg)
{
	struct actor *a = arg;
	unsigned int i;

	for (i = 0; i < LIFE; i++)
		step(a);
	while (a->n)
		do_free(a);
	return NULL;
}

static bool claim_work(void)
{
	uint64_t was = __atomic_load_n(&left, __ATOMIC_RELAXED);

	do {
		if (!was)
			return false;
	} while (!__atomic_compare_exchange_n(&left, &was, was > LIFE ? was - LIFE : 0, true,
					      __ATOMIC_RELAXED, __ATOMIC_RELAXED));
	return true;
}

static void *lives(void *arg)
{
	while (claim_work())
		in_thread(one_life, arg);
	return NULL;
}

static void on_signal(int nr)
{
	(void)nr;
}

static void interrupt_often(void)
{
	struct itimerval often = { { 0, 997 }, { 0, 997 } };
	struct sigaction sa = { .sa_handler = on_signal, .sa_flags = SA_RESTART };

	sigaction(SIGALRM, &sa, NULL);
	setitimer(ITIMER_REAL, &often, NULL);
}

static uint64_t argument(int argc, char **argv, int i, uint64_t otherwise)
{
	return argc > i ? strtoull(argv[i], NULL, 0) : otherwise;
}

/* What threads get their buffers from. */
enum shape {
	UNBOUNDED,
	BOUNDED,	/* so few that threads find none, wait, and take from each other */
	OF_CPUS,	/* threads have no magazines, CPUs do */
	NR_SHAPES
};

static const char *const shape_name[] = { "unbounded", "bounded", "magazines of CPUs" };

static void run(struct actor *actor, unsigned int nr, uint64_t ops, enum shape shape)
{
	struct upool_options o = PRIVATE_OPTIONS;
	static pthread_t thread[MAX_THREADS];
	struct upool_stats st;
	unsigned int i;

	o.nr_buffers = shape == BOUNDED ? nr / 8 + 1 : 0;
	o.thread_bytes = shape == OF_CPUS ? UPOOL_NOTHING : 0;
	o.trim_age_ms = 10;
	o.idle_floor_bytes = MAX_THREADS << 10;
	if (upool_create(&pool, &o))
		ksft_exit_fail_msg("no pool\n");
	left = ops;
	for (i = 0; i < nr; i++)
		if (pthread_create(&thread[i], NULL, lives, &actor[i]))
			ksft_exit_fail_msg("no thread\n");
	for (i = 0; i < nr; i++)
		pthread_join(thread[i], NULL);
	for (i = 0; i < SLOTS; i++) {
		if (slot[i].buf && upool_free(pool, slot[i].buf))
			wrong("a right free was refused", slot[i].buf);
		slot[i].buf = NULL;
	}
	st = read_stats(pool);
	ksft_print_msg("%llu passed on, %llu refused, %llu new, %llu aged, %llu waits, %llu drains\n",
		       (unsigned long long)passed_on, (unsigned long long)refused,
		       (unsigned long long)st.new_buffers, (unsigned long long)st.dropped_age,
		       (unsigned long long)st.waits, (unsigned long long)st.drains);
	ksft_test_result(!errors, "%s: held once\n", shape_name[shape]);
	ksft_test_result(!st.held && !upool_destroy(pool), "%s: nothing lost\n",
			 shape_name[shape]);
}

int main(int argc, char **argv)
{
	const char *scale = getenv("UPOOL_TEST_SCALE");
	uint64_t ops = argument(argc, argv, 1, 10000000 / 100 *
				(scale ? strtoull(scale, NULL, 10) : 100));
	unsigned int nr = (unsigned int)argument(argc, argv, 2, 64), i;
	uint64_t seed = argument(argc, argv, 3, (uint64_t)time(NULL));
	static struct actor actor[MAX_THREADS];
	enum shape shape;

	nr = nr < 1 ? 1 : nr > MAX_THREADS ? MAX_THREADS : nr;
	ksft_print_header();
	ksft_set_plan(2 * NR_SHAPES);
	ksft_print_msg("%llu operations, %u threads, seed %llu\n", (unsigned long long)ops, nr,
		       (unsigned long long)seed);
	for (i = 0; i < nr; i++) {
		actor[i].number = i;
		actor[i].seed = (seed + i) * 0x9e3779b97f4a7c15ULL | 1;
	}
	for (i = 0; i < SLOTS; i++)
		pthread_mutex_init(&slot_lock[i], NULL);
	interrupt_often();
	for (shape = 0; shape < NR_SHAPES; shape++)
		run(actor, nr, ops / NR_SHAPES, shape);
	ksft_finished();
}
