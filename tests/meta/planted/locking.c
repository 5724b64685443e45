// SPDX-License-Identifier: GPL-2.0-only
/*
 * locking.c - planted bugs of locks, contexts and time.
 */
#include <linux/completion.h>
#include <linux/delay.h>
#include <linux/mutex.h>
#include <linux/preempt.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/smp.h>
#include <linux/spinlock.h>
#include <linux/timer.h>

#include "planted.h"

static DEFINE_MUTEX(lock_a);
static DEFINE_MUTEX(lock_b);

static void lockdep_abba(void)
{
	mutex_lock(&lock_a);
	mutex_lock(&lock_b);
	mutex_unlock(&lock_b);
	mutex_unlock(&lock_a);

	mutex_lock(&lock_b);
	mutex_lock(&lock_a);
	mutex_unlock(&lock_a);
	mutex_unlock(&lock_b);
}

static void lockdep_held(void)
{
	mutex_lock(&lock_a);
}

static DEFINE_SPINLOCK(lock_softirq);
static DECLARE_COMPLETION(expired);

static void expire(struct timer_list *unused)
{
	spin_lock(&lock_softirq);
	spin_unlock(&lock_softirq);
	complete(&expired);
}

static DEFINE_TIMER(timer, expire);

static void lockdep_softirq(void)
{
	spin_lock(&lock_softirq);
	spin_unlock(&lock_softirq);

	mod_timer(&timer, jiffies + 1);
	wait_for_completion(&expired);
	timer_delete_sync(&timer);
}

static int protected;
static int __rcu *pointer = RCU_INITIALIZER(&protected);

static void rcu_unprotected(void)
{
	READ_ONCE(*rcu_dereference(pointer));
}

static void rcu_sleep(void)
{
	rcu_read_lock();
	might_sleep();
	rcu_read_unlock();
}

static void atomic_sleep(void)
{
	spin_lock(&lock_softirq);
	might_sleep();
	spin_unlock(&lock_softirq);
}

static void atomic_schedule(void)
{
	preempt_disable();
	/* Reports, and sets the count right itself: nothing to enable after. */
	schedule();
}

static void preempt(void)
{
	(void)smp_processor_id();
}

static DECLARE_COMPLETION(never);

static void hung_task(void)
{
	wait_for_completion_timeout(&never, 7 * HZ);
}

static void soft_lockup(void)
{
	preempt_disable();
	mdelay(4000);
	preempt_enable();
}

const struct planted_bug planted_locking[] = {
	{ "lockdep_abba",	lockdep_abba },
	{ "lockdep_held",	lockdep_held },
	{ "lockdep_softirq",	lockdep_softirq },
	{ "rcu_unprotected",	rcu_unprotected },
	{ "rcu_sleep",		rcu_sleep },
	{ "atomic_sleep",	atomic_sleep },
	{ "atomic_schedule",	atomic_schedule },
	{ "preempt",		preempt },
	{ "hung_task",		hung_task },
	{ "soft_lockup",	soft_lockup },
	{ }
};
