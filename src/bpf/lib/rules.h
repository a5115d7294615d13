/* The rule for a frame's code: from those that were kept, or found anew (unwind.bpf.c). */
#pragma once

#include "helpers.h"

/* The address that the frame's rule is for: of a return address, the call before it. */
inline_always __u64 code_of(struct walk *w) { return w->pc - (w->is_exact ? 0 : 1); }

/* Where the rule for an address is kept, and the check of it. */
inline_always struct walk_rule *place_of(struct walk *w, __u64 at, __u64 *check) {
  *check = mix(w->list, at);
  return &acu_walk_rules[*check & (WALK_RULES - 1)];
}

/* Sets w->rule to the rule for an address, if it is kept. */
inline_always int find_kept(struct walk *w, __u64 at) {
  __u64 check;
  const struct walk_rule *kept = place_of(w, at, &check);
  w->rule_word = kept->rule;
  return (kept->check ^ w->rule_word) == check;
}

/* Finds and keeps the rule for the frame, or gives why there is none. */
int acu_find_rule(__u64 slot);

/* Sets w->rule to the rule for the frame, or gives why there is none. A frame costs a third less where it is found as it was kept. */
inline_always long find_rule(struct walk *w) { return find_kept(w, code_of(w)) ? 0 : acu_find_rule(w->slot); }
