// C definitions of structures that the target can't know: those of traced programs and of the script itself. Only members that the
// program uses are in them, at their offsets.
//
//   struct request {
//     char _pad0[24];
//     unsigned int length;
//   };
#pragma once

#include "emit/names.h"
#include "probe/probe.h"
#include "type/type.h"

#include <map>
#include <string>
#include <vector>

namespace emit {

class Structures {
public:
  Structures(probe::Machine& machine, Names& names) : machine_(machine), names_(names) {}

  // "struct request"; a structure that is not the kernel's gets a definition.
  std::string name(const type::Type& structure);
  // A member is used; its structure is defined with it.
  void use(const type::Type& structure, const type::Field& field);
  // A type as C has it, in casts and declarations: "unsigned int", "struct request *".
  std::string c_type(const type::Type& t);
  bool is_kernels(const type::Type& structure);
  // Definitions in an order in which each is complete where it is a member; empty: none is needed.
  std::string definitions();

private:
  struct Used {
    std::map<std::pair<uint32_t, std::string>, const type::Type*> fields; // by offset and name
    bool is_written = false;
  };
  void define(const type::Type& structure, std::string& out);
  std::string member(const type::Type& t, std::string_view name);

  probe::Machine& machine_;
  Names& names_;
  // One structure has several types: of values that were read from user memory, and of others.
  const type::Type* same(const type::Type& structure);

  std::map<std::pair<const type::Provider*, uint32_t>, const type::Type*> known_;
  std::map<const type::Type*, Used> used_;
};

} // namespace emit
