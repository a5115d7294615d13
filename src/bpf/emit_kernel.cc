// What programs ask of the kernel beside their own data: names of other processes, per-CPU variables, cookies
// of sockets, paths, packets; and what they do to the traced program.
#include "bpf/emit.h"

#include "spec/arch.h"

namespace bpf {

using ir::Op;

static constexpr uint32_t current_cpu = 0xffffffff; // BPF_F_CURRENT_CPU

// r0 = tgid << 32 | tid in our namespace: struct bpf_pidns_info has the thread first.
void FunctionEmitter::emit_namespace_ids() {
  const ir::PidNamespace& ns = program_.pid_namespace;
  arguments({number(r1, static_cast<int64_t>(ns.device)), number(r2, static_cast<int64_t>(ns.inode)),
             temporary(r3), number(r4, 8)});
  out_.call(get_ns_current_pid_tgid);
  out_.load(r0, r10, temp(), 8); // zeroes for threads that are not in it
}

bool FunctionEmitter::is_by_address() const {
  auto index = static_cast<size_t>(&unit_.probe - program_.probes.data());
  return index < options_.by_address.size() && options_.by_address[index];
}

// r0 = what the attachment would tell, by the address of the function. At an entry that is where the probe's trap is,
// one byte before the instruction pointer on x86; at a return the kernel knows.
void FunctionEmitter::emit_cookie_by_address() {
  const Label none = out_.label();
  auto index = static_cast<uint64_t>(&unit_.probe - program_.probes.data());
  load_into(r1, ir::Operand::of(context_));
  if (program_.events[unit_.probe.events.front()].kind == probe::Kind::kretprobe) {
    out_.call(get_func_ip);
  } else {
    out_.load(r0, r1, static_cast<int32_t>(spec::find_register(spec::arch.ip).value_or(0)), 8);
    out_.alu(BPF_ADD, r0, -static_cast<int32_t>(spec::arch.trap_bytes));
  }
  out_.number(r1, static_cast<int64_t>(index << 48));
  out_.alu(BPF_XOR, r0, r1);
  out_.store(r10, temp(), r0, 8);
  arguments({map(r1, pool_.places()), temporary(r2)});
  out_.call(map_lookup_elem);
  out_.jump_if(BPF_JEQ, r0, 0, none);
  out_.load(r0, r0, 0, 8);
  out_.bind(none); // none is left out: each place has an address
}

// The task is held while its name is read. imm3: where the name stands in a task.
void FunctionEmitter::emit_task_name(const ir::Inst& i) {
  constexpr int32_t name_size = 16;
  const Label none = out_.label(), done = out_.label();
  const auto symbol = [&](size_t index) { return program_.kernel_symbols[index].btf_id; };
  // The result is wanted behind two more calls: both ways write the name, then the answer is made.
  emit_zero({.op = Op::zero, .a = i.a, .imm2 = name_size});
  arguments({argument(r1, i.b)});
  out_.call_kernel(symbol(i.index));
  out_.jump_if(BPF_JEQ, r0, 0, none);
  out_.store(r10, temp(), r0, 8);
  out_.mov(r3, r0);
  out_.alu(BPF_ADD, r3, static_cast<int32_t>(i.imm3));
  arguments({argument(r1, i.a), number(r2, name_size)});
  out_.call(probe_read_kernel);
  out_.load(r1, r10, temp(), 8);
  out_.call_kernel(symbol(static_cast<size_t>(i.imm)));
  out_.number(r0, 1);
  out_.jump(done);
  out_.bind(none);
  out_.number(r0, 0);
  out_.bind(done);
  finish(i.dst, r0);
}

// The address becomes a plain number by being negated twice: as what the verifier takes it for, it would have
// to be compared with 0 before anything else.
void FunctionEmitter::emit_cpu_variable(const ir::Inst& i) {
  const bool is_here = i.a.kind == ir::Operand::none;
  if (!is_here) arguments({argument(r2, i.a)});
  out_.kernel_variable(r1, program_.kernel_symbols[i.index].btf_id);
  out_.call(is_here ? this_cpu_ptr : per_cpu_ptr);
  out_.negate(r0);
  out_.negate(r0);
  finish(i.dst, r0);
}

// The length of the packet goes into the upper half of the flags.
void FunctionEmitter::emit_packet(const ir::Inst& i) {
  arguments({argument(r1, i.a), argument(r3, i.b), argument(r4, i.c), number(r5, i.imm2)});
  out_.alu(BPF_LSH, r3, 32);
  out_.number(r0, current_cpu);
  out_.alu(BPF_OR, r3, r0);
  out_.map(r2, pool_.packets());
  out_.call(skb_output);
  finish(i.dst, r0);
}

// The text of an iterator's file. What has no room there is asked for again by the kernel, with more.
void FunctionEmitter::emit_print(const ir::Inst& i) {
  const bool has_values = i.c.kind != ir::Operand::none;
  arguments({argument(r1, i.a), argument(r2, i.b), number(r3, i.imm2), has_values ? argument(r4, i.c) : number(r4, 0),
             number(r5, has_values ? i.imm3 : 0)});
  out_.call(seq_printf);
  finish(i.dst, r0);
}

// Operations that are one call.
void FunctionEmitter::emit_effect(const ir::Inst& i) {
  switch (i.op) {
  case Op::socket_cookie:
    arguments({argument(r1, i.a)});
    out_.call(get_socket_cookie);
    break;
  case Op::path:
    arguments({argument(r1, i.b), argument(r2, i.a), number(r3, i.imm2)});
    out_.call(d_path);
    break;
  case Op::signal:
    arguments({argument(r1, i.a)});
    out_.call(i.index ? send_signal_thread : send_signal);
    break;
  case Op::write_user:
    arguments({argument(r1, i.a), argument(r2, i.b), number(r3, i.imm2)});
    out_.call(probe_write_user);
    break;
  default: // override
    arguments({argument(r1, ir::Operand::of(context_)), argument(r2, i.a)});
    out_.call(override_return);
    break;
  }
  finish(i.dst, r0);
}

} // namespace bpf
