// SPDX-License-Identifier: GPL-2.0-only
/*
 * mmap.c - control and data mappings.
 * Owns: attachment->nr_maps.  Locks: runs under mmap_lock; depot->lock.  Entry: upool_fops.
 *
 * The control mapping is what makes a member: the attachment ends when the last
 * piece of it is gone.  VM_IO and VM_DONTCOPY keep it out of children, VM_IO also
 * out of MADV_DOFORK, O_DIRECT and core dumps.
 */
#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/vmalloc.h>
#include "compat.h"
#include "internal.h"

static void control_open(struct vm_area_struct *vma)
{
	struct attachment *att = vma->vm_private_data;

	atomic_inc(&att->nr_maps);
}

static void control_close(struct vm_area_struct *vma)
{
	struct attachment *att = vma->vm_private_data;

	if (atomic_dec_and_test(&att->nr_maps))
		attachment_end(att);
}

static const struct vm_operations_struct control_vm_ops = {
	.open = control_open,
	.close = control_close,
};

static int mark_mapped(struct attachment *att)
{
	int ret = 0;

	spin_lock(&att->pool->depot.lock);
	if (att->ended)
		ret = -ENXIO;
	else
		WRITE_ONCE(att->was_mapped, true);
	spin_unlock(&att->pool->depot.lock);
	return ret;
}

static int map_control(struct attachment *att, struct vm_area_struct *vma)
{
	struct pool *pool = att->pool;
	unsigned long off;
	int ret;

	if (vma->vm_pgoff || vma->vm_end - vma->vm_start != pool->geo.control_bytes)
		return -EINVAL;
	compat_vm_flags_set(vma, VM_IO | VM_DONTCOPY | VM_DONTEXPAND | VM_DONTDUMP);
	for (off = 0; off < pool->geo.control_bytes; off += PAGE_SIZE) {
		ret = vm_insert_page(vma, vma->vm_start + off,
				     vmalloc_to_page(pool->control + off));
		if (ret)
			return ret;
	}
	/* Before the count: a failed mmap is unmapped without ->close. */
	ret = mark_mapped(att);
	if (ret)
		return ret;
	atomic_inc(&att->nr_maps);
	vma->vm_private_data = att;
	vma->vm_ops = &control_vm_ops;
	return 0;
}

/* The buffers: shmem's own mapping, so that everything that works on shmem works. */
static int map_data(struct pool *pool, struct vm_area_struct *vma, u64 off)
{
	u64 bytes = vma->vm_end - vma->vm_start;

	if (off % UPOOL_MAP_ALIGN || off > pool->geo.data_bytes ||
	    bytes > pool->geo.data_bytes - off)
		return -EINVAL;
	vma->vm_pgoff = off >> PAGE_SHIFT;
	vma_set_file(vma, pool->data);
	compat_vm_flags_set(vma, VM_DONTDUMP);
	return compat_mmap(pool->data, vma);
}

/**
 * upool_mmap() - file_operations.mmap
 * @file: an attached file
 * @vma:  the mapping
 * Return: 0; -ENXIO not attached or ended; -EPERM another address space's;
 * -EINVAL private, or not an area of the pool; -ENOMEM
 */
int upool_mmap(struct file *file, struct vm_area_struct *vma)
{
	struct member *m = file->private_data;
	struct attachment *att = smp_load_acquire(&m->att);	/* pairs with member_attach() */
	u64 off = (u64)vma->vm_pgoff << PAGE_SHIFT;

	if (!att)
		return -ENXIO;
	if (current->mm != att->mm)
		return -EPERM;
	if (!(vma->vm_flags & VM_SHARED) || vma->vm_pgoff > U64_MAX >> PAGE_SHIFT)
		return -EINVAL;
	if (READ_ONCE(att->ended))
		return -ENXIO;
	if (off < UPOOL_MMAP_DATA)
		return map_control(att, vma);
	return map_data(att->pool, vma, off - UPOOL_MMAP_DATA);
}
