// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * stress_pool.c - processes and threads share a pool under everything that disturbs
 * them: migrations, signals, a real-time peer, hand-overs, replayed tokens, kill -9.
 *
 * Who owns a buffer is kept a second time, in a table of the test's own: an
 * allocation must find no owner there, a free must find itself.  The first eight
 * bytes of every buffer hold its number.
 */
#include <errno.h>
#include <getopt.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <upool.h>
#include "kselftest.h"

#define MAX_PROCS	16
#define MAX_LIVES	65536		/* processes ever started */
#define HOLD		16		/* most buffers a thread holds */
#define SLOTS		64		/* tokens under way */
#define OLD		64		/* used tokens a thread remembers */
#define CHUNK		256		/* operations between looks at the world */

struct world {
	uint64_t	ops;
	uint64_t	doubled;
	uint64_t	refused;
	uint64_t	replayed;
	uint64_t	handed;
	uint32_t	stop;
	uint64_t	slot[SLOTS];
	uint8_t		dead[MAX_LIVES];	/* set before the kill */
	uint32_t	owner[];		/* life << 8 | thread + 1; 0 = nobody */
};

struct thread {
	struct upool	*pool;
	unsigned int	*held[HOLD];
	unsigned int	nr_held;
	upool_token_t	old[OLD];
	uint32_t	me;
	uint64_t	rnd;
};

static struct world *w;
static uint64_t max_ops;
static unsigned int nr_buffers = 160, nr_procs = 3, nr_threads = 2, max_kills;
static uint64_t seed;

#ifdef UPOOL_TEST
#include "inject.h"
uint32_t upool_test_delay[3] = { 40, 40, 40 };
void upool_test_inject(enum upool_inject point)
{
}
#endif

static uint64_t rnd(struct thread *t)
{
	t->rnd ^= t->rnd << 13;
	t->rnd ^= t->rnd >> 7;
	t->rnd ^= t->rnd << 17;
	return t->rnd;
}

static bool alive(uint32_t owner)
{
	return owner && !__atomic_load_n(&w->dead[owner >> 8], __ATOMIC_SEQ_CST);
}

static void own(struct thread *t, unsigned int *buf)
{
	uint32_t before = __atomic_exchange_n(&w->owner[*buf], t->me, __ATOMIC_SEQ_CST);

	if (alive(before))
		__atomic_fetch_add(&w->doubled, 1, __ATOMIC_RELAXED);
	t->held[t->nr_held++] = buf;
}

static void disown(struct thread *t, unsigned int *buf)
{
	if (__atomic_exchange_n(&w->owner[*buf], 0, __ATOMIC_SEQ_CST) != t->me)
		__atomic_fetch_add(&w->doubled, 1, __ATOMIC_RELAXED);
}

static unsigned int *drop(struct thread *t)
{
	unsigned int i = rnd(t) % t->nr_held, *buf = t->held[i];

	t->held[i] = t->held[--t->nr_held];
	return buf;
}

static void give_back(struct thread *t)
{
	unsigned int *buf = drop(t);

	disown(t, buf);
	if (upool_free(t->pool, buf))
		__atomic_fetch_add(&w->refused, 1, __ATOMIC_RELAXED);
}

/* Whoever takes a token out of its slot is the only one to know it. */
static void take_token(struct thread *t, upool_token_t token)
{
	void *buf;

	t->old[rnd(t) % OLD] = token;
	if (!token || upool_accept(t->pool, token, &buf))
		return;		/* its sender was killed */
	own(t, buf);
	__atomic_fetch_add(&w->handed, 1, __ATOMIC_RELAXED);
}

static void hand_over(struct thread *t)
{
	uint64_t *slot = &w->slot[rnd(t) % SLOTS];
	upool_token_t token = 0;

	if (t->nr_held == HOLD)
		give_back(t);
	if (t->nr_held && rnd(t) % 2) {
		token = upool_token(t->pool, t->held[t->nr_held - 1]);
		if (!token) {
			__atomic_fetch_add(&w->refused, 1, __ATOMIC_RELAXED);
			return;
		}
		/* before it leaves: a receiver killed right after the accept leaves no mark */
		disown(t, t->held[--t->nr_held]);
	}
	take_token(t, __atomic_exchange_n(slot, token, __ATOMIC_SEQ_CST));
}

static void replay(struct thread *t)
{
	upool_token_t token = t->old[rnd(t) % OLD];
	void *buf;

	if (!token)
		return;
	if (rnd(t) % 2 ? !upool_accept(t->pool, token, &buf) : !upool_free_token(t->pool, token))
		__atomic_fetch_add(&w->replayed, 1, __ATOMIC_RELAXED);
}

static void move(struct thread *t)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(rnd(t) % sysconf(_SC_NPROCESSORS_ONLN), &set);
	sched_setaffinity(0, sizeof(set), &set);
}

static void chunk(struct thread *t)
{
	unsigned int i, what;
	void *buf;

	for (i = 0; i < CHUNK; i++) {
		what = rnd(t) % 128;
		if (what == 0)
			hand_over(t);
		else if (what == 1)
			replay(t);
		else if (t->nr_held < HOLD && (what % 2 || !t->nr_held)) {
			buf = upool_alloc(t->pool, 1);
			if (buf)
				own(t, buf);
		} else {
			give_back(t);
		}
	}
	__atomic_fetch_add(&w->ops, CHUNK, __ATOMIC_RELAXED);
	if (rnd(t) % 16 == 0)
		move(t);
}

static void *thread_main(void *arg)
{
	struct thread *t = arg;

	while (!__atomic_load_n(&w->stop, __ATOMIC_RELAXED))
		chunk(t);
	while (t->nr_held)
		give_back(t);
	return NULL;
}

static void on_alarm(int sig)
{
}

static void disturb(void)
{
	struct itimerval it = { { 0, 1000 }, { 0, 1000 } };
	struct sigaction sa = { .sa_handler = on_alarm, .sa_flags = SA_RESTART };

	sigaction(SIGALRM, &sa, NULL);
	setitimer(ITIMER_REAL, &it, NULL);
}

/* Runs at once whenever it is ready, wherever it is: preempts in the middle of sequences. */
static void *realtime_main(void *arg)
{
	struct timespec pause = { 0, 300000 };
	struct sched_param sp = { .sched_priority = 1 };
	struct thread *t = arg;

	pthread_setschedparam(pthread_self(), SCHED_FIFO, &sp);
	while (!__atomic_load_n(&w->stop, __ATOMIC_RELAXED)) {
		chunk(t);
		nanosleep(&pause, NULL);
	}
	while (t->nr_held)
		give_back(t);
	return NULL;
}

static void child(int fd, uint32_t life)
{
	struct thread *t = calloc(nr_threads + 1, sizeof(*t));
	pthread_t id[nr_threads + 1];
	struct upool *pool;
	unsigned int i;

	if (!t || upool_attach(&pool, fd))
		_exit(1);
	disturb();
	for (i = 0; i <= nr_threads; i++) {
		t[i].pool = pool;
		t[i].me = life << 8 | (i + 1);
		t[i].rnd = seed * 0x9e3779b97f4a7c15ULL + t[i].me + 1;
		if (pthread_create(&id[i], NULL, i < nr_threads ? thread_main : realtime_main, &t[i]))
			_exit(2);
	}
	for (i = 0; i <= nr_threads; i++)
		pthread_join(id[i], NULL);
	upool_close(pool);
	_exit(0);
}

static pid_t start(int fd, uint32_t life)
{
	pid_t pid = fork();

	if (!pid)
		child(fd, life);
	return pid;
}

/* Number the buffers: all of them are ours now. */
static void number(struct upool *pool)
{
	unsigned int *buf[nr_buffers], i;

	for (i = 0; i < nr_buffers; i++) {
		buf[i] = upool_alloc(pool, sizeof(*buf[i]));
		if (!buf[i])
			ksft_exit_fail_msg("buffer %u of %u is not there\n", i, nr_buffers);
		*buf[i] = i;
	}
	for (i = 0; i < nr_buffers; i++)
		upool_free(pool, buf[i]);
}

/* Let them run; kill one each time their work has come so much further. */
static bool run(struct upool *pool, unsigned int *kills)
{
	uint64_t step = max_kills ? max_ops / (max_kills + 1) : max_ops, next = step;
	uint32_t life[MAX_PROCS], lives = 0;
	pid_t pid[MAX_PROCS];
	unsigned int i, victim;
	int status, bad = 0;

	for (i = 0; i < nr_procs; i++) {
		life[i] = lives++;
		pid[i] = start(upool_fd(pool), life[i]);
	}
	/* one buffer with two owners is enough */
	while ((__atomic_load_n(&w->ops, __ATOMIC_RELAXED) < max_ops || *kills < max_kills) &&
	       !__atomic_load_n(&w->doubled, __ATOMIC_RELAXED)) {
		if (__atomic_load_n(&w->ops, __ATOMIC_RELAXED) < next || *kills == max_kills) {
			/* also notices a child that ended by itself */
			if (waitpid(-1, &status, WNOHANG) > 0)
				return false;
			sched_yield();
			continue;
		}
		next += step;
		victim = (seed + lives * 7) % nr_procs;
		__atomic_store_n(&w->dead[life[victim]], 1, __ATOMIC_SEQ_CST);
		kill(pid[victim], SIGKILL);
		waitpid(pid[victim], &status, 0);
		(*kills)++;
		life[victim] = lives++ % MAX_LIVES;
		pid[victim] = start(upool_fd(pool), life[victim]);
	}
	__atomic_store_n(&w->stop, 1, __ATOMIC_RELAXED);
	for (i = 0; i < nr_procs; i++)
		if (waitpid(pid[i], &status, 0) < 0 || status)
			bad++;
	return !bad;
}

/* Everything that is idle, or under way in a slot, can be allocated again. */
static unsigned int count_back(struct upool *pool)
{
	unsigned int i, n;
	void *buf;

	for (i = 0; i < SLOTS; i++)
		if (w->slot[i] && !upool_accept(pool, w->slot[i], &buf))
			upool_free(pool, buf);
	for (n = 0; n < nr_buffers + 1; n++)
		if (!upool_alloc(pool, 1))
			break;
	return n;
}

static void options(int argc, char **argv, struct upool_options *o)
{
	static const struct option opts[] = {
		{ "ops", 1, NULL, 'o' }, { "kills", 1, NULL, 'k' }, { "seed", 1, NULL, 's' },
		{ "procs", 1, NULL, 'p' }, { "threads", 1, NULL, 't' },
		{ "backing", 1, NULL, 'b' }, { 0 },
	};
	const char *backing = getenv("UPOOL_TEST_BACKING"), *scale = getenv("UPOOL_TEST_SCALE");
	unsigned int percent = scale && atoi(scale) > 0 ? (unsigned int)atoi(scale) : 100;
	int c;

	max_ops = 1000000ULL * percent;
	max_kills = 10 * percent;
	seed = (uint64_t)time(NULL) ^ (uint64_t)getpid();
	while ((c = getopt_long(argc, argv, "", opts, NULL)) >= 0) {
		switch (c) {
		case 'o': max_ops = strtoull(optarg, NULL, 0); break;
		case 'k': max_kills = (unsigned int)atoi(optarg); break;
		case 's': seed = strtoull(optarg, NULL, 0); break;
		case 'p': nr_procs = (unsigned int)atoi(optarg); break;
		case 't': nr_threads = (unsigned int)atoi(optarg); break;
		case 'b': backing = optarg; break;
		default: exit(2);
		}
	}
	if (nr_procs < 1 || nr_procs > MAX_PROCS || nr_threads < 1 || nr_threads > 100)
		exit(2);
	o->backing = backing && !strcmp(backing, "device") ? UPOOL_BACKING_DEVICE :
							      UPOOL_BACKING_MEMFD;
	if (o->backing == UPOOL_BACKING_MEMFD)
		max_kills = 0;	/* what a killed member held would be lost */
	o->nr_buffers = nr_buffers;
	o->buffer_bytes = 64;
}

int main(int argc, char **argv)
{
	struct upool_options o = UPOOL_OPTIONS_INIT;
	unsigned int kills = 0, back;
	struct upool *pool;
	bool ended;
	int ret;

	ksft_print_header();
	options(argc, argv, &o);
	ksft_set_plan(4);
	ret = upool_create(&pool, &o);
	if (ret)
		ksft_exit_fail_msg("create: %s\n", strerror(-ret));
	w = mmap(NULL, sizeof(*w) + nr_buffers * sizeof(w->owner[0]), PROT_READ | PROT_WRITE,
		 MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (w == MAP_FAILED)
		ksft_exit_fail_msg("mmap: %s\n", strerror(errno));
	number(pool);
	ksft_print_msg("%s, seed %llu, %u processes of %u threads and a real-time one\n",
		       upool_mode(pool), (unsigned long long)seed, nr_procs, nr_threads);
	ended = run(pool, &kills);
	back = ended ? count_back(pool) : 0;
	ksft_print_msg("%llu operations, %u kills, %llu hand-overs, %llu doubled, %llu refused, %llu replayed, %u of %u back\n",
		       (unsigned long long)w->ops, kills, (unsigned long long)w->handed,
		       (unsigned long long)w->doubled, (unsigned long long)w->refused,
		       (unsigned long long)w->replayed, back, nr_buffers);
	ksft_test_result(ended && kills == max_kills, "every process ended well\n");
	ksft_test_result(!w->doubled && !w->refused, "no buffer had two owners\n");
	ksft_test_result(!w->replayed, "no used token worked again\n");
	ksft_test_result(back == nr_buffers, "every buffer came back\n");
	upool_close(pool);
	ksft_finished();
}
