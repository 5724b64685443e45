// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * pipe_transport.c - the same work the classical way, for comparison: contents
 * are copied through pipe(2), reader to worker to writer.
 * Owns: struct pipes, struct stash.  Locks: none.  Entry: struct transport.
 *
 * Nothing waits for ever: the writer drains whichever pipe has something, so a
 * worker gets rid of its outcome, so it reads its chunks, so the reader's writes
 * end.  What comes too early is kept in the stash, at most job->window outcomes.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/uio.h>
#include <unistd.h>
#include "report.h"
#include "transport.h"

#define PIPE_BYTES	(1 << 20)

/**
 * struct pipes - [const] after setup
 * @to:   reader to worker
 * @from: worker to writer
 */
struct pipes {
	int to[MAX_WORKERS][2];
	int from[MAX_WORKERS][2];
};

/**
 * struct stash - the writer's: outcomes that came before their turn
 * @slot: [unit % window]
 * @full: which of them
 */
struct stash {
	struct outcome *slot;
	bool *full;
};

static void *buffer(size_t bytes)
{
	void *p = malloc(bytes ? bytes : 1);

	if (!p)
		die("out of memory");
	return p;
}

static int pipe_setup(struct job *job)
{
	struct pipes *p = calloc(1, sizeof(*p));
	struct rlimit files;
	unsigned int i;

	if (!p)
		return -ENOMEM;
	if (!getrlimit(RLIMIT_NOFILE, &files)) {
		files.rlim_cur = files.rlim_max;
		setrlimit(RLIMIT_NOFILE, &files);
	}
	job->pipes = p;
	for (i = 0; i < job->nr_workers; i++) {
		if (pipe2(p->to[i], O_CLOEXEC) || pipe2(p->from[i], O_CLOEXEC))
			return -errno;
		/* a hint: larger pipes switch less */
		fcntl(p->to[i][1], F_SETPIPE_SZ, PIPE_BYTES);
		fcntl(p->from[i][1], F_SETPIPE_SZ, PIPE_BYTES);
	}
	return 0;
}

/* Close the ends that are not ours; -1 as @worker: of every worker. */
static void keep(const struct job *job, bool to_write, bool from_read, int worker)
{
	const struct pipes *p = job->pipes;
	unsigned int i;

	for (i = 0; i < job->nr_workers; i++) {
		bool mine = worker == (int)i;

		if (!mine)
			close(p->to[i][0]);
		if (!to_write)
			close(p->to[i][1]);
		if (!from_read)
			close(p->from[i][0]);
		if (!mine)
			close(p->from[i][1]);
	}
}

static void pipe_forked(struct job *job)
{
	keep(job, false, false, -1);
	free(job->pipes);
	job->pipes = NULL;
}

static void pipe_join(struct member *m)
{
	struct stash *stash;

	keep(m->job, m->role == ROLE_READER, m->role == ROLE_WRITER,
	     m->role == ROLE_WORKER ? (int)m->index : -1);
	if (m->role == ROLE_WRITER) {
		stash = buffer(sizeof(*stash));
		stash->slot = buffer(m->job->window * sizeof(*stash->slot));
		stash->full = calloc(m->job->window, sizeof(*stash->full));
		if (!stash->full)
			die("out of memory");
		m->priv = stash;
	} else {
		m->spare = buffer(m->job->buffer_bytes);
		m->priv = m->role == ROLE_WORKER ? buffer(m->job->buffer_bytes) : NULL;
	}
}

static void pipe_leave(struct member *m)
{
	(void)m;	/* the process ends */
}

static void broken(const char *what)
{
	if (errno == EPIPE)
		_exit(EXIT_PEER_GONE);
	die("%s: %s", what, strerror(errno));
}

static void write_all(struct member *m, int fd, const void *head, size_t head_len,
		      const void *data, size_t len)
{
	struct iovec iov[2] = {
		{ .iov_base = (void *)head, .iov_len = head_len },
		{ .iov_base = (void *)data, .iov_len = len },
	};
	int i = 0;

	while (i < 2) {
		ssize_t n = writev(fd, iov + i, 2 - i);

		stat_add(&m->stats->transport, 1);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			broken("write to a pipe");
		for (; i < 2 && (size_t)n >= iov[i].iov_len; i++)
			n -= iov[i].iov_len;
		if (i < 2) {
			iov[i].iov_base = (char *)iov[i].iov_base + n;
			iov[i].iov_len -= n;
		}
	}
}

/* Returns false when the pipe ended before the first byte. */
static bool read_all(struct member *m, int fd, void *to, size_t len)
{
	size_t have = 0;

	while (have < len) {
		ssize_t n = read(fd, (char *)to + have, len - have);

		stat_add(&m->stats->transport, 1);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			broken("read from a pipe");
		if (n == 0 && have)
			_exit(EXIT_PEER_GONE);
		if (n == 0)
			return false;
		have += n;
	}
	return true;
}

static void *pipe_take(struct member *m)
{
	stat_add(&m->stats->buffers, 1);
	return m->spare;	/* sending copies it: one is enough */
}

static void pipe_send(struct member *m, unsigned int worker, const struct chunk *c)
{
	const struct pipes *p = m->job->pipes;

	write_all(m, p->to[worker][1], c, sizeof(*c), c->data, c->len);
	if (c->data)
		m->spare = c->data;
}

static void pipe_flush(struct member *m)
{
	(void)m;
}

static void pipe_end(struct member *m)
{
	const struct pipes *p = m->job->pipes;
	unsigned int i;

	for (i = 0; i < m->job->nr_workers; i++)
		close(p->to[i][1]);
}

static bool pipe_recv(struct member *m, struct chunk *c)
{
	const struct pipes *p = m->job->pipes;

	if (!read_all(m, p->to[m->index][0], c, sizeof(*c)))
		return false;
	c->data = m->spare;
	if (c->len && !read_all(m, p->to[m->index][0], c->data, c->len))
		_exit(EXIT_PEER_GONE);
	return true;
}

static void *pipe_target(struct member *m)
{
	return m->priv;
}

static void pipe_publish(struct member *m, const struct outcome *o)
{
	const struct pipes *p = m->job->pipes;

	write_all(m, p->from[m->index][1], o, sizeof(*o), m->priv, o->len);
}

static void pipe_release(struct member *m, struct chunk *c)
{
	(void)m;
	(void)c;
}

/* Put one outcome into the stash; returns false at the end of the pipe. */
static bool stash_one(struct member *m, int fd)
{
	struct stash *stash = m->priv;
	struct outcome o;
	uint64_t at;

	if (!read_all(m, fd, &o, sizeof(o)))
		return false;
	o.data = NULL;
	if (o.len) {
		o.data = buffer(o.len);
		if (!read_all(m, fd, o.data, o.len))
			_exit(EXIT_PEER_GONE);
	}
	at = o.unit & (m->job->window - 1);
	stash->slot[at] = o;
	stash->full[at] = true;
	return true;
}

static bool pipe_collect(struct member *m, uint64_t unit, struct outcome *o,
			 void (*before_sleep)(void *), void *arg)
{
	struct pipes *p = m->job->pipes;
	struct stash *stash = m->priv;
	const uint64_t at = unit & (m->job->window - 1);
	struct pollfd fds[MAX_WORKERS];
	unsigned int i, nr_open;

	while (!stash->full[at]) {
		nr_open = 0;
		for (i = 0; i < m->job->nr_workers; i++) {
			fds[i] = (struct pollfd){ .fd = p->from[i][0], .events = POLLIN };
			nr_open += fds[i].fd >= 0;
		}
		if (!nr_open)
			return false;
		before_sleep(arg);
		stat_add(&m->stats->transport, 1);
		if (poll(fds, m->job->nr_workers, -1) < 0 && errno != EINTR)
			broken("poll");
		for (i = 0; i < m->job->nr_workers; i++)
			if (fds[i].revents && !stash_one(m, fds[i].fd))
				p->from[i][0] = -1;
	}
	*o = stash->slot[at];
	stash->full[at] = false;
	return true;
}

static void pipe_done(struct member *m, struct outcome *o)
{
	free(o->data);
	gauge_add(&m->job->shared->written, 1, &m->stats->transport);
}

const struct transport pipe_transport = {
	.name = "pipe",
	.setup = pipe_setup,
	.forked = pipe_forked,
	.join = pipe_join,
	.leave = pipe_leave,
	.take = pipe_take,
	.send = pipe_send,
	.flush = pipe_flush,
	.end = pipe_end,
	.recv = pipe_recv,
	.target = pipe_target,
	.publish = pipe_publish,
	.release = pipe_release,
	.collect = pipe_collect,
	.done = pipe_done,
};
