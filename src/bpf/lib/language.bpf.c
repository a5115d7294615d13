/* What walkers of several runtimes call; visible, so that the verifier goes through it once. */
#include "language.h"

__attribute__((noinline)) int acu_send_object(__u64 slot) {
  __u32 key = slot;
  struct walk *w = map_lookup(acu_walks, &key);
  if (!w) return 0;
  struct walk_object *record = &w->object;
  __u64 hash;
  __u64 *sent = kept_object(w, &hash);
  record->kind = WALK_RECORD_OBJECT;
  record->pid = w->pid;
  record->time = ktime_get_ns();
  record->object.table = w->language;
  record->object.address = w->language_walk.code;
  record->object.check = w->language_walk.check;
  if (ring_output(acu_walked, record, sizeof *record, w->java_bytes || w->is_node ? force_wakeup : wakeup()))
    count(WALK_COUNT_OBJECT_LOST);
  else
    *sent = hash;
  return 0;
}
