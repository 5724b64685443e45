// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * private_cxx.cpp - upool.hpp: containers, buffers that free themselves, views.
 */
#include <cstdint>
#include <cstdio>
#include <map>
#include <string>
#include <vector>
#include <upool.hpp>

static unsigned int nr, failed;

static void result(bool good, const char *name)
{
	std::printf("%sok %u %s\n", good ? "" : "not ", ++nr, name);
	failed += !good;
}

static struct upool *new_pool(std::size_t max_bytes)
{
	struct upool_options o = upoolpp::options();
	struct upool *pool = nullptr;

	o.backing = UPOOL_BACKING_PRIVATE;
	o.max_bytes = max_bytes;
	return upool_create(&pool, &o) ? nullptr : pool;
}

static std::uint64_t held(struct upool *pool)
{
	struct upool_stats st = {};

	st.size = sizeof(st);
	upool_stats_read(pool, &st);
	return st.held;
}

static bool containers(struct upool *pool)
{
	upoolpp::memory_resource mr(pool), same(pool);
	bool good = mr == same && !(mr == *std::pmr::new_delete_resource());
	std::pmr::vector<int> v(&mr);
	std::pmr::map<int, std::pmr::string> m(&mr);

	for (int i = 0; i < 10000; i++) {
		v.push_back(i);
		m[i % 100] += "a string that is longer than any small buffer";
	}
	for (int i = 0; i < 10000; i++)
		good = good && v[i] == i;
	return good && m[7].size() == 100 * 45 && held(pool) > 200;
}

static bool buffers(struct upool *pool)
{
	upoolpp::buffer a(pool, 1000), b;
	void *at = a.data();
	bool good = a && !b && a.size() == 1000 && a.bytes().size() == 1000;

	for (std::byte &x : a.bytes().subspan(10, 20))
		x = std::byte{7};
	good = good && a.bytes()[29] == std::byte{7} && a.bytes().subspan(2000).empty();
	b = std::move(a);
	good = good && !a && b.data() == at;
	upool_token_t token = b.token();
	b.release();
	a = upoolpp::buffer::accept(pool, token);
	good = good && a.data() == at && a.size() >= 1000 && !upoolpp::buffer::accept(pool, token);
	a = upoolpp::buffer(pool, 5);
	return good && held(pool) == 1;
}

static bool failures()
{
	struct upool *pool = new_pool(100000);
	upoolpp::memory_resource mr(pool);
	upoolpp::buffer none(pool, 200000);
	bool thrown = false;

	try {
		mr.deallocate(mr.allocate(200000), 200000);
	} catch (const std::bad_alloc &) {
		thrown = true;
	}
	return !none && thrown && !upool_destroy(pool);
}

static bool aligned(struct upool *pool)
{
	upoolpp::memory_resource mr(pool);
	void *p = mr.allocate(100, 4096);
	bool good = !(reinterpret_cast<std::uintptr_t>(p) & 4095);

	mr.deallocate(p, 100, 4096);
	return good;
}

int main()
{
	struct upool *pool = new_pool(0);

	std::printf("TAP version 13\n1..5\n");
	result(containers(pool), "containers");
	result(buffers(pool), "buffers that free themselves");
	result(aligned(pool), "aligned");
	result(failures(), "failures");
	result(!held(pool) && !upool_destroy(pool), "nothing left");
	return failed != 0;
}
