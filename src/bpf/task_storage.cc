// The iterator program, assembled by hand, and its runs. See task_storage.h.
#include "bpf/task_storage.h"

#include "base/fd.h"
#include "bpf/syscall.h"
#include "format/btf.h"
#include "type/type.h"

#include <cerrno>
#include <cstring>

namespace bpf {
namespace {

bpf_insn insn(uint8_t code, uint8_t dst, uint8_t src, int16_t offset, int32_t imm) {
  return {code, static_cast<uint8_t>(dst & 15), static_cast<uint8_t>(src & 15), offset, imm};
}
bpf_insn move(uint8_t dst, uint8_t src) { return insn(BPF_ALU64 | BPF_MOV | BPF_X, dst, src, 0, 0); }
bpf_insn set(uint8_t dst, int32_t imm) { return insn(BPF_ALU64 | BPF_MOV | BPF_K, dst, 0, 0, imm); }
bpf_insn load(uint8_t size, uint8_t dst, uint8_t src, uint32_t offset) {
  return insn(BPF_LDX | BPF_MEM | size, dst, src, static_cast<int16_t>(offset), 0);
}
bpf_insn call(int32_t helper) { return insn(BPF_JMP | BPF_CALL, 0, 0, 0, helper); }

// Registers that calls keep: r6 the task, r7 the output (struct seq_file), r8 the value.
class Iterator {
public:
  explicit Iterator(const MapShape& map) : map_(map) {
    // Context: { struct bpf_iter_meta *meta; struct task_struct *task; }, meta begins with the seq_file.
    add(load(BPF_DW, 6, 1, 8));
    leave_if_zero(6); // the last call has no task
    add(load(BPF_DW, 7, 1, 0));
    add(load(BPF_DW, 7, 7, 0));
  }
  void find_value() {
    load_map(1);
    add(move(2, 6));
    add(set(3, 0));
    add(set(4, 0));
    add(call(BPF_FUNC_task_storage_get));
    leave_if_zero(0);
    add(move(8, 0));
    add(load(BPF_DW, 1, 8, map_.present_offset));
    leave_if_zero(1);
  }
  void write_value(uint32_t tid_offset) {
    add(load(BPF_W, 1, 6, tid_offset));
    add(insn(BPF_STX | BPF_MEM | BPF_DW, 10, 1, -8, 0));
    add(move(1, 7));
    add(move(2, 10));
    add(insn(BPF_ALU64 | BPF_ADD | BPF_K, 2, 0, 0, -8));
    add(set(3, 8));
    add(call(BPF_FUNC_seq_write));
    add(move(1, 7));
    add(move(2, 8));
    add(set(3, static_cast<int32_t>(map_.value_size)));
    add(call(BPF_FUNC_seq_write));
  }
  void delete_value() {
    load_map(1);
    add(move(2, 6));
    add(call(BPF_FUNC_task_storage_delete));
  }
  void zero_value() {
    for (uint32_t at = 0; at < map_.value_size; at += 8) {
      if (at != map_.present_offset) add(insn(BPF_ST | BPF_MEM | BPF_DW, 8, 0, static_cast<int16_t>(at), 0));
    }
  }
  std::vector<bpf_insn> finish() {
    for (size_t at : leaving_) insns_[at].off = static_cast<int16_t>(insns_.size() - at - 1);
    add(set(0, 0));
    add(insn(BPF_JMP | BPF_EXIT, 0, 0, 0, 0));
    return std::move(insns_);
  }

private:
  void add(bpf_insn i) { insns_.push_back(i); }
  void load_map(uint8_t dst) {
    add(insn(BPF_LD | BPF_IMM | BPF_DW, dst, BPF_PSEUDO_MAP_FD, 0, map_.fd));
    add(insn(0, 0, 0, 0, 0));
  }
  void leave_if_zero(uint8_t reg) {
    leaving_.push_back(insns_.size());
    add(insn(BPF_JMP | BPF_JEQ | BPF_K, reg, 0, 0, 0));
  }

  const MapShape& map_;
  std::vector<bpf_insn> insns_;
  std::vector<size_t> leaving_; // jumps to the end
};

// What an iterator's descriptor gives until its end. Running it is reading it.
base::Result<std::vector<std::byte>> read_all(int fd) {
  std::vector<std::byte> bytes;
  size_t used = 0;
  for (;;) {
    bytes.resize(used + (64 << 10));
    ssize_t n = ::read(fd, bytes.data() + used, bytes.size() - used);
    if (n < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (n < 0) return base::errno_error("cannot read the values of threads", errno);
    used += static_cast<size_t>(n);
    if (n == 0) break;
  }
  bytes.resize(used);
  return bytes;
}

} // namespace

base::Result<std::unique_ptr<TaskStorage>> TaskStorage::open() {
  ACU_TRY(auto btf, format::Btf::open("/sys/kernel/btf/vmlinux"));
  std::unique_ptr<TaskStorage> storage(new TaskStorage);
  storage->iterator_id_ = btf->find("bpf_iter_task", format::BtfKind::function);
  uint32_t task = btf->find("task_struct", format::BtfKind::structure);
  type::Table types;
  const type::Type* type = task ? btf->type(types, task) : nullptr;
  auto tid = type ? type->find("pid") : std::nullopt;
  if (!storage->iterator_id_ || !tid) {
    return base::Error{base::Failure::unsupported, "the kernel has no iterator over threads (bpf_iter_task)"};
  }
  storage->tid_offset_ = tid->offset;
  return storage;
}

base::Result<std::vector<std::byte>> TaskStorage::run(const MapShape& map, Action action) const {
  Iterator iterator(map);
  iterator.find_value();
  switch (action) {
  case Action::read: iterator.write_value(tid_offset_); break;
  case Action::clear: iterator.delete_value(); break;
  case Action::zero: iterator.zero_value(); break;
  }
  std::vector<bpf_insn> insns = iterator.finish();
  ProgramLoad request;
  request.type = BPF_PROG_TYPE_TRACING;
  request.attach_type = BPF_TRACE_ITER;
  request.attach_btf_id = iterator_id_;
  request.insns = insns;
  request.name = "acu_tasks";
  constexpr const char* what = "cannot go through the values of threads";
  base::Fd program(program_load(request));
  if (!program.valid()) return base::errno_error(what, -program.get());
  base::Fd link(link_create(program.get(), 0, BPF_TRACE_ITER));
  if (!link.valid()) return base::errno_error(what, -link.get());
  base::Fd file(iterator_create(link.get()));
  if (!file.valid()) return base::errno_error(what, -file.get());
  return read_all(file.get());
}

base::Result<std::vector<ir::Entry>> TaskStorage::read(const MapShape& map) const {
  ACU_TRY(auto bytes, run(map, Action::read));
  constexpr size_t key_size = sizeof(uint64_t);
  size_t size = key_size + map.value_size;
  std::vector<ir::Entry> entries;
  for (const std::byte* at = bytes.data(); at + size <= bytes.data() + bytes.size(); at += size) {
    entries.push_back({{at, at + key_size}, {at + key_size, at + size}});
  }
  return entries;
}

base::Status TaskStorage::clear(const MapShape& map) const {
  auto result = run(map, Action::clear);
  return result.ok() ? base::Status() : base::Status(std::move(result.error()));
}

base::Status TaskStorage::zero(const MapShape& map) const {
  auto result = run(map, Action::zero);
  return result.ok() ? base::Status() : base::Status(std::move(result.error()));
}

} // namespace bpf
