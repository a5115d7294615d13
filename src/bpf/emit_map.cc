// Maps: finding, making, storing, removing and counting entries.
//
// A scalar seen by all CPUs stands at a fixed address; a scalar of each CPU is entry 0 of a per-CPU array,
// whose look-up the kernel compiles in line. A new entry of a hash map is made from zeroes with BPF_NOEXIST
// and then looked up again: when two CPUs make it at the same time neither's addend is lost.
#include "bpf/emit.h"
#include "bpf/features.h"

namespace bpf {

using ir::MapKind;

static constexpr int32_t storage_create = 1; // BPF_LOCAL_STORAGE_GET_F_CREATE

const ir::Map& FunctionEmitter::map_of(const ir::Inst& i) const { return program_.maps[i.index]; }

Argument FunctionEmitter::key(Register to, const ir::Inst& i) {
  if (!ir::is_scalar(map_of(i).kind)) return argument(to, i.a);
  out_.store(r10, temp(), 0, 4);
  return temporary(to);
}

// r0 = value of the current thread, or 0.
void FunctionEmitter::call_task_storage(const ir::Inst& i, bool create) {
  out_.call(get_current_task_btf);
  out_.mov(r2, r0);
  out_.map(r1, i.index);
  out_.number(r3, 0);
  out_.number(r4, create ? storage_create : 0);
  out_.call(task_storage_get);
}

void FunctionEmitter::emit_find(const ir::Inst& i) {
  if (has_hot(i)) return emit_find_with_hot(i);
  switch (map_of(i).kind) {
  case MapKind::array: {
    const Register w = target(i.dst, r0);
    out_.map_value(w, i.index, 0);
    return finish(i.dst, w);
  }
  case MapKind::task: call_task_storage(i, false); break;
  default:
    arguments({map(r1, i.index), key(r2, i)});
    out_.call(map_lookup_elem);
    break;
  }
  finish(i.dst, r0);
}

void FunctionEmitter::fail_without_lookup_percpu(const ir::Inst& i) {
  fail(lack_of(Feature::lookup_percpu) + ": programs cannot read another CPU's part of @" + map_of(i).name);
}

void FunctionEmitter::emit_find_cpu(const ir::Inst& i) {
  if (!ir::is_percpu(map_of(i).kind)) return emit_find(i);
  if (has_hot(i)) return emit_find_cpu_with_hot(i);
  if (!options_.has_lookup_percpu) return fail_without_lookup_percpu(i);
  arguments({map(r1, i.index), key(r2, i), argument(r3, i.b)});
  out_.call(map_lookup_percpu_elem);
  finish(i.dst, r0);
}

Argument FunctionEmitter::zeroes(Register to) const {
  return {.kind = Argument::map_value, .to = to, .n = pool_.zeroes(), .index = pool_.state()};
}

// Makes an entry; r0 = address of its value, at `made`. Goes on behind it, with r0 = 0, where there is no room.
void FunctionEmitter::emit_make(const ir::Inst& i, Label made) {
  arguments({map(r1, i.index), argument(r2, i.a), zeroes(r3), number(r4, BPF_NOEXIST)});
  out_.call(map_update_elem);
  arguments({map(r1, i.index), argument(r2, i.a)});
  out_.call(map_lookup_elem);
  out_.jump_if(BPF_JNE, r0, 0, made);
}

// r0 = address of the word of the value at r0 that is asked for. Uses r1; a word that is not there goes to `none`.
void FunctionEmitter::emit_word(const ir::Inst& i, Label none) {
  if (i.b.kind == ir::Operand::none) return;
  load_into(r1, i.b);
  out_.jump_if(BPF_JGE, r1, static_cast<int32_t>(map_of(i).value_size / 8), none);
  out_.alu(BPF_LSH, r1, 3);
  out_.alu(BPF_ADD, r0, r1);
}

void FunctionEmitter::emit_slot(const ir::Inst& i) {
  const MapKind kind = map_of(i).kind;
  if (ir::is_scalar(kind)) return emit_find(i);
  if (has_hot(i)) return emit_slot_with_hot(i);
  const Label missing = out_.label(), full = out_.label(), found = out_.label(), done = out_.label();
  if (kind == MapKind::task) {
    call_task_storage(i, true);
  } else {
    arguments({map(r1, i.index), key(r2, i)});
    out_.call(map_lookup_elem);
  }
  const ir::Inst* check = null_check(i);
  out_.jump_if(BPF_JEQ, r0, 0, missing);
  out_.bind(found);
  emit_word(i, full);
  out_.bind(done);
  finish_found(i, check);
  out_.cold([=, this] {
    out_.bind(missing);
    if (kind != MapKind::task) emit_make(i, found);
    out_.bind(full);
    count(pool_.map_counter(i.index));
    out_.number(r0, 0);
    finish_null(i, check, done);
  });
}

void FunctionEmitter::emit_store_value(const ir::Inst& i) {
  const Label full = out_.label(), done = out_.label();
  if (map_of(i).kind == MapKind::task) {
    call_task_storage(i, true);
    out_.jump_if(BPF_JEQ, r0, 0, full);
    out_.mov(r1, r0);
    copy_words({r1, 0}, address(i.b, 0, r5, map_of(i).value_size), map_of(i).value_size, 8, alignment(i.b, 0), r2);
  } else {
    arguments({map(r1, i.index), key(r2, i), argument(r3, i.b), number(r4, BPF_ANY)});
    out_.call(map_update_elem);
    out_.jump_if(BPF_JNE, r0, 0, full);
  }
  finish_number(i.dst, 1);
  out_.bind(done);
  out_.cold([=, this] {
    out_.bind(full);
    count(pool_.map_counter(i.index));
    finish_number(i.dst, 0);
    out_.jump(done);
  });
}

void FunctionEmitter::emit_remove(const ir::Inst& i) {
  if (map_of(i).kind == MapKind::task) {
    out_.call(get_current_task_btf);
    out_.mov(r2, r0);
    out_.map(r1, i.index);
    out_.call(task_storage_delete);
  } else if (has_hot(i)) {
    emit_remove_with_hot(i);
  } else if (ir::is_scalar(map_of(i).kind)) {
    return finish_number(i.dst, 0); // lowering clears the value itself
  } else {
    arguments({map(r1, i.index), key(r2, i)});
    out_.call(map_delete_elem);
  }
  if (!i.dst) return;
  const Register w = target(i.dst, r5);
  const Label done = out_.label();
  out_.number(w, 1);
  out_.jump_if(BPF_JEQ, r0, 0, done);
  out_.number(w, 0);
  out_.bind(done);
  if (!null_check(i)) blur(w);
  finish(i.dst, w);
}

// The walk over all entries gives their number.
void FunctionEmitter::emit_size(const ir::Inst& i) {
  const MapKind kind = map_of(i).kind;
  if (ir::is_scalar(kind)) return finish_number(i.dst, 1);
  if (!options_.has_for_each) return fail(lack_of(Feature::for_each) + ": programs cannot count the keys of @" + map_of(i).name);
  if (kind == MapKind::task) return fail("the kernel cannot count the keys of @" + map_of(i).name);
  arguments({map(r1, i.index),
             {.kind = Argument::function, .to = r2, .index = unit_.counting_callback()},
             number(r3, 0),
             number(r4, 0)});
  out_.call(for_each_map_elem);
  finish(i.dst, r0);
}

void FunctionEmitter::emit_exchange(const ir::Inst& i) {
  arguments({argument(r2, i.a, i.imm), argument(r3, i.b), argument(r1, i.c)});
  if (options_.has_cmpxchg) {
    out_.mov(r0, r3);
    out_.atomic(BPF_CMPXCHG, r2, 0, r1);
  } else {
    const Label differ = out_.label();
    out_.load(r0, r2, 0, 8);
    out_.jump_if(BPF_JNE, r0, r3, differ);
    out_.store(r2, 0, r1, 8);
    out_.bind(differ);
  }
  finish(i.dst, r0);
}

void FunctionEmitter::emit_add_memory(const ir::Inst& i) {
  const Address to = address(i.a, i.imm, r4);
  if (i.atomic) return out_.atomic(BPF_ADD, to.base, to.offset, value(i.b, r5));
  out_.load(r0, to.base, to.offset, 8);
  if (!i.b.is_reg() && fits_imm(i.b.value))
    out_.alu(BPF_ADD, r0, static_cast<int32_t>(i.b.value));
  else
    out_.alu(BPF_ADD, r0, value(i.b, r5));
  out_.store(to.base, to.offset, r0, 8);
}

} // namespace bpf
