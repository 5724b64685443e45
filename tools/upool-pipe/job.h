/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * job.h - what one run does.
 * Owns: struct options, struct op, struct job.  Locks: none; everything here is
 * set up before the processes are forked and constant after.  Entry: main.c.
 */
#ifndef UPOOL_PIPE_JOB_H
#define UPOOL_PIPE_JOB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <upool.h>

#define MAX_WORKERS	256u
#define DIGEST_MAX	32u	/* bytes of the longest digest */
#define EXIT_PEER_GONE	3	/* a process at the other end of a pipe died: it is the news */

/**
 * struct op - what the workers do with the bytes
 * @name:       on the command line
 * @stdin_name: what standard input is called in the output
 * @frames:     output is a frame per buffer (@frame); else a line per file
 * @start:      make a worker's state; NULL = out of memory
 * @reset:      forget what was added
 * @add:        take the next bytes of a file
 * @finish:     write the digest of the bytes added, DIGEST_MAX bytes of room
 * @print:      print the line of one file
 * @frame:      compress; returns bytes written to @out, 0 on failure
 * @room:       most input bytes whose frame fits a buffer
 */
struct op {
	const char *name;
	const char *stdin_name;
	bool frames;
	void *(*start)(int level);
	bool (*reset)(void *state);
	bool (*add)(void *state, const void *data, size_t len);
	bool (*finish)(void *state, unsigned char *digest);
	void (*print)(FILE *to, const unsigned char *digest, const char *name);
	size_t (*frame)(void *state, void *out, size_t room, const void *in, size_t len);
	size_t (*room)(size_t buffer_bytes);
};

extern const struct op op_sha256, op_xxh3, op_xxh128, op_zstd;

/* The command line. */
struct options {
	const struct op *op;
	char **files;		/* never empty: "-" is standard input */
	size_t nr_files;
	const char *output;	/* NULL = standard output */
	const char *name;
	size_t buffer_bytes;
	size_t nr_buffers;
	unsigned int nr_workers;
	unsigned int backing;
	int level;
	bool persist;
	bool compare;
	bool progress;
	bool summary;
	bool json;
};

struct shared;
struct pipes;
struct transport;

/**
 * struct job - one pass over the files
 * @opt:          the command line
 * @op:           what to do
 * @transport:    how buffers travel
 * @pool:         the parent's handle
 * @shared:       memory of all processes of this pass
 * @pipes:        the pipe transport's
 * @buffer_bytes: bytes of a buffer
 * @fill_bytes:   bytes of it that are filled
 * @nr_workers:   worker processes
 * @credits:      buffers that can be between the reader and their return
 * @window:       units that can be between the reader and the writer; a power of two
 * @out_fd:       where results go; -1 = discarded
 * @quiet:        files that cannot be read were reported by an earlier pass
 */
struct job {
	const struct options *opt;
	const struct op *op;
	const struct transport *transport;
	struct upool *pool;
	struct shared *shared;
	struct pipes *pipes;
	size_t buffer_bytes;
	size_t fill_bytes;
	unsigned int nr_workers;
	uint32_t credits;
	uint32_t window;
	int out_fd;
	bool quiet;
};

/**
 * is_stdin() - is a name of the list standard input?
 * @name: a name
 * Return: true for "-"
 */
static inline bool is_stdin(const char *name)
{
	return name[0] == '-' && !name[1];
}

#endif /* UPOOL_PIPE_JOB_H */
