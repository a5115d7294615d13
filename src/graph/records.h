// The records of graph.bt and its maps @openN, field by field.
#pragma once

#include "graph/call_graph.h"

#include "type/type.h"

#include <cstddef>
#include <map>
#include <span>
#include <string_view>

namespace graph {

// record_kind of the script.
enum class RecordKind : uint8_t {
  entry,
  leave,
  whole,   // a call that has returned, with its begin
  exec,    // of the process
  fork,    // of the process, with the new one's first thread
  landing, // of an exception or longjmp: the stack pointer that the thread goes on with
  ending,  // of the thread
};

// The fields of one type of record, named as in the script; absent ones are nullptr.
struct Fields {
  const type::Field *kind = nullptr, *ns = nullptr, *tid = nullptr, *pid = nullptr, *cpu = nullptr, *thread = nullptr;
  const type::Field *waited = nullptr, *preempted = nullptr; // of the thread, in ns; in @openN: until the call began
  const type::Field* depth = nullptr;    // calls that are open around it, as the kernel counts them
  const type::Field* stack = nullptr;    // pointer at the entry or behind the return; 0: a function of the kernel
  const type::Field* function = nullptr; // an index into Functions, or a name (type::Kind::probe_name)
  const type::Field *arguments = nullptr, *result = nullptr; // records of values
  const type::Field *start = nullptr, *waited_before = nullptr, *preempted_before = nullptr;
  const type::Field *child = nullptr, *how = nullptr;
  const type::Field* place = nullptr; // in keys of @openN: of the return address; of functions of the kernel the depth
};

class Records {
public:
  using Bytes = std::span<const std::byte>;
  const Fields& fields_in(const type::Type& record);
  static RecordKind kind_of(const Fields& fields, Bytes record);
  static Ended how_of(const Fields& fields, Bytes record); // what landed

private:
  std::map<const type::Type*, Fields> fields_;
};

uint64_t number_of(const type::Field& field, Records::Bytes record);
std::string_view text_of(const type::Field& field, Records::Bytes record);

} // namespace graph
