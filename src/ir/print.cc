// The IR as text, for --dump ir and for failing tests: tables first, then each function with its objects and
// blocks.
//
//   function begin (probe), frame 0
//     object o0 "key" 16 bytes
//   b0:
//     %1 = object o0
//     %5 = load.kernel u32 [%4+16] fault b7 -> b3
//     %6 = map_slot @m, %2
//
// Printing never fails: an index without a target is shown as a number, since what is printed may be what
// verify() has just refused.
#include "ir/ops.h"

#include <cinttypes>
#include <cstdio>

namespace ir {
namespace {

std::string number(int64_t n) {
  // Large masks and addresses are easier to recognise in hex; small negative numbers are not.
  char text[32];
  if (n > 0xffff || n < -0xffff)
    std::snprintf(text, sizeof text, "0x%" PRIx64, static_cast<uint64_t>(n));
  else
    std::snprintf(text, sizeof text, "%" PRId64, n);
  return text;
}

std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    switch (c) {
    case '\n': out += "\\n"; break;
    case '\t': out += "\\t"; break;
    case '"': out += "\\\""; break;
    case '\\': out += "\\\\"; break;
    default:
      if (static_cast<unsigned char>(c) >= 0x20) {
        out += c;
        break;
      }
      char text[8];
      std::snprintf(text, sizeof text, "\\x%02x", static_cast<unsigned char>(c));
      out += text;
    }
  }
  return out + "\"";
}

std::string operand(const Operand& o) {
  switch (o.kind) {
  case Operand::none: return "_";
  case Operand::reg: return "%" + std::to_string(o.as_reg());
  case Operand::constant: return number(o.value);
  }
  return "?";
}

std::string memory(const Operand& base, int64_t offset) {
  std::string out = "[";
  if (base.kind != Operand::none) out += operand(base);
  if (offset > 0)
    out += (base.kind == Operand::none ? "" : "+") + std::to_string(offset);
  else if (offset < 0)
    out += std::to_string(offset);
  else if (base.kind == Operand::none)
    out += "0";
  return out + "]";
}

std::string width(const Inst& i) { return (i.is_signed ? "i" : "u") + std::to_string(i.size * 8); }
std::string block_name(BlockId b) { return b == no_block ? "b?" : "b" + std::to_string(b); }
std::string bytes(int64_t n) { return std::to_string(n) + " bytes"; }

std::string_view to_string(Role role) {
  static constexpr std::string_view names[] = {"probe", "function", "body"};
  return names[static_cast<size_t>(role)];
}
std::string_view to_string(MapKind kind) {
  static constexpr std::string_view names[] = {"array",    "percpu_array",    "hash", "percpu_hash",
                                               "lru_hash", "percpu_lru_hash", "task"};
  return names[static_cast<size_t>(kind)];
}
std::string_view to_string(ActionKind kind) {
  static constexpr std::string_view names[] = {"printf",      "errorf",    "warnf",        "debugf",        "cat",  "system",
                                               "print_value", "print_map", "print_entry", "flame", "clear", "zero", "time",
                                               "join",        "exit",      "packet",       "unwatch",     "assert_failed"};
  static_assert(std::size(names) == static_cast<size_t>(ActionKind::assert_failed) + 1);
  return names[static_cast<size_t>(kind)];
}
std::string_view to_string(Fault fault) {
  static constexpr std::string_view names[] = {"read_kernel",        "read_user",   "division_by_zero",
                                               "index_out_of_range", "loop_limit",  "map_full",
                                               "delete_missing",     "element_missing", "cpid_missing", "depth_unknown", "entry_missing",
                                               "speculation_full", "limited"};
  static_assert(std::size(names) == static_cast<size_t>(Fault::limited) + 1);
  return names[static_cast<size_t>(fault)];
}
std::string_view to_string(probe::Context context) {
  static constexpr std::string_view names[] = {"none", "tracepoint", "raw_tracepoint", "btf_tracepoint", "function",
                                               "perf_event", "registers", "kernel_registers", "iterator"};
  static_assert(std::size(names) == static_cast<size_t>(probe::Context::iterator) + 1);
  return names[static_cast<size_t>(context)];
}

// One instruction. Writes what is special about an operation in its case and leaves the common form, the
// operands in a row, to the default.
class Printer {
public:
  Printer(const Inst& inst, const Program& program) : i_(inst), program_(program) {}

  std::string print() {
    if (defines(i_)) out_ = "%" + std::to_string(i_.dst) + " = ";
    out_ += row(i_.op).name;
    body();
    if (has_fault_edge(i_)) out_ += " fault " + block_name(i_.other) + " -> " + block_name(i_.target);
    if (i_.atomic) out_ += " atomic";
    return std::move(out_);
  }

private:
  void space() { out_ += "." + std::string(ir::to_string(i_.space)); }
  void operands() {
    std::string_view separator = " ";
    for_each_operand(i_, [&](const Operand& o) {
      if (o.kind == Operand::none) return;
      out_ += std::string(separator) + operand(o);
      separator = ", ";
    });
  }
  std::string map() const {
    return i_.index < program_.maps.size() ? "@" + program_.maps[i_.index].name : "@?";
  }
  std::string function(uint64_t index) const {
    return index < program_.functions.size() ? program_.functions[index].name + "#" + std::to_string(index)
                                             : "?";
  }
  std::string site(uint64_t index) const {
    std::string out = "site " + std::to_string(index);
    if (index < program_.sites.size())
      out += " (" + std::string(to_string(program_.sites[index].fault)) + ")";
    return out;
  }

  std::string symbol(uint32_t index) const {
    return index < program_.kernel_symbols.size() ? program_.kernel_symbols[index].name : "?";
  }

  void body() {
    switch (i_.op) {
    case Op::zext:
    case Op::sext:
    case Op::bswap:
      out_ += std::to_string(i_.size * 8);
      operands();
      break;
    case Op::set:
      out_ += " " + operand(i_.a) + " " + std::string(ir::to_string(i_.cond)) + " " + operand(i_.b);
      break;
    case Op::branch:
      out_ += " " + operand(i_.a) + " " + std::string(ir::to_string(i_.cond)) + " " + operand(i_.b) + " ? " +
              block_name(i_.target) + " : " + block_name(i_.other);
      break;
    case Op::jump: out_ += " " + block_name(i_.target); break;
    case Op::query: out_ += " " + std::string(ir::to_string(i_.query)); break;
    case Op::stack:
      out_ += std::string(i_.index == walked_stack ? ".walked" : i_.index ? ".user" : ".kernel") + " " + std::to_string(i_.imm2) + " frames";
      if (i_.a.kind != Operand::none) out_ += " of " + operand(i_.a);
      break;
    case Op::signal:
      out_ += i_.index ? ".thread" : ".process";
      operands();
      break;
    case Op::cpu_variable:
    case Op::task_name:
      out_ += " " + symbol(i_.index);
      operands();
      break;
    case Op::packet:
      out_ += " " + std::to_string(i_.index);
      operands();
      out_ += ", " + bytes(i_.imm2);
      break;
    case Op::print:
    case Op::path:
    case Op::write_user:
      operands();
      out_ += ", " + bytes(i_.imm2);
      break;
    case Op::table: out_ += " t" + std::to_string(i_.index) + "[" + operand(i_.a) + "]"; break;
    case Op::call:
    case Op::loop:
    case Op::for_each: calls(); break;
    case Op::event:
    case Op::hold: event(); break;
    case Op::count_fault: out_ += " " + site(i_.index); break;
    default: memory_or_map(); break;
    }
  }

  void memory_or_map() {
    switch (i_.op) {
    case Op::object:
      out_ += " o" + std::to_string(i_.index) + (i_.imm ? "+" + std::to_string(i_.imm) : "");
      break;
    case Op::load:
      space();
      out_ += " " + width(i_) + " " + memory(i_.a, i_.imm);
      break;
    case Op::exchange:
      out_ += " " + memory(i_.a, i_.imm) + ", " + operand(i_.b) + ", " + operand(i_.c);
      break;
    case Op::store:
    case Op::add_memory:
      out_ += " u" + std::to_string(i_.size * 8) + " " + memory(i_.a, i_.imm) + ", " + operand(i_.b);
      break;
    case Op::copy:
      out_ += " " + memory(i_.a, i_.imm) + ", " + memory(i_.b, i_.imm3) + ", " + bytes(i_.imm2);
      break;
    case Op::zero: out_ += " " + memory(i_.a, i_.imm) + ", " + bytes(i_.imm2); break;
    case Op::read:
    case Op::read_string:
    case Op::read_bytes:
      space();
      out_ += " " + memory(i_.a, 0) + ", " + operand(i_.b) + ", ";
      if (i_.c.kind != Operand::none) out_ += "min " + operand(i_.c) + ", ";
      out_ += bytes(i_.imm2);
      break;
    case Op::equal: out_ += " " + memory(i_.a, 0) + ", " + memory(i_.b, 0) + ", " + bytes(i_.imm2); break;
    case Op::map_find:
    case Op::map_find_cpu:
    case Op::map_slot:
    case Op::map_store:
    case Op::map_remove:
    case Op::map_size:
      out_ += " " + map();
      for_each_operand(i_, [&](const Operand& o) {
        if (o.kind != Operand::none) out_ += ", " + operand(o);
      });
      break;
    default: operands(); break;
    }
  }

  void calls() {
    if (i_.op == Op::for_each) {
      out_ += " " + map() + ", " + function(static_cast<uint64_t>(i_.imm));
      return;
    }
    out_ += " " + function(i_.index);
    if (i_.op == Op::loop) {
      out_ += ", " + operand(i_.a) + " times, limit " + std::to_string(i_.imm) + " " +
              site(static_cast<uint64_t>(i_.imm2));
      return;
    }
    out_ += "(";
    std::string_view separator;
    for_each_operand(i_, [&](const Operand& o) {
      if (o.kind == Operand::none) return;
      out_ += std::string(separator) + operand(o);
      separator = ", ";
    });
    out_ += ")";
  }

  void event() {
    out_ += " " + std::to_string(i_.index);
    if (i_.index < program_.actions.size())
      out_ += " " + std::string(to_string(program_.actions[i_.index].kind));
    out_ += ", " + bytes(i_.imm2);
    if (i_.op == Op::hold) out_ += ", " + operand(i_.a);
  }

  const Inst& i_;
  const Program& program_;
  std::string out_;
};

void print_maps(std::string& out, const Program& program) {
  for (const Map& m : program.maps) {
    out += "map @" + m.name + ": " + std::string(to_string(m.kind));
    if (m.key) out += " key " + type::to_string(*m.key) + " " + bytes(m.key_size) + ",";
    out += " value ";
    if (m.value) out += type::to_string(*m.value) + " ";
    out += bytes(m.value_size);
    if (m.present_offset != ~0u) out += ", present at " + std::to_string(m.present_offset);
    if (!is_scalar(m.kind)) out += ", " + std::to_string(m.max_entries) + " entries";
    if (m.sums) out += ", sums";
    out += "\n";
  }
}

void print_actions(std::string& out, const Program& program) {
  for (size_t i = 0; i < program.actions.size(); i++) {
    const Action& a = program.actions[i];
    out += "action " + std::to_string(i) + ": " + std::string(to_string(a.kind));
    if (!a.text.empty()) out += " " + quoted(a.text);
    if (a.payload) out += " " + type::to_string(*a.payload);
    if (has_map(a.kind))
      out += a.map < program.maps.size() ? " @" + program.maps[a.map].name : " @?";
    if (a.items) out += " " + std::to_string(a.items) + " strings of " + bytes(a.string_size);
    out += ", record " + bytes(a.record_size()) + "\n";
  }
}

void print_rest(std::string& out, const Program& program) {
  for (size_t i = 0; i < program.sites.size(); i++) {
    const Site& s = program.sites[i];
    out += "site " + std::to_string(i) + ": " + std::string(to_string(s.fault));
    out += " at " + std::to_string(s.where.begin) + "-" + std::to_string(s.where.end);
    if (!s.detail.empty()) out += " " + s.detail;
    out += "\n";
  }
  for (size_t i = 0; i < program.strings.size(); i++)
    out += "string " + std::to_string(i) + ": " + quoted(program.strings[i]) + "\n";
  for (size_t i = 0; i < program.tables.size(); i++) {
    out += "table t" + std::to_string(i) + ":";
    for (const uint32_t value : program.tables[i]) out += " " + std::to_string(value);
    out += "\n";
  }
  for (const Probe& p : program.probes) {
    out += "probe " + p.name + ": context " + std::string(to_string(p.context)) + ", function ";
    out += p.function < program.functions.size() ? program.functions[p.function].name : "?";
    out += "#" + std::to_string(p.function) + ", " + std::to_string(p.events.size()) + " events\n";
  }
}

} // namespace

std::string to_string(const Inst& inst, const Program& program) { return Printer(inst, program).print(); }

std::string to_string(const Function& function, const Program& program) {
  std::string out = "function " + function.name + " (" + std::string(to_string(function.role));
  if (function.parent < program.functions.size()) out += " in " + program.functions[function.parent].name;
  out += "), frame " + std::to_string(function.frame);
  for (uint32_t p = 1; p <= function.parameters; p++)
    out += (p == 1 ? ", takes %" : ", %") + std::to_string(p);
  out += "\n";
  // A body's objects are those of its parent, and stand there.
  if (function.role != Role::body && function.frame < program.frames.size()) {
    const auto& objects = program.frames[function.frame].objects;
    for (size_t i = 0; i < objects.size(); i++) {
      out += "  object o" + std::to_string(i);
      if (!objects[i].name.empty()) out += " " + quoted(objects[i].name);
      out += " " + bytes(objects[i].size) + "\n";
    }
  }
  for (size_t b = 0; b < function.blocks.size(); b++) {
    out += "b" + std::to_string(b) + ":\n";
    for (const Inst& inst : function.blocks[b].insts) out += "    " + to_string(inst, program) + "\n";
  }
  return out;
}

std::string to_string(const Program& program) {
  std::string out;
  print_maps(out, program);
  print_actions(out, program);
  print_rest(out, program);
  for (const Function& f : program.functions) out += "\n" + to_string(f, program);
  return out;
}

} // namespace ir
