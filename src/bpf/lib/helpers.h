/* What all BPF C of this folder uses: helpers of the kernel by their numbers (include/uapi/linux/bpf.h), the maps of bpf/walk_maps.cc by
 * name, and what every walk does with its words. No kernel headers but the types of its interface. */
#pragma once

#include <linux/types.h>

#include "walk.h"

#define inline_always static inline __attribute__((always_inline))
#define unused __attribute__((unused))
#define entry static __attribute__((used, noinline))

enum { page_bytes = 4096, any = 0, no_exist = 1, force_wakeup = 2, no_wakeup = 1, query_waiting = 0, query_size = 1 };

static void *(*map_lookup)(const void *map, const void *key) unused = (void *)1;
static long (*map_update)(const void *map, const void *key, const void *value, __u64 flags) unused = (void *)2;
static long (*map_delete)(const void *map, const void *key) unused = (void *)3;
static __u64 (*ktime_get_ns)(void) unused = (void *)5;
static __u32 (*get_random)(void) unused = (void *)7;
static __u64 (*get_current_pid_tgid)(void) unused = (void *)14;
static __u64 (*get_current_task)(void) unused = (void *)35;
static long (*read_user)(void *to, __u32 size, const void *from) unused = (void *)112;
static long (*read_kernel)(void *to, __u32 size, const void *from) unused = (void *)113;
static long (*ring_output)(void *ring, void *data, __u64 size, __u64 flags) unused = (void *)130;
static void *(*ring_reserve)(void *ring, __u64 size, __u64 flags) unused = (void *)131;
static void (*ring_submit)(void *data, __u64 flags) unused = (void *)132;
static __u64 (*ring_query)(void *ring, __u64 what) unused = (void *)134;
static long (*loop)(__u32 turns, void *function, void *context, __u64 flags) unused = (void *)181;

/* Maps of bpf/walk_maps.cc, by name. */
extern char acu_rows[], acu_processes[], acu_walked[], acu_walk_ids[], acu_walk_counts[], acu_walks[], acu_walk_repeats[];

/* Those that are one value, whose address is in the code: the kernel rewrites the whole program for each call of map_lookup. */
extern struct walk_page acu_starts[WALK_ROOM_STARTS];
extern __u64 acu_rules[UNWIND_MOST_RULES];
extern struct walk_mapping acu_mappings[WALK_ROOM_MAPPINGS];
extern __u64 acu_walk_known[WALK_KNOWN];
extern struct walk_rule acu_walk_rules[WALK_RULES];
extern __u64 acu_walk_set[WALK_SETTINGS];
extern struct language_table acu_languages[LANGUAGE_MAX_TABLES];
extern struct walk_thread acu_language_threads[LANGUAGE_KEPT_THREADS];
extern __u64 acu_language_sent[LANGUAGE_SENT];

/* An element of those; 0: there are not so many. The compiler must not compute its address before the comparison, of which verifiers learn. */
#define element(array, n) (__extension__({ \
  __u64 at_ = (n); \
  asm volatile("" : "+r"(at_)); \
  at_ < sizeof(array) / sizeof((array)[0]) ? (__extension__({ asm volatile("" : "+r"(at_)); &(array)[at_]; })) : 0; \
}))

/* As emit_mix of bpf/emit_stack.cc. */
inline_always __u64 mix(__u64 hash, __u64 frame) {
  hash = (hash ^ frame) * 0x9e3779b97f4a7c15ull;
  return hash ^ hash >> 32;
}

inline_always void count(__u32 which) {
  __u64 *n = map_lookup(acu_walk_counts, &which);
  if (n) *n += 1;
}

/* After an entry of acu_processes was changed. */
inline_always void note_change(void) { __sync_fetch_and_add(&acu_walk_set[WALK_SET_CHANGES], 1); }

/* Puts a word behind those of the stack. What the compiler knows of their number from the word before is hidden: verifiers before 6.12 conclude
 * nothing from the test for equality that it would make of this one. */
inline_always void add_word(struct walk *w, __u64 word) {
  __u64 n = w->stack.count;
  asm volatile("" : "+r"(n));
  if (n >= WALK_WORDS) return;
  w->stack.words[n] = word;
  w->stack.count = n + 1;
  w->hash = mix(w->hash, word);
}

inline_always __u64 wakeup(void) {
  return ring_query(acu_walked, query_waiting) > ring_query(acu_walked, query_size) / 4 ? force_wakeup : no_wakeup;
}
