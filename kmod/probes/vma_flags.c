// SPDX-License-Identifier: GPL-2.0-only
/* shmem_file_setup() takes vma_flags_t. */
#include <linux/mm.h>
#include <linux/shmem_fs.h>

struct file *probe(void);
struct file *probe(void)
{
	return shmem_file_setup("probe", 0, mk_vma_flags(VMA_NORESERVE_BIT));
}
