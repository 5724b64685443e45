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

/* Pauses, for there to be moments in which nobody has it open. */
static int race(void)
{
	uint64_t seed = random_seed();
	struct pool_member m;
	uint32_t index;

	for (;;) {
		usleep(random_next(&seed) % 20000);
		m.fd = device_open();
		if (m.fd < 0) {
			if (errno == ENOENT || errno == ENODEV || errno == ENXIO)
				continue;
			return 1;
		}
		close(m.fd);
		if (random_next(&seed) % 4)
			continue;
		if (member_create(&m, valid_create())) {
			close(m.fd);	/* gone meanwhile */
			continue;
		}
		if (pop(m.fd, &index))
			return 2;
		member_leave(&m);
	}
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
