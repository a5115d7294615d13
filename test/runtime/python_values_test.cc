// Objects of CPython as text, variables of frames, and tasks, in memory made by hand: complete, and damaged.
#include "runtime/python_text.h"
#include "runtime/python_variables.h"

#include "made_python.h"
#include "runtime/python.h"
#include "runtime/python_object_layouts.h"

#include <gtest/gtest.h>

#include <map>
#include <random>

namespace runtime {
namespace {

constexpr uint64_t globals_at = 0x10000000, types_size = 0x400, heap_at = 0x7f0000000000;

const python_layout& walk_layout(uint16_t version) {
  static const python_layout published = [] {
    python_layout out = *std::ranges::find(python_layouts, 0x030c, &python_layout::version);
    out.version = 0x030d;
    return out;
  }();
  const auto* row = std::ranges::find(python_layouts, version, &python_layout::version);
  return row == std::end(python_layouts) ? published : *row;
}

// An interpreter's memory: its types, and objects one after the other.
class Heap {
public:
  explicit Heap(uint16_t version) : layout(walk_layout(version)) {
    known.layout = *std::ranges::find(python_object_layouts, version, &PythonObjectLayout::version);
    for (size_t i = 0; i < python_symbols.size(); i++) known.globals[i] = globals_at + i * types_size;
    using enum PythonGlobal;
    const std::tuple<PythonGlobal, const char*, uint64_t> builtin[] = {
        {type_type, "type", python::type_subclass}, {object_type, "object", 0},  {long_type, "int", python::long_subclass},
        {bool_type, "bool", python::long_subclass}, {float_type, "float", 0},    {str_type, "str", python::str_subclass},
        {bytes_type, "bytes", python::bytes_subclass}, {list_type, "list", python::list_subclass}, {tuple_type, "tuple", python::tuple_subclass},
        {dict_type, "dict", python::dict_subclass}, {set_type, "set", 0}, {frozenset_type, "frozenset", 0}, {cell_type, "cell", 0}, {coroutine_type, "coroutine", 0}};
    for (const auto& [which, name, flags] : builtin) make_type(address(which), name, flags, address(which) + 1);
    write(address(none) + python::object_type, address(object_type));
    // set and frozenset have one function to print them
    write(address(frozenset_type) + known.layout.type_repr, address(set_type) + 1);
    exception = new_type("BaseException", python::exception_subclass, 0x77);
    write(address(base_exception), exception);
  }

  uint64_t address(PythonGlobal which) const { return known.globals[static_cast<size_t>(which)]; }
  void write(uint64_t at, uint64_t value, unsigned bytes = 8) {
    for (unsigned i = 0; i < bytes; i++) memory_[at + i] = static_cast<uint8_t>(value >> 8 * i);
  }
  void write(uint64_t at, const Memory& bytes) {
    for (size_t i = 0; i < bytes.size(); i++) memory_[at + i] = bytes[i];
  }
  void remove(uint64_t at, uint64_t size = 8) { memory_.erase(memory_.lower_bound(at), memory_.lower_bound(at + size)); }
  uint64_t room(uint64_t size) {
    const uint64_t at = next_;
    next_ += (size + 31) & ~uint64_t{15};
    for (uint64_t i = at; i < next_; i++) memory_[i] = 0;
    return at;
  }

  void make_type(uint64_t at, const std::string& name, uint64_t flags, uint64_t repr) {
    for (uint64_t i = 0; i < 0x380; i++) memory_[at + i] = 0;
    const uint64_t text = room(name.size() + 1);
    write(text, Memory(name.begin(), name.end()));
    const PythonObjectLayout& l = known.layout;
    write(at + python::object_type, address(PythonGlobal::type_type));
    write(at + l.type_name, text);
    write(at + l.type_flags, flags);
    write(at + l.type_repr, repr);
    write(at + l.type_size, 64);
    write(at + l.type_item_size, 4);
  }
  uint64_t new_type(const std::string& name, uint64_t flags, uint64_t repr) {
    const uint64_t at = room(0x400);
    make_type(at, name, flags, repr);
    return at;
  }

  uint64_t object(uint64_t type, uint64_t size) {
    const uint64_t at = room(size);
    write(at + python::object_type, type);
    return at;
  }
  uint64_t object(PythonGlobal type, uint64_t size) { return object(address(type), size); }
  uint64_t integer(std::vector<uint32_t> digits, bool is_negative = false, PythonGlobal type = PythonGlobal::long_type) {
    const uint64_t at = object(type, 24 + 4 * std::max<size_t>(digits.size(), 1)), n = digits.size();
    const bool has_tag = known.layout.version >= 0x030c;
    write(at + python::var_size, has_tag ? n << 3 | (n ? (is_negative ? 2 : 0) : 1) : is_negative ? 0 - n : n);
    for (size_t i = 0; i < n; i++) write(at + python::long_digits + 4 * i, digits[i], 4);
    return at;
  }
  uint64_t text(std::u32string_view characters) {
    const Memory bytes = text_object(layout, characters);
    const uint64_t at = room(bytes.size());
    write(at, bytes);
    write(at + python::object_type, address(PythonGlobal::str_type));
    return at;
  }
  uint64_t bytes(std::string_view value) {
    const Memory made = bytes_object(layout, value);
    const uint64_t at = room(made.size() + 1);
    write(at, made);
    write(at + python::object_type, address(PythonGlobal::bytes_type));
    return at;
  }
  uint64_t tuple(const std::vector<uint64_t>& items, uint64_t type = 0) {
    const uint64_t at = object(type ? type : address(PythonGlobal::tuple_type), 24 + 8 * items.size());
    write(at + python::var_size, items.size());
    for (size_t i = 0; i < items.size(); i++) write(at + python::tuple_items + 8 * i, items[i]);
    return at;
  }
  uint64_t list(const std::vector<uint64_t>& items) {
    const uint64_t at = object(PythonGlobal::list_type, 40), table = room(8 * items.size() + 8);
    write(at + python::var_size, items.size());
    write(at + python::list_items, table);
    for (size_t i = 0; i < items.size(); i++) write(table + 8 * i, items[i]);
    return at;
  }
  // A general table; a value of 0 is an entry that was removed.
  uint64_t dict(const std::vector<std::pair<uint64_t, uint64_t>>& items) {
    const uint64_t at = object(PythonGlobal::dict_type, 48), keys = room(64 + 32 + 24 * items.size());
    uint64_t entries = keys + python::keys_indices + 32;
    if (known.layout.version >= 0x030b) {
      write(keys + python::keys_log2_size, 5, 1);
      write(keys + python::keys_log2_index_bytes, 5, 1);
      write(keys + python::keys_entries, items.size());
    } else {
      write(keys + python::old_keys_size, 32);
      write(keys + python::old_keys_entries, items.size());
      entries = keys + python::old_keys_indices + 32;
    }
    write(at + python::dict_keys, keys);
    for (size_t i = 0; i < items.size(); i++) {
      write(entries + 24 * i + 8, items[i].first);
      write(entries + 24 * i + 16, items[i].second);
    }
    return at;
  }
  uint64_t set(const std::vector<uint64_t>& items, PythonGlobal type = PythonGlobal::set_type) {
    const uint64_t at = object(type, 64), table = room(16 * 8);
    write(at + python::set_used, items.size());
    write(at + python::set_mask, 7);
    write(at + python::set_table, table);
    write(table, 1), write(table + 8, ~uint64_t{0}); // removed
    for (size_t i = 0; i < items.size(); i++) write(table + 16 * (i + 1), items[i]), write(table + 16 * (i + 1) + 8, 5);
    return at;
  }

  std::string shown(uint64_t object, const TextLimits& limits = {}) const {
    const ReadMemory read = reader();
    const ObjectMemory memory = {.read = read, .why = [](uint64_t) { return "is not mapped"; }};
    return text_of_object(PythonObjects(known, layout, memory), object, limits);
  }
  std::vector<PythonVariable> variables(uint64_t frame) const {
    const ReadMemory read = reader();
    const ObjectMemory memory = {.read = read};
    return variables_of_python(PythonObjects(known, layout, memory), frame);
  }
  ReadMemory reader() const {
    return [this](uint64_t at, std::span<std::byte> to) {
      reads++;
      for (size_t i = 0; i < to.size(); i++) {
        const auto byte = memory_.find(at + i);
        if (byte == memory_.end()) return false;
        to[i] = static_cast<std::byte>(byte->second);
      }
      return true;
    };
  }
  std::map<uint64_t, uint8_t>& memory() { return memory_; }

  PythonKnown known;
  python_layout layout;
  uint64_t exception = 0;
  mutable size_t reads = 0;

private:
  std::map<uint64_t, uint8_t> memory_;
  uint64_t next_ = heap_at;
};

class PythonValues : public testing::TestWithParam<uint16_t> {};
INSTANTIATE_TEST_SUITE_P(Versions, PythonValues, testing::Values(0x0308, 0x0309, 0x030a, 0x030b, 0x030c, 0x030d));

TEST_P(PythonValues, Numbers) {
  Heap h(GetParam());
  EXPECT_EQ(h.shown(h.integer({})), "0");
  EXPECT_EQ(h.shown(h.integer({42})), "42");
  EXPECT_EQ(h.shown(h.integer({7, 1}, true)), "-1073741831");
  EXPECT_EQ(h.shown(h.integer({0, 0, 1})), "1152921504606846976");
  EXPECT_EQ(h.shown(h.integer(std::vector<uint32_t>(37, 1))), "<int of 1081 bits>");
  EXPECT_EQ(h.shown(h.integer({1}, false, PythonGlobal::bool_type)), "True");
  EXPECT_EQ(h.shown(h.integer({}, false, PythonGlobal::bool_type)), "False");
  const uint64_t real = h.object(PythonGlobal::float_type, 24);
  h.write(real + python::float_value, std::bit_cast<uint64_t>(2.5));
  EXPECT_EQ(h.shown(real), "2.5");
  EXPECT_EQ(h.shown(h.address(PythonGlobal::none)), "None");
}

TEST(PythonFloat, AsRepr) {
  const std::pair<double, const char*> cases[] = {{0.0, "0.0"}, {-0.0, "-0.0"}, {1e15, "1000000000000000.0"}, {1e16, "1e+16"}, {1e-4, "0.0001"},
                                                  {1e-5, "1e-05"}, {0.1, "0.1"}, {5e-324, "5e-324"}, {1.5e300, "1.5e+300"}, {123456789012345680.0, "1.2345678901234568e+17"}};
  for (const auto& [value, text] : cases) EXPECT_EQ(python_float(value), text);
}

TEST_P(PythonValues, Texts) {
  Heap h(GetParam());
  EXPECT_EQ(h.shown(h.text(U"")), "''");
  EXPECT_EQ(h.shown(h.text(U"it's\n")), "\"it's\\n\"");
  EXPECT_EQ(h.shown(h.text(U"'\"")), "'\\'\"'");
  EXPECT_EQ(h.shown(h.text(U"é\u00a0€\u200b😀")), "'é\\xa0€\\u200b😀'");
  EXPECT_EQ(h.shown(h.text(std::u32string(61, U'x'))), "'" + std::string(60, 'x') + "'…");
  EXPECT_EQ(h.shown(h.text(U"it's"), {.is_plain = true}), "it's");
  EXPECT_EQ(h.shown(h.bytes("a'\x01\xff")), "b\"a'\\x01\\xff\"");
}

TEST_P(PythonValues, Containers) {
  Heap h(GetParam());
  const uint64_t one = h.integer({1}), word = h.text(U"a");
  EXPECT_EQ(h.shown(h.list({one, word})), "[1, 'a']");
  EXPECT_EQ(h.shown(h.tuple({one})), "(1,)");
  EXPECT_EQ(h.shown(h.tuple({})), "()");
  EXPECT_EQ(h.shown(h.dict({{word, one}, {one, 0}, {one, h.list({})}})), "{'a': 1, 1: []}");
  EXPECT_EQ(h.shown(h.set({one})), "{1}");
  EXPECT_EQ(h.shown(h.set({})), "set()");
  EXPECT_EQ(h.shown(h.set({word}, PythonGlobal::frozenset_type)), "frozenset({'a'})");
  EXPECT_EQ(h.shown(h.list(std::vector<uint64_t>(11, one))), "[1, 1, 1, 1, 1, 1, 1, 1, 1, 1, …]");
  EXPECT_EQ(h.shown(h.list({h.list({h.list({h.list({one})})})})), "[[[[…]]]]");
  const uint64_t circle = h.list({one, one});
  h.write(h.list({}), 0);
  uint64_t table = 0;
  h.reader()(circle + python::list_items, std::as_writable_bytes(std::span(&table, 1)));
  h.write(table + 8, circle);
  EXPECT_EQ(h.shown(circle), "[1, [...]]");
}

TEST_P(PythonValues, Others) {
  Heap h(GetParam());
  const uint64_t order = h.new_type("shop.Order", python::heap_type, 0x99);
  const uint64_t instance = h.object(order, 64);
  char text[64];
  std::snprintf(text, sizeof text, "<Order object at 0x%lx>", instance);
  EXPECT_EQ(h.shown(instance), text);
  EXPECT_EQ(h.shown(order), "<class 'Order'>");
  const uint64_t failure = h.object(h.new_type("KeyError", python::exception_subclass, 0x77), 64);
  h.write(failure + python::exception_arguments, h.tuple({h.text(U"k")}));
  EXPECT_EQ(h.shown(failure), "KeyError('k')");
  // A subclass that prints as its base, and one that does not.
  EXPECT_EQ(h.shown(h.tuple({}, h.new_type("Pair", python::tuple_subclass, h.address(PythonGlobal::tuple_type) + 1))), "()");
  EXPECT_TRUE(h.shown(h.tuple({}, h.new_type("Point", python::tuple_subclass, 0x55))).starts_with("<Point object at"));
}

TEST_P(PythonValues, WhatCannotBeReadIsNamed) {
  Heap h(GetParam());
  EXPECT_EQ(h.shown(0x1234), "<could not be read: 0x123c is not mapped>");
  EXPECT_EQ(h.shown(0), "<NULL>");
  const uint64_t list = h.list({h.integer({1}), 0x50, h.integer({2})});
  EXPECT_EQ(h.shown(list), "[1, <could not be read: 0x58 is not mapped>, 2]");
  const uint64_t no_type = h.object(h.integer({1}), 32);
  EXPECT_TRUE(h.shown(no_type).starts_with("<damaged object at 0x"));
}

// Whatever bytes are changed, reading ends, reads little, and gives a short text.
TEST_P(PythonValues, DamageIsBounded) {
  Heap h(GetParam());
  const uint64_t one = h.integer({5, 6}), word = h.text(U"text"), inner = h.list({one, word, h.set({one})});
  const uint64_t root = h.dict({{word, inner}, {one, h.tuple({inner, h.bytes("bytes")})}});
  const std::map<uint64_t, uint8_t> good = h.memory();
  std::vector<uint64_t> places;
  for (const auto& [at, byte] : good)
    if (at >= heap_at) places.push_back(at);
  std::mt19937_64 chance(GetParam());
  for (int round = 0; round < 300; round++) {
    h.memory() = good;
    for (int i = 0; i < 4; i++) {
      const uint64_t at = places[chance() % places.size()];
      if (chance() % 4 == 0)
        h.memory().erase(at);
      else
        h.memory()[at] = static_cast<uint8_t>(chance() % 2 ? 0xff : chance());
    }
    h.reads = 0;
    EXPECT_LT(h.shown(root).size(), 4000u);
    EXPECT_LT(h.reads, 200000u);
  }
}

// A table that claims to be huge has entries as long as there is memory.
TEST_P(PythonValues, HugeSizesAreRefused) {
  Heap h(GetParam());
  for (const uint64_t size : {uint64_t{1} << 40, ~uint64_t{0}}) {
    const uint64_t list = h.list({}), text = h.text(U"abc"), set = h.set({h.integer({1})}), number = h.integer({1});
    h.write(list + python::var_size, size);
    EXPECT_EQ(h.shown(list), "[<damaged>]");
    h.write(text + h.layout.text_length, size);
    EXPECT_LT(h.shown(text).size(), 1000u);
    h.write(set + python::set_mask, size);
    EXPECT_EQ(h.shown(set), "{<damaged>}");
    h.write(number + python::var_size, size);
    EXPECT_FALSE(h.shown(number).empty());
  }
}

// -------------------------------------------------------------------------------------------- variables

// def f(argument, cell, *rest): with the variable `local`, one without value and a free one.
TEST_P(PythonValues, VariablesOfAFunction) {
  Heap h(GetParam());
  const PythonObjectLayout& l = h.known.layout;
  const uint64_t code = h.room(256), frame = h.room(512), value = h.integer({1}), in_cell = h.integer({2}), free = h.integer({3});
  const auto cell = [&](uint64_t held) {
    const uint64_t at = h.object(PythonGlobal::cell_type, 24);
    h.write(at + python::cell_value, held);
    return at;
  };
  const auto name = [&](std::u32string_view text) { return h.text(text); };
  h.write(frame + h.layout.frame_code, code);
  h.write(code + l.code_flags, python::code_is_optimized | python::code_has_rest, 4);
  h.write(code + l.code_arguments, 2, 4);
  const auto variable = [&](size_t number, uint64_t object) { h.write(frame + l.frame_variables + 8 * number, object); };
  if (GetParam() >= 0x030b) {
    h.write(code + l.code_variables, h.tuple({name(U"argument"), name(U"cell"), name(U"rest"), name(U"local"), name(U"unset"), name(U"free")}));
    h.write(code + l.code_kinds, h.bytes(std::string("\x20\x60\x20\x20\x20\x80", 6)));
    variable(1, cell(in_cell)), variable(5, cell(free));
  } else {
    h.write(code + l.code_variables, h.tuple({name(U"argument"), name(U"cell"), name(U"rest"), name(U"local"), name(U"unset")}));
    h.write(code + l.code_cells, h.tuple({name(U"cell")}));
    h.write(code + l.code_free, h.tuple({name(U"free")}));
    variable(5, cell(in_cell)), variable(6, cell(free));
  }
  variable(0, value), variable(2, h.tuple({})), variable(3, value);
  std::string found;
  for (const PythonVariable& v : h.variables(frame)) found += v.name + (v.is_argument ? "*" : "") + "=" + (v.value ? h.shown(v.value) : "") + " ";
  EXPECT_EQ(found, "argument*=1 cell*=2 rest*=() local=1 unset= free=3 ");
  h.remove(frame + l.frame_variables + 24);
  const std::vector<PythonVariable> damaged = h.variables(frame);
  const auto local = std::ranges::find(damaged, "local", &PythonVariable::name);
  ASSERT_NE(local, damaged.end());
  EXPECT_EQ(local->failed, frame + l.frame_variables + 24);
}

TEST_P(PythonValues, VariablesOfAModule) {
  Heap h(GetParam());
  const PythonObjectLayout& l = h.known.layout;
  const uint64_t code = h.room(256), frame = h.room(512), value = h.integer({1}), module = h.room(64);
  h.make_type(h.address(PythonGlobal::module_type), "module", 0, 1);
  h.write(module + python::object_type, h.address(PythonGlobal::module_type));
  h.write(frame + h.layout.frame_code, code);
  h.write(frame + l.frame_namespace, h.dict({{h.text(U"__name__"), value}, {h.text(U"total"), value}, {h.text(U"os"), module}}));
  const std::vector<PythonVariable> found = h.variables(frame);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].name, "total");
  EXPECT_EQ(h.variables(0x44).size(), 0u);
}

// ------------------------------------------------------------------------------------------------ tasks

// A coroutine that waits for another one, or for nothing that is known (0).
uint64_t coroutine(Heap& h, uint64_t awaited) {
  const PythonObjectLayout& l = h.known.layout;
  const bool has_frame = h.known.layout.version >= 0x030b;
  const uint64_t at = h.object(PythonGlobal::coroutine_type, 256), code = h.room(512);
  const uint64_t frame = has_frame ? at + l.generator_frame : h.room(512);
  h.write(frame + h.layout.frame_code, code);
  if (has_frame) {
    const uint64_t instruction = code + 256;
    h.write(at + l.generator_state, 0xff, 1);
    h.write(frame + h.layout.frame_position, instruction);
    h.write(instruction + 3, 3, 1); // RESUME after an await
    h.write(frame + l.frame_stack_top, awaited ? 1 : 0, 4);
    h.write(frame + l.frame_variables, awaited);
    return at;
  }
  const uint64_t stack = h.room(16);
  h.write(stack, awaited);
  h.write(at + l.generator_frame, frame);
  h.write(code + l.code_bytecode, h.bytes(std::string("\0\0\x48\0", 4))); // YIELD_FROM
  const bool has_depth = h.known.layout.version == 0x030a;
  h.write(frame + l.frame_state, has_depth ? 0xff : 0, 1);
  if (has_depth) h.write(frame + l.frame_stack, stack);
  h.write(frame + l.frame_stack_top, has_depth ? 1 : stack + 8, has_depth ? 4 : 8);
  return at;
}

// A task as _asyncio has it.
uint64_t task(Heap& h, uint64_t type, uint64_t waits_for, uint64_t coroutine, std::u32string_view name, uint64_t context) {
  const uint64_t at = h.object(type, 160);
  h.write(at + 96, waits_for);
  h.write(at + 104, coroutine);
  h.write(at + 112, h.text(name));
  h.write(at + 120, context);
  return at;
}

class PythonTasks : public PythonValues {};
INSTANTIATE_TEST_SUITE_P(Versions, PythonTasks, testing::Values(0x0308, 0x0309, 0x030a, 0x030b, 0x030c, 0x030d));

AsyncTasks tasks_of(const Heap& h, uint64_t root) {
  language_table table = table_of(h.layout);
  table.root = root;
  const ReadMemory read = h.reader();
  const ObjectMemory memory = {.read = read};
  return python_tasks({table, h.known, memory}, {});
}

// Task-1 waits for Task-2, whose coroutine waits for another one. Gives the root.
uint64_t two_tasks(Heap& h) {
  const uint64_t type = h.new_type("_asyncio.Task", 0, 1), context = h.object(h.new_type("_contextvars.Context", 0, 1), 32);
  h.write(type + h.known.layout.type_size, 128);
  const uint64_t inner = task(h, type, h.object(h.new_type("Future", 0, 1), 64), coroutine(h, coroutine(h, 0)), U"Task-2", context);
  const uint64_t outer = task(h, type, inner, coroutine(h, 0), U"Task-1", context);
  const uint64_t module = h.room(64), root = h.room(0x100), interpreter = h.room(0x4000);
  h.write(module + python::module_dict, h.dict({{h.text(U"_eager_tasks"), h.set({outer, inner})}}));
  h.write(root + h.layout.interpreters_head, interpreter);
  h.write(interpreter + h.known.layout.interpreter_modules, h.dict({{h.text(U"asyncio.tasks"), module}}));
  return root;
}

TEST_P(PythonTasks, AreFoundWithWhatTheyWaitFor) {
  Heap h(GetParam());
  const AsyncTasks found = tasks_of(h, two_tasks(h));
  EXPECT_EQ(found.problem, "");
  EXPECT_EQ(found.unreadable, 0u);
  ASSERT_EQ(found.all.size(), 2u);
  EXPECT_EQ(found.all[0].name, "Task-1");
  EXPECT_EQ(found.all[1].name, "Task-2");
  EXPECT_EQ(found.all[1].state, AsyncTask::waiting);
  EXPECT_EQ(found.all[1].waits_for, "Future");
  EXPECT_EQ(found.all[0].words.size(), 2u);
  EXPECT_EQ(found.all[1].words.size(), 4u);
  EXPECT_EQ(found.all[1].awaited_by, std::vector<size_t>{0});
  EXPECT_EQ(found.all[0].awaits, 1u);
}

TEST_P(PythonTasks, DamageIsBounded) {
  Heap h(GetParam());
  const uint64_t root = two_tasks(h);
  std::vector<uint64_t> places;
  for (const auto& [at, byte] : h.memory())
    if (at >= heap_at && byte) places.push_back(at);
  std::mt19937_64 chance(GetParam());
  for (int round = 0; round < 300; round++) {
    std::vector<std::pair<uint64_t, uint8_t>> good;
    for (int i = 0; i < 3; i++) {
      const uint64_t at = places[chance() % places.size()];
      good.emplace_back(at, h.memory()[at]);
      h.memory()[at] = static_cast<uint8_t>(chance());
    }
    h.reads = 0;
    EXPECT_LE(tasks_of(h, root).all.size(), 2u);
    EXPECT_LT(h.reads, 1000000u);
    for (size_t i = good.size(); i--;) h.memory()[good[i].first] = good[i].second;
  }
}

TEST_P(PythonTasks, WithoutTheModule) {
  Heap h(GetParam());
  const uint64_t root = h.room(0x100), interpreter = h.room(0x4000);
  EXPECT_EQ(tasks_of(h, root).problem, "the list of interpreters could not be read");
  h.write(root + h.layout.interpreters_head, interpreter);
  h.write(interpreter + h.known.layout.interpreter_modules, h.dict({}));
  EXPECT_EQ(tasks_of(h, root).problem, "the module asyncio.tasks is not loaded");
  h.write(interpreter + h.known.layout.interpreter_modules, 0x50);
  EXPECT_EQ(tasks_of(h, root).problem, "the list of modules could not be read");
}

} // namespace
} // namespace runtime
