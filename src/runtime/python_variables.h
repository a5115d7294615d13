// The variables of a frame of CPython, arguments first: of functions by the names of the code object, also those without a value; of modules and
// classes what is in their dict, but for modules, functions and names such as __name__.
#pragma once

#include "runtime/python_objects.h"

namespace runtime {

struct PythonVariable {
  std::string name;
  uint64_t value = 0; // address of the object; 0: it has no value here
  bool is_argument = false;
  uint64_t failed = 0; // instead of a value: where it cannot be read
};
// `frame`: where its structure is (PyFrameObject; from 3.11 on _PyInterpreterFrame).
std::vector<PythonVariable> variables_of_python(const PythonObjects& objects, uint64_t frame);

} // namespace runtime
