// Code for maps that are kept as two (hot_keys.h): programs look into the hot map first, then, out of the way, into the
// plain map of all keys. The word of the stack for use inside one operation holds the number of the CPU, later an
// address to fall back to.
#include "bpf/emit.h"
#include "bpf/features.h"
#include "bpf/hot_keys.h"

namespace bpf {

bool FunctionEmitter::has_hot(const ir::Inst& i) const { return pool_.object.hot[i.index] >= 0; }

Argument FunctionEmitter::hot_map(Register to, const ir::Inst& i) const {
  return map(to, static_cast<uint32_t>(pool_.object.hot[i.index]));
}

// r0 = address of the value of the key in the plain map; the word of the stack: the CPU.
void FunctionEmitter::emit_find_shared(const ir::Inst& i, Label missing) {
  out_.call(get_smp_processor_id);
  out_.store(r10, temp(), r0, 8);
  arguments({map(r1, i.index), argument(r2, i.a)});
  out_.call(map_lookup_elem);
  out_.jump_if(BPF_JEQ, r0, 0, missing);
}

// r0 = address of the part, in the value at r0, of the CPU in the word of the stack. Uses r1.
void FunctionEmitter::emit_part(const ir::Inst& i, Label no_such_cpu) {
  out_.load(r1, r10, temp(), 8);
  out_.jump_if(BPF_JGE, r1, static_cast<int32_t>(options_.possible_cpus), no_such_cpu);
  out_.alu(BPF_MUL, r1, static_cast<int32_t>(part_size(map_of(i))));
  out_.alu(BPF_ADD, r0, r1);
}

void FunctionEmitter::emit_find_with_hot(const ir::Inst& i) {
  const Label none = out_.label(), done = out_.label();
  emit_find_shared(i, none);
  emit_part(i, none);
  out_.bind(done);
  finish(i.dst, r0);
  zero_at(none, done);
}

// Parts are numbered: those of the plain map by CPU, then those of the hot map by CPU.
void FunctionEmitter::emit_find_cpu_with_hot(const ir::Inst& i) {
  if (!options_.has_lookup_percpu) return fail_without_lookup_percpu(i);
  if (has_cells(map_of(i))) return fail("programs cannot read the histograms of @" + map_of(i).name);
  const auto cpus = static_cast<int32_t>(options_.possible_cpus);
  const Label none = out_.label(), hot = out_.label(), done = out_.label();
  load_into(r0, i.b);
  out_.store(r10, temp(), r0, 8);
  out_.jump_if(BPF_JGE, r0, cpus, hot);
  arguments({map(r1, i.index), argument(r2, i.a)});
  out_.call(map_lookup_elem);
  out_.jump_if(BPF_JEQ, r0, 0, none);
  emit_part(i, none);
  out_.bind(done);
  finish(i.dst, r0);
  zero_at(none, done);
  out_.cold([=, this] {
    out_.bind(hot);
    arguments({hot_map(r1, i), argument(r2, i.a)});
    out_.load(r3, r10, temp(), 8);
    out_.alu(BPF_ADD, r3, -cpus);
    out_.call(map_lookup_percpu_elem);
    out_.jump(done);
  });
}

// Offers a key of the plain map a place in the hot one. r0 = address of its value there, or 0 if there is no room.
void FunctionEmitter::emit_make_hot(const ir::Inst& i) {
  // If the key was removed meanwhile, it is made again: no key is hot alone.
  for (const Argument& to : {hot_map(r1, i), map(r1, i.index)}) {
    arguments({to, argument(r2, i.a), zeroes(r3), number(r4, BPF_NOEXIST)});
    out_.call(map_update_elem);
  }
  arguments({hot_map(r1, i), argument(r2, i.a)});
  out_.call(map_lookup_elem);
}

// The same for a key that has a part to go on with, whose address is in r0.
void FunctionEmitter::emit_may_be_hot(const ir::Inst& i, Label hot, Label done) {
  out_.store(r10, temp(), r0, 8);
  emit_make_hot(i);
  out_.jump_if(BPF_JNE, r0, 0, hot);
  out_.load(r0, r10, temp(), 8);
  out_.jump(done);
}

// r0 = address of the part of this CPU in the value at r0, at `done`.
void FunctionEmitter::emit_shared_part(const ir::Inst& i, Label hot, Label done, Label full) {
  const auto hits = static_cast<int32_t>(part_size(map_of(i)) * options_.possible_cpus);
  out_.load(r2, r0, hits, 8); // CPUs may overwrite each other's: it need not be exact
  out_.alu(BPF_ADD, r2, 1);
  out_.store(r0, hits, r2, 8);
  emit_part(i, full);
  out_.alu(BPF_AND, r2, static_cast<int32_t>(hits_until_hot - 1));
  out_.jump_if(BPF_JNE, r2, 0, done);
  emit_may_be_hot(i, hot, done);
}

// r0 = address of the cell of bucket i.b, of this CPU, in the value at r0, at `done`. A probe that interrupts this one may
// take the same free cell. Goes on behind it where no cell is free and no room is in the hot map.
void FunctionEmitter::emit_cell(const ir::Inst& i, Label hot, Label done, Label full) {
  const Label often = out_.label();
  emit_part(i, full);
  load_into(r3, i.b);
  out_.alu(BPF_ADD, r3, 1);
  out_.alu(BPF_LSH, r3, static_cast<int32_t>(cell_count_bits));
  out_.mov(r4, r0);
  for (int32_t at = 0; at < static_cast<int32_t>(8 * cells_of_cpu); at += 8) {
    const Label taken = out_.label(), found = out_.label(), next = out_.label();
    out_.load(r0, r4, at, 8);
    out_.jump_if(BPF_JNE, r0, 0, taken);
    out_.mov(r5, r3);
    out_.atomic(BPF_CMPXCHG, r4, at, r5); // if it is as r0 says
    out_.jump_if(BPF_JEQ, r0, 0, found);
    out_.bind(taken);
    out_.mov(r5, r0);
    out_.alu(BPF_RSH, r5, static_cast<int32_t>(cell_count_bits));
    out_.alu(BPF_LSH, r5, static_cast<int32_t>(cell_count_bits));
    out_.jump_if(BPF_JNE, r5, r3, next);
    out_.bind(found);
    out_.alu(BPF_AND, r0, static_cast<int32_t>(hits_until_hot - 1));
    out_.mov(r5, r0);
    out_.mov(r0, r4);
    out_.alu(BPF_ADD, r0, at);
    out_.jump_if(BPF_JEQ, r5, static_cast<int32_t>(hits_until_hot - 1), often);
    out_.jump(done);
    out_.bind(next);
  }
  emit_make_hot(i);
  out_.jump_if(BPF_JNE, r0, 0, hot);
  out_.jump(full);
  out_.bind(often);
  emit_may_be_hot(i, hot, done);
}

void FunctionEmitter::emit_slot_with_hot(const ir::Inst& i) {
  const Label shared = out_.label(), hot = out_.label(), done = out_.label(), full = out_.label();
  arguments({hot_map(r1, i), argument(r2, i.a)});
  out_.call(map_lookup_elem);
  const ir::Inst* check = null_check(i);
  out_.jump_if(BPF_JEQ, r0, 0, shared);
  out_.bind(hot);
  emit_word(i, full);
  out_.bind(done);
  finish_found(i, check);
  out_.cold([=, this] {
    const Label missing = out_.label(), found = out_.label();
    out_.bind(shared);
    emit_find_shared(i, missing);
    out_.bind(found);
    if (has_cells(map_of(i)))
      emit_cell(i, hot, done, full);
    else
      emit_shared_part(i, hot, done, full);
    out_.bind(missing);
    emit_make(i, found);
    out_.bind(full);
    count(pool_.map_counter(i.index));
    out_.number(r0, 0);
    finish_null(i, check, done);
  });
}

// r0 = what the plain map says of the removal.
void FunctionEmitter::emit_remove_with_hot(const ir::Inst& i) {
  arguments({map(r1, i.index), argument(r2, i.a)});
  out_.call(map_delete_elem);
  out_.store(r10, temp(), r0, 8);
  arguments({hot_map(r1, i), argument(r2, i.a)});
  out_.call(map_delete_elem);
  out_.load(r0, r10, temp(), 8);
}

} // namespace bpf
