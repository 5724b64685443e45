/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * compat.h - the result of every compile probe (probes/), and nothing else.
 * Owns: nothing.  Locks: none.  Entry: whoever uses an interface that changed.
 *
 * Distributions backport, so versions say nothing: Kbuild compiles each probe and
 * defines HAVE_<PROBE> when it does.
 */
#ifndef POOLMOD_COMPAT_H
#define POOLMOD_COMPAT_H

#include <linux/fs.h>
#include <linux/mm.h>
#include <linux/shmem_fs.h>
#include <linux/workqueue.h>

static inline void compat_vm_flags_set(struct vm_area_struct *vma, unsigned long flags)
{
#ifdef HAVE_VM_FLAGS_SET
	vm_flags_set(vma, flags);
#else
	vma->vm_flags |= flags;
#endif
}

static inline int compat_mmap(struct file *file, struct vm_area_struct *vma)
{
#ifdef HAVE_VFS_MMAP
	return vfs_mmap(file, vma);
#else
	return call_mmap(file, vma);
#endif
}

static inline struct file *compat_shmem_file_setup(const char *name, loff_t bytes)
{
#ifdef HAVE_VMA_FLAGS
	return shmem_file_setup(name, bytes, mk_vma_flags(VMA_NORESERVE_BIT));
#else
	return shmem_file_setup(name, bytes, VM_NORESERVE);
#endif
}

#ifdef HAVE_CONST_OWNERSHIP
#define compat_kobject		const struct kobject
#define compat_pool_dir		const struct pool_dir
#else
#define compat_kobject		struct kobject
#define compat_pool_dir		struct pool_dir
#endif

#ifdef HAVE_CONST_KTYPE
#define compat_ktype(t)		(t)
#else
#define compat_ktype(t)		((struct kobj_type *)(t))
#endif

#ifdef HAVE_WQ_PERCPU
#define COMPAT_WQ_PERCPU	WQ_PERCPU
#else
#define COMPAT_WQ_PERCPU	0
#endif

#endif /* POOLMOD_COMPAT_H */
