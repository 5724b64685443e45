/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * transport.h - how buffers travel: as tokens of a pool, or copied through pipes.
 * Owns: struct transport, struct member.  Locks: none; a member belongs to one
 * process.  Entry: reader.c, worker.c, writer.c, run.c.
 */
#ifndef UPOOL_PIPE_TRANSPORT_H
#define UPOOL_PIPE_TRANSPORT_H

#include "shared.h"

enum role {
	ROLE_READER,
	ROLE_WORKER,
	ROLE_WRITER,
};

/**
 * struct member - one process of a pass
 * @job:    the pass
 * @role:   what it does
 * @index:  of a worker
 * @stats:  its statistics
 * @pool:   its handle
 * @spare:  reader: a buffer that was not needed yet; worker: where the next
 *          frame goes
 * @taken:  reader: buffers allocated
 * @priv:   the transport's
 */
struct member {
	const struct job *job;
	enum role role;
	unsigned int index;
	struct proc_stats *stats;
	struct upool *pool;
	void *spare;
	uint64_t taken;
	void *priv;
};

/**
 * struct transport - the operations; what cannot be done ends the process
 * @setup:   before the processes are forked; 0 or -errno
 * @forked:  in the parent, after that
 * @join:    in each process, first
 * @leave:   in each process, last
 * @take:    reader: a buffer to fill, waiting for one
 * @send:    reader: give a chunk to a worker; a chunk without data has none of its own
 * @flush:   reader: everything sent is to be worked on now, I may sleep
 * @end:     reader: nothing follows
 * @recv:    worker: next chunk; false = nothing follows
 * @target:  worker: where to put the frame of this chunk
 * @publish: worker: an outcome; with a frame, what is in @target
 * @release: worker: done with the chunk
 * @collect: writer: wait for the outcome of a unit; false = there is no such unit.
 *           @before_sleep is called before it waits
 * @done:    writer: done with the outcome
 */
struct transport {
	const char *name;
	int (*setup)(struct job *job);
	void (*forked)(struct job *job);
	void (*join)(struct member *m);
	void (*leave)(struct member *m);
	void *(*take)(struct member *m);
	void (*send)(struct member *m, unsigned int worker, const struct chunk *c);
	void (*flush)(struct member *m);
	void (*end)(struct member *m);
	bool (*recv)(struct member *m, struct chunk *c);
	void *(*target)(struct member *m);
	void (*publish)(struct member *m, const struct outcome *o);
	void (*release)(struct member *m, struct chunk *c);
	bool (*collect)(struct member *m, uint64_t unit, struct outcome *o,
			void (*before_sleep)(void *), void *arg);
	void (*done)(struct member *m, struct outcome *o);
};

extern const struct transport pool_transport, pipe_transport;

/* The processes' main functions; they return when the work is done. */
void reader_run(struct member *m);
void worker_run(struct member *m);
void writer_run(struct member *m);

#endif /* UPOOL_PIPE_TRANSPORT_H */
