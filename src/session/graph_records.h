// What graph.bt tells: its records and the maps @openN, field by field.
#pragma once

#include "report/call_graph.h"

#include "type/type.h"

#include <cstddef>
#include <map>
#include <span>
#include <string_view>

namespace session {

// record_kind of the script.
enum class GraphRecord : uint8_t {
  entry,
  leave,
  whole,   // a call that has returned, with its begin
  exec,    // of the process
  fork,    // of the process, with the new one's first thread
  landing, // of an exception or longjmp: the stack pointer that the thread goes on with
  ending,  // of the thread
};

// The fields of one type of records, called as in the script; those that it lacks are nullptr.
struct GraphFields {
  const type::Field *kind = nullptr, *ns = nullptr, *tid = nullptr, *pid = nullptr, *cpu = nullptr, *thread = nullptr;
  const type::Field *waited = nullptr, *preempted = nullptr; // of the thread, in ns; in @openN: until the call began
  const type::Field* depth = nullptr;    // calls that are open around it, as the kernel counts them
  const type::Field* stack = nullptr;    // pointer at the entry or behind the return; 0: a function of the kernel
  const type::Field* function = nullptr; // an index into GraphFunctions, or a name (type::Kind::probe_name)
  const type::Field *arguments = nullptr, *result = nullptr; // records of values
  const type::Field *start = nullptr, *waited_before = nullptr, *preempted_before = nullptr;
  const type::Field *child = nullptr, *how = nullptr;
  const type::Field* place = nullptr; // in keys of @openN: of the return address; of functions of the kernel the depth
};

class GraphRecords {
public:
  using Bytes = std::span<const std::byte>;
  const GraphFields& fields_in(const type::Type& record);
  static GraphRecord kind_of(const GraphFields& fields, Bytes record);
  static report::Ended how_of(const GraphFields& fields, Bytes record); // what landed

private:
  std::map<const type::Type*, GraphFields> fields_;
};

uint64_t number_of(const type::Field& field, GraphRecords::Bytes record);
std::string_view text_of(const type::Field& field, GraphRecords::Bytes record);

} // namespace session
