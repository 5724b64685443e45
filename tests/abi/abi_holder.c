// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * abi_holder.c - holds the module in the ways that its argument names, for abi_module.sh.
 *
 *	open     an open file
 *	control  the control mapping, the file closed
 *	data     the data mapping alone; the fill is checked at the end
 *	race     opens, sometimes makes a pool and leaves it, until killed; the device may go
 *
 * Says "ready", then ends with its standard input.
 */
#include "device.h"

static int hold_open(void) { return device_open() < 0; }

static int hold_control(void)
{
	struct pool_member m;

	return member_create(&m, valid_create()) || close(m.fd);
}

static char *data;
static size_t data_bytes;

static int hold_data(void)
{
	struct pool_member m;

	if (member_create(&m, valid_create()))
		return 1;
	data = map_data(m.fd, &m.geo);
	data_bytes = m.geo.data_bytes;
	memset(data, 0x5e, data_bytes);
	member_leave(&m);
	return 0;
}

static int check_data(void)
{
	size_t i;

	for (i = 0; i < data_bytes; i++)
		if (data[i] != 0x5e)
			return 1;
	if (data)
		data[0] = 1;
	return 0;
}

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* Opens, sometimes makes a pool; 0, or what must not happen. */
static int race_once(uint64_t *seed)
{
	struct pool_member m;
	uint32_t index;
	int fd = device_open(), ret;

	if (fd < 0)	/* gone */
		return errno == ENOENT || errno == ENODEV || errno == ENXIO ? 0 : 1;
	close(fd);
	if (random_next(seed) % 4)
		return 0;
	ret = member_create(&m, valid_create());
	if (!ret) {
		ret = pop(m.fd, &index) ? 2 : 0;
		member_leave(&m);
		return ret;
	}
	if (m.fd >= 0)
		close(m.fd);
	return 0;
}

/*
 * Pauses many times as long as it takes to be in, on whatever machine: there are
 * moments in which none of eight is.
 */
static int race(void)
{
	uint64_t seed = random_seed(), begun, pause_ns;
	struct timespec t;
	int ret;

	do {
		begun = now_ns();
		ret = race_once(&seed);
		pause_ns = random_next(&seed) % (64 * (now_ns() - begun) + 1);
		t.tv_sec = (time_t)(pause_ns / 1000000000);
		t.tv_nsec = (long)(pause_ns % 1000000000);
		nanosleep(&t, NULL);
	} while (!ret);
	return ret;
}

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "";
	char c;

	if (!strcmp(how, "race"))
		return race();
	if (!strcmp(how, "open") ? hold_open() :
	    !strcmp(how, "control") ? hold_control() :
	    !strcmp(how, "data") ? hold_data() : 1)
		return 1;
	printf("ready\n");
	fflush(stdout);
	while (read(0, &c, 1) > 0)
		;
	return check_data();
}
