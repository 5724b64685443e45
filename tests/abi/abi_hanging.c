// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * abi_hanging.c - a result that user space does not take holds nothing that others need.
 */
#include <linux/userfaultfd.h>
#include <poll.h>
#include <pthread.h>
#include <sys/syscall.h>
#include "kselftest_harness.h"
#include "device.h"

/* A page that can be read; nobody answers the fault of a write to it until we do. */
static int stop_writes(char *page)
{
	struct uffdio_api api = { .api = UFFD_API };
	struct uffdio_register reg = {
		.range = { .start = (uintptr_t)page, .len = 4096 },
		.mode = UFFDIO_REGISTER_MODE_WP,
	};
	struct uffdio_writeprotect wp = { .range = reg.range, .mode = UFFDIO_WRITEPROTECT_MODE_WP };
	int fd = (int)syscall(__NR_userfaultfd, O_CLOEXEC);

	if (fd < 0)
		return fd;
	if (ioctl(fd, UFFDIO_API, &api) || ioctl(fd, UFFDIO_REGISTER, &reg) ||
	    ioctl(fd, UFFDIO_WRITEPROTECT, &wp)) {
		close(fd);
		return -1;
	}
	return fd;
}

struct stopped {
	int fd, ret;
	unsigned long cmd;
	void *arg;
};

static void *stopped_call(void *arg)
{
	struct stopped *s = arg;

	s->ret = call(s->fd, s->cmd, s->arg);
	return NULL;
}

/* Another process does all there is to do, while our call hangs. */
static int others_work(int fd)
{
	struct upool_drain d = { .size = sizeof(d) };
	struct upool_create c = valid_create();
	struct pool_member m, own;
	uint32_t index;

	if (member_reopen(&m, fd) || pop(m.fd, &index) || push(m.fd, index))
		return 1;
	if (batch(m.fd, UPOOL_IOC_REFILL, 4) < 1 || call(m.fd, UPOOL_IOC_DRAIN, &d))
		return 2;
	strcpy(c.name, "meanwhile");
	if (member_create(&own, c) || destroy(own.fd, 0))
		return 3;
	member_leave(&m);
	member_leave(&own);
	return 0;
}

/* Whether the call hangs at the page, others work then, and it goes on afterwards. */
static int hang(struct stopped *s, int uffd, char *page, int fd)
{
	struct uffdio_writeprotect go = { .range = { .start = (uintptr_t)page, .len = 4096 } };
	struct pollfd p = { .fd = uffd, .events = POLLIN };
	struct uffd_msg msg;
	pthread_t thread;
	pid_t pid;
	int ret;

	if (pthread_create(&thread, NULL, stopped_call, s))
		return -1;
	if (poll(&p, 1, -1) != 1 || read(uffd, &msg, sizeof(msg)) != sizeof(msg))
		return -2;
	pid = fork();
	if (!pid)
		_exit(others_work(fd));
	ret = child_status(pid);
	ioctl(uffd, UFFDIO_WRITEPROTECT, &go);
	pthread_join(thread, NULL);
	return ret;
}

FIXTURE(hanging) { struct pool_member m; char *page; int uffd; uint32_t held; };

FIXTURE_VARIANT(hanging) { unsigned long cmd; uint32_t size; };

#define HANGING(name, nr, type)							\
FIXTURE_VARIANT_ADD(hanging, name) { .cmd = nr, .size = sizeof(struct type) }
HANGING(create, UPOOL_IOC_CREATE, upool_create);
HANGING(attach, UPOOL_IOC_ATTACH, upool_attach);
HANGING(reopen, UPOOL_IOC_REOPEN, upool_attach);
HANGING(refill, UPOOL_IOC_REFILL, upool_batch);
HANGING(flush, UPOOL_IOC_FLUSH, upool_batch);
HANGING(pop, UPOOL_IOC_POP, upool_pop);
HANGING(adopt, UPOOL_IOC_ADOPT, upool_adopt);
HANGING(drain, UPOOL_IOC_DRAIN, upool_drain);
HANGING(stat, UPOOL_IOC_STAT, upool_stat);

FIXTURE_SETUP(hanging)
{
	struct upool_create *c;
	struct upool_attach *a;

	ASSERT_EQ(0, member_create(&self->m, valid_create()));
	ASSERT_EQ(0, pop(self->m.fd, &self->held));
	self->page = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	ASSERT_NE(MAP_FAILED, self->page);
	c = (void *)self->page;
	a = (void *)self->page;
	if (variant->cmd == UPOOL_IOC_CREATE)
		*c = valid_create();
	if (variant->cmd == UPOOL_IOC_ATTACH) {
		a->flags = UPOOL_ATTACH_F_FD;
		a->fd = self->m.fd;
	}
	if (variant->cmd == UPOOL_IOC_REFILL || variant->cmd == UPOOL_IOC_FLUSH)
		((struct upool_batch *)self->page)->nr = 1;
	if (variant->cmd == UPOOL_IOC_ADOPT)
		((struct upool_adopt *)self->page)->token = export_token(&self->m, self->held);
	c->size = variant->size;
	self->uffd = stop_writes(self->page);
}

FIXTURE_TEARDOWN(hanging)
{
	close(self->uffd);
	member_leave(&self->m);
}

TEST_F(hanging, delivery_holds_no_lock)
{
	struct stopped s = { .fd = self->m.fd, .cmd = variant->cmd, .arg = self->page };

	if (self->uffd < 0)
		SKIP(return, "no userfaultfd that stops writes");
	if (variant->cmd == UPOOL_IOC_CREATE || variant->cmd == UPOOL_IOC_ATTACH)
		s.fd = device_open();
	EXPECT_EQ(0, hang(&s, self->uffd, self->page, self->m.fd));
	EXPECT_EQ(0, s.ret);
	if (s.fd != self->m.fd)
		close(s.fd);
}

/* The process ends though its call hangs, and keeps nothing. */
TEST_F(hanging, delivery_can_be_killed)
{
	uint32_t index[NR], n;
	struct pool_member m;
	pid_t pid;

	if (self->uffd < 0)
		SKIP(return, "no userfaultfd that stops writes");
	if (variant->cmd != UPOOL_IOC_POP)
		return;
	pid = fork();
	if (!pid) {
		struct stopped s = { .cmd = variant->cmd };
		struct uffd_msg msg;
		pthread_t thread;
		char *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
				  MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
		int uffd;

		memcpy(page, self->page, 4096);
		uffd = stop_writes(page);
		if (member_reopen(&m, self->m.fd))
			_exit(1);
		s.fd = m.fd;
		s.arg = page;
		pthread_create(&thread, NULL, stopped_call, &s);
		if (read(uffd, &msg, sizeof(msg)) == sizeof(msg))
			kill(getpid(), SIGKILL);
		_exit(2);
	}
	EXPECT_EQ(-SIGKILL, child_status(pid));
	n = pop_all(self->m.fd, index, NR);
	EXPECT_EQ(NR - 1, n);
}

TEST_HARNESS_MAIN
