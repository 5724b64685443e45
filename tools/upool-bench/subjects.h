/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * subjects.h - who is measured, and in what kind of process.
 * Owns: struct peer.  Locks: none.  Entry: the driver's files.
 */
#ifndef UPOOL_BENCH_SUBJECTS_H
#define UPOOL_BENCH_SUBJECTS_H

enum peer_kind {
	PEER_OURS,
	PEER_MALLOC,	/* packaged, of any size */
	PEER_FIXED,	/* packaged, of one size: a list before malloc, or made beforehand */
	PEER_FLOOR,	/* what cannot be beaten */
	PEER_NAIVE,	/* what people write */
};

/**
 * struct peer - a subject as the driver knows it; constant
 * @name:     in the results
 * @family:   the worker that has it
 * @subject:  its name there
 * @preload:  library that is to replace malloc, NULL = none
 * @tunables: GLIBC_TUNABLES of the process, NULL = none
 * @malloc:   what the name of malloc's library has to contain, NULL = not looked at
 * @kinds:    KIND_BIT() of the cases that it is measured in
 * @kind:     what it is; ratios are taken to the packaged ones
 * @about:    for --list
 */
struct peer {
	const char	*name;
	const char	*family;
	const char	*subject;
	const char	*preload;
	const char	*tunables;
	const char	*malloc;
	unsigned int	kinds;
	enum peer_kind	kind;
	const char	*about;
};

#define MAX_PEERS	40u

/* Ends with a peer without a name. */
extern const struct peer bench_peers[];

#endif /* UPOOL_BENCH_SUBJECTS_H */
