// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * pool_attach.c - creating, joining and leaving: bad input gives an error, nothing else.
 */
#include <dirent.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <upool/upool.h>
#include "kselftest_harness.h"
#include "pool_fixture.h"

static struct upool *const untouched = (struct upool *)1;

static int nr_fds(void)
{
	DIR *dir = opendir("/proc/self/fd");
	int n = 0;

	while (readdir(dir))
		n++;
	closedir(dir);
	return n;
}

static int refused(struct upool_options o)
{
	struct upool *pool = untouched;
	int ret = upool_create(&pool, &o);

	if (!ret)
		upool_close(pool);
	return pool == untouched ? ret : 1;
}

static struct upool_options valid(void)
{
	struct upool_options o = UPOOL_OPTIONS_INIT;

	o.backing = backing_under_test();
	return o;
}

#define REFUSED(err, what) do {				\
	struct upool_options o = valid();		\
	int fds = nr_fds();				\
							\
	what;						\
	EXPECT_EQ(err, refused(o));			\
	EXPECT_EQ(fds, nr_fds());			\
} while (0)

TEST(create_refuses_one_bad_option)
{
	REFUSED(-EINVAL, o.size = 4);
	REFUSED(-EINVAL, o.flags = 1u << 31);
	REFUSED(-EINVAL, o.backing = 77);
	REFUSED(-EINVAL, o.__resv[3] = 1);
	REFUSED(-EINVAL, o.nr_buffers = (1u << 24) + 1);
	REFUSED(-EINVAL, o.nr_buffers = SIZE_MAX);
	REFUSED(-EINVAL, o.buffer_bytes = (1ULL << 30) + 1);
	REFUSED(-EINVAL, o.buffer_bytes = SIZE_MAX);
	REFUSED(-EINVAL, o.magazine = 1025);
	REFUSED(-EINVAL, o.token_ttl_s = (1u << 30) + 1);
	REFUSED(-EOPNOTSUPP, (o.backing = UPOOL_BACKING_PRIVATE, o.flags = UPOOL_F_PERSIST));
	REFUSED(-EOVERFLOW, (o.nr_buffers = 1 << 24, o.buffer_bytes = 1 << 30));
}

TEST(create_takes_a_longer_struct_that_ends_in_zeroes)
{
	struct {
		struct upool_options o;
		unsigned char later[64];
	} longer = { valid(), { 0 } };
	struct upool *pool = untouched;

	longer.o.size = sizeof(longer);
	longer.later[63] = 1;
	EXPECT_EQ(-EINVAL, upool_create(&pool, &longer.o));
	EXPECT_EQ(untouched, pool);
	longer.later[63] = 0;
	ASSERT_EQ(0, upool_create(&pool, &longer.o));
	upool_close(pool);
}

TEST(create_takes_a_shorter_struct)
{
	struct upool_options o = valid();
	struct upool *pool;

	o.size = offsetof(struct upool_options, magazine);
	o.magazine = 5000;	/* beyond the size: not looked at */
	ASSERT_EQ(0, upool_create(&pool, &o));
	upool_close(pool);
}

TEST(attach_refuses_other_files)
{
	int null = open("/dev/null", O_RDWR), file = memfd_create("x", 0), closed = dup(null);
	struct upool *pool = untouched;

	close(closed);
	EXPECT_EQ(-EBADF, upool_attach(&pool, closed));
	EXPECT_EQ(-EBADF, upool_attach(&pool, -1));
	EXPECT_EQ(-EINVAL, upool_attach(&pool, null));
	EXPECT_EQ(-EINVAL, upool_attach(&pool, file));
	ASSERT_EQ(0, ftruncate(file, 1 << 20));
	EXPECT_EQ(-EINVAL, upool_attach(&pool, file));
	EXPECT_EQ(untouched, pool);
	close(null);
	close(file);
}

TEST(second_attachment_shares_the_buffers)
{
	struct upool *a, *b;
	upool_token_t token;
	void *buf, *same;

	ASSERT_EQ(0, make_pool(&a, 64, 4, 0));
	ASSERT_EQ(0, upool_attach(&b, upool_fd(a)));
	buf = upool_alloc(a, 1);
	strcpy(buf, "shared");
	token = upool_token(a, buf);
	ASSERT_EQ(0, upool_accept(b, token, &same));
	EXPECT_STREQ("shared", same);
	EXPECT_EQ(-EINVAL, upool_free(a, buf));
	EXPECT_EQ(0, upool_free(b, same));
	EXPECT_EQ(0, upool_close(a));
	EXPECT_EQ(4, count_buffers(b, 4));
	EXPECT_EQ(0, upool_close(b));
}

TEST(descriptor_of_an_attached_member_is_passed_on)
{
	struct upool *a, *b, *c;

	ASSERT_EQ(0, make_pool(&a, 64, 4, 0));
	ASSERT_EQ(0, upool_attach(&b, upool_fd(a)));
	ASSERT_EQ(0, upool_attach(&c, upool_fd(b)));
	upool_close(a);
	upool_close(b);
	EXPECT_EQ(4, count_buffers(c, 4));
	upool_close(c);
}

TEST(destroyed_pool_takes_no_members)
{
	struct upool *a, *b, *c = untouched;

	ASSERT_EQ(0, make_pool(&a, 64, 4, 0));
	ASSERT_EQ(0, upool_attach(&b, upool_fd(a)));
	EXPECT_EQ(0, upool_destroy(a));
	EXPECT_EQ(-ESTALE, upool_attach(&c, upool_fd(b)));
	EXPECT_EQ(untouched, c);
	EXPECT_EQ(4, count_buffers(b, 4));
	upool_close(b);
}

/* Bits all over the header of a memfd pool: a member, an error, never a crash. */
TEST(attach_survives_a_damaged_header)
{
	struct upool_header *h, good;
	struct upool *a, *b;
	unsigned int bit;

	ASSERT_EQ(0, make_pool_on(UPOOL_BACKING_MEMFD, &a, 4096, 16, 0));
	h = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, upool_fd(a), 0);
	ASSERT_NE(MAP_FAILED, h);
	good = *h;
	for (bit = 0; bit < sizeof(good) * 8; bit += 7) {
		((unsigned char *)h)[bit / 8] ^= 1u << bit % 8;
		b = untouched;
		if (!upool_attach(&b, upool_fd(a)))
			upool_close(b);
		else
			EXPECT_EQ(untouched, b);
		*h = good;
	}
	EXPECT_EQ(16, count_buffers(a, 16));
	munmap(h, 4096);
	upool_close(a);
}

TEST(mode_names_the_back_end)
{
	const char *want = backing_under_test() == UPOOL_BACKING_DEVICE ? "device: " : "memfd: ";
	struct upool *pool;

	ASSERT_EQ(0, make_pool(&pool, 64, 4, 0));
	EXPECT_EQ(0, strncmp(want, upool_mode(pool), strlen(want)));
	upool_close(pool);
	setenv("UPOOL_BACKEND", "locked", 1);
	ASSERT_EQ(0, make_pool(&pool, 64, 4, 0));
	EXPECT_NE(NULL, strstr(upool_mode(pool), "(rseq: "));
	EXPECT_EQ(4, count_buffers(pool, 4));
	upool_close(pool);
}

TEST_HARNESS_MAIN
