// How the records and maps of a translated script are printed. All output of a clause is one record: print((number, …)), whose first
// element is the number of a Record; the others are what its items take, in their order. Aggregations are maps.
#pragma once

#include "base/source.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace dlang {

// Aggregating functions, in the order of the table in aggregation.h.
enum class Function : uint8_t { count, sum, min, max, avg, stddev, quantize, lquantize, llquantize };

// How an address is printed, of func() and the like, or the number of a device.
enum class SymbolForm : uint8_t {
  none,     // it has no name
  function, // libc.so.6`read
  module,   // libc.so.6
  address,  // libc.so.6`read+0x14
  device,      // sda, of a dev_t as the kernel has it
  device_path, // /dev/sda
};

// A part of a key that is a number in D, or has a name.
struct KeyPart {
  uint8_t size = 0; // in bytes; 0: as the map has it, which may be wider
  SymbolForm symbol = SymbolForm::none;
};

// The maps of an aggregation @NAME, by function (`.` is in no name of a script):
//   count, sum, min, max, avg   NAME
//   stddev                      NAME (average); of squares NAME.low, NAME.mid, NAME.cross, NAME.high: sums whose places are 0, 32, 33, 64 bits
//   quantize                    NAME (hist of numbers ≥ 0), NAME.neg (hist of the others, negated)
//   quantize with an increment, lquantize, llquantize: NAME, whose keys have the number of a bucket as their last element
struct Aggregation {
  std::string name; // without `@`
  Function function = Function::count;
  size_t keys = 0;
  std::vector<KeyPart> key_parts = {};
  bool by_buckets = false;
  int64_t low = 0, high = 0, step = 1;           // lquantize
  int64_t factor = 0, low_power = 0, high_power = 0, steps = 0; // llquantize
  base::Range where;
};

enum class ItemKind : uint8_t {
  printf,   // text: the format; takes `arguments` values
  trace,    // one value
  memory,   // one buffer
  stack,    // one stack
  printa,   // text: the format, or empty; of `aggregations`
  normalize, // one number
  denormalize,
  trunc,    // one number, or none: all
  clear,
  system,   // as printf
  print,    // one value, with its type
  freopen,  // as printf: the name of a file
  ftruncate,
  setopt,   // text: the option; its value, or none
  fault,    // three: the number of an ir::Fault, an address, the number of an action; printed as a message
  nothing,  // only the line itself: the default action, exit()
};

struct Item {
  ItemKind kind = ItemKind::nothing;
  std::string text;
  size_t arguments = 0;
  std::vector<size_t> aggregations; // by their place in Plan::aggregations
};

struct Record {
  bool has_line = true;        // "CPU ID FUNCTION:NAME" before it; the CPU is then the first value
  bool has_function = false;   // the function is the second value: a name, or the number of a system call
  uint32_t id = 0;             // of the probe description
  std::string provider = {}, module = {}, function = {}, name = {};
  std::vector<Item> items = {};
  std::vector<SymbolForm> symbols = {}; // of the values that the items take; what is missing is none
};

// A group of clauses with the same probes, for `-l` and the numbers of probes.
struct Place {
  uint32_t id = 0;
  std::string provider, module, function, name;
  bool is_syscall = false;
  std::vector<int> calls;      // numbers of system calls; empty: all
  bool has_functions = false;  // the functions that the description matches are listed
  base::Range where;
  std::vector<base::Range> clauses;
};

// Of bars in distributions; packed ones are blocks in any terminal that shows them.
enum class Encoding : uint8_t { by_terminal, ascii, utf8 };

// How output looks: options of the script, which setopt() changes while it runs.
struct Display {
  bool quiet = false;
  bool flow = false;            // lines are indented by the depth of calls
  bool sort_by_key = false, sort_reversed = false;
  size_t sort_position = 0;     // of printa(): the aggregation whose values give the order
  size_t sort_key_position = 0; // the first part of the key that gives it
  bool zoom = false;            // bars are relative to the largest one
  bool bars = false;            // count() and sum() have bars
  bool packed = false;          // a distribution is one line
  Encoding encoding = Encoding::by_terminal;
  size_t stack_indent = 14;
};

struct Plan {
  std::vector<Aggregation> aggregations;
  std::vector<Record> records;
  std::vector<Place> places;
  Display display;
  bool error_tags = false; // DTrace's names are in front of messages about mistakes
  bool destructive = false;
};

} // namespace dlang
