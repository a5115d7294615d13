// The heap in large pages, for work that fills much of it: compilations of long scripts, rows of large tables. The first touch of a page
// is a visit to the kernel, on virtual machines that keep page tables in software one of 10 us: more than a statement takes in all.
#pragma once

#include <cstddef>

namespace base {

// Makes room for about this many bytes at once, in large pages where the kernel has them. Pages are only taken when they are touched.
void grow_heap(size_t bytes);

} // namespace base
