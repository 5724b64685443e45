/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * shared.h - the memory that the processes of one pass have in common: tokens,
 * digests and counts, never a buffer's contents.
 * Owns: struct shared, struct ring, struct slot, struct proc_stats.
 * Locks: none; each ring has one producer and one consumer, each slot one
 * publisher at a time.  Entry: run.c, the transports.
 *
 * Invariants:
 * S1  A ring never holds more than ring_cap entries: every entry has a buffer
 *     (at most job->credits) or ends a unit (at most job->window), or is the
 *     final one.  So pushing never waits.
 * S2  Unit u uses slot u % window.  The reader starts u only when the writer is
 *     done with u - window, so a slot is never published twice before it is read.
 *
 * Memory: 128 bytes * window + 32 bytes * ring_cap * workers, touched as used.
 */
#ifndef UPOOL_PIPE_SHARED_H
#define UPOOL_PIPE_SHARED_H

#include "gauge.h"
#include "job.h"

#define CHUNK_LAST	1u	/* the unit ends here */
#define CHUNK_FAILED	2u	/* the file could not be read: no result */
#define CHUNK_QUIT	4u	/* nothing follows; no unit */

/**
 * struct chunk - what the reader sends to a worker
 * @unit:  file or frame, counted from 0
 * @token: of the buffer; 0 = there is none, @len is 0
 * @data:  valid in the process that holds the chunk
 * @len:   bytes filled
 * @flags: CHUNK_*
 */
struct chunk {
	uint64_t unit;
	uint64_t token;
	void *data;
	uint32_t len;
	uint32_t flags;
};

/**
 * struct outcome - what a worker sends to the writer
 * @unit:   which
 * @token:  of the buffer with the frame; 0 = none
 * @data:   valid in the process that holds the outcome
 * @len:    bytes of the frame
 * @failed: no result: print nothing
 * @digest: digest of the file
 */
struct outcome {
	uint64_t unit;
	uint64_t token;
	void *data;
	uint32_t len;
	uint32_t failed;
	unsigned char digest[DIGEST_MAX];
};

/**
 * struct slot - one unit's outcome
 * @ready:   [atomic] unit + 1 once @outcome is that unit's
 * @outcome: [ready]
 */
struct slot {
	alignas(64) _Atomic uint64_t ready;
	struct outcome outcome;
};

/**
 * struct ring - chunks on their way from the reader to one worker
 * @pushed: value = entries ever pushed; the worker sleeps here
 * @head:   entries ever taken; the worker's own
 * @entry:  [pushed] ring_cap of them
 */
struct ring {
	struct gauge pushed;
	alignas(64) uint64_t head;
	struct chunk *entry;	/* [const] */
};

/**
 * struct proc_stats - what one process did  [atomic]: it writes, anybody reads
 * @bytes:     bytes read, worked on, or written
 * @units:     units finished
 * @chunks:    chunks sent with a buffer, worked on, or written
 * @buffers:   buffers allocated
 * @transport: system calls that move chunks or wait for them
 * @file_io:   system calls on inputs and outputs
 * @pool:      system calls of the library
 */
struct proc_stats {
	alignas(64) _Atomic uint64_t bytes;
	_Atomic uint64_t units;
	_Atomic uint64_t chunks;
	_Atomic uint64_t buffers;
	_Atomic uint64_t transport;
	_Atomic uint64_t file_io;
	_Atomic uint64_t pool;
};

/**
 * struct shared - everything else
 * @returned:  buffers that came back; the reader sleeps here
 * @published: outcomes published, and one for the end; the writer sleeps here
 * @written:   units the writer is done with; the reader sleeps here
 * @finished:  1 once the writer is done with everything; one per member, since a
 *             gauge has one sleeper
 * @started:   [atomic] units the reader started; the reader writes
 * @ended:     [atomic] the reader starts no more
 * @failed:    [atomic] something could not be read
 * @checksum:  [atomic] of everything written, stored by the writer at its end
 * @reader, @writer, @worker: statistics
 * @ring:      one per worker
 * @slot:      [const] job->window of them
 * @ring_cap:  [const] entries of a ring, a power of two
 * @map_bytes: [const] of the whole mapping
 */
struct shared {
	struct gauge returned;
	struct gauge published;
	struct gauge written;
	struct gauge finished[MAX_WORKERS + 2];
	alignas(64) _Atomic uint64_t started;
	_Atomic uint32_t ended;
	_Atomic uint32_t failed;
	_Atomic uint64_t checksum;
	struct proc_stats reader;
	struct proc_stats writer;
	struct proc_stats worker[MAX_WORKERS];
	struct ring ring[MAX_WORKERS];
	struct slot *slot;
	uint64_t ring_cap;
	size_t map_bytes;
};

/**
 * shared_map() - make the shared memory of a pass
 * @job: complete but for @shared, which is set
 * Return: 0 or -errno
 */
int shared_map(struct job *job);

/**
 * shared_unmap() - the opposite
 * @job: its @shared becomes NULL
 */
void shared_unmap(struct job *job);

static inline void stat_add(_Atomic uint64_t *counter, uint64_t n)
{
	/* only one process writes: no locked instruction needed */
	atomic_store_explicit(counter, atomic_load_explicit(counter, memory_order_relaxed) + n,
			      memory_order_relaxed);
}

static inline uint64_t stat_read(const _Atomic uint64_t *counter)
{
	return atomic_load_explicit(counter, memory_order_relaxed);
}

#endif /* UPOOL_PIPE_SHARED_H */
