/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * device.h - valid calls of /dev/upool, for tests to spoil one thing in them.
 *
 * Programs that include it skip where there is no device.
 */
#ifndef ABI_DEVICE_H
#define ABI_DEVICE_H

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <upool/upool.h>

#define NR	64u
#define BYTES	4096u
#define PARAMS	"/sys/module/poolmod/parameters/"

static inline void __attribute__((constructor)) need_device(void)
{
	if (!access("/dev/upool", F_OK))
		return;
	printf("TAP version 13\n1..0 # SKIP there is no /dev/upool\n");
	exit(4);
}

static inline int call(int fd, unsigned long cmd, void *arg)
{
	return ioctl(fd, cmd, arg) ? -errno : 0;
}

static inline int device_open(void)
{
	return open("/dev/upool", O_RDWR | O_CLOEXEC);
}

/* Per cent of the full counts, as the runner says. */
static inline unsigned int scaled(unsigned int full, unsigned int least)
{
	const char *s = getenv("UPOOL_TEST_SCALE");
	unsigned long long n = (unsigned long long)full * (s ? strtoul(s, NULL, 10) : 100) / 100;

	return n < least ? least : n > full ? full : (unsigned int)n;
}

static inline uint64_t random_next(uint64_t *seed)
{
	*seed ^= *seed << 13;
	*seed ^= *seed >> 7;
	*seed ^= *seed << 17;
	return *seed;
}

/* Printed, and the caller's to choose. */
static inline uint64_t random_seed(void)
{
	const char *s = getenv("UPOOL_TEST_SEED");
	uint64_t seed = s ? strtoull(s, NULL, 0) : ((uint64_t)getpid() << 32 | (uint32_t)time(NULL));

	printf("# UPOOL_TEST_SEED=%llu\n", (unsigned long long)seed);
	fflush(stdout);
	return seed ? seed : 1;
}

static inline struct upool_create valid_create(void)
{
	struct upool_create c;

	memset(&c, 0, sizeof(c));
	c.size = sizeof(c);
	c.buf_bytes = BYTES;
	c.nr = NR;
	return c;
}

static inline void *map_control(int fd, const struct upool_geometry *geo)
{
	return mmap(NULL, geo->control_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd,
		    UPOOL_MMAP_CONTROL);
}

static inline void *map_data(int fd, const struct upool_geometry *geo)
{
	return mmap(NULL, geo->data_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd,
		    (off_t)UPOOL_MMAP_DATA);
}

/* A member: its file, geometry, and control area. */
struct pool_member {
	int			fd;
	uint32_t		id;
	uint64_t		pool_id;
	struct upool_geometry	geo;
	void			*control;
};

static inline int member_map(struct pool_member *m)
{
	m->control = map_control(m->fd, &m->geo);
	return m->control == MAP_FAILED ? -errno : 0;
}

static inline int member_create(struct pool_member *m, struct upool_create c)
{
	int ret;

	m->fd = device_open();
	ret = m->fd < 0 ? -errno : call(m->fd, UPOOL_IOC_CREATE, &c);
	if (ret)
		return ret;
	m->id = c.id;
	m->pool_id = c.pool_id;
	m->geo = c.geo;
	return member_map(m);
}

static inline int member_reopen(struct pool_member *m, int fd)
{
	struct upool_attach a;
	int ret;

	memset(&a, 0, sizeof(a));
	a.size = sizeof(a);
	ret = call(fd, UPOOL_IOC_REOPEN, &a);
	if (ret)
		return ret;
	m->fd = a.fd;
	m->id = a.id;
	m->pool_id = a.pool_id;
	m->geo = a.geo;
	return member_map(m);
}

static inline void member_leave(struct pool_member *m)
{
	munmap(m->control, m->geo.control_bytes);
	close(m->fd);
}

static inline uint64_t *member_tags(const struct pool_member *m)
{
	return (uint64_t *)((char *)m->control + m->geo.tag_off);
}

static inline struct upool_magazine *member_mag(const struct pool_member *m, unsigned int cpu)
{
	const struct upool_class *c = &m->geo.classes[0];

	return (void *)((char *)m->control + c->mag_off + (size_t)cpu * c->mag_stride);
}

static inline int pop_wait(int fd, uint32_t *index, int timeout_ms)
{
	struct upool_pop p = { .size = sizeof(p), .timeout_ms = timeout_ms };
	int ret = call(fd, UPOOL_IOC_POP, &p);

	if (!ret)
		*index = p.index;
	return ret;
}

static inline int pop(int fd, uint32_t *index)
{
	return pop_wait(fd, index, 0);
}

static inline int push(int fd, uint32_t index)
{
	struct upool_push p = { .size = sizeof(p), .index = index };

	return call(fd, UPOOL_IOC_PUSH, &p);
}

static inline int adopt(int fd, uint64_t token, uint32_t *index)
{
	struct upool_adopt a = { .size = sizeof(a), .token = token };
	int ret = call(fd, UPOOL_IOC_ADOPT, &a);

	if (!ret)
		*index = a.index;
	return ret;
}

/* REFILL or FLUSH: buffers moved, or -errno. */
static inline int batch(int fd, unsigned long cmd, uint32_t nr)
{
	struct upool_batch b = { .size = sizeof(b), .nr = nr };
	int ret = call(fd, cmd, &b);

	return ret ? ret : (int)b.done;
}

static inline int destroy(int fd, uint32_t flags)
{
	struct upool_destroy d = { .size = sizeof(d), .flags = flags };

	return call(fd, UPOOL_IOC_DESTROY, &d);
}

/* What the holder of a buffer does to hand it over. */
static inline uint64_t export_token(struct pool_member *m, uint32_t index)
{
	uint64_t *tag = &member_tags(m)[index];

	__atomic_fetch_or(tag, UPOOL_TAG_EXPORTED, __ATOMIC_SEQ_CST);
	return upool_token_make(m->geo.check, index, upool_tag_gen(*tag));
}

static inline struct upool_pool_stats stats_of(int fd)
{
	struct upool_stat s;

	memset(&s, 0, sizeof(s));
	s.size = sizeof(s);
	if (call(fd, UPOOL_IOC_STAT, &s))
		memset(&s, 0xff, sizeof(s));
	return s.stats;
}

/* Every buffer there is to have, kept; returns how many. */
static inline uint32_t pop_all(int fd, uint32_t *index, uint32_t most)
{
	uint32_t n = 0;

	while (n < most && !pop(fd, &index[n]))
		n++;
	return n;
}

static inline uint32_t push_all(int fd, const uint32_t *index, uint32_t n)
{
	uint32_t i, bad = 0;

	for (i = 0; i < n; i++)
		bad += push(fd, index[i]) != 0;
	return bad;
}

static inline int count_fds(void)
{
	DIR *d = opendir("/proc/self/fd");
	int n = 0;

	while (readdir(d))
		n++;
	closedir(d);
	return n;
}

static inline unsigned long long read_number(const char *path)
{
	unsigned long long v = ~0ULL;
	FILE *f = fopen(path, "re");

	if (!f)
		return v;
	if (fscanf(f, "%llu", &v) != 1)
		v = ~0ULL;
	fclose(f);
	return v;
}

static inline int write_text(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC), ret = 0;

	if (fd < 0)
		return -errno;
	if (write(fd, text, strlen(text)) < 0)
		ret = -errno;
	close(fd);
	return ret;
}

static inline int write_number(const char *path, unsigned long long v)
{
	char text[32];

	snprintf(text, sizeof(text), "%llu", v);
	return write_text(path, text);
}

static inline int run_on_cpu(unsigned int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	return sched_setaffinity(0, sizeof(set), &set) ? -errno : 0;
}

/* The exit status of a child, or -signal. */
static inline int child_status(pid_t pid)
{
	int status;

	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

#endif /* ABI_DEVICE_H */
