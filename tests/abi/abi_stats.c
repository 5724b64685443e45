// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * abi_stats.c - STAT and the files of sysfs: the same values, for those who may read them.
 */
#include <sys/stat.h>
#include "kselftest_harness.h"
#include "device.h"

#define POOLS	"/sys/kernel/poolmod/pools"

static const struct { const char *name; size_t off; } fields[] = {
#define UPOOL_X(name, help)	{ #name, offsetof(struct upool_pool_stats, name) },
	UPOOL_POOL_STATS(UPOOL_X)
#undef UPOOL_X
};
#define NR_FIELDS (sizeof(fields) / sizeof(fields[0]))

static int dir_of(char *path, size_t bytes, const char *name, uint64_t id)
{
	struct stat st;

	snprintf(path, bytes, POOLS "/%s.%llu", name, (unsigned long long)id);
	return stat(path, &st);
}

static unsigned long long value_of(const char *dir, const char *name)
{
	char path[512];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	return read_number(path);
}

/* A bit of everything. */
static void use(struct pool_member *m)
{
	uint32_t index = NR, kept = 0;

	pop(m->fd, &index);
	pop(m->fd, &kept);
	push(m->fd, index);
	push(m->fd, index);
	run_on_cpu(0);
	batch(m->fd, UPOOL_IOC_REFILL, 5);
	batch(m->fd, UPOOL_IOC_FLUSH, 2);
	adopt(m->fd, export_token(m, kept), &index);
	adopt(m->fd, 0, &index);
}

TEST(sysfs_has_what_stat_says_file_by_file)
{
	struct upool_create c = valid_create();
	struct upool_pool_stats st;
	struct pool_member m;
	char dir[256];
	size_t i;

	strcpy(c.name, "stats");
	c.mode = 0640;
	c.cap = 7;
	ASSERT_EQ(0, member_create(&m, c));
	use(&m);
	st = stats_of(m.fd);
	ASSERT_EQ(0, dir_of(dir, sizeof(dir), "stats", m.pool_id));
	for (i = 0; i < NR_FIELDS; i++)
		EXPECT_EQ(*(uint64_t *)((char *)&st + fields[i].off),
			  value_of(dir, fields[i].name)) {
			TH_LOG("%s", fields[i].name);
		}
	EXPECT_EQ(7, value_of(dir, "magazine"));
	EXPECT_EQ(640, value_of(dir, "mode"));	/* octal, read as decimal */
	member_leave(&m);
}

TEST(counters_count_what_was_done)
{
	struct upool_pool_stats st;
	struct pool_member m;

	ASSERT_EQ(0, member_create(&m, valid_create()));
	use(&m);
	st = stats_of(m.fd);
	EXPECT_EQ(NR, st.nr_buffers);
	EXPECT_EQ(BYTES, st.buffer_bytes);
	EXPECT_EQ(m.geo.data_bytes, st.data_bytes);
	EXPECT_EQ(m.geo.control_bytes, st.control_bytes);
	EXPECT_EQ(1, st.nr_attachments);
	EXPECT_EQ(2, st.pops);
	EXPECT_EQ(1, st.pushes);
	EXPECT_EQ(1, st.bad_push);
	EXPECT_EQ(1, st.refills);
	EXPECT_EQ(5, st.refilled);
	EXPECT_EQ(1, st.flushes);
	EXPECT_EQ(2, st.flushed);
	EXPECT_EQ(3, st.mag_idle);
	EXPECT_EQ(0, st.mag_pops);
	EXPECT_EQ(1, st.held);
	EXPECT_EQ(NR - 4, st.depot_idle);
	EXPECT_EQ(1, st.adopts);
	EXPECT_EQ(1, st.stale_tokens);
	EXPECT_EQ(0, st.empty);
	member_leave(&m);
}

TEST(files_are_the_owners_and_nobody_elses)
{
	struct upool_create c = valid_create();
	char dir[256], path[600];
	struct stat st;
	int fd = device_open(), ret, nr = 0;
	struct dirent *e;
	DIR *d;

	strcpy(c.name, "owned");
	ASSERT_EQ(0, setegid(888));
	ASSERT_EQ(0, seteuid(1234));
	ret = call(fd, UPOOL_IOC_CREATE, &c);
	ASSERT_EQ(0, seteuid(0));
	ASSERT_EQ(0, ret);
	ASSERT_EQ(0, dir_of(dir, sizeof(dir), "owned", c.pool_id));
	d = opendir(dir);
	while ((e = readdir(d))) {
		if (e->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), "%s/%s", dir, e->d_name);
		ASSERT_EQ(0, stat(path, &st));
		EXPECT_EQ(S_IFREG | 0440, st.st_mode);
		EXPECT_EQ(1234, st.st_uid);
		EXPECT_EQ(888, st.st_gid);
		nr++;
	}
	closedir(d);
	EXPECT_EQ(NR_FIELDS + 2, nr);
	close(fd);
}

TEST(directory_goes_with_destroy)
{
	struct pool_member m;
	char dir[256];

	ASSERT_EQ(0, member_create(&m, valid_create()));
	EXPECT_EQ(0, dir_of(dir, sizeof(dir), "anon", m.pool_id));
	EXPECT_EQ(0, destroy(m.fd, 0));
	EXPECT_NE(0, dir_of(dir, sizeof(dir), "anon", m.pool_id));
	EXPECT_EQ(NR, stats_of(m.fd).nr_buffers);	/* STAT goes on */
	member_leave(&m);
}

static void read_everything(void)
{
	char path[600], text[4096];
	DIR *pools = opendir(POOLS), *dir;
	struct dirent *e, *f;
	int fd;

	while (pools && (e = readdir(pools))) {
		if (e->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), POOLS "/%.255s", e->d_name);
		dir = opendir(path);
		while (dir && (f = readdir(dir))) {
			snprintf(path, sizeof(path), POOLS "/%.255s/%.255s", e->d_name, f->d_name);
			fd = open(path, O_RDONLY);
			if (fd >= 0 && read(fd, text, sizeof(text)) < 0 && errno != ENODEV &&
			    errno != EISDIR)
				_exit(1);
			close(fd);
		}
		if (dir)
			closedir(dir);
	}
	if (pools)
		closedir(pools);
}

FIXTURE(readers) { pid_t pid[2]; };

FIXTURE_SETUP(readers)
{
	int k;

	for (k = 0; k < 2; k++) {
		self->pid[k] = fork();
		if (!self->pid[k])
			for (;;)
				read_everything();
	}
}

FIXTURE_TEARDOWN(readers)
{
	int k;

	for (k = 0; k < 2; k++) {
		EXPECT_EQ(0, waitpid(self->pid[k], NULL, WNOHANG));	/* still at it */
		kill(self->pid[k], SIGKILL);
		EXPECT_EQ(-SIGKILL, child_status(self->pid[k]));
	}
}

/* Files are read while their pools go. */
TEST_F_TIMEOUT(readers, do_not_meet_the_end_of_a_pool, 900)
{
	unsigned int n = scaled(2000, 30), i;
	struct pool_member m[4];

	while (n--) {
		for (i = 0; i < 4; i++)
			ASSERT_EQ(0, member_create(&m[i], valid_create()));
		for (i = 0; i < 4; i++) {
			if (n & i)
				EXPECT_EQ(0, destroy(m[i].fd, 0));
			member_leave(&m[i]);
		}
	}
}

TEST(parameters_and_version_are_there)
{
	EXPECT_NE(~0ULL, read_number(PARAMS "steal_timeout_ms"));
	EXPECT_EQ(0, access("/sys/kernel/poolmod/version", R_OK));
	EXPECT_EQ(0, access("/sys/module/poolmod/version", R_OK));
}

TEST_HARNESS_MAIN
