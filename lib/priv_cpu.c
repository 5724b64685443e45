// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * priv_cpu.c - a magazine per CPU and size class, for threads that have none.
 * Owns: struct cpu_slots, struct cpu_table.  Locks: cpus.  Entry: priv_alloc.c.
 *
 * A thread whose bins found no room in the budget, or that is ending, would take two
 * locks for each buffer.  With restartable sequences it takes none, and what is cached
 * is bounded by CPUs, however many threads there are.  The bytes these magazines have
 * room for count as retained.
 *
 * Invariant
 *	M7  A CPU's slots, and magazines in them, change only in sequences on that CPU;
 *	    or by who has the lock, put "stopped" in place of the slots, and made every
 *	    CPU restart its sequences since.
 */
#include "arch/cpu_ops.h"
#include "rseq.h"
#include "sys.h"
#include "sys_vm.h"

#define SHARE		4	/* of the bytes retained, at most one in so many */
#define MAX_ABORTS	16	/* then around it: somebody steps through this thread */

static struct cpu_slots stopped;	/* [const] no magazines */

const char *cpus_init(struct priv *p)
{
	uint32_t nr = sys_nr_cpu_ids(), i;
	const char *why = rseq_unusable();

	sys_lock_init(&p->cpus_lock);
	if (why)
		return why;
	if (!UPOOL_RSEQ_CPU_OPS)
		return "architecture";
	if (sys_barrier_rseq_init())
		return "membarrier";
	p->cpus.slots = meta_alloc(nr * sizeof(struct cpu_slots *));
	p->cpu_slots = meta_alloc(nr * sizeof(struct cpu_slots *));
	if (!p->cpus.slots || !p->cpu_slots) {
		meta_free(p->cpus.slots, nr * sizeof(struct cpu_slots *));
		p->cpus.slots = NULL;
		return "memory";
	}
	for (i = 0; i < nr; i++)
		p->cpus.slots[i] = &stopped;
	p->cpus.stopped = &stopped;
	p->cpus.rseq_off = rseq_offset();
	p->cpus.nr_cpus = nr;
	return NULL;
}

/* Who waits for a buffer looks into the depot. */
static bool usable(struct priv *p)
{
	return p->cpus.slots && !load_seq_cst(&p->waiters);
}

/* What a magazine of a class has room for. */
static uint64_t room_of(unsigned int cls)
{
	return magazine_cap(cls) * class_bytes(cls);
}

static bool allowed(const struct priv *p, unsigned int cls)
{
	return room_of(cls) <= p->retain / SHARE;
}

static bool charge(struct priv *p, uint64_t bytes)
{
	uint64_t used = load_relaxed(&p->cpu_bytes);

	do {
		if (used + bytes > p->retain / SHARE ||
		    load_relaxed(&p->depot) + used + bytes > p->retain)
			return false;
	} while (!__atomic_compare_exchange_n(&p->cpu_bytes, &used, used + bytes, true,
					      __ATOMIC_RELAXED, __ATOMIC_RELAXED));
	return true;
}

static void to_depot(struct priv *p, unsigned int cls, struct magazine *mag)
{
	if (mag && mag->nr)
		shard_put(p, cls, mag);
	else
		magazine_free(mag);
}

/* Slots for this CPU, if it has none yet. */
static bool make_slots(struct priv *p)
{
	int cpu = sys_cpu();
	bool made;

	if (cpu < 0 || (uint32_t)cpu >= p->cpus.nr_cpus)
		return false;
	pthread_mutex_lock(&p->cpus_lock);
	if (!p->cpu_slots[cpu])
		p->cpu_slots[cpu] = meta_alloc(sizeof(struct cpu_slots));
	made = p->cpu_slots[cpu];
	if (made)
		store_release(&p->cpus.slots[cpu], p->cpu_slots[cpu]);
	pthread_mutex_unlock(&p->cpus_lock);
	return made;
}

/* Put *@mag in place of this CPU's, which *@mag receives. */
static bool swap(struct priv *p, unsigned int cls, struct magazine **mag)
{
	enum rseq_outcome out;
	int i;

	for (i = 0; i < MAX_ABORTS; i++) {
		out = rseq_cpu_swap(&p->cpus, cls, mag);
		if (out == RSEQ_DONE)
			return true;
		if (out != RSEQ_ABORTED && (out != RSEQ_EMPTY || !make_slots(p)))
			return false;
	}
	return false;
}

/* @mag to this CPU; what it had there, or @mag if that cannot be, to the depot. */
static void install(struct priv *p, unsigned int cls, struct magazine *mag)
{
	uint64_t bytes = room_of(cls);

	if (charge(p, bytes)) {
		mag->stamp = sys_age_ms();
		if (!swap(p, cls, &mag) || mag)
			sub_relaxed(&p->cpu_bytes, bytes);
	}
	to_depot(p, cls, mag);
}

static bool refill(struct priv *p, unsigned int cls, struct upool__entry *e)
{
	struct magazine *mag;

	if (!allowed(p, cls))
		return false;
	mag = shard_get(p, cls);
	if (!mag)
		mag = magazine_new(cls);
	if (!mag)
		return false;
	if (!mag->nr && !span_refill(p, cls, mag, magazine_portion(p, mag, mag->cap))) {
		magazine_free(mag);
		return false;
	}
	*e = mag->e[--mag->nr];
	install(p, cls, mag);
	return true;
}

bool cpu_get(struct priv *p, unsigned int cls, struct upool__entry *e)
{
	enum rseq_outcome out = RSEQ_ABORTED;
	int i;

	if (!usable(p))
		return false;
	for (i = 0; out == RSEQ_ABORTED && i < MAX_ABORTS; i++)
		out = rseq_cpu_pop(&p->cpus, cls, e);
	return out == RSEQ_DONE || (out == RSEQ_EMPTY && refill(p, cls, e));
}

bool cpu_put(struct priv *p, unsigned int cls, const struct upool__entry *e)
{
	enum rseq_outcome out = RSEQ_ABORTED;
	struct magazine *mag;
	int i;

	if (!usable(p))
		return false;
	for (i = 0; out == RSEQ_ABORTED && i < MAX_ABORTS; i++)
		out = rseq_cpu_push(&p->cpus, cls, e);
	mag = out == RSEQ_FULL && allowed(p, cls) ? magazine_new(cls) : NULL;
	if (!mag)
		return out == RSEQ_DONE;
	mag->e[mag->nr++] = *e;
	install(p, cls, mag);
	return true;
}

/* M7: the caller has the lock. */
static void stop(struct priv *p)
{
	bool any = false;
	uint32_t cpu;

	for (cpu = 0; cpu < p->cpus.nr_cpus; cpu++) {
		any |= p->cpus.slots[cpu] != &stopped;
		store_relaxed(&p->cpus.slots[cpu], &stopped);
	}
	if (any)
		sys_barrier_rseq();
}

static void resume(struct priv *p)
{
	uint32_t cpu;

	for (cpu = 0; cpu < p->cpus.nr_cpus; cpu++)
		if (p->cpu_slots[cpu])
			store_release(&p->cpus.slots[cpu], p->cpu_slots[cpu]);
}

void cpus_drain(struct priv *p, uint64_t before)
{
	struct magazine *mag;
	unsigned int cls;
	uint32_t cpu;

	pthread_mutex_lock(&p->cpus_lock);
	stop(p);
	for (cpu = 0; cpu < p->cpus.nr_cpus; cpu++) {
		for (cls = 0; p->cpu_slots[cpu] && cls < UPOOL__CLASSES; cls++) {
			mag = p->cpu_slots[cpu]->mag[cls];
			if (!mag || mag->stamp >= before)
				continue;
			p->cpu_slots[cpu]->mag[cls] = NULL;
			sub_relaxed(&p->cpu_bytes, room_of(cls));
			to_depot(p, cls, mag);
		}
	}
	resume(p);
	pthread_mutex_unlock(&p->cpus_lock);
}

uint64_t cpus_idle(struct priv *p, uint64_t *bytes)
{
	const struct magazine *mag;
	unsigned int cls;
	uint64_t nr = 0;
	uint32_t cpu;

	pthread_mutex_lock(&p->cpus_lock);
	stop(p);
	for (cpu = 0; cpu < p->cpus.nr_cpus; cpu++) {
		for (cls = 0; p->cpu_slots[cpu] && cls < UPOOL__CLASSES; cls++) {
			mag = p->cpu_slots[cpu]->mag[cls];
			nr += mag ? mag->nr : 0;
			*bytes += mag ? mag->nr * class_bytes(cls) : 0;
		}
	}
	resume(p);
	pthread_mutex_unlock(&p->cpus_lock);
	return nr;
}

/* Nobody uses the pool; the buffers belong to spans that end too. */
void cpus_release(struct priv *p)
{
	uint32_t nr = p->cpus.nr_cpus, cpu;

	cpus_drain(p, UINT64_MAX);
	for (cpu = 0; cpu < nr; cpu++)
		meta_free(p->cpu_slots[cpu], sizeof(struct cpu_slots));
	meta_free(p->cpu_slots, nr * sizeof(struct cpu_slots *));
	meta_free(p->cpus.slots, nr * sizeof(struct cpu_slots *));
	pthread_mutex_destroy(&p->cpus_lock);
}
