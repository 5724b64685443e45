// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * proc.c - a worker process: started, asked for rounds, ended.
 * Owns: pipes and children.  Locks: none.  Entry: run.c.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "proc.h"

/* For a round, or to become warm: then it hangs. */
#define PATIENCE_MS	120000

/* <folder of this program>/upool-bench-workers/<family>.<layout> */
static int worker_path(char *path, size_t size, const char *family, unsigned int layout)
{
	char self[PATH_MAX];
	const ssize_t len = readlink("/proc/self/exe", self, sizeof(self) - 1);
	char *slash;

	if (len < 0)
		return -errno;
	self[len] = '\0';
	slash = strrchr(self, '/');
	if (slash)
		*slash = '\0';
	return snprintf(path, size, "%s/upool-bench-workers/%s.%u", self, family, layout) <
	       (int)size ? 0 : -ENAMETOOLONG;
}

/* Only what the subject needs is in its environment. */
static void run_worker(const char *path, const struct peer *peer, const struct bench_case *c,
		       const struct options *opt) __attribute__((noreturn));
static void run_worker(const char *path, const struct peer *peer, const struct bench_case *c,
		       const struct options *opt)
{
	char preload[128], tunables[512], ms[16];
	const char *argv[] = { path, "--case", c->name, "--subject", peer->subject, "--cpus",
			       opt->cpus, "--round-ms", ms, opt->quick ? "--quick" : NULL, NULL };
	char *envp[3] = { NULL };
	unsigned int n = 0;

	snprintf(ms, sizeof(ms), "%u", opt->round_ms);
	if (peer->preload) {
		snprintf(preload, sizeof(preload), "LD_PRELOAD=%s", peer->preload);
		envp[n++] = preload;
	}
	if (peer->tunables) {
		snprintf(tunables, sizeof(tunables), "GLIBC_TUNABLES=%s", peer->tunables);
		envp[n++] = tunables;
	}
	execve(path, (char *const *)argv, envp);
	_exit(127);
}

/* A line, cut to what fits; -errno when there is none. */
static int read_line(struct proc *p, char *line, size_t size)
{
	struct pollfd pfd = { .fd = p->from, .events = POLLIN };
	size_t len = 0;

	for (;;) {
		char c;

		if (poll(&pfd, 1, PATIENCE_MS) <= 0)
			return -ETIMEDOUT;
		if (read(p->from, &c, 1) != 1)
			return -EPIPE;
		if (c == '\n')
			break;
		if (len < size - 1)
			line[len++] = c;
	}
	line[len] = '\0';
	return 0;
}

static enum proc_state failed(struct proc *p, const char *how)
{
	snprintf(p->text, sizeof(p->text), "%s", how);
	kill(p->pid, SIGKILL);
	proc_stop(p);
	return PROC_FAILED;
}

/* Libraries may write lines of their own: they are passed over. */
static enum proc_state hear(struct proc *p)
{
	char line[512];
	int ret;

	while (!(ret = read_line(p, line, sizeof(line)))) {
		const char *space = strchr(line, ' ');

		if (!space)
			continue;
		snprintf(p->text, sizeof(p->text), "%.*s", (int)sizeof(p->text) - 1, space + 1);
		if (!strncmp(line, "ready ", 6) || !strncmp(line, "result ", 7))
			return PROC_READY;
		if (!strncmp(line, "skip ", 5))
			return PROC_SKIPPED;
	}
	return failed(p, ret == -ETIMEDOUT ? "the worker hangs" : "the worker ended");
}

static int spawn(struct proc *p, const char *path, const struct peer *peer,
		 const struct bench_case *c, const struct options *opt)
{
	int to[2], from[2];

	if (pipe2(to, O_CLOEXEC))
		return -errno;
	if (pipe2(from, O_CLOEXEC)) {
		close(to[0]);
		close(to[1]);
		return -errno;
	}
	p->pid = fork();
	if (p->pid == 0) {
		if (dup2(to[0], STDIN_FILENO) < 0 || dup2(from[1], STDOUT_FILENO) < 0)
			_exit(127);
		run_worker(path, peer, c, opt);
	}
	close(to[0]);
	close(from[1]);
	if (p->pid < 0) {
		close(to[1]);
		close(from[0]);
		return -ENOMEM;
	}
	p->to = to[1];
	p->from = from[0];
	return 0;
}

enum proc_state proc_start(struct proc *p, const struct peer *peer, const struct bench_case *c,
			   unsigned int layout, const struct options *opt)
{
	char path[PATH_MAX];
	enum proc_state state;

	*p = (struct proc){ .pid = 0 };
	if (worker_path(path, sizeof(path), peer->family, layout) || access(path, X_OK)) {
		snprintf(p->text, sizeof(p->text), "there is no worker '%s'", peer->family);
		return PROC_SKIPPED;
	}
	if (spawn(p, path, peer, c, opt)) {
		p->pid = 0;
		snprintf(p->text, sizeof(p->text), "cannot start a process");
		return PROC_FAILED;
	}
	state = hear(p);
	if (state == PROC_READY && peer->malloc && !strstr(p->text, peer->malloc)) {
		snprintf(p->text, sizeof(p->text), "%s is not installed",
			 peer->preload ? peer->preload : peer->malloc);
		state = PROC_SKIPPED;
	}
	if (state != PROC_READY)
		proc_stop(p);
	return state;
}

void proc_ask(struct proc *p)
{
	/* A worker that is gone is noticed when it does not answer. */
	if (write(p->to, "\n", 1) != 1)
		kill(p->pid, SIGKILL);
}

enum proc_state proc_answer(struct proc *p, double *value)
{
	const enum proc_state state = hear(p);
	char *end;

	if (state != PROC_READY)
		return state;
	*value = strtod(p->text, &end);
	return end == p->text || *end ? failed(p, "the worker said no number") : PROC_READY;
}

void proc_stop(struct proc *p)
{
	if (p->pid <= 0)
		return;
	close(p->to);
	close(p->from);
	while (waitpid(p->pid, NULL, 0) < 0 && errno == EINTR)
		;
	p->pid = 0;
}
