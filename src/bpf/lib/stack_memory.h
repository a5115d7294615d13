/* Words of the user stack. */
#pragma once

#include "repeat.h"

/* Reads what is around w->wanted into w->bytes: all in the word's page, or, of a word that is not aligned, from there on. A read costs 60 ns however
 * little it reads. As acu_step it is visible so that the verifier goes through it once; so are those below. */
__attribute__((noinline)) int acu_read_window(__u64 slot) {
  __u32 key = slot;
  struct walk *w = map_lookup(acu_walks, &key);
  if (!w) return 1;
  const __u64 address = w->wanted, last = (address | (page_bytes - 1)) + 1 - WALK_WINDOW;
  const __u64 from = address < last || address & 7 ? address : last;
  w->window = 0;
  if (read_user(w->bytes, WALK_WINDOW, (void *)from)) return 1;
  w->window = from;
  note_window(w);
  return 0;
}

/* A word of the stack. */
inline_always int read_word(struct walk *w, __u64 address, __u64 *to) {
  if (!w->window || address - w->window > WALK_WINDOW - 8) {
    w->wanted = address;
    if (acu_read_window(w->slot)) return 1;
  }
  const __u64 at = (address - w->window) & (WALK_WINDOW - 1);
  if (at > WALK_WINDOW - 8) return 1;
  *to = *(__u64 *)(w->bytes + at);
  return 0;
}

/* The same for the walk to depend on. */
inline_always int use_word(struct walk *w, __u64 address, __u64 *to) {
  if (read_word(w, address, to)) return 1;
  note_word(w, address, *to);
  return 0;
}
