// SPDX-License-Identifier: GPL-2.0-only
/*
 * main.c - the module: parameters, /dev/upool, workqueues, hotplug.
 * Owns: what there is once.  Locks: none.  Entry: module_init, module_exit.
 */
#include <linux/cpuhotplug.h>
#include <linux/miscdevice.h>
#include <linux/mm.h>
#include <linux/module.h>
#include "compat.h"
#include "upool/internal.h"

unsigned int steal_timeout_ms = 100;
module_param(steal_timeout_ms, uint, 0644);
MODULE_PARM_DESC(steal_timeout_ms, "Milliseconds to wait for another CPU's idle buffers (100)");

ulong max_user_bytes;
module_param(max_user_bytes, ulong, 0644);
MODULE_PARM_DESC(max_user_bytes, "Bytes of all pools of one user id (half of memory)");

ulong max_total_bytes;
module_param(max_total_bytes, ulong, 0644);
MODULE_PARM_DESC(max_total_bytes, "Bytes of all pools (three quarters of memory)");

ulong max_control_bytes;
module_param(max_control_bytes, ulong, 0644);
MODULE_PARM_DESC(max_control_bytes, "Bytes of one pool's control area (1/16 of memory)");

unsigned int max_user_pools = 256;
module_param(max_user_pools, uint, 0644);
MODULE_PARM_DESC(max_user_pools, "Pools of one user id (256)");

struct workqueue_struct *upool_wq;
struct workqueue_struct *upool_steal_wq;

static int hotplug_state;

static struct miscdevice upool_dev = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = "upool",
	.mode = 0660,
	.fops = &upool_fops,
};

static void default_limits(void)
{
	ulong bytes = totalram_pages() << PAGE_SHIFT;

	if (!max_user_bytes)
		max_user_bytes = bytes / 2;
	if (!max_total_bytes)
		max_total_bytes = bytes / 4 * 3;
	if (!max_control_bytes)
		max_control_bytes = bytes / 16;
}

static int cpu_gone(unsigned int cpu)
{
	pools_drain_cpu(cpu);
	return 0;
}

static int __init poolmod_init(void)
{
	int ret = -ENOMEM;

	default_limits();
	upool_wq = alloc_workqueue("poolmod", WQ_UNBOUND, 0);
	if (!upool_wq)
		return -ENOMEM;
	upool_steal_wq = alloc_workqueue("poolmod_steal", WQ_HIGHPRI | COMPAT_WQ_PERCPU, 0);
	if (!upool_steal_wq)
		goto destroy_wq;
	ret = sysfs_init();
	if (ret)
		goto destroy_steal_wq;
	ret = cpuhp_setup_state_nocalls(CPUHP_BP_PREPARE_DYN, "poolmod:gone", NULL, cpu_gone);
	if (ret < 0)
		goto remove_sysfs;
	hotplug_state = ret;
	ret = misc_register(&upool_dev);	/* visible from here */
	if (!ret)
		return 0;

	cpuhp_remove_state_nocalls(hotplug_state);
remove_sysfs:
	sysfs_exit();
destroy_steal_wq:
	destroy_workqueue(upool_steal_wq);
destroy_wq:
	destroy_workqueue(upool_wq);
	return ret;
}

static void __exit poolmod_exit(void)
{
	misc_deregister(&upool_dev);
	pools_exit();
	cpuhp_remove_state_nocalls(hotplug_state);
	sysfs_exit();
	destroy_workqueue(upool_steal_wq);
	destroy_workqueue(upool_wq);
}

module_init(poolmod_init);
module_exit(poolmod_exit);

MODULE_DESCRIPTION("Pools of buffers that processes share");
MODULE_AUTHOR("The poolmod maintainers");
MODULE_LICENSE("GPL");
MODULE_VERSION(POOLMOD_VERSION);
