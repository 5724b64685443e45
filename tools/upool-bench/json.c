// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * json.c - writes the results: a file per case, and one about the machine.
 * Owns: the file about the machine.  Locks: none.  Entry: run.c, main.c.
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include "results.h"

static FILE *meta;
static const char *meta_comma;

static FILE *create(const char *dir, const char *name, const char *suffix)
{
	char path[PATH_MAX];

	if (snprintf(path, sizeof(path), "%s/%s%s", dir, name, suffix) >= (int)sizeof(path)) {
		errno = ENAMETOOLONG;
		return NULL;
	}
	return fopen(path, "we");
}

static int finish(FILE *f)
{
	const int bad = ferror(f);

	return fclose(f) || bad ? -EIO : 0;
}

static void put_string(FILE *f, const char *text)
{
	fputc('"', f);
	for (; *text; text++) {
		if (*text == '"' || *text == '\\')
			fputc('\\', f);
		if ((unsigned char)*text >= ' ')
			fputc(*text, f);
	}
	fputc('"', f);
}

static void put_field(FILE *f, const char *name, const char *text)
{
	put_string(f, name);
	fputs(": ", f);
	put_string(f, text);
	fputs(", ", f);
}

static void put_numbers(FILE *f, const struct series *s)
{
	fprintf(f, "\"median\": %.6g, \"min\": %.6g, \"max\": %.6g, \"n\": %u", s->median, s->min,
		s->max, s->nr);
}

static int write_row(const struct row *row, const char *dir)
{
	FILE *f = create(dir, row->c->name, ".json");
	const char *comma = "";
	unsigned int i;

	if (!f)
		return -errno;
	fputs("[", f);
	for (i = 0; i < row->nr; i++) {
		const struct result *r = &row->result[i];

		if (!r->s.nr)
			continue;
		fprintf(f, "%s\n{", comma);
		put_field(f, "case", row->c->name);
		put_field(f, "subject", r->peer->name);
		put_field(f, "unit", row->c->unit);
		put_field(f, "better", "lower");
		put_numbers(f, &r->s);
		fputs("}", f);
		comma = ",";
	}
	fputs("\n]\n", f);
	return finish(f);
}

static int write_rounds(const struct row *row, const char *dir)
{
	FILE *f = create(dir, row->c->name, ".tsv");
	unsigned int i, j;

	if (!f)
		return -errno;
	fputs("subject\tround\tvalue\n", f);
	for (i = 0; i < row->nr; i++)
		for (j = 0; j < row->result[i].s.nr; j++)
			fprintf(f, "%s\t%u\t%.6g\n", row->result[i].peer->name, j,
				row->result[i].s.value[j]);
	return finish(f);
}

/* Runnable processes of the last minute: other work shows here. */
static double load(void)
{
	double avg = -1;

	return getloadavg(&avg, 1) == 1 ? avg : -1;
}

static void meta_row(const struct row *row)
{
	const char *comma = "";
	unsigned int i;

	fprintf(meta, "%s\n  {", meta_comma);
	meta_comma = ",";
	put_field(meta, "case", row->c->name);
	if (row->ping.nr) {
		fputs("\"core_to_core_ns\": {", meta);
		put_numbers(meta, &row->ping);
		fputs("}, ", meta);
	}
	fprintf(meta, "\"load\": %.2f, \"subjects\": [", load());
	for (i = 0; i < row->nr; i++) {
		fprintf(meta, "%s\n    {", comma);
		put_field(meta, "about", row->result[i].about);
		put_field(meta, "skipped", row->result[i].skip);
		fputs("\"subject\": ", meta);
		put_string(meta, row->result[i].peer->name);
		fputs("}", meta);
		comma = ",";
	}
	fputs("]}", meta);
}

int json_write(const struct row *row, const char *dir)
{
	char raw[PATH_MAX];
	int ret = write_row(row, dir);

	if (ret)
		return ret;
	if (snprintf(raw, sizeof(raw), "%s/raw", dir) >= (int)sizeof(raw))
		return -ENAMETOOLONG;
	meta_row(row);
	return write_rounds(row, raw);
}

static void put_cpu_model(FILE *f)
{
	FILE *info = fopen("/proc/cpuinfo", "re");
	char line[256], *colon;

	while (info && fgets(line, sizeof(line), info)) {
		if (strncmp(line, "model name", 10) != 0 && strncmp(line, "CPU part", 8) != 0)
			continue;
		colon = strchr(line, ':');
		if (!colon)
			continue;
		put_field(f, "cpu", colon + 1 + strspn(colon + 1, " "));
		fclose(info);
		return;
	}
	if (info)
		fclose(info);
	put_field(f, "cpu", "unknown");
}

static int make_dir(const char *dir)
{
	return mkdir(dir, 0777) && errno != EEXIST ? -errno : 0;
}

int json_begin(const char *dir, const struct options *opt)
{
	struct utsname uts;
	char raw[PATH_MAX];

	if (snprintf(raw, sizeof(raw), "%s/raw", dir) >= (int)sizeof(raw))
		return -ENAMETOOLONG;
	if (make_dir(dir) || make_dir(raw))
		return -errno;
	meta = create(raw, "meta", ".json");
	if (!meta)
		return -errno;
	meta_comma = "";
	fputs("{", meta);
	put_cpu_model(meta);
	if (!uname(&uts)) {
		put_field(meta, "kernel", uts.release);
		put_field(meta, "machine", uts.machine);
	}
	put_field(meta, "cpus", opt->cpus);
	put_field(meta, "quick", opt->quick ? "yes" : "no");
	fprintf(meta, "\"load\": %.2f, \"rounds\": %u,\n\"rows\": [", load(), opt->rounds);
	return 0;
}

int json_end(void)
{
	fputs("\n]}\n", meta);
	return finish(meta);
}
