// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * run.c - one pass: forks the processes, watches them, adds up what they did.
 * Owns: struct crew.  Locks: none.  Entry: run_pass().
 *
 * A process that dies stops the pass: the parent kills the others rather than
 * let them wait for what never comes.  If the parent dies, they do.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "progress.h"
#include "report.h"
#include "run.h"
#include "transport.h"

#define CREW_MAX	(MAX_WORKERS + 2)

/**
 * struct crew - the processes of a pass: workers, then reader, then writer
 * @pid:    0 = ended
 * @nr:     processes ever forked
 * @alive:  of them
 * @broken: one failed
 */
struct crew {
	struct job *job;
	pid_t pid[CREW_MAX];
	unsigned int nr;
	unsigned int alive;
	bool broken;
};

static double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

static void name_of(const struct job *job, unsigned int i, char *name, size_t len)
{
	if (i < job->nr_workers)
		snprintf(name, len, "worker%u", i);
	else
		snprintf(name, len, "%s", i == job->nr_workers ? "reader" : "writer");
}

static void child_setup(const struct job *job, unsigned int i, pid_t parent)
{
	char role[24], name[40];
	sigset_t none;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(1);	/* it died before the line above */
	name_of(job, i, role, sizeof(role));
	snprintf(name, sizeof(name), "upool-%s", role);
	prctl(PR_SET_NAME, name);
	signal(SIGINT, SIG_IGN);	/* the terminal tells all of us; the parent decides */
	signal(SIGHUP, SIG_IGN);
	signal(SIGPIPE, SIG_IGN);	/* EPIPE is reported with the name of the output */
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

static void child(struct job *job, unsigned int i, pid_t parent) __attribute__((noreturn));
static void child(struct job *job, unsigned int i, pid_t parent)
{
	struct shared *s = job->shared;
	struct member m = { .job = job, .index = i };

	child_setup(job, i, parent);
	if (i < job->nr_workers) {
		m.role = ROLE_WORKER;
		m.stats = &s->worker[i];
	} else if (i == job->nr_workers) {
		m.role = ROLE_READER;
		m.stats = &s->reader;
	} else {
		m.role = ROLE_WRITER;
		m.stats = &s->writer;
	}
	job->transport->join(&m);
	if (m.role == ROLE_WORKER)
		worker_run(&m);
	else if (m.role == ROLE_READER)
		reader_run(&m);
	else
		writer_run(&m);
	job->transport->leave(&m);
	_exit(0);
}

static void kill_all(const struct crew *crew)
{
	unsigned int i;

	for (i = 0; i < crew->nr; i++)
		if (crew->pid[i])
			kill(crew->pid[i], SIGKILL);
}

static int fork_all(struct crew *crew)
{
	const pid_t parent = getpid();
	pid_t pid;

	while (crew->nr < crew->job->nr_workers + 2) {
		pid = fork();
		if (pid < 0)
			return -errno;
		if (!pid)
			child(crew->job, crew->nr, parent);
		crew->pid[crew->nr++] = pid;
		crew->alive++;
	}
	return 0;
}

/* One process ended; returns true when the others must be stopped. */
static bool ended(struct crew *crew, unsigned int i, int status)
{
	const pid_t pid = crew->pid[i];
	char role[16];

	crew->pid[i] = 0;
	crew->alive--;
	if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
		return false;
	if (WIFEXITED(status) && WEXITSTATUS(status) == EXIT_PEER_GONE) {
		crew->broken = true;
		return false;	/* whoever died first is still to come */
	}
	name_of(crew->job, i, role, sizeof(role));
	if (WIFSIGNALED(status))
		complain("%s (process %d) was killed by signal %d (%s); giving up", role, (int)pid,
			 WTERMSIG(status), strsignal(WTERMSIG(status)));
	return true;
}

static void reap(struct crew *crew, bool stopping)
{
	bool stop = false;
	int status;
	pid_t pid;
	unsigned int i;

	while ((pid = waitpid(-1, &status, stopping ? 0 : WNOHANG)) > 0) {
		for (i = 0; i < crew->nr && crew->pid[i] != pid; i++)
			;
		if (i == crew->nr)
			continue;	/* a child from before exec */
		if (stopping) {
			crew->pid[i] = 0;
			crew->alive--;
		} else if (ended(crew, i, status)) {
			stop = true;
		}
	}
	if (stop) {
		crew->broken = true;
		kill_all(crew);
		reap(crew, true);
	}
}

/* Returns the signal that ended the pass, or 0. */
static int watch(struct crew *crew, int signals)
{
	struct pollfd fd = { .fd = signals, .events = POLLIN };
	const bool progress = crew->job->opt->progress;
	struct signalfd_siginfo info;
	int signal_nr = 0;

	while (crew->alive) {
		if (poll(&fd, 1, progress ? PROGRESS_MS : -1) <= 0) {
			progress_show(crew->job);
			continue;
		}
		if (read(signals, &info, sizeof(info)) != sizeof(info))
			continue;
		if (info.ssi_signo != SIGCHLD) {
			signal_nr = (int)info.ssi_signo;
			kill_all(crew);
		}
		reap(crew, signal_nr != 0);
	}
	if (progress)
		progress_clear();
	return signal_nr;
}

static void add_up(const struct job *job, struct totals *t)
{
	const struct shared *s = job->shared;
	const struct proc_stats *p;
	unsigned int i;

	t->bytes_in = stat_read(&s->reader.bytes);
	t->bytes_out = stat_read(&s->writer.bytes);
	t->nr_files = stat_read(&s->reader.units);
	t->checksum = stat_read(&s->checksum);
	for (i = 0; i < job->nr_workers + 2; i++) {
		p = i < job->nr_workers ? &s->worker[i]
					: i == job->nr_workers ? &s->reader : &s->writer;
		t->allocs += stat_read(&p->buffers);
		t->transport += stat_read(&p->transport);
		t->file_io += stat_read(&p->file_io);
		t->pool += stat_read(&p->pool);
		if (i < job->nr_workers)
			t->share[i] = stat_read(&p->bytes);
	}
	t->nr_chunks = stat_read(&s->reader.chunks);
}

/* A signal that the caller ignores, as nohup does, would reach a signalfd. */
static void add_unless_ignored(sigset_t *set, int signal_nr)
{
	struct sigaction action;

	if (!sigaction(signal_nr, NULL, &action) && action.sa_handler != SIG_IGN)
		sigaddset(set, signal_nr);
}

static int prepare(struct crew *crew, int *signals)
{
	sigset_t set;
	int ret = shared_map(crew->job);

	if (ret)
		return ret;
	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	add_unless_ignored(&set, SIGINT);
	add_unless_ignored(&set, SIGTERM);
	add_unless_ignored(&set, SIGHUP);
	sigprocmask(SIG_BLOCK, &set, NULL);
	*signals = signalfd(-1, &set, SFD_CLOEXEC);
	if (*signals < 0)
		return -errno;
	return crew->job->transport->setup(crew->job);
}

void run_pass(struct job *job, struct totals *t)
{
	struct crew crew = { .job = job };
	int signals = -1, ret;
	double start;

	*t = (struct totals){ 0 };
	t->before.size = sizeof(t->before);
	t->after.size = sizeof(t->after);
	upool_stats_read(job->pool, &t->before);
	start = now();
	ret = prepare(&crew, &signals);
	if (!ret)
		ret = fork_all(&crew);
	if (ret) {
		complain("cannot start the processes: %s", strerror(-ret));
		crew.broken = true;
		kill_all(&crew);
	}
	if (job->shared)
		job->transport->forked(job);
	if (signals >= 0) {
		t->signal = watch(&crew, signals);
		close(signals);
	}
	t->seconds = now() - start;
	upool_stats_read(job->pool, &t->after);
	if (job->shared) {
		add_up(job, t);
		t->status = atomic_load(&job->shared->failed) ? RUN_FILES_FAILED : RUN_OK;
		shared_unmap(job);
	}
	if (crew.broken)
		t->status = RUN_BROKEN;
	if (t->signal)
		t->status = RUN_INTERRUPTED;
}
