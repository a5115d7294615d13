// SPDX-License-Identifier: (BSD-2-Clause OR GPL-2.0)
// Hand-written programs for the rows on user functions, named like the rows of bench/user_functions.py. One that ends
// in `_session` runs at the entry and at the return.
#include <linux/bpf.h>
#include <linux/ptrace.h>
#include <bpf/bpf_helpers.h>
#include <stdbool.h>

typedef __u64 u64;
typedef __u32 u32;

#define MAP(name, kind, key_type, value_type, entries)                                                       \
  struct {                                                                                                   \
    __uint(type, kind);                                                                                      \
    __uint(max_entries, entries);                                                                            \
    __type(key, key_type);                                                                                   \
    __type(value, value_type);                                                                               \
  } name SEC(".maps")

struct stack_key {
  u64 stack, pid;
};
struct stack_frames {
  u64 frames[127];
};
MAP(one, BPF_MAP_TYPE_PERCPU_ARRAY, u32, u64, 1);
MAP(buckets, BPF_MAP_TYPE_PERCPU_ARRAY, u32, u64, 66);
MAP(by_pid, BPF_MAP_TYPE_PERCPU_HASH, u64, u64, 4096);
MAP(by_stack, BPF_MAP_TYPE_PERCPU_HASH, struct stack_key, u64, 4096);
MAP(stacks, BPF_MAP_TYPE_STACK_TRACE, u32, struct stack_frames, 16384);
struct {
  __uint(type, BPF_MAP_TYPE_TASK_STORAGE);
  __uint(map_flags, BPF_F_NO_PREALLOC);
  __type(key, int);
  __type(value, u64);
} started SEC(".maps");

static __always_inline void add_one(void* map, void* key) {
  u64* v = bpf_map_lookup_elem(map, key);
  if (!v) {
    u64 zero = 0;
    bpf_map_update_elem(map, key, &zero, BPF_NOEXIST);
    v = bpf_map_lookup_elem(map, key);
  }
  if (v) *v += 1;
}

static __always_inline void add_to_bucket(u64 n) {
  u32 b = 0;
  if (n) {
    u64 x = n;
    b = 1;
    if (x >> 32) x >>= 32, b += 32;
    if (x >> 16) x >>= 16, b += 16;
    if (x >> 8) x >>= 8, b += 8;
    if (x >> 4) x >>= 4, b += 4;
    if (x >> 2) x >>= 2, b += 2;
    b += x >> 1;
  }
  u64* v = bpf_map_lookup_elem(&buckets, &b);
  if (v) *v += 1;
}

SEC("kprobe")
int count(struct pt_regs* regs) {
  u32 zero = 0;
  u64* v = bpf_map_lookup_elem(&one, &zero);
  if (v) *v += 1;
  return 0;
}

SEC("kprobe")
int count_pid(struct pt_regs* regs) {
  u64 key = bpf_get_current_pid_tgid() >> 32;
  add_one(&by_pid, &key);
  return 0;
}

SEC("kprobe")
int hist_argument(struct pt_regs* regs) {
  add_to_bucket(regs->rdi);
  return 0;
}

SEC("kprobe")
int user_stack(struct pt_regs* regs) {
  struct stack_key key = {.pid = bpf_get_current_pid_tgid() >> 32};
  long id = bpf_get_stackid(regs, &stacks, BPF_F_USER_STACK | BPF_F_FAST_STACK_CMP);
  key.stack = id < 0 ? 0 : (u64)id;
  add_one(&by_stack, &key);
  return 0;
}

extern bool bpf_session_is_return(void) __ksym;

SEC("kprobe")
int latency_session(struct pt_regs* regs) {
  void* task = bpf_get_current_task_btf();
  if (!bpf_session_is_return()) {
    u64* start = bpf_task_storage_get(&started, task, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);
    if (start) *start = bpf_ktime_get_boot_ns();
    return 0;
  }
  u64* start = bpf_task_storage_get(&started, task, 0, 0);
  if (start && *start) {
    add_to_bucket(bpf_ktime_get_boot_ns() - *start);
    *start = 0;
  }
  return 0;
}

char _license[] SEC("license") = "GPL";
