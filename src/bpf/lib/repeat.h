/* Walks that repeat. A probe that is hit again and again from one place finds the same stack each time. A walk depends on where it begins
 * (address, stack and frame pointer, mappings of the process) and on the words of the stack that it uses. So these are kept, and where
 * they are still the same, so is the stack. A word is compared in a fraction of the time that its frame takes to be walked.
 *
 * Kept are complete walks of machine code that read little, from the second time on that one begins in the same way. Each of a CPU's
 * places to walk in has its own, so that nobody else writes there. */
#pragma once

#include "helpers.h"

inline_always struct walk_window *last_window(struct walk *w) { return &w->repeat.window[(w->repeat.windows - 1) & (WALK_REPEAT_WINDOWS - 1)]; }

/* A window was read. */
inline_always void note_window(struct walk *w) {
  w->repeat.windows++;
  struct walk_window *window = last_window(w);
  window->address = w->window;
  window->words = 0;
}

/* A word of the window was used. */
inline_always void note_word(struct walk *w, __u64 address, __u64 value) {
  struct walk_window *window = last_window(w);
  const __u64 n = window->words++ & (WALK_WINDOW_WORDS - 1);
  window->word[n].at = address - w->window;
  window->word[n].value = value;
}

/* The walk depends on something else. */
inline_always void never_repeat(struct walk *w) { w->repeat.windows = WALK_REPEAT_WINDOWS + 1; }

inline_always struct walk_repeat *repeat_of(const struct walk *w) {
  const __u32 key = w->slot;
  struct walk_repeats *repeats = map_lookup(acu_walk_repeats, &key);
  return repeats ? &repeats->of[w->repeat.begun & (WALK_REPEATS - 1)] : 0;
}

/* Whether the words that a kept walk used are the same still. */
inline_always int has_same_words(struct walk *w, const struct walk_window *window) {
  if (read_user(w->bytes, WALK_WINDOW, (void *)window->address)) return 0;
  for (__u32 i = 0; i < WALK_WINDOW_WORDS; i++) {
    if (i >= window->words) break;
    const __u64 at = window->word[i].at;
    if (at > WALK_WINDOW - 8 || *(__u64 *)(w->bytes + at) != window->word[i].value) return 0;
  }
  return 1;
}

/* The id of the stack if the walk would be as one before, else 0. Visible, as whoever calls it goes on with nothing but the id. */
__attribute__((noinline)) __u64 acu_repeated(__u64 slot) {
  __u32 key = slot;
  struct walk *w = map_lookup(acu_walks, &key);
  if (!w) return 0;
  w->repeat.windows = 0;
  w->repeat.begun = mix(mix(mix(w->hash ^ w->limit, w->list), w->sp), w->bp); /* of seed and first address there is a hash already */
  const struct walk_repeat *r = repeat_of(w);
  if (!r || r->begun != w->repeat.begun || !r->windows) return 0;
  const __u64 id = r->id;
  if (acu_walk_known[(id >> 32) & (WALK_KNOWN - 1)] != id || !has_same_words(w, &r->window[0])) return 0;
  if (r->windows > 1 && !has_same_words(w, &r->window[1])) return 0;
  count(UNWIND_COMPLETE);
  return id;
}

/* Keeps the walk; what there is to keep is in w->repeat. */
__attribute__((noinline)) int acu_keep_repeat(__u64 slot) {
  __u32 key = slot;
  struct walk *w = map_lookup(acu_walks, &key);
  struct walk_repeat *r = w ? repeat_of(w) : 0;
  if (!r || w->repeat.windows > WALK_REPEAT_WINDOWS) return 0;
  if (w->repeat.window[0].words > WALK_WINDOW_WORDS || (w->repeat.windows > 1 && w->repeat.window[1].words > WALK_WINDOW_WORDS)) return 0;
  if (r->begun != w->repeat.begun) {
    r->begun = w->repeat.begun;
    r->windows = 0;
    return 0;
  }
  read_kernel(r, sizeof *r, &w->repeat);
  return 0;
}
