// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * abi_mmap.c - the control mapping: offsets, splitting, fork, and what must not be done to it.
 */
#include "kselftest_harness.h"
#include "device.h"

#ifndef MADV_DOFORK
#define MADV_DOFORK 11
#endif

FIXTURE(map) { struct pool_member m; char *control; size_t bytes; };

FIXTURE_SETUP(map)
{
	struct upool_create c = valid_create();

	c.max_nr = 1u << 16;	/* many pages of tags */
	ASSERT_EQ(0, member_create(&self->m, c));
	self->control = self->m.control;
	self->bytes = self->m.geo.control_bytes;
}

FIXTURE_TEARDOWN(map) { member_leave(&self->m); }

static int map_at(int fd, size_t bytes, int prot, int flags, uint64_t off)
{
	void *p = mmap(NULL, bytes, prot, flags, fd, (off_t)off);

	if (p == MAP_FAILED)
		return -errno;
	munmap(p, bytes);
	return 0;
}

/* A fault in a child: its signal, or 0. */
static int child_touches(volatile char *p)
{
	pid_t pid = fork();

	if (!pid) {
		signal(SIGSEGV, SIG_DFL);	/* the harness may have its own */
		signal(SIGBUS, SIG_DFL);
		(void)*p;
		_exit(0);
	}
	return -child_status(pid);
}

TEST_F(map, rejects_offsets_and_sizes_that_are_no_area)
{
	const int rw = PROT_READ | PROT_WRITE, fd = self->m.fd;
	static const uint64_t off[] = {
		4096, UPOOL_MAP_ALIGN, UPOOL_MMAP_DATA - UPOOL_MAP_ALIGN, UPOOL_MMAP_DATA + 4096,
		UPOOL_MMAP_DATA + 512, 1ULL << 43, 1ULL << 50, (1ULL << 63) - 4096,
		(1ULL << 62) + UPOOL_MMAP_DATA,
	};
	uint64_t data = self->m.geo.data_bytes;
	unsigned int i;

	for (i = 0; i < sizeof(off) / sizeof(off[0]); i++)
		EXPECT_GT(0, map_at(fd, 4096, rw, MAP_SHARED, off[i])) {
			TH_LOG("offset %llx", (unsigned long long)off[i]);
		}
	EXPECT_EQ(-EINVAL, map_at(fd, self->bytes - 4096, rw, MAP_SHARED, 0));
	EXPECT_EQ(-EINVAL, map_at(fd, self->bytes + 4096, rw, MAP_SHARED, 0));
	EXPECT_EQ(-EINVAL, map_at(fd, data + 4096, rw, MAP_SHARED, UPOOL_MMAP_DATA));
	EXPECT_EQ(-EINVAL, map_at(fd, 4096, rw, MAP_SHARED, UPOOL_MMAP_DATA + data));
	EXPECT_EQ(-EINVAL, map_at(fd, UPOOL_MAP_ALIGN * 2, rw, MAP_SHARED,
				  UPOOL_MMAP_DATA + data - UPOOL_MAP_ALIGN));
	EXPECT_EQ(1, stats_of(fd).nr_attachments);
}

TEST_F(map, rejects_private_mappings)
{
	EXPECT_EQ(-EINVAL, map_at(self->m.fd, self->bytes, PROT_READ, MAP_PRIVATE, 0));
	EXPECT_EQ(-EINVAL, map_at(self->m.fd, 4096, PROT_READ, MAP_PRIVATE, UPOOL_MMAP_DATA));
}

TEST_F(map, maps_part_of_the_data)
{
	char *all = map_data(self->m.fd, &self->m.geo), *part;

	ASSERT_NE(MAP_FAILED, all);
	part = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, self->m.fd,
		    (off_t)(UPOOL_MMAP_DATA + UPOOL_MAP_ALIGN));
	ASSERT_NE(MAP_FAILED, part);
	all[UPOOL_MAP_ALIGN + 5000] = 7;
	EXPECT_EQ(7, part[5000]);
	munmap(all, self->m.geo.data_bytes);
	EXPECT_EQ(7, part[5000]);
	munmap(part, 8192);
}

TEST_F(map, needs_an_attached_file_and_its_address_space)
{
	int fd = device_open();
	pid_t pid;

	EXPECT_EQ(-ENXIO, map_at(fd, self->bytes, PROT_READ, MAP_SHARED, 0));
	EXPECT_EQ(-ENXIO, map_at(fd, 4096, PROT_READ, MAP_SHARED, UPOOL_MMAP_DATA));
	close(fd);
	pid = fork();
	if (!pid) {
		if (map_at(self->m.fd, self->bytes, PROT_READ, MAP_SHARED, 0) != -EPERM)
			_exit(1);
		if (map_at(self->m.fd, 4096, PROT_READ, MAP_SHARED, UPOOL_MMAP_DATA) != -EPERM)
			_exit(2);
		_exit(0);
	}
	EXPECT_EQ(0, child_status(pid));
}

TEST_F(map, page_unmapped_in_the_middle_ends_nothing)
{
	uint32_t index;
	size_t off;

	ASSERT_LE(16 * 4096, self->bytes);
	EXPECT_EQ(0, munmap(self->control + 7 * 4096, 4096));
	EXPECT_EQ(0, pop(self->m.fd, &index));
	EXPECT_EQ(0, push(self->m.fd, index));
	for (off = 0; off < self->bytes; off += 4096)
		if (off != 7 * 4096)
			((volatile char *)self->control)[off + 1];
	EXPECT_EQ(0, munmap(self->control, 7 * 4096));
	EXPECT_EQ(0, pop(self->m.fd, &index));
	EXPECT_EQ(0, munmap(self->control + 8 * 4096, self->bytes - 9 * 4096));
	EXPECT_EQ(1, stats_of(self->m.fd).nr_attachments);
	EXPECT_EQ(0, munmap(self->control + self->bytes - 4096, 4096));
	EXPECT_EQ(-ENXIO, pop(self->m.fd, &index));
	EXPECT_EQ(0, stats_of(self->m.fd).nr_attachments);
}

TEST_F(map, second_mapping_keeps_the_attachment)
{
	void *again = map_control(self->m.fd, &self->m.geo);
	uint32_t index;

	ASSERT_NE(MAP_FAILED, again);
	munmap(self->control, self->bytes);
	EXPECT_EQ(0, pop(self->m.fd, &index));
	munmap(again, self->bytes);
	EXPECT_EQ(-ENXIO, pop(self->m.fd, &index));
	EXPECT_EQ(-ENXIO, map_at(self->m.fd, self->bytes, PROT_READ, MAP_SHARED, 0));
}

TEST_F(map, child_does_not_have_it_and_the_parent_keeps_it)
{
	size_t off;
	uint32_t index;

	EXPECT_EQ(SIGSEGV, child_touches(self->control));
	EXPECT_EQ(SIGSEGV, child_touches(self->control + self->bytes - 1));
	for (off = 0; off < self->bytes; off += 4096)
		((volatile char *)self->control)[off];
	EXPECT_EQ(0, pop(self->m.fd, &index));
	EXPECT_EQ(1, stats_of(self->m.fd).nr_attachments);
}

TEST_F(map, advice_cannot_give_it_to_children)
{
	madvise(self->control, self->bytes, MADV_DOFORK);
	EXPECT_EQ(SIGSEGV, child_touches(self->control));
	EXPECT_NE(0, madvise(self->control, self->bytes, MADV_REMOVE));
	EXPECT_EQ(UPOOL_MAGIC, *(uint64_t *)self->control);
}

TEST_F(map, cannot_grow_but_can_move)
{
	uint32_t index;
	char *moved;

	EXPECT_EQ(MAP_FAILED, mremap(self->control, self->bytes, self->bytes + 4096,
				     MREMAP_MAYMOVE));
	EXPECT_EQ(MAP_FAILED, mremap(self->control, 0, self->bytes, MREMAP_MAYMOVE));
	EXPECT_EQ(MAP_FAILED, mremap(self->control + 4096, 4096, 8192, MREMAP_MAYMOVE));
	moved = mmap(NULL, self->bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	EXPECT_EQ(moved, mremap(self->control, self->bytes, self->bytes,
				MREMAP_MAYMOVE | MREMAP_FIXED, moved));
	EXPECT_EQ(UPOOL_MAGIC, *(uint64_t *)moved);
	EXPECT_EQ(0, pop(self->m.fd, &index));
	self->m.control = moved;
}

/* What reads and writes the memory of others cannot reach it: it has no pages for them. */
TEST_F(map, no_direct_io_into_it)
{
	char path[] = "/proc/self/mem", byte;
	int fd = open(path, O_RDWR | O_CLOEXEC);

	ASSERT_LE(0, fd);
	EXPECT_EQ(-1, pread(fd, &byte, 1, (off_t)(uintptr_t)self->control));
	EXPECT_EQ(-1, pwrite(fd, "x", 1, (off_t)(uintptr_t)self->control));
	close(fd);
	EXPECT_EQ(UPOOL_MAGIC, *(uint64_t *)self->control);
}

TEST_F(map, close_leaves_a_mapped_member)
{
	uint64_t magic;

	close(self->m.fd);
	magic = *(volatile uint64_t *)self->control;
	EXPECT_EQ(UPOOL_MAGIC, magic);
	self->m.fd = -1;
}

TEST_F(map, exec_ends_the_attachment)
{
	struct pool_member other;
	uint32_t all[NR];
	int p[2];
	pid_t pid;
	char c;

	ASSERT_EQ(0, pipe(p));
	pid = fork();
	if (!pid) {
		uint32_t index;

		if (member_reopen(&other, self->m.fd) || pop(other.fd, &index))
			_exit(1);
		fcntl(other.fd, F_SETFD, 0);	/* the file survives, the attachment does not */
		dup2(p[1], 1);
		execl("/bin/sh", "sh", "-c", "echo; exec sleep 1000", (char *)NULL);
		_exit(2);
	}
	ASSERT_EQ(1, read(p[0], &c, 1));	/* it runs */
	EXPECT_EQ(NR, pop_all(self->m.fd, all, NR));
	EXPECT_EQ(1, stats_of(self->m.fd).nr_attachments);
	EXPECT_EQ(1, stats_of(self->m.fd).reclaimed_dead);
	kill(pid, SIGKILL);
	child_status(pid);
	close(p[0]);
	close(p[1]);
}

TEST_HARNESS_MAIN
