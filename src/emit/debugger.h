// gdb and lldb: a script for core dumps and stopped processes as one Python file.
//
// The tree becomes Python by one lowering. What differs between the debuggers (memory, types, threads, frames, variables) is behind
// functions of the same names in python/gdb.py and python/lldb.py. The result consists of these, the parts of the run time that
// the script needs (python/*.py: values and maps, memory, core dumps, symbols, heap), and the script.
//
// Values in Python:
//   numbers, pointers   an int in the range of 64 bits, with the sign of the expression's type
//   text, buffers       bytes
//   tuples, records     a tuple
//   structures, arrays  in the program's memory: the address; as a value (of a variable or map): their bytes
// Members of structures that the program declares are found by the debugger, by name; their sizes must be those that the script
// was checked with, which the file verifies.
#pragma once

#include "emit/names.h"
#include "emit/runtime_part.h"
#include "emit/target.h"
#include "emit/writer.h"

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace emit {

// One probe's, or one function's, Python.
class DebuggerScript {
public:
  DebuggerScript(const Job& job, const Target& target, std::string_view debugger);
  // The file. `before`: one that was made of the same job, which tells what is declared.
  std::string make(const DebuggerScript* before);

private:
  using Expr = lang::Expr;
  using Type = type::Type;

  // debugger_expression.cc
  std::string number(const Expr& e);                   // in the range of its type
  std::string number_of(const Expr& e);                // … that is no constant
  std::string raw(const Expr& e);                      // equal to it modulo 2^64, for arithmetic and addresses
  std::string number_as(const Expr& e, const Type& t); // as a type holds it
  std::string sided(const Expr& e, bool is_signed);    // with or without a sign, 64 bits
  std::string condition(const Expr& e);
  std::string binary(const lang::Binary& e);
  std::string raw_binary(const lang::Binary& e);
  std::string compare(const lang::Binary& e);
  std::string increment(const lang::Unary& e);
  std::string choice(const Expr& e); // c ? a : b, try(a, b)
  std::string load(const Expr& e);
  std::string text(const Expr& e);
  std::string tuple(const Expr& e);
  std::string value(const Expr& e);                    // of any type
  std::string value_as(const Expr& e, const Type& t);  // what a variable, map or parameter of the type holds
  std::string bytes(const Expr& e);                    // of structures and arrays
  std::string map_read(const lang::MapRef& e);
  std::string key(const lang::Map& map, const Expr* key);
  std::string key_argument(const lang::MapRef& e);

  // debugger_place.cc
  bool is_in_memory(const Expr& e) const;
  std::string place(const Expr& e); // an address
  std::string member(const lang::FieldRef& e, bool wants_value);
  std::string element_address(const lang::Index& e);
  std::string program_value(const Expr& e, bool wants_value);
  std::string stride_times(const Type& pointer, std::string number);

  // debugger_builtin.cc
  std::string builtin_number(const Expr& e, std::string_view name);
  std::string builtin_text(const Expr& e, std::string_view name);
  std::string builtin_value(const Expr& e, std::string_view name); // tuples, symbols, stacks
  bool run_builtin(const lang::Call& c);
  std::string shown(const Expr& e); // as an argument of printf or print
  void print_formatted(const lang::Call& c);
  void aggregate(const lang::MapRef& map, const lang::Call& c);

  // debugger_type.cc
  std::string type_text(const Type& t); // the object that prints such values
  std::string map_type_text(const Type& t);
  std::string zero_of(const Type& t);
  std::string field_object(const Type& of, std::string_view path, const type::Field& field);
  bool is_of_program(const Type& t) const; // declared in its debug information, not by the script
  bool is_found_by_name(const Type& t);
  void expect(const Type& t);
  std::string name_of_type(const Type& t) const;

  // debugger_statement.cc
  void lower(const lang::Block& b);
  void lower(const lang::Stmt& s);
  void lower_if(const lang::If& s, bool is_else);
  void lower_while(const lang::While& s);
  void lower_assign(const lang::Assign& s);
  void leave(const lang::Leave& s);
  void body(const lang::Block& b);

  // debugger_file.cc
  void lower_function(const lang::Function& f);
  std::string lower_probe(const lang::Probe& p, std::string_view name);
  std::string declare_maps();
  std::string spill(std::string_view wish, const std::string& value); // into a variable, before the statement
  bool needs_statement(const Expr* e) const;
  std::string refuse(base::Range where, std::string_view what, std::string_view reason, std::string_view nearest = {});

  const Job& job_;
  const Target& target_;
  std::string_view debugger_;
  Names names_;
  Writer out_;
  std::vector<std::string> declarations_; // fields, types
  std::map<std::string, std::string> declared_; // by what they are: their names
  std::set<std::string> expected_;
  std::vector<const lang::Block*> steps_; // of the loops around
  const lang::Function* function_ = nullptr;
  base::Range where_; // of the value whose type is written
  bool in_try_ = false, uses_heap_ = false, uses_symbols_ = false;
};

// Python's for a text.
std::string python_bytes(std::string_view text);
std::string python_string(std::string_view text);
// Without parentheses around the whole.
std::string without_parentheses(std::string text);

std::vector<File> emit_debugger(const Job& job, const Target& target, std::string_view debugger);

} // namespace emit
