// An object of CPython as text, from the memory of a stopped program: what repr() would give, as far as no code has to run for it.
//
//   42, 1.5, 'it\'s', b'\x00', [1, 2, …], {'a': (1,)}, {1, 2}, KeyError('a')
//   <class 'Order'>, <function Catalog.search>, <Order object at 0x7f3a…>
//
// How a class prints itself is the function in its type object (tp_repr): a subclass that inherits the function of list prints as a list. Objects
// of classes with functions of their own are shown by their type and address. What cannot be read, or is damaged, is named in its place.
#pragma once

#include "runtime/python_objects.h"

#include <string>

namespace runtime {

std::string text_of_object(const PythonObjects& objects, uint64_t object, const TextLimits& limits);
// "<could not be read: 0x7f3a… is not mapped>"; 0: "<damaged>"
std::string text_of_failure(const PythonObjects& objects, uint64_t address);

// As repr(): the shortest digits that mean the same number.
std::string python_float(double value);

} // namespace runtime
