// Offsets of the fields of CPython's objects that are read of stopped programs only, in bytes: variables of frames, types, generators. Sources:
// the headers of each version (python_object_layouts.h), and from 3.13 on _Py_DebugOffsets for the fields that it has. Fields that have one
// place in 3.8 to 3.13 are constants here.
#pragma once

#include <array>
#include <cstdint>

namespace runtime {

inline constexpr uint16_t python_no_field = 0xffff;

struct PythonObjectLayout {
  uint16_t version; // 0x030b: 3.11
  uint16_t interpreter_modules; // in PyInterpreterState: sys.modules
  uint16_t frame_variables;  // f_localsplus
  uint16_t frame_namespace;  // f_locals: variables of modules and classes
  uint16_t frame_stack;      // up to 3.10: f_valuestack; later, the stack is behind the variables
  uint16_t frame_stack_top;  // 3.8, 3.9: a pointer; later the number of its elements, from 3.11 on with the variables
  uint16_t frame_state;      // up to 3.9: f_executing; 3.10: f_state
  uint16_t code_variables;   // co_varnames; co_localsplusnames
  uint16_t code_kinds;       // from 3.11 on: co_localspluskinds
  uint16_t code_cells;       // up to 3.10: co_cellvars
  uint16_t code_free;        // up to 3.10: co_freevars
  uint16_t code_bytecode;    // up to 3.10: co_code
  uint16_t code_flags;
  uint16_t code_arguments;
  uint16_t code_keyword_only;
  uint16_t generator_frame;  // a pointer, from 3.11 on the frame itself
  uint16_t generator_state;  // from 3.11 on
  uint16_t generator_name;
  uint16_t function_name;
  uint16_t function_closure;
  uint16_t type_keys; // ht_cached_keys
  uint16_t type_name;
  uint16_t type_size;
  uint16_t type_item_size;
  uint16_t type_repr;
  uint16_t type_flags;
  uint16_t type_base;
  uint16_t type_dict_offset;
};

namespace python {
// PyObject, PyVarObject, PyTupleObject, PyListObject, PyFloatObject, PyLongObject.
inline constexpr uint64_t object_type = 8, var_size = 16, tuple_items = 24, list_items = 24, float_value = 16, long_digits = 24;
// PyDictObject, and PyDictKeysObject as 3.8 to 3.10 and 3.11 to 3.13 have it.
inline constexpr uint64_t dict_used = 16, dict_keys = 32, dict_values = 40;
inline constexpr uint64_t old_keys_size = 8, old_keys_entries = 32, old_keys_indices = 40;
inline constexpr uint64_t keys_log2_size = 8, keys_log2_index_bytes = 9, keys_kind = 10, keys_entries = 24, keys_indices = 32;
// PySetObject; an entry is a key and its hash, which is -1 of a key that was removed.
inline constexpr uint64_t set_used = 24, set_mask = 32, set_table = 40;
// PyModuleObject, PyMethodObject, PyCFunctionObject, PyCellObject, PyWeakReference, partialobject, PyBaseExceptionObject.
inline constexpr uint64_t module_dict = 16, module_name = 48, method_function = 16, method_self = 24, builtin_definition = 16, cell_value = 16,
                          weak_object = 16, partial_arguments = 24, exception_arguments = 24;
// What a wrapper of a coroutine, generator or future wraps: coroutine_wrapper, async_generator_asend, FutureIter, …
inline constexpr uint64_t wrapped = 16;
// Bits of tp_flags and co_flags.
inline constexpr uint64_t inline_values = 1 << 2, managed_dict = 1 << 4, heap_type = 1 << 9, long_subclass = 1 << 24, list_subclass = 1 << 25,
                          tuple_subclass = 1 << 26, bytes_subclass = 1 << 27, str_subclass = 1 << 28, dict_subclass = 1 << 29,
                          exception_subclass = 1 << 30, type_subclass = 1u << 31;
inline constexpr uint64_t code_is_optimized = 1, code_has_rest = 4, code_has_keywords = 8;
// Of co_localspluskinds.
inline constexpr uint8_t kind_cell = 0x40, kind_free = 0x80;
} // namespace python

// The interpreter's own objects that are known by their address: rows of python_symbols.
enum class PythonGlobal : uint8_t {
  type_type, object_type, long_type, bool_type, float_type, str_type, bytes_type, list_type, tuple_type, dict_type, set_type, frozenset_type,
  function_type, builtin_type, method_type, module_type, cell_type, coroutine_type, generator_type, async_generator_type, weak_type,
  base_exception, none, ellipsis, not_implemented, count
};
inline constexpr std::array<const char*, static_cast<size_t>(PythonGlobal::count)> python_symbols = {
    "PyType_Type", "PyBaseObject_Type", "PyLong_Type", "PyBool_Type", "PyFloat_Type", "PyUnicode_Type", "PyBytes_Type", "PyList_Type", "PyTuple_Type",
    "PyDict_Type", "PySet_Type", "PyFrozenSet_Type", "PyFunction_Type", "PyCFunction_Type", "PyMethod_Type", "PyModule_Type", "PyCell_Type",
    "PyCoro_Type", "PyGen_Type", "PyAsyncGen_Type", "_PyWeakref_RefType",
    "PyExc_BaseException" /* a pointer to it */, "_Py_NoneStruct", "_Py_EllipsisObject", "_Py_NotImplementedStruct"};

// What is known of an interpreter's objects.
struct PythonKnown {
  PythonObjectLayout layout = {};
  std::array<uint64_t, static_cast<size_t>(PythonGlobal::count)> globals = {}; // addresses; 0: not exported
};

} // namespace runtime
