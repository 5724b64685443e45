// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * results.c - sums up, and prints the table.
 * Owns: nothing.  Locks: none.  Entry: run.c, json.c, main.c.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "results.h"

static int by_value(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static int by_median(const void *a, const void *b)
{
	const struct result *x = a, *y = b;

	if (!x->s.nr || !y->s.nr)
		return !x->s.nr - !y->s.nr;
	return by_value(&x->s.median, &y->s.median);
}

void series_add(struct series *s, double value)
{
	if (s->nr < MAX_ROUNDS_ROW)
		s->value[s->nr++] = value;
}

void series_sum_up(struct series *s)
{
	double sorted[MAX_ROUNDS_ROW];

	if (!s->nr)
		return;
	memcpy(sorted, s->value, s->nr * sizeof(sorted[0]));
	qsort(sorted, s->nr, sizeof(sorted[0]), by_value);
	s->min = sorted[0];
	s->max = sorted[s->nr - 1];
	s->median = (sorted[s->nr / 2] + sorted[(s->nr - 1) / 2]) / 2;
}

/* The least median of the packaged peers, or of those of any size; 0 = none. */
static double best_peer(const struct row *row, int any_size)
{
	double best = 0;
	unsigned int i;

	for (i = 0; i < row->nr; i++) {
		const struct result *r = &row->result[i];

		if (r->peer->kind != PEER_MALLOC && (any_size || r->peer->kind != PEER_FIXED))
			continue;
		if (r->s.nr && (best <= 0 || r->s.median < best))
			best = r->s.median;
	}
	return best;
}

static const char *kind_name(enum peer_kind kind)
{
	static const char *const names[] = {
		[PEER_OURS] = "ours",
		[PEER_MALLOC] = "malloc",
		[PEER_FIXED] = "fixed",
		[PEER_FLOOR] = "floor",
		[PEER_NAIVE] = "naive",
	};

	return names[kind];
}

static void print_ratio(double value, double best)
{
	if (best > 0)
		printf(" %10.3g", value / best);
	else
		printf(" %10s", "-");
}

void table_print(struct row *row)
{
	double peer, any_size;
	unsigned int i;

	qsort(row->result, row->nr, sizeof(row->result[0]), by_median);
	peer = best_peer(row, 0);
	any_size = best_peer(row, 1);
	printf("\n%s, %s", row->c->name, row->c->unit);
	if (row->ping.nr)
		printf(" (core to core %.0f ns, %.0f to %.0f)", row->ping.median, row->ping.min,
		       row->ping.max);
	printf("\n%-16s %-6s %11s %11s %11s %4s %10s %10s\n", "subject", "kind", "median", "min",
	       "max", "n", "/best peer", "/malloc");
	for (i = 0; i < row->nr; i++) {
		const struct result *r = &row->result[i];

		printf("%-16s %-6s ", r->peer->name, kind_name(r->peer->kind));
		if (!r->s.nr) {
			printf("%11s  %s\n", "skipped", r->skip);
			continue;
		}
		printf("%11.4g %11.4g %11.4g %4u", r->s.median, r->s.min, r->s.max, r->s.nr);
		print_ratio(r->s.median, peer);
		print_ratio(r->s.median, any_size);
		putchar('\n');
	}
	fflush(stdout);
}
