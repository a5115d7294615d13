/* Walks that repeat. A probe that is hit again and again from one place finds the same stack each time. A walk depends on where it begins
 * (address, stack and frame pointer, mappings of the process) and on the words of the stack that it reads. So these are kept, and where
 * they are still the same, so is the stack. A word is compared in a fraction of the time that its frame takes to be walked.
 *
 * Kept are complete walks of machine code that read few words, from the second time on that one begins in the same way. Each of a CPU's
 * places to walk in has its own, so that nobody else writes there. */
#pragma once

#include "stack_memory.h"

/* A word of the stack was read. */
inline_always void note_word(struct walk *w, __u64 address, __u64 value) {
  struct walk_word *word = &w->repeat.word[w->repeat.words++ & (WALK_REPEAT_WORDS - 1)];
  word->address = address;
  word->value = value;
}

/* The walk depends on something else. */
inline_always void never_repeat(struct walk *w) { w->repeat.words = WALK_REPEAT_WORDS + 1; }

inline_always struct walk_repeat *repeat_of(const struct walk *w) {
  const __u32 key = w->slot;
  struct walk_repeats *repeats = map_lookup(acu_walk_repeats, &key);
  return repeats ? &repeats->of[w->repeat.begun & (WALK_REPEATS - 1)] : 0;
}

/* Whether the words that a kept walk read are the same still: so many of them, behind w->repeat.words others. */
inline_always int has_same_words(struct walk *w, const struct walk_repeat *r) {
  for (__u32 i = 0; i < WALK_REPEAT_TURN && w->repeat.words < r->words; i++) {
    const struct walk_word *word = &r->word[w->repeat.words++ & (WALK_REPEAT_WORDS - 1)];
    __u64 value;
    if (read_word(w, word->address, &value) || value != word->value) return 0;
  }
  return 1;
}

/* The same for words of deep stacks: verifiers go through it once. */
__attribute__((noinline)) int acu_has_same_words(__u64 slot) {
  __u32 key = slot;
  struct walk *w = map_lookup(acu_walks, &key);
  const struct walk_repeat *r = w ? repeat_of(w) : 0;
  return r && has_same_words(w, r);
}

/* The id of the stack if the walk would be as one before, else 0. Visible, as whoever calls it goes on with nothing but the id. */
__attribute__((noinline)) __u64 acu_repeated(__u64 slot) {
  __u32 key = slot;
  struct walk *w = map_lookup(acu_walks, &key);
  if (!w) return 0;
  w->repeat.begun = mix(mix(mix(w->hash ^ w->limit, w->list), w->sp), w->bp); /* of seed and first address there is a hash already */
  w->repeat.words = 0;
  const struct walk_repeat *r = repeat_of(w);
  const __u64 id = r && r->begun == w->repeat.begun && r->words ? r->id : 0;
  int is_same = id && acu_walk_known[(id >> 32) & (WALK_KNOWN - 1)] == id && has_same_words(w, r);
  for (int i = 0; i < WALK_REPEAT_WORDS / WALK_REPEAT_TURN && is_same && w->repeat.words < r->words; i++) is_same = acu_has_same_words(w->slot);
  w->repeat.words = 0;
  if (!is_same) return 0;
  count(UNWIND_COMPLETE);
  return id;
}

/* Keeps the walk; what there is to keep is in w->repeat. */
__attribute__((noinline)) int acu_keep_repeat(__u64 slot) {
  __u32 key = slot;
  struct walk *w = map_lookup(acu_walks, &key);
  struct walk_repeat *r = w ? repeat_of(w) : 0;
  if (!r || w->repeat.words > WALK_REPEAT_WORDS) return 0;
  if (r->begun != w->repeat.begun) {
    r->begun = w->repeat.begun;
    r->words = 0;
    return 0;
  }
  read_kernel(r, sizeof *r, &w->repeat);
  return 0;
}
