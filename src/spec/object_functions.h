// The functions by which CPython creates objects, for `acu flame objects`. Only functions that libpython exports are here, as
// most builds have no other symbols: what has an allocation function of its own (int, float) is not seen, nor is an object that
// a free list gives. Those of str and bytes are exported, but compilers inline them into most callers.
#pragma once

#include <string_view>

namespace spec {

struct ObjectFunction {
  std::string_view name;
  std::string_view type;  // of the object: a pointer
  std::string_view items; // how many of the type's items it has
};

// A file that has it has Python.
inline constexpr std::string_view essential_object_function = "_PyObject_GC_New";

inline constexpr ObjectFunction object_functions[] = {
    {.name = "PyType_GenericAlloc", .type = "arg0", .items = "arg1 + 1"},
    {.name = "_PyObject_New", .type = "arg0", .items = "0"},
    {.name = "_PyObject_NewVar", .type = "arg0", .items = "arg1"},
    {.name = "_PyObject_GC_New", .type = "arg0", .items = "0"},
    {.name = "_PyObject_GC_NewVar", .type = "arg0", .items = "arg1"},
};

} // namespace spec
