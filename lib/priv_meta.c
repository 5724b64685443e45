// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * priv_meta.c - memory for magazines, caches, states: powers of two from whole chunks.
 * Owns: the chunks, which are never given back.  Locks: meta.  Entry: priv_*.c.
 *
 * Not malloc(): the library may be called from one, and what a stale pointer leads to
 * stays readable.
 */
#include <string.h>
#include "priv.h"
#include "sys.h"
#include "sys_vm.h"

#define CHUNK		(1U << 20)
#define MIN_SHIFT	6
#define NR_SIZES	15

static pthread_mutex_t lock = SYS_LOCK_INIT;
static void *free_list[NR_SIZES];	/* [lock], linked by their first words */
static unsigned char *chunk;		/* [lock] what is left of it ... */
static size_t left;			/* [lock] */
static uint64_t mapped;			/* [lock; read atomic] */

static unsigned int size_of(size_t bytes)
{
	unsigned int i = 0;

	while (((size_t)1 << (MIN_SHIFT + i)) < bytes)
		i++;
	return i;
}

static void *carve(size_t bytes)
{
	void *p;

	if (left < bytes) {
		if (sys_anon(&p, CHUNK))
			return NULL;
		chunk = p;	/* the rest of the old one is lost: less than was asked */
		left = CHUNK;
		store_relaxed(&mapped, mapped + CHUNK);
	}
	p = chunk;
	chunk += bytes;
	left -= bytes;
	return p;
}

void *meta_get(size_t bytes)
{
	unsigned int i = size_of(bytes);
	void *p;

	if (i >= NR_SIZES)
		return NULL;
	pthread_mutex_lock(&lock);
	p = free_list[i];
	if (p)
		free_list[i] = *(void **)p;
	else
		p = carve((size_t)1 << (MIN_SHIFT + i));
	pthread_mutex_unlock(&lock);
	return p;
}

void *meta_alloc(size_t bytes)
{
	void *p = meta_get(bytes);

	return p ? memset(p, 0, bytes) : NULL;
}

void meta_free(void *p, size_t bytes)
{
	unsigned int i = size_of(bytes);

	if (!p)
		return;
	pthread_mutex_lock(&lock);
	*(void **)p = free_list[i];
	free_list[i] = p;
	pthread_mutex_unlock(&lock);
}

uint64_t meta_bytes(void)
{
	return load_relaxed(&mapped);
}

void meta_fork(bool before)
{
	if (before)
		pthread_mutex_lock(&lock);
	else
		pthread_mutex_unlock(&lock);
}
