// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * abi_data.c - the data area: seals, DESTROY under a mapping, direct I/O, what others see.
 */
#include "kselftest_harness.h"
#include "device.h"

FIXTURE(data) { struct pool_member m; char *data; size_t bytes; };

FIXTURE_SETUP(data)
{
	ASSERT_EQ(0, member_create(&self->m, valid_create()));
	self->data = map_data(self->m.fd, &self->m.geo);
	self->bytes = self->m.geo.data_bytes;
	ASSERT_NE(MAP_FAILED, self->data);
}

FIXTURE_TEARDOWN(data)
{
	munmap(self->data, self->bytes);
	member_leave(&self->m);
}

static size_t differing(const char *p, size_t bytes, char want)
{
	size_t i, n = 0;

	for (i = 0; i < bytes; i++)
		n += p[i] != want;
	return n;
}

static unsigned long long meminfo(const char *key)
{
	FILE *f = fopen("/proc/meminfo", "re");
	unsigned long long v = 0;
	char line[128];

	while (f && fgets(line, sizeof(line), f))
		if (!strncmp(line, key, strlen(key)))
			v = strtoull(line + strlen(key), NULL, 10);
	if (f)
		fclose(f);
	return v;
}

TEST_F(data, new_pool_reads_as_zeroes)
{
	struct pool_member m;
	char *other;

	memset(self->data, 0xa5, self->bytes);
	ASSERT_EQ(0, member_create(&m, valid_create()));
	other = map_data(m.fd, &m.geo);
	ASSERT_NE(MAP_FAILED, other);
	EXPECT_EQ(0, differing(other, m.geo.data_bytes, 0));
	munmap(other, m.geo.data_bytes);
	member_leave(&m);
	EXPECT_EQ(0, differing(self->data, self->bytes, (char)0xa5));
}

TEST_F(data, destroyed_pool_keeps_its_pages_while_they_are_mapped)
{
	enum { OTHERS = 64 };
	struct pool_member other[OTHERS];
	char *p;
	int i;

	memset(self->data, 0x11, self->bytes);
	EXPECT_EQ(0, destroy(self->m.fd, 0));
	for (i = 0; i < OTHERS; i++) {
		ASSERT_EQ(0, member_create(&other[i], valid_create()));
		p = map_data(other[i].fd, &other[i].geo);
		ASSERT_NE(MAP_FAILED, p);
		memset(p, 0x22, other[i].geo.data_bytes);
		munmap(p, other[i].geo.data_bytes);
	}
	EXPECT_EQ(0, differing(self->data, self->bytes, 0x11));
	munmap(self->m.control, self->m.geo.control_bytes);
	close(self->m.fd);
	for (i = 0; i < OTHERS; i++)
		member_leave(&other[i]);
	EXPECT_EQ(0, differing(self->data, self->bytes, 0x11));
	ASSERT_EQ(0, member_create(&self->m, valid_create()));	/* for the teardown */
}

/* Of 64 MiB; what else the machine does is smaller. */
TEST(pages_go_back_with_the_last_mapping_and_not_before)
{
	struct upool_create c = valid_create();
	unsigned long long before, mapped, after;
	struct pool_member m;
	char *data;

	c.buf_bytes = 1u << 20;
	ASSERT_EQ(0, member_create(&m, c));
	before = meminfo("Shmem:");
	data = map_data(m.fd, &m.geo);
	ASSERT_NE(MAP_FAILED, data);
	memset(data, 1, m.geo.data_bytes);
	EXPECT_EQ(64u << 20, stats_of(m.fd).resident_bytes);
	EXPECT_EQ(0, destroy(m.fd, 0));
	member_leave(&m);
	mapped = meminfo("Shmem:");
	EXPECT_LE(before + (60 << 10), mapped);
	EXPECT_EQ(0, differing(data, m.geo.data_bytes, 1));
	munmap(data, m.geo.data_bytes);
	ASSERT_EQ(0, member_create(&m, valid_create()));	/* waits for ended pools */
	after = meminfo("Shmem:");
	EXPECT_GE(before + (4 << 10), after);
	member_leave(&m);
}

/* Through the file that the kernel shows for a mapping. */
static int open_mapped(const char *p)
{
	char path[300];
	DIR *d = opendir("/proc/self/map_files");
	struct dirent *e;
	int fd = -ENOENT;

	while (d && (e = readdir(d)))
		if (strtoul(e->d_name, NULL, 16) == (uintptr_t)p) {
			snprintf(path, sizeof(path), "/proc/self/map_files/%s", e->d_name);
			fd = open(path, O_RDWR | O_CLOEXEC);
		}
	if (d)
		closedir(d);
	return fd;
}

TEST_F(data, cannot_be_truncated_or_grown_by_anybody)
{
	int fd = open_mapped(self->data);

	memset(self->data, 0x33, self->bytes);
	ASSERT_LE(0, fd);
	EXPECT_EQ(-1, ftruncate(fd, 0));
	EXPECT_EQ(EPERM, errno);
	EXPECT_EQ(-1, ftruncate(fd, (off_t)self->bytes * 2));
	EXPECT_EQ(-1, fallocate(fd, 0, 0, (off_t)self->bytes * 2));
	EXPECT_EQ(-1, fcntl(fd, F_ADD_SEALS, F_SEAL_WRITE));
	close(fd);
	EXPECT_EQ(0, differing(self->data, self->bytes, 0x33));
}

TEST_F(data, file_is_not_the_devices)
{
	EXPECT_NE(0, ftruncate(self->m.fd, 0));
	EXPECT_NE(0, fallocate(self->m.fd, 0, 0, 4096));
	EXPECT_EQ(-1, read(self->m.fd, self->data, 1));
	EXPECT_EQ(-1, write(self->m.fd, self->data, 1));
	EXPECT_EQ(-1, pread(self->m.fd, self->data, 1, 0));
}

TEST_F(data, direct_and_buffered_io_reach_the_buffers)
{
	char name[] = "/tmp/abi_data.XXXXXX", *back = self->data + BYTES;
	int fd = mkstemp(name), direct;

	ASSERT_LE(0, fd);
	memset(self->data, 0x44, BYTES);
	EXPECT_EQ(BYTES, write(fd, self->data, BYTES));
	EXPECT_EQ(BYTES, pread(fd, back, BYTES, 0));
	EXPECT_EQ(0, differing(back, BYTES, 0x44));
	memset(back, 0, BYTES);
	direct = open(name, O_RDWR | O_DIRECT | O_CLOEXEC);
	if (direct >= 0) {	/* tmpfs before 6.6 refuses */
		EXPECT_EQ(BYTES, pread(direct, back, BYTES, 0));
		EXPECT_EQ(0, differing(back, BYTES, 0x44));
		close(direct);
	}
	close(fd);
	unlink(name);
}

/* Pages that a pipe still has are referenced beyond the buffer's tenancy. */
TEST_F(data, pipe_can_take_its_pages)
{
	struct iovec iov = { .iov_base = self->data, .iov_len = BYTES };
	char got[BYTES];
	int p[2];

	memset(self->data, 0x55, BYTES);
	ASSERT_EQ(0, pipe(p));
	ASSERT_EQ(BYTES, vmsplice(p[1], &iov, 1, 0));
	munmap(self->data, self->bytes);
	ASSERT_EQ(0, destroy(self->m.fd, 0));
	member_leave(&self->m);
	ASSERT_EQ(0, member_create(&self->m, valid_create()));
	self->data = map_data(self->m.fd, &self->m.geo);
	memset(self->data, 0x66, self->bytes);
	EXPECT_EQ(BYTES, read(p[0], got, BYTES));
	EXPECT_EQ(0, differing(got, BYTES, 0x55));
	close(p[0]);
	close(p[1]);
}

TEST(reserved_pool_has_all_its_pages)
{
	struct upool_create c = valid_create();
	struct pool_member m;

	c.flags = UPOOL_CREATE_F_RESERVE;
	ASSERT_EQ(0, member_create(&m, c));
	EXPECT_EQ(NR * BYTES, stats_of(m.fd).resident_bytes);
	member_leave(&m);
	ASSERT_EQ(0, member_create(&m, valid_create()));
	EXPECT_EQ(0, stats_of(m.fd).resident_bytes);
	member_leave(&m);
}

TEST_HARNESS_MAIN
