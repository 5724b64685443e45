// SPDX-License-Identifier: GPL-2.0-only
/* call_mmap() became vfs_mmap(). */
#include <linux/fs.h>

int probe(struct file *file, struct vm_area_struct *vma);
int probe(struct file *file, struct vm_area_struct *vma)
{
	return vfs_mmap(file, vma);
}
