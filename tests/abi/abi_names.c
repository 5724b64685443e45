// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * abi_names.c - names, permissions, persistence, destruction; joining by name and descriptor.
 */
#include <sys/stat.h>
#include "kselftest_harness.h"
#include "device.h"

static int create_named(struct pool_member *m, const char *name, uint32_t mode, uint32_t flags)
{
	struct upool_create c = valid_create();

	memcpy(c.name, name, strnlen(name, UPOOL_NAME_BYTES));
	c.mode = mode;
	c.flags = flags;
	return member_create(m, c);
}

static int attach(int *fd, const char *name, uint32_t flags, uint32_t uid)
{
	struct upool_attach a = { .size = sizeof(a), .flags = flags, .uid = uid };
	int ret;

	memcpy(a.name, name, strnlen(name, UPOOL_NAME_BYTES));
	*fd = device_open();
	ret = call(*fd, UPOOL_IOC_ATTACH, &a);
	if (ret)
		close(*fd);
	return ret;
}

static int try_attach(const char *name, uint32_t flags, uint32_t uid)
{
	int fd, ret = attach(&fd, name, flags, uid);

	if (!ret)
		close(fd);
	return ret;
}

/*
 * Runs in a child as another user: whether @uid gets @want for uid 0's pool "mode".
 * The file is open before the ids change: the node is root's.
 */
static int attach_as(uid_t uid, gid_t gid, const char *name)
{
	struct upool_attach a = { .size = sizeof(a), .flags = UPOOL_ATTACH_F_UID };
	int fd = device_open();
	pid_t pid = fork();

	if (!pid) {
		strcpy(a.name, name);
		if (setresgid(gid, gid, gid) || setresuid(uid, uid, uid))
			_exit(255);
		_exit(-call(fd, UPOOL_IOC_ATTACH, &a));
	}
	close(fd);
	return -child_status(pid);
}

TEST(rejects_names_that_are_not_names)
{
	static const char *const bad[] = {
		".x", "_x", "-x", "a/b", "a b", "a:b", "../x", "\x01", "a\x80", "\xc3\xa4", "a\n",
		"a*", "a%n",
		"0123456789012345678901234567890123456789012345678901234567890123",
	};
	struct upool_create c = valid_create();
	int fd = device_open();
	unsigned int i;

	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		memset(c.name, 0, sizeof(c.name));
		memcpy(c.name, bad[i], strlen(bad[i]));
		EXPECT_EQ(-EINVAL, call(fd, UPOOL_IOC_CREATE, &c)) {
			TH_LOG("\"%s\"", bad[i]);
		}
		EXPECT_EQ(-EINVAL, try_attach(bad[i], 0, 0));
	}
	memset(c.name, 0, sizeof(c.name));
	strcpy(c.name, "a");
	c.name[5] = 'b';	/* behind the end */
	EXPECT_EQ(-EINVAL, call(fd, UPOOL_IOC_CREATE, &c));
	EXPECT_EQ(-EINVAL, try_attach("", 0, 0));
	close(fd);
}

TEST(accepts_the_longest_name)
{
	const char *name = "Z12345678901234567890123456789012345678901234567890123456789_.-";
	struct pool_member m;
	int fd;

	ASSERT_EQ(UPOOL_NAME_BYTES - 1, strlen(name));
	ASSERT_EQ(0, create_named(&m, name, 0, 0));
	ASSERT_EQ(0, attach(&fd, name, 0, 0));
	close(fd);
	member_leave(&m);
}

TEST(name_is_unique_per_user)
{
	struct pool_member m, other;
	int fd;

	ASSERT_EQ(0, create_named(&m, "same", 0, 0));
	EXPECT_EQ(-EEXIST, create_named(&other, "same", 0, 0));
	close(other.fd);
	other.fd = device_open();	/* the node is root's */
	ASSERT_EQ(0, seteuid(12345));
	{
		struct upool_create c = valid_create();

		strcpy(c.name, "same");
		EXPECT_EQ(0, call(other.fd, UPOOL_IOC_CREATE, &c));
		EXPECT_NE(m.pool_id, c.pool_id);
	}
	ASSERT_EQ(0, seteuid(0));
	EXPECT_EQ(0, attach(&fd, "same", UPOOL_ATTACH_F_UID, 12345));
	EXPECT_EQ(2, stats_of(fd).nr_attachments);
	close(fd);
	EXPECT_EQ(0, attach(&fd, "same", UPOOL_ATTACH_F_UID, 0));
	EXPECT_EQ(0, attach(&fd, "same", 0, 0));
	EXPECT_EQ(-ENOENT, try_attach("same", UPOOL_ATTACH_F_UID, 54321));
	EXPECT_EQ(-ENOENT, try_attach("same", UPOOL_ATTACH_F_UID, UINT32_MAX));
	EXPECT_EQ(-EINVAL, try_attach("same", 0, 12345));
	EXPECT_EQ(-ENOENT, try_attach("other", 0, 0));
	close(other.fd);
	member_leave(&m);
}

TEST(mode_says_who_may_attach_by_name)
{
	struct pool_member owner_only, group, all, read_only;

	ASSERT_EQ(0, setegid(777));
	ASSERT_EQ(0, create_named(&owner_only, "default", 0, 0));
	ASSERT_EQ(0, create_named(&group, "group", 0660, 0));
	ASSERT_EQ(0, create_named(&all, "all", 0666, 0));
	ASSERT_EQ(0, create_named(&read_only, "read", 0644, 0));
	ASSERT_EQ(0, setegid(0));
	EXPECT_EQ(-EACCES, attach_as(1000, 1000, "default"));
	EXPECT_EQ(-EACCES, attach_as(1000, 777, "default"));
	EXPECT_EQ(-EACCES, attach_as(1000, 1000, "group"));
	EXPECT_EQ(0, attach_as(1000, 777, "group"));
	EXPECT_EQ(0, attach_as(1000, 1000, "all"));
	EXPECT_EQ(-EACCES, attach_as(1000, 777, "read"));	/* members write */
	EXPECT_EQ(0, attach_as(0, 0, "default"));
	member_leave(&owner_only);
	member_leave(&group);
	member_leave(&all);
	member_leave(&read_only);
}

TEST(ends_with_its_last_attachment)
{
	struct pool_member m;
	int fd;

	ASSERT_EQ(0, create_named(&m, "ends", 0, 0));
	ASSERT_EQ(0, attach(&fd, "ends", 0, 0));
	member_leave(&m);
	EXPECT_EQ(0, try_attach("ends", 0, 0));
	close(fd);
	EXPECT_EQ(-ENOENT, try_attach("ends", 0, 0));
	ASSERT_EQ(0, create_named(&m, "ends", 0, 0));
	member_leave(&m);
}

TEST(persistent_pool_lives_until_it_is_destroyed)
{
	struct pool_member m;
	char *data;
	int fd;

	ASSERT_EQ(0, create_named(&m, "stays", 0, UPOOL_CREATE_F_PERSIST));
	data = map_data(m.fd, &m.geo);
	ASSERT_NE(MAP_FAILED, data);
	memset(data, 0x5a, BYTES);
	munmap(data, m.geo.data_bytes);
	member_leave(&m);
	EXPECT_EQ(-EEXIST, create_named(&m, "stays", 0, 0));
	close(m.fd);
	ASSERT_EQ(0, attach(&fd, "stays", 0, 0));
	data = map_data(fd, &m.geo);
	ASSERT_NE(MAP_FAILED, data);
	EXPECT_EQ(0x5a, data[BYTES - 1]);
	EXPECT_EQ(0, destroy(fd, 0));
	EXPECT_EQ(-ENOENT, try_attach("stays", 0, 0));
	close(fd);
	EXPECT_EQ(0x5a, data[BYTES - 1]);
	ASSERT_EQ(0, create_named(&m, "stays", 0, 0));
	member_leave(&m);
}

TEST(destroy_removes_the_name_and_members_go_on)
{
	struct upool_attach a = { .size = sizeof(a), .flags = UPOOL_ATTACH_F_FD };
	struct pool_member m, second, next;
	uint32_t index = NR, theirs;
	int fd = device_open();

	ASSERT_EQ(0, create_named(&m, "going", 0, 0));
	ASSERT_EQ(0, member_reopen(&second, m.fd));
	EXPECT_EQ(-EBUSY, destroy(m.fd, UPOOL_DESTROY_F_IDLE));
	EXPECT_EQ(0, try_attach("going", 0, 0));	/* as if nothing had been asked */
	EXPECT_EQ(0, destroy(m.fd, 0));
	EXPECT_EQ(-ESTALE, destroy(m.fd, 0));
	EXPECT_EQ(-ESTALE, destroy(second.fd, UPOOL_DESTROY_F_IDLE));
	EXPECT_EQ(-ENOENT, try_attach("going", 0, 0));
	ASSERT_EQ(0, create_named(&next, "going", 0, 0));
	EXPECT_NE(m.pool_id, next.pool_id);
	a.fd = m.fd;
	EXPECT_EQ(-ESTALE, call(fd, UPOOL_IOC_ATTACH, &a));
	memset(&a, 0, sizeof(a));
	a.size = sizeof(a);
	EXPECT_EQ(-ESTALE, call(m.fd, UPOOL_IOC_REOPEN, &a));

	EXPECT_EQ(0, pop(m.fd, &index));
	EXPECT_EQ(0, adopt(second.fd, export_token(&m, index), &theirs));
	EXPECT_EQ(index, theirs);
	EXPECT_EQ(0, push(second.fd, index));
	close(fd);
	member_leave(&next);
	member_leave(&second);
	member_leave(&m);
}

TEST(destroy_when_idle_and_only_by_the_owner)
{
	struct pool_member m;
	int ret;

	ASSERT_EQ(0, create_named(&m, "owned", 0666, 0));
	ASSERT_EQ(0, seteuid(1000));
	ret = destroy(m.fd, 0);
	ASSERT_EQ(0, seteuid(0));
	EXPECT_EQ(-EPERM, ret);
	EXPECT_EQ(0, try_attach("owned", 0, 0));
	EXPECT_EQ(0, destroy(m.fd, UPOOL_DESTROY_F_IDLE));
	EXPECT_EQ(-ESTALE, destroy(m.fd, UPOOL_DESTROY_F_IDLE));
	member_leave(&m);
}

TEST(joins_by_descriptor)
{
	struct upool_attach a = { .size = sizeof(a), .flags = UPOOL_ATTACH_F_FD };
	int fd = device_open(), bare = device_open(), null = open("/dev/null", O_RDWR);
	struct pool_member m;

	ASSERT_EQ(0, member_create(&m, valid_create()));
	a.fd = bare;
	EXPECT_EQ(-EBADF, call(fd, UPOOL_IOC_ATTACH, &a));	/* attached to nothing */
	a.fd = null;
	EXPECT_EQ(-EBADF, call(fd, UPOOL_IOC_ATTACH, &a));
	a.fd = -1;
	EXPECT_EQ(-EBADF, call(fd, UPOOL_IOC_ATTACH, &a));
	a.fd = m.fd;
	a.name[0] = 'a';
	EXPECT_EQ(-EINVAL, call(fd, UPOOL_IOC_ATTACH, &a));
	a.name[0] = 0;
	a.uid = 1;
	EXPECT_EQ(-EINVAL, call(fd, UPOOL_IOC_ATTACH, &a));
	a.uid = 0;
	EXPECT_EQ(0, call(fd, UPOOL_IOC_ATTACH, &a));
	EXPECT_EQ(m.pool_id, a.pool_id);
	EXPECT_NE(m.id, a.id);
	EXPECT_EQ(0, memcmp(&m.geo, &a.geo, sizeof(a.geo)));
	close(fd);
	close(bare);
	close(null);
	member_leave(&m);
}

/* In a process that may not open the node, nor has the pool's mode. */
TEST(descriptor_is_a_capability)
{
	struct pool_member m, mine;
	uint32_t index;
	pid_t pid;

	ASSERT_EQ(0, member_create(&m, valid_create()));
	pid = fork();
	if (!pid) {
		if (setresgid(1000, 1000, 1000) || setresuid(1000, 1000, 1000))
			_exit(1);
		if (device_open() >= 0 || errno != EACCES)
			_exit(2);
		if (member_reopen(&mine, m.fd))
			_exit(3);
		if (fcntl(mine.fd, F_GETFD) != FD_CLOEXEC)
			_exit(4);
		_exit(pop(mine.fd, &index) ? 5 : 0);
	}
	EXPECT_EQ(0, child_status(pid));
	EXPECT_EQ(NR, stats_of(m.fd).nr_buffers);
	member_leave(&m);
}

TEST(node_is_not_for_everybody)
{
	struct stat st;

	ASSERT_EQ(0, stat("/dev/upool", &st));
	EXPECT_EQ(S_IFCHR | 0660, st.st_mode);
}

TEST_HARNESS_MAIN
