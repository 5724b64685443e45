// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * proc_members.c - processes join, hand over and leave.
 */
#include <sys/socket.h>
#include <sys/wait.h>
#include "kselftest_harness.h"
#include "pool_fixture.h"

#define NR	32

/* Run @fn in a child; its value is the exit status. */
#define IN_CHILD(fn) ({						\
	pid_t pid_ = fork();					\
	int status_ = -1;					\
								\
	if (!pid_)						\
		_exit(fn);					\
	waitpid(pid_, &status_, 0);				\
	WIFEXITED(status_) ? WEXITSTATUS(status_) : 1000 + status_; \
})

FIXTURE(members)
{
	struct upool *pool;
	int sock[2];
};

FIXTURE_SETUP(members)
{
	ASSERT_EQ(0, make_pool(&self->pool, 4096, NR, 0));
	ASSERT_EQ(0, socketpair(AF_UNIX, SOCK_SEQPACKET, 0, self->sock));
}

FIXTURE_TEARDOWN(members)
{
	EXPECT_EQ(NR, count_buffers(self->pool, NR));
	upool_close(self->pool);
}

/* Which call misbehaved in a child that inherited @pool, or 0. */
static int use_inherited(struct upool *pool, void *held)
{
	struct upool_reservation *r;
	void *buf;

	if (upool_alloc(pool, 1))
		return 1;
	if (upool_free(pool, held) != -EPERM)
		return 2;
	if (upool_token(pool, held))
		return 3;
	if (upool_accept(pool, 1, &buf) != -EPERM)
		return 4;
	if (upool_free_token(pool, 1) != -EPERM)
		return 5;
	if (upool_reserve(pool, 1, 1, &r) != -EPERM)
		return 6;
	if (upool_alloc_wait(pool, 1, 1))
		return 7;
	if (upool_destroy(pool) != -EPERM)
		return 8;
	return upool_close(pool) ? 9 : 0;
}

TEST_F(members, inherited_handle_is_dead)
{
	void *held = upool_alloc(self->pool, 1);

	EXPECT_EQ(0, IN_CHILD(use_inherited(self->pool, held)));
	EXPECT_EQ(0, upool_free(self->pool, held));
}

static int join_inherited(struct upool *inherited)
{
	struct upool *pool;
	size_t n;

	if (upool_attach(&pool, upool_fd(inherited)))
		return 1;
	upool_close(inherited);
	n = count_buffers(pool, NR);
	upool_close(pool);
	return n == NR ? 0 : 2;
}

TEST_F(members, child_joins_through_the_descriptor)
{
	EXPECT_EQ(0, IN_CHILD(join_inherited(self->pool)));
}

static int send_fd(int sock, int fd)
{
	char control[CMSG_SPACE(sizeof(int))] = { 0 }, byte = 0;
	struct iovec iov = { &byte, 1 };
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1, .msg_control = control,
			      .msg_controllen = sizeof(control) };
	struct cmsghdr *c = CMSG_FIRSTHDR(&msg);

	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(c), &fd, sizeof(int));
	return sendmsg(sock, &msg, 0) == 1 ? 0 : -1;
}

static int recv_fd(int sock)
{
	char control[CMSG_SPACE(sizeof(int))], byte;
	struct iovec iov = { &byte, 1 };
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1, .msg_control = control,
			      .msg_controllen = sizeof(control) };
	int fd;

	if (recvmsg(sock, &msg, 0) != 1 || !CMSG_FIRSTHDR(&msg))
		return -1;
	memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&msg)), sizeof(int));
	return fd;
}

/* Child: receives a descriptor, then a token; answers in the buffer. */
static int receive(int sock)
{
	struct upool *pool;
	upool_token_t token;
	void *buf;

	if (upool_attach(&pool, recv_fd(sock)))
		return 1;
	if (read(sock, &token, sizeof(token)) != sizeof(token))
		return 2;
	if (upool_accept(pool, token, &buf) || strcmp(buf, "question"))
		return 3;
	if (upool_accept(pool, token, &buf) != -ESTALE)
		return 4;
	strcpy(buf, "answer");
	token = upool_token(pool, buf);
	if (write(sock, &token, sizeof(token)) != sizeof(token))
		return 5;
	/* a member that leaves takes unclaimed tokens along: wait until it is claimed */
	if (read(sock, &token, sizeof(token)) != sizeof(token))
		return 6;
	return upool_close(pool);
}

TEST_F(members, buffer_goes_there_and_back)
{
	void *buf = upool_alloc(self->pool, 4096), *back;
	upool_token_t token;
	pid_t pid = fork();
	int status;

	if (!pid)
		_exit(receive(self->sock[1]));
	ASSERT_EQ(0, send_fd(self->sock[0], upool_fd(self->pool)));
	strcpy(buf, "question");
	token = upool_token(self->pool, buf);
	ASSERT_EQ(sizeof(token), write(self->sock[0], &token, sizeof(token)));
	ASSERT_EQ(sizeof(token), read(self->sock[0], &token, sizeof(token)));
	EXPECT_EQ(0, upool_accept(self->pool, token, &back));
	EXPECT_EQ(buf, back);
	EXPECT_STREQ("answer", back);
	ASSERT_EQ(sizeof(token), write(self->sock[0], &token, sizeof(token)));
	EXPECT_EQ(0, upool_free(self->pool, back));
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_EQ(0, status);
}

static int fork_and_use(struct upool *pool)
{
	struct upool *own;

	if (make_pool(&own, 64, 4, 0))
		return 1;
	if (count_buffers(own, 4) != 4)
		return 2;
	upool_close(own);
	upool_close(pool);
	return 0;
}

TEST_F(members, child_makes_pools_of_its_own)
{
	EXPECT_EQ(0, IN_CHILD(fork_and_use(self->pool)));
}

TEST_HARNESS_MAIN
