// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * unit_layout.c - the arithmetic of the shared layout, at and beyond its bounds.
 */
#include <stdint.h>
#include <string.h>
#include <upool/upool.h>
#include "kselftest_harness.h"

static int init(struct upool_geometry *g, uint64_t bytes, uint32_t nr, uint32_t max_nr,
		uint32_t cap, uint32_t cpus)
{
	memset(g, 0, sizeof(*g));
	return upool_geometry_init(g, bytes, nr, max_nr, cap, cpus);
}

TEST(areas_do_not_overlap)
{
	static const uint32_t cpus[] = { 1, 2, 192, 65536 }, caps[] = { 1, 30, 31, 64, 1024 };
	struct upool_geometry g;
	unsigned int i, j;

	for (i = 0; i < 4; i++)
		for (j = 0; j < 5; j++) {
			const struct upool_class *c = &g.classes[0];

			ASSERT_EQ(0, init(&g, 4096, 1000, 1000, caps[j], cpus[i]));
			EXPECT_LE(sizeof(struct upool_header), c->mag_off);
			EXPECT_EQ(0, c->mag_off % UPOOL_MAG_ALIGN);
			EXPECT_EQ(0, c->mag_stride % UPOOL_MAG_ALIGN);
			EXPECT_LE(8 + 4 * caps[j], c->mag_stride);
			EXPECT_LE(c->mag_off + (uint64_t)c->mag_stride * cpus[i], g.tag_off);
			EXPECT_EQ(0, g.tag_off % 8);
			EXPECT_LE(g.tag_off + 8 * 1000, g.control_bytes);
			EXPECT_LE(4096 * 1000, g.data_bytes);
			EXPECT_EQ(0, g.control_bytes % UPOOL_MAP_ALIGN);
			EXPECT_EQ(0, g.data_bytes % UPOOL_MAP_ALIGN);
		}
}

TEST(bounds_are_kept)
{
	struct upool_geometry g;

	EXPECT_EQ(0, init(&g, 64, 1, 1, 1, 1));
	EXPECT_EQ(0, init(&g, UPOOL_MAX_BUF_BYTES, 1, 1, 1, 1));
	EXPECT_EQ(0, init(&g, 64, UPOOL_MAX_COUNT, UPOOL_MAX_COUNT, 1, 1));
	EXPECT_EQ(0, init(&g, 1 << 18, UPOOL_MAX_COUNT, UPOOL_MAX_COUNT, UPOOL_MAX_CAP, 65536));
	EXPECT_NE(0, init(&g, 0, 1, 1, 1, 1));
	EXPECT_NE(0, init(&g, 63, 1, 1, 1, 1));
	EXPECT_NE(0, init(&g, 65, 1, 1, 1, 1));
	EXPECT_NE(0, init(&g, UPOOL_MAX_BUF_BYTES + 64, 1, 1, 1, 1));
	EXPECT_NE(0, init(&g, UINT64_MAX, 1, 1, 1, 1));
	EXPECT_NE(0, init(&g, 64, 0, 1, 1, 1));
	EXPECT_NE(0, init(&g, 64, 2, 1, 1, 1));
	EXPECT_NE(0, init(&g, 64, 1, UPOOL_MAX_COUNT + 1, 1, 1));
	EXPECT_NE(0, init(&g, 64, UINT32_MAX, UINT32_MAX, 1, 1));
	EXPECT_NE(0, init(&g, 64, 0x40000001, 0x40000001, 1, 1));
	EXPECT_NE(0, init(&g, 64, 1, 1, 0, 1));
	EXPECT_NE(0, init(&g, 64, 1, 1, UPOOL_MAX_CAP + 1, 1));
	EXPECT_NE(0, init(&g, 64, 1, 1, 1, 0));
	EXPECT_NE(0, init(&g, 64, 1, 1, 1, 65537));
	EXPECT_NE(0, init(&g, (1 << 18) + 64, UPOOL_MAX_COUNT, UPOOL_MAX_COUNT, 1, 1));
}

TEST(default_magazines_hold_a_quarter_at_most)
{
	uint32_t nr, cpus, cap;

	for (nr = 1; nr < 100000; nr = nr * 3 / 2 + 1)
		for (cpus = 0; cpus < 300; cpus = cpus * 2 + 1) {
			cap = upool_default_cap(nr, cpus);
			EXPECT_LE(1, cap);
			EXPECT_GE(64, cap);
			if (cap > 1)
				EXPECT_LE((uint64_t)cap * cpus, nr / 4);
		}
}

TEST(one_word_counts_slots_and_pops)
{
	uint64_t state = 0;
	int i;

	for (i = 0; i < 1000; i++)
		state += UPOOL_MAG_PUSH;
	EXPECT_EQ(1000, UPOOL_MAG_COUNT(state));
	EXPECT_EQ(0, UPOOL_MAG_POPS(state));
	for (i = 0; i < 1000; i++)
		state += UPOOL_MAG_POP;
	EXPECT_EQ(0, UPOOL_MAG_COUNT(state));
	EXPECT_EQ(1000, UPOOL_MAG_POPS(state));
}

TEST(tokens_and_tags_keep_their_parts)
{
	uint64_t token = upool_token_make(0xa5, 0xabcdef, 0xfffffffe);
	uint64_t tag = upool_tag(UPOOL_MAX_ID | UPOOL_TAG_HELD | UPOOL_TAG_EXPORTED, 7);

	EXPECT_EQ(0xa5, upool_token_check(token));
	EXPECT_EQ(0xabcdef, upool_token_index(token));
	EXPECT_EQ(0xfffffffe, upool_token_gen(token));
	EXPECT_EQ(UINT32_MAX, upool_tag_owner(tag));
	EXPECT_EQ(7, upool_tag_gen(tag));
	EXPECT_EQ(0, UPOOL_TAG_ID_MASK & (UPOOL_TAG_HELD | UPOOL_TAG_EXPORTED));
}

TEST_HARNESS_MAIN
