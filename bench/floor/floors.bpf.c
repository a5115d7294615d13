// SPDX-License-Identifier: (BSD-2-Clause OR GPL-2.0)
// What each benchmark script would be if written by hand: the floor that generated code is compared with. One
// program (or pair) a row, named like the row in bench/run.py. clang -target bpf compiles this when the benchmark runs.
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

typedef __u64 u64;
typedef __u32 u32;

struct sys_enter_args { // raw tracepoint sys_enter: struct pt_regs *, long id
  u64 regs, id;
};

#define MAP(name, kind, key_type, value_type, entries)                                                       \
  struct {                                                                                                   \
    __uint(type, kind);                                                                                      \
    __uint(max_entries, entries);                                                                            \
    __type(key, key_type);                                                                                   \
    __type(value, value_type);                                                                               \
  } name SEC(".maps")

struct thread_info {
  u32 status;
} __attribute__((preserve_access_index));
struct task_struct {
  struct thread_info thread_info;
} __attribute__((preserve_access_index));

struct comm_key {
  char comm[16];
};
struct three_key {
  u64 pid;
  char comm[16];
  u64 id;
};

MAP(one, BPF_MAP_TYPE_PERCPU_ARRAY, u32, u64, 1);
MAP(buckets, BPF_MAP_TYPE_PERCPU_ARRAY, u32, u64, 66);
MAP(by_pid, BPF_MAP_TYPE_PERCPU_HASH, u64, u64, 4096);
MAP(by_comm, BPF_MAP_TYPE_PERCPU_HASH, struct comm_key, u64, 4096);
MAP(by_three, BPF_MAP_TYPE_PERCPU_HASH, struct three_key, u64, 4096);
struct stack_key {
  u64 stack;
  u64 pid;
};
struct stack_frames {
  u64 frames[127];
};
MAP(by_stack, BPF_MAP_TYPE_PERCPU_HASH, struct stack_key, u64, 4096);
MAP(stacks, BPF_MAP_TYPE_STACK_TRACE, u32, struct stack_frames, 16384);
struct {
  __uint(type, BPF_MAP_TYPE_TASK_STORAGE);
  __uint(map_flags, BPF_F_NO_PREALLOC);
  __type(key, int);
  __type(value, u64);
} started SEC(".maps");
struct {
  __uint(type, BPF_MAP_TYPE_RINGBUF);
  __uint(max_entries, 4 << 20);
} ring SEC(".maps");
u64 plain;
u64 lost;

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
    if (x >> 1) b += 1;
  }
  u64* v = bpf_map_lookup_elem(&buckets, &b);
  if (v) *v += 1;
}

SEC("raw_tp/sys_enter") int count(void* ctx) {
  u32 zero = 0;
  u64* v = bpf_map_lookup_elem(&one, &zero);
  if (v) *v += 1;
  return 0;
}

SEC("raw_tp/sys_enter") int count_pid(void* ctx) {
  u64 pid = bpf_get_current_pid_tgid() >> 32;
  add_one(&by_pid, &pid);
  return 0;
}

SEC("raw_tp/sys_enter") int count_comm(void* ctx) {
  struct comm_key key = {};
  bpf_get_current_comm(&key, sizeof key);
  add_one(&by_comm, &key);
  return 0;
}

SEC("raw_tp/sys_enter") int hist_id(struct sys_enter_args* ctx) {
  add_to_bucket(ctx->id);
  return 0;
}

SEC("raw_tp/sys_enter") int filter(void* ctx) {
  if (bpf_get_current_pid_tgid() >> 32 != 1) return 0;
  return count(ctx);
}

SEC("raw_tp/sys_enter") int three_keys(struct sys_enter_args* ctx) {
  struct three_key key = {.pid = bpf_get_current_pid_tgid() >> 32, .id = ctx->id};
  bpf_get_current_comm(key.comm, sizeof key.comm);
  add_one(&by_three, &key);
  return 0;
}

SEC("raw_tp/sys_enter") int increment(void* ctx) {
  plain++;
  return 0;
}

SEC("tp_btf/sys_enter") int latency_enter(void* ctx) {
  u64* v = bpf_task_storage_get(&started, bpf_get_current_task_btf(), 0, BPF_LOCAL_STORAGE_GET_F_CREATE);
  if (v) *v = bpf_ktime_get_boot_ns();
  return 0;
}

SEC("tp_btf/sys_exit") int latency_exit(void* ctx) {
  u64* v = bpf_task_storage_get(&started, bpf_get_current_task_btf(), 0, 0);
  if (!v || !*v) return 0;
  add_to_bucket(bpf_ktime_get_boot_ns() - *v);
  *v = 0;
  return 0;
}

SEC("raw_tp/sys_enter") int user_stack(void* ctx) {
  struct stack_key key = {.stack = bpf_get_stackid(ctx, &stacks, BPF_F_USER_STACK), .pid = bpf_get_current_pid_tgid() >> 32};
  add_one(&by_stack, &key);
  return 0;
}

SEC("raw_tp/sys_enter") int event(struct sys_enter_args* ctx) {
  u64* record = bpf_ringbuf_reserve(&ring, 16, 0);
  if (!record) {
    __sync_fetch_and_add(&lost, 1);
    return 0;
  }
  record[0] = 1;
  record[1] = ctx->id;
  bpf_ringbuf_submit(record, BPF_RB_NO_WAKEUP);
  return 0;
}

// Calls of 32-bit programs have other numbers: the kernel's own tracepoint of one system call leaves them out.
SEC("raw_tp/sys_enter") int one_syscall(struct sys_enter_args* ctx) {
  if (ctx->id != 110) return 0; // getppid on x86-64
  struct task_struct* task = bpf_get_current_task_btf();
  if (task->thread_info.status & 2) return 0; // TS_COMPAT
  return count(ctx);
}

char LICENSE[] SEC("license") = "Dual BSD/GPL"; // bpf_get_stackid is for the GPL
