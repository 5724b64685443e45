// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * main.c - upool-pipe: several processes stream files through one pool of buffers.
 * Owns: the pool and the output file.  Locks: none.  Entry: main().
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>
#include "files.h"
#include "options.h"
#include "report.h"
#include "summary.h"
#include "transport.h"

#define DIGEST_WINDOW	16384u	/* files between the reader and the writer */
#define MAX_CREDITS	16384u	/* buffers between the reader and their return */

/* A name needs the device; where there is none, an anonymous memfd pool will do. */
static int make_pool(struct upool **pool, const struct options *opt)
{
	struct upool_options o = UPOOL_OPTIONS_INIT;
	int ret;

	o.backing = opt->backing;
	o.nr_buffers = opt->nr_buffers;
	o.buffer_bytes = opt->buffer_bytes;
	o.flags = opt->persist ? UPOOL_F_PERSIST : 0;
	if (!opt->name)
		return upool_create(pool, &o);
	ret = upool_open(pool, opt->name, &o);
	if (ret != -ENODEV || opt->backing != UPOOL_BACKING_AUTO || opt->persist)
		return ret;
	complain("no /dev/upool: the pool has no name");
	return upool_create(pool, &o);
}

static int open_pool(struct upool **pool, const struct options *opt)
{
	int ret = make_pool(pool, opt);

	if (!ret)
		return 0;
	if (ret == -ENODEV)
		complain("cannot make a pool: no /dev/upool");
	else if (ret == -EDQUOT)
		complain("cannot make a pool: a quota of /dev/upool refuses %zu buffers of %zu bytes",
			 opt->nr_buffers, opt->buffer_bytes);
	else if (ret == -EINVAL && opt->name)
		complain("cannot make a pool called '%s': %s", opt->name, strerror(EINVAL));
	else
		complain("cannot make a pool: %s", strerror(-ret));
	return ret;
}

/* The output must not be one of the inputs: it would be emptied first. */
static int open_output(const struct options *opt)
{
	const char *same = NULL;
	struct stat st;
	int fd;

	if (!opt->output)
		return STDOUT_FILENO;
	fd = open(opt->output, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOCTTY, 0666);
	if (fd < 0 || fstat(fd, &st)) {
		complain("%s: %s", opt->output, strerror(errno));
		return -1;
	}
	if (S_ISREG(st.st_mode))
		same = files_contain(opt, &st);
	if (same) {
		complain("%s: is an input, too", same);
		return -1;
	}
	if (S_ISREG(st.st_mode) && ftruncate(fd, 0)) {
		complain("%s: %s", opt->output, strerror(errno));
		return -1;
	}
	return fd;
}

/* An output that is not complete must not look like one that is. */
static void remove_output(const struct options *opt)
{
	struct stat st;

	if (opt->output && !lstat(opt->output, &st) && S_ISREG(st.st_mode))
		unlink(opt->output);
}

/* D2 in pool_transport.c: buffers of the pool that was got, which may be an older one. */
static int fit_job(struct job *job)
{
	struct upool_stats st = { .size = sizeof(st) };
	const struct op *op = job->op;
	uint64_t credits;
	int ret = upool_stats_read(job->pool, &st);

	if (ret) {
		complain("cannot read the pool's statistics: %s", strerror(-ret));
		return ret;
	}
	credits = st.nr_buffers;
	if (op->frames) {
		if (job->nr_workers > st.nr_buffers / 2)
			job->nr_workers = (unsigned int)(st.nr_buffers / 2);
		credits -= job->nr_workers;
	}
	job->credits = credits < MAX_CREDITS ? (uint32_t)credits : MAX_CREDITS;
	job->buffer_bytes = st.buffer_bytes;
	job->fill_bytes = op->room ? op->room(st.buffer_bytes) : st.buffer_bytes;
	job->window = DIGEST_WINDOW;
	while (op->frames && job->window / 2 >= job->credits)
		job->window /= 2;
	if (!job->nr_workers || !job->fill_bytes) {
		complain("the pool is too small for %s", op->name);
		return -EINVAL;
	}
	return 0;
}

static int end_by(int signal_nr)
{
	sigset_t set;

	signal(signal_nr, SIG_DFL);
	sigemptyset(&set);
	sigaddset(&set, signal_nr);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
	raise(signal_nr);
	return 1;
}

static int work(struct job *job)
{
	const struct options *opt = job->opt;
	struct comparison c = { 0 };
	struct totals t;

	report_over_progress(opt->progress);
	run_pass(job, &t);
	if (t.status == RUN_BROKEN || t.status == RUN_INTERRUPTED)
		remove_output(opt);
	else if (opt->compare)
		compare_run(job, &t, &c);
	if (opt->summary && (t.status == RUN_OK || t.status == RUN_FILES_FAILED))
		summary_print(job, &t, &c);
	upool_close(job->pool);
	if (t.status == RUN_INTERRUPTED)
		return end_by(t.signal);
	return t.status == RUN_OK ? 0 : 1;
}

/*
 * So that nothing we open becomes standard input, output or error.  Opened the
 * wrong way round: using what the caller closed is an error.
 */
static void open_standard(void)
{
	int fd;

	for (fd = 0; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) < 0)
			open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY);
}

int main(int argc, char **argv)
{
	struct options opt;
	struct job job = { 0 };

	open_standard();
	if (options_parse(&opt, argc, argv))
		return 1;
	job.opt = &opt;
	job.op = opt.op;
	job.nr_workers = opt.nr_workers;
	job.transport = &pool_transport;
	if (open_pool(&job.pool, &opt))
		return 1;
	if (fit_job(&job))
		return 1;
	job.out_fd = open_output(&opt);
	if (job.out_fd < 0)
		return 1;
	return work(&job);
}
