// Fields of tracepoint records that are, bit for bit, an argument of the tracepoint or a member of a
// structure an argument points to. A program that reads only such fields runs as a raw tracepoint, which
// costs less and starves nobody.
//
// Each row was checked against the event's TP_fast_assign in Linux 5.10 … 6.18. What is computed there (state
// letters, converted bytes, texts) is not in the table. `path` is resolved through the kernel's own types
// when a script is compiled and must lead to as many bytes as the field has; where a kernel has another
// layout, the record is used. Paths: "a.b" is a member of a member, "a->b" follows a pointer.
#pragma once

#include "base/text_table.h"

#include <cstdint>
#include <string_view>

namespace spec {

struct RawField {
  std::string_view event; // "category:name"; a `*` at its end stands for any rest
  std::string_view field;
  uint8_t argument;      // of the tracepoint, from 0
  std::string_view path; // empty: the argument itself
};
using RawFieldTable = base::TextTable<RawField, &RawField::event, &RawField::field, &RawField::path>;

namespace written {
inline constexpr RawField raw_fields[] = {
    // System calls. Registers by their place in struct pt_regs.
    {"raw_syscalls:sys_enter", "id", 1, ""},
    {"raw_syscalls:sys_exit", "id", 0, "orig_ax"},
    {"raw_syscalls:sys_exit", "ret", 1, ""},

    // The scheduler. The first argument of sched_switch (`preempt`) is no field.
    {"sched:sched_switch", "prev_comm", 1, "comm"},
    {"sched:sched_switch", "prev_pid", 1, "pid"},
    {"sched:sched_switch", "prev_prio", 1, "prio"},
    {"sched:sched_switch", "next_comm", 2, "comm"},
    {"sched:sched_switch", "next_pid", 2, "pid"},
    {"sched:sched_switch", "next_prio", 2, "prio"},
    {"sched:sched_wakeup", "comm", 0, "comm"},
    {"sched:sched_wakeup", "pid", 0, "pid"},
    {"sched:sched_wakeup", "prio", 0, "prio"},
    {"sched:sched_wakeup_new", "comm", 0, "comm"},
    {"sched:sched_wakeup_new", "pid", 0, "pid"},
    {"sched:sched_wakeup_new", "prio", 0, "prio"},
    {"sched:sched_waking", "comm", 0, "comm"},
    {"sched:sched_waking", "pid", 0, "pid"},
    {"sched:sched_waking", "prio", 0, "prio"},
    {"sched:sched_migrate_task", "comm", 0, "comm"},
    {"sched:sched_migrate_task", "pid", 0, "pid"},
    {"sched:sched_migrate_task", "prio", 0, "prio"},
    {"sched:sched_migrate_task", "dest_cpu", 1, ""},
    {"sched:sched_process_exit", "comm", 0, "comm"},
    {"sched:sched_process_exit", "pid", 0, "pid"},
    {"sched:sched_process_exit", "prio", 0, "prio"},
    {"sched:sched_process_exit", "group_dead", 1, ""},
    {"sched:sched_process_free", "comm", 0, "comm"},
    {"sched:sched_process_free", "pid", 0, "pid"},
    {"sched:sched_process_free", "prio", 0, "prio"},
    {"sched:sched_wait_task", "comm", 0, "comm"},
    {"sched:sched_wait_task", "pid", 0, "pid"},
    {"sched:sched_wait_task", "prio", 0, "prio"},
    {"sched:sched_process_fork", "parent_comm", 0, "comm"},
    {"sched:sched_process_fork", "parent_pid", 0, "pid"},
    {"sched:sched_process_fork", "child_comm", 1, "comm"},
    {"sched:sched_process_fork", "child_pid", 1, "pid"},
    {"sched:sched_process_exec", "pid", 0, "pid"},
    {"sched:sched_process_exec", "old_pid", 1, ""},
    {"sched:sched_stat_runtime", "pid", 0, "pid"},
    {"sched:sched_stat_runtime", "runtime", 1, ""},

    // Tasks.
    {"task:task_newtask", "pid", 0, "pid"},
    {"task:task_newtask", "comm", 0, "comm"},
    {"task:task_newtask", "clone_flags", 1, ""},
    {"task:task_newtask", "oom_score_adj", 0, "signal->oom_score_adj"},
    {"signal:signal_generate", "sig", 0, ""},
    {"signal:signal_generate", "comm", 2, "comm"},
    {"signal:signal_generate", "pid", 2, "pid"},
    {"signal:signal_generate", "group", 3, ""},
    {"signal:signal_generate", "result", 4, ""},
    {"signal:signal_deliver", "sig", 0, ""},
    {"signal:signal_deliver", "sa_flags", 2, "sa.sa_flags"},

    // Interrupts and exceptions.
    {"exceptions:page_fault_*", "address", 0, ""},
    {"exceptions:page_fault_*", "ip", 1, "ip"},
    {"exceptions:page_fault_*", "error_code", 2, ""},
    {"irq:softirq_*", "vec", 0, ""},
    {"irq:irq_handler_entry", "irq", 0, ""},
    {"irq:irq_handler_exit", "irq", 0, ""},
    {"irq:irq_handler_exit", "ret", 2, ""},
    {"irq_vectors:local_timer_*", "vector", 0, ""},
    {"irq_vectors:reschedule_*", "vector", 0, ""},
    {"irq_vectors:call_function_*", "vector", 0, ""},
    {"irq_vectors:irq_work_*", "vector", 0, ""},

    // Timers.
    {"timer:timer_start", "timer", 0, ""},
    {"timer:timer_start", "function", 0, "function"},
    {"timer:timer_start", "expires", 0, "expires"},
    {"timer:timer_expire_entry", "timer", 0, ""},
    {"timer:timer_expire_entry", "function", 0, "function"},
    {"timer:timer_expire_exit", "timer", 0, ""},
    {"timer:timer_cancel", "timer", 0, ""},
    {"timer:hrtimer_start", "hrtimer", 0, ""},
    {"timer:hrtimer_start", "function", 0, "function"},
    {"timer:hrtimer_start", "expires", 0, "node.expires"},
    {"timer:hrtimer_start", "softexpires", 0, "_softexpires"},
    {"timer:hrtimer_start", "mode", 1, ""},
    {"timer:hrtimer_expire_entry", "hrtimer", 0, ""},
    {"timer:hrtimer_expire_entry", "function", 0, "function"},
    {"timer:hrtimer_expire_exit", "hrtimer", 0, ""},
    {"timer:hrtimer_cancel", "hrtimer", 0, ""},

    // Memory. The order of the further arguments of the slab events changed in 5.19 and 6.1.
    {"kmem:kmalloc", "call_site", 0, ""},
    {"kmem:kmalloc", "ptr", 1, ""},
    {"kmem:kfree", "call_site", 0, ""},
    {"kmem:kfree", "ptr", 1, ""},
    {"kmem:kmem_cache_alloc", "call_site", 0, ""},
    {"kmem:kmem_cache_alloc", "ptr", 1, ""},
    {"kmem:kmem_cache_free", "call_site", 0, ""},
    {"kmem:kmem_cache_free", "ptr", 1, ""},
    {"kmem:mm_page_alloc", "order", 1, ""},
    {"kmem:mm_page_alloc", "migratetype", 3, ""},
    {"kmem:mm_page_free", "order", 1, ""},

    // Network.
    {"skb:kfree_skb", "skbaddr", 0, ""},
    {"skb:kfree_skb", "location", 1, ""},
    {"skb:kfree_skb", "reason", 2, ""},
    {"skb:consume_skb", "skbaddr", 0, ""},
    {"net:netif_receive_skb", "skbaddr", 0, ""},
    {"net:netif_receive_skb", "len", 0, "len"},
    {"net:net_dev_queue", "skbaddr", 0, ""},
    {"net:net_dev_queue", "len", 0, "len"},
    {"sock:inet_sock_set_state", "skaddr", 0, ""},
    {"sock:inet_sock_set_state", "oldstate", 1, ""},
    {"sock:inet_sock_set_state", "newstate", 2, ""},

    // Power and RCU.
    {"power:cpu_idle", "state", 0, ""},
    {"power:cpu_idle", "cpu_id", 1, ""},
    {"power:cpu_frequency", "state", 0, ""},
    {"power:cpu_frequency", "cpu_id", 1, ""},
    {"rcu:rcu_utilization", "s", 0, ""},
};
} // namespace written
inline constexpr RawFieldTable raw_fields = RawFieldTable::of<written::raw_fields>();

} // namespace spec
