// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * abi_negative.c - every command, valid but for one thing: the right error, nothing changed.
 */
#include "kselftest_harness.h"
#include "device.h"

union arg {
	uint32_t		size;
	struct upool_query	query;	/* flags are where every command has them */
	struct upool_create	create;
	struct upool_attach	attach;
	struct upool_batch	batch;
	struct upool_pop	pop;
	struct upool_push	push;
	struct upool_adopt	adopt;
	struct upool_drain	drain;
	struct upool_trim	trim;
	struct upool_stat	stat;
	struct upool_destroy	destroy;
	unsigned char		bytes[8192];
};

FIXTURE(cmd)
{
	struct pool_member m;
	int fresh, nr_fds;
	uint32_t held, exported;
	uint64_t token;
	struct upool_pool_stats before;
	union arg a;
};

FIXTURE_VARIANT(cmd)
{
	unsigned long cmd;
	uint32_t size, min;
	uint32_t in_end;	/* end of the input fields after flags */
	uint32_t flags;		/* known ones */
	int ret;		/* of the valid call */
};

#define COMMAND(name, nr, type, last, in, known, result)			\
FIXTURE_VARIANT_ADD(cmd, name) {						\
	.cmd = nr, .size = sizeof(struct type),					\
	.min = offsetof(struct type, last) + sizeof(((struct type *)0)->last),	\
	.in_end = in, .flags = known, .ret = result,				\
}

COMMAND(query, UPOOL_IOC_QUERY, upool_query, flags, 8, 0, 0);
COMMAND(create, UPOOL_IOC_CREATE, upool_create, geo, offsetof(struct upool_create, __resv),
	UPOOL_CREATE_F_ALL, 0);
COMMAND(attach, UPOOL_IOC_ATTACH, upool_attach, geo, offsetof(struct upool_attach, uid),
	UPOOL_ATTACH_F_ALL, 0);
COMMAND(reopen, UPOOL_IOC_REOPEN, upool_attach, geo, 8, 0, 0);
COMMAND(refill, UPOOL_IOC_REFILL, upool_batch, nr, 16, 0, 0);
COMMAND(flush, UPOOL_IOC_FLUSH, upool_batch, nr, 16, 0, 0);
COMMAND(pop, UPOOL_IOC_POP, upool_pop, index, 16, 0, 0);
COMMAND(push, UPOOL_IOC_PUSH, upool_push, index, 12, 0, 0);
COMMAND(adopt, UPOOL_IOC_ADOPT, upool_adopt, index, 16, 0, 0);
COMMAND(drain, UPOOL_IOC_DRAIN, upool_drain, flags, 12, 0, 0);
COMMAND(trim, UPOOL_IOC_TRIM, upool_trim, keep_bytes, 16, 0, -EOPNOTSUPP);
COMMAND(stat, UPOOL_IOC_STAT, upool_stat, flags, 8, 0, 0);
COMMAND(destroy, UPOOL_IOC_DESTROY, upool_destroy, flags, 8, UPOOL_DESTROY_F_ALL, 0);

FIXTURE_SETUP(cmd)
{
	struct upool_create c = valid_create();

	strcpy(c.name, "negative");
	ASSERT_EQ(0, member_create(&self->m, c));
	self->fresh = device_open();
	ASSERT_LE(0, self->fresh);
	ASSERT_EQ(0, pop(self->m.fd, &self->held));
	ASSERT_EQ(0, pop(self->m.fd, &self->exported));
	self->token = export_token(&self->m, self->exported);
	self->before = stats_of(self->m.fd);
	self->nr_fds = count_fds();
}

FIXTURE_TEARDOWN(cmd)
{
	close(self->fresh);
	member_leave(&self->m);
}

#define joins(v)	((v)->cmd == UPOOL_IOC_CREATE || (v)->cmd == UPOOL_IOC_ATTACH)
#define file_of(s, v)	(joins(v) ? (s)->fresh : (s)->m.fd)

static void make_valid(union arg *a, const struct pool_member *m, uint32_t held, uint64_t token,
		       const FIXTURE_VARIANT(cmd) *v)
{
	memset(a, 0, sizeof(*a));
	if (v->cmd == UPOOL_IOC_CREATE)
		a->create = valid_create();
	else if (v->cmd == UPOOL_IOC_ATTACH)
		strcpy(a->attach.name, "negative");
	else if (v->cmd == UPOOL_IOC_REFILL || v->cmd == UPOOL_IOC_FLUSH)
		a->batch.nr = 1;
	else if (v->cmd == UPOOL_IOC_PUSH)
		a->push.index = held;
	else if (v->cmd == UPOOL_IOC_ADOPT)
		a->adopt.token = token;
	a->size = v->size;
}

#define VALID()		make_valid(&self->a, &self->m, self->held, self->token, variant)
#define CALL()		call(file_of(self, variant), variant->cmd, &self->a)

/* The call failed: no descriptor more, every statistic as before, the file not attached. */
#define EXPECT_UNCHANGED()							\
do {										\
	struct upool_pool_stats now = stats_of(self->m.fd);			\
	struct upool_stat s = { .size = sizeof(s) };				\
										\
	EXPECT_EQ(self->nr_fds, count_fds());					\
	EXPECT_EQ(0, memcmp(&self->before, &now, sizeof(now)));			\
	EXPECT_EQ(-ENXIO, call(self->fresh, UPOOL_IOC_STAT, &s));		\
} while (0)

TEST_F(cmd, valid_call_works)
{
	VALID();
	EXPECT_EQ(variant->ret, CALL());
	EXPECT_EQ(variant->size, self->a.size);
}

TEST_F(cmd, rejects_each_unknown_flag)
{
	unsigned int bit;

	for (bit = 0; bit < 32; bit++) {
		if (variant->flags & 1u << bit)
			continue;
		VALID();
		self->a.query.flags = 1u << bit;
		EXPECT_EQ(-EINVAL, CALL()) {
			TH_LOG("bit %u", bit);
		}
	}
	EXPECT_UNCHANGED();
}

static bool is_input(const FIXTURE_VARIANT(cmd) *v, uint32_t off)
{
	const uint32_t name = offsetof(struct upool_create, name);

	if (v->cmd == UPOOL_IOC_CREATE && off >= name && off < name + UPOOL_NAME_BYTES)
		return true;
	return off < v->in_end;
}

TEST_F(cmd, rejects_each_nonzero_output_and_reserved_byte)
{
	uint32_t off;

	for (off = 8; off < variant->size; off++) {
		if (is_input(variant, off))
			continue;
		VALID();
		self->a.bytes[off] = 1;
		EXPECT_EQ(-EINVAL, CALL()) {
			TH_LOG("offset %u", off);
		}
	}
	EXPECT_UNCHANGED();
}

TEST_F(cmd, rejects_a_struct_that_is_too_short)
{
	uint32_t size;

	for (size = 0; size < variant->min; size++) {
		VALID();
		self->a.size = size;
		EXPECT_EQ(-EINVAL, CALL()) {
			TH_LOG("size %u", size);
		}
	}
	EXPECT_UNCHANGED();
}

/* Nothing behind it is written. */
TEST_F(cmd, accepts_the_shortest_struct)
{
	uint32_t off;

	VALID();
	memset(self->a.bytes + variant->min, 0xa5, 64);
	self->a.size = variant->min;
	EXPECT_EQ(variant->ret, CALL());
	EXPECT_EQ(variant->min, self->a.size);
	for (off = variant->min; off < variant->min + 64; off++)
		EXPECT_EQ(0xa5, self->a.bytes[off]);
}

TEST_F(cmd, accepts_a_longer_struct_with_a_zero_tail)
{
	VALID();
	self->a.size = variant->size + 8;
	self->a.bytes[variant->size + 8] = 0xa5;
	EXPECT_EQ(variant->ret, CALL());
	EXPECT_EQ(0xa5, self->a.bytes[variant->size + 8]);
}

TEST_F(cmd, rejects_each_nonzero_byte_of_a_tail)
{
	uint32_t off;

	for (off = variant->size; off < variant->size + 16; off++) {
		VALID();
		self->a.size = variant->size + 16;
		self->a.bytes[off] = 1;
		EXPECT_EQ(-E2BIG, CALL()) {
			TH_LOG("offset %u", off);
		}
	}
	VALID();
	self->a.size = sizeof(self->a);	/* more than a page, though zero */
	EXPECT_EQ(-E2BIG, CALL());
	self->a.size = UINT32_MAX;
	EXPECT_EQ(-E2BIG, CALL());
	EXPECT_UNCHANGED();
}

TEST_F(cmd, rejects_pointers_it_cannot_read)
{
	int fd = file_of(self, variant);
	char *p = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	ASSERT_EQ(0, munmap(p + 4096, 4096));
	EXPECT_EQ(-EFAULT, call(fd, variant->cmd, NULL));
	EXPECT_EQ(-EFAULT, call(fd, variant->cmd, (void *)8));
	EXPECT_EQ(-EFAULT, call(fd, variant->cmd, p + 4096));
	EXPECT_EQ(-EFAULT, call(fd, variant->cmd, (void *)(~0UL - 4095)));
	EXPECT_EQ(-EFAULT, call(fd, variant->cmd, (void *)(1UL << (8 * sizeof(long) - 1))));
	*(uint32_t *)(p + 4092) = variant->size;	/* the size only */
	EXPECT_EQ(-EFAULT, call(fd, variant->cmd, p + 4092));
	EXPECT_UNCHANGED();
}

TEST_F(cmd, needs_a_file_open_for_reading_and_writing)
{
	const bool reads = variant->cmd == UPOOL_IOC_QUERY || variant->cmd == UPOOL_IOC_STAT;
	static const int modes[] = { O_RDONLY, O_WRONLY };
	unsigned int i;
	int fd;

	for (i = 0; i < 2; i++) {
		fd = open("/dev/upool", modes[i] | O_CLOEXEC);
		ASSERT_LE(0, fd);
		VALID();
		EXPECT_EQ(!reads ? -EACCES : variant->cmd == UPOOL_IOC_STAT ? -ENXIO : 0,
			  call(fd, variant->cmd, &self->a));
		close(fd);
	}
	EXPECT_UNCHANGED();
}

TEST_F(cmd, needs_an_attached_file)
{
	VALID();
	if (!joins(variant) && variant->cmd != UPOOL_IOC_QUERY)
		EXPECT_EQ(-ENXIO, call(self->fresh, variant->cmd, &self->a));
	EXPECT_UNCHANGED();
}

/* A child has our file, but another address space. */
TEST_F(cmd, needs_the_address_space_that_attached)
{
	const bool any = variant->cmd == UPOOL_IOC_QUERY || variant->cmd == UPOOL_IOC_STAT ||
			 variant->cmd == UPOOL_IOC_REOPEN;
	int want = any ? 0 : joins(variant) ? -EBUSY : -EPERM;
	pid_t pid;

	VALID();
	pid = fork();
	if (!pid)
		_exit(call(self->m.fd, variant->cmd, &self->a) == want ? 0 : 1);
	EXPECT_EQ(0, child_status(pid));
	if (variant->cmd != UPOOL_IOC_REOPEN)
		EXPECT_UNCHANGED();
}

static bool needs_map(unsigned long cmd)
{
	return cmd == UPOOL_IOC_REFILL || cmd == UPOOL_IOC_POP || cmd == UPOOL_IOC_ADOPT;
}

TEST_F(cmd, hands_out_buffers_only_while_the_control_area_is_mapped)
{
	struct upool_attach a = { .size = sizeof(a) };

	if (!needs_map(variant->cmd))
		return;
	ASSERT_EQ(0, call(self->m.fd, UPOOL_IOC_REOPEN, &a));
	VALID();
	EXPECT_EQ(-ENXIO, call(a.fd, variant->cmd, &self->a));
	munmap(self->m.control, self->m.geo.control_bytes);
	EXPECT_EQ(-ENXIO, CALL());
	EXPECT_EQ(MAP_FAILED, map_control(self->m.fd, &self->m.geo));
	EXPECT_EQ(ENXIO, errno);
	close(a.fd);
}

TEST_HARNESS_MAIN
