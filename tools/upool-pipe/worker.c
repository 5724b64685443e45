// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * worker.c - works on the chunks it is sent, in their order.
 * Owns: nothing.  Locks: none.  Entry: worker_run().
 */
#include "report.h"
#include "transport.h"

/* Returns true when the unit is complete and *o is its outcome. */
static bool digest(const struct op *op, void *state, const struct chunk *c, struct outcome *o)
{
	if (c->len && !op->add(state, c->data, c->len))
		die("%s failed", op->name);
	if (!(c->flags & CHUNK_LAST))
		return false;
	o->failed = !!(c->flags & CHUNK_FAILED);
	/* a failed file's bytes are forgotten too */
	if (!op->finish(state, o->digest) || !op->reset(state))
		die("%s failed", op->name);
	return true;
}

static bool frame(struct member *m, void *state, const struct chunk *c, struct outcome *o)
{
	const struct job *job = m->job;
	size_t len = job->op->frame(state, job->transport->target(m), job->buffer_bytes, c->data,
				    c->len);

	if (!len)
		die("%s failed", job->op->name);
	o->len = len;
	return true;
}

void worker_run(struct member *m)
{
	const struct transport *t = m->job->transport;
	const struct op *op = m->job->op;
	void *state = op->start(m->job->opt->level);
	struct chunk c;
	bool complete;

	if (!state || (op->reset && !op->reset(state)))
		die("cannot start %s", op->name);
	while (t->recv(m, &c)) {
		struct outcome o = { .unit = c.unit };

		complete = op->frames ? frame(m, state, &c, &o) : digest(op, state, &c, &o);
		if (complete)
			t->publish(m, &o);
		t->release(m, &c);
		stat_add(&m->stats->bytes, c.len);
		stat_add(&m->stats->units, complete);
		stat_add(&m->stats->chunks, 1);
	}
}
