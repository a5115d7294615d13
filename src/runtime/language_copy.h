/* Copies of objects that may be shorter than what is copied, for the walks of all languages. Plain C; language_read as python_walk.h has it. */
#pragma once

#include "runtime/language.h"

/* Copies an object with as much of what follows its header as there is up to `size` or the end of its page; what is not copied is 0. */
language_inline void language_copy(__u8 *to, __u64 size, __u64 from) {
  const __u64 page = 4096, left = page - (from & (page - 1));
  if (!language_read(to, size, from) || left >= size) return;
  language_read(to, left & (page - 1), from);
}
