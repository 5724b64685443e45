// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * reader.c - fills buffers from the files and gives them to the workers.
 * Owns: struct reader.  Locks: none.  Entry: reader_run().
 *
 * Digests: a file is a unit and goes to one worker; each worker has one open
 * file, so as many are in flight as there are workers.  Frames: a buffer is a
 * unit, one file after the other.  Either way the next buffer goes to the worker
 * with the least waiting, then to the one that got the fewest bytes: a slow
 * worker gets less, equally fast ones the same.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>
#include "report.h"
#include "transport.h"

/**
 * struct lane - what goes to one worker
 * @fd:    open file; -1 = none
 * @file:  its index in the list
 * @unit:  its unit
 * @sent:  chunks sent
 * @bytes: bytes sent
 */
struct lane {
	int fd;
	size_t file;
	uint64_t unit;
	uint64_t sent;
	uint64_t bytes;
};

struct reader {
	struct member *m;
	const struct options *opt;
	size_t next_file;
	uint64_t next_unit;
	struct lane lane[MAX_WORKERS];
};

static void fail_file(struct reader *r, const char *name)
{
	if (!r->m->job->quiet)
		complain("%s: %s", is_stdin(name) ? "standard input" : name,
			 strerror(errno));
	atomic_store(&r->m->job->shared->failed, 1);
}

static int open_file(struct reader *r, const char *name)
{
	int fd;

	if (is_stdin(name))
		return STDIN_FILENO;
	stat_add(&r->m->stats->file_io, 1);
	do {
		fd = open(name, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	} while (fd < 0 && errno == EINTR);
	if (fd < 0)
		fail_file(r, name);
	return fd;
}

static void close_file(struct reader *r, int fd)
{
	if (fd == STDIN_FILENO)
		return;
	stat_add(&r->m->stats->file_io, 1);
	close(fd);
}

/* Read until the buffer is full or the file ends; *error is set if it failed. */
static size_t fill(struct reader *r, int fd, void *buf, size_t room, int *error)
{
	size_t len = 0;

	*error = 0;
	while (len < room) {
		ssize_t n = read(fd, (char *)buf + len, room - len);

		stat_add(&r->m->stats->file_io, 1);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			*error = errno;
		if (n <= 0)
			break;
		len += n;
	}
	stat_add(&r->m->stats->bytes, len);
	return len;
}

static bool has_room(const struct reader *r)
{
	const struct job *job = r->m->job;

	return r->next_unit - gauge_read(&job->shared->written) < job->window;	/* S2 */
}

static void wait_for_room(struct reader *r)
{
	const struct job *job = r->m->job;

	r->m->job->transport->flush(r->m);
	gauge_wait(&job->shared->written, r->next_unit - job->window + (job->window + 3) / 4,
		   GAUGE_FOREVER, &r->m->stats->transport);
}

static uint64_t start_unit(struct reader *r)
{
	stat_add(&r->m->job->shared->started, 1);
	return r->next_unit++;
}

static void send(struct reader *r, unsigned int worker, const struct chunk *c)
{
	r->lane[worker].sent++;
	r->lane[worker].bytes += c->len;
	stat_add(&r->m->stats->chunks, !!c->data);
	r->m->job->transport->send(r->m, worker, c);
}

/* The lane to serve next among those with a file, or all; -1 = there is none. */
static int choose(const struct reader *r, bool open_only)
{
	const struct shared *s = r->m->job->shared;
	uint64_t waiting, least = 0;
	int best = -1;
	unsigned int i;

	for (i = 0; i < r->m->job->nr_workers; i++) {
		const struct lane *l = &r->lane[i];

		if (open_only && l->fd < 0)
			continue;
		waiting = l->sent - stat_read(&s->worker[i].chunks);
		if (best < 0 || waiting < least ||
		    (waiting == least && l->bytes < r->lane[best].bytes)) {
			best = (int)i;
			least = waiting;
		}
	}
	return best;
}

/* Every file is a unit, a file that cannot be opened too: the order tells them apart. */
static void open_lane(struct reader *r, unsigned int worker)
{
	struct lane *l = &r->lane[worker];
	struct chunk c = { .flags = CHUNK_LAST | CHUNK_FAILED };

	l->file = r->next_file++;
	l->unit = start_unit(r);
	l->fd = open_file(r, r->opt->files[l->file]);
	if (l->fd < 0) {
		c.unit = l->unit;
		send(r, worker, &c);
	}
}

static void serve_lane(struct reader *r, unsigned int worker)
{
	struct member *m = r->m;
	struct lane *l = &r->lane[worker];
	struct chunk c = { .unit = l->unit };
	void *buf = m->job->transport->take(m);
	int error;

	c.len = fill(r, l->fd, buf, m->job->fill_bytes, &error);
	if (c.len < m->job->fill_bytes) {
		c.flags = CHUNK_LAST;
		close_file(r, l->fd);
		l->fd = -1;
		stat_add(&m->stats->units, 1);
	}
	if (error) {
		errno = error;
		fail_file(r, r->opt->files[l->file]);
		c.flags |= CHUNK_FAILED;
	}
	if (c.len)
		c.data = buf;
	else
		m->spare = buf;
	send(r, worker, &c);
}

static void read_digests(struct reader *r)
{
	bool more;
	int worker;

	for (;;) {
		more = r->next_file < r->opt->nr_files;
		worker = choose(r, !more || !has_room(r));
		if (worker < 0 && !more)
			return;
		if (worker < 0)
			wait_for_room(r);	/* D4: no file is open */
		else if (r->lane[worker].fd < 0)
			open_lane(r, worker);
		else
			serve_lane(r, worker);
	}
}

/* One frame at least, so that an empty file is one too. */
static void read_frames(struct reader *r, const char *name, int fd)
{
	struct member *m = r->m;
	bool first = true;
	int error = 0;

	for (;;) {
		struct chunk c = { .flags = CHUNK_LAST };

		while (!has_room(r))
			wait_for_room(r);
		c.data = m->job->transport->take(m);
		c.len = fill(r, fd, c.data, m->job->fill_bytes, &error);
		if (!c.len && (error || !first)) {
			m->spare = c.data;
			break;
		}
		c.unit = start_unit(r);
		send(r, choose(r, false), &c);
		first = false;
		if (c.len < m->job->fill_bytes)
			break;
	}
	if (error) {
		errno = error;
		fail_file(r, name);
	}
}

void reader_run(struct member *m)
{
	static struct reader r;
	size_t i;
	int fd;

	r.m = m;
	r.opt = m->job->opt;
	for (i = 0; i < MAX_WORKERS; i++)
		r.lane[i].fd = -1;
	if (!m->job->op->frames)
		read_digests(&r);
	for (i = 0; m->job->op->frames && i < r.opt->nr_files; i++) {
		fd = open_file(&r, r.opt->files[i]);
		if (fd < 0)
			continue;
		read_frames(&r, r.opt->files[i], fd);
		close_file(&r, fd);
		stat_add(&m->stats->units, 1);
	}
	m->job->transport->end(m);
}
