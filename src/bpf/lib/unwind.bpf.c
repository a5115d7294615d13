/* The walker of user stacks in the kernel: from the registers of a thread to the addresses of its frames, by the
 * tables of unwind/rule.h. `acu_walk` is linked as a subprogram into every program that takes user stacks
 * (bpf/library.h), whatever it is attached to. It gives the id of the stack, a hash over all its frames; a stack
 * that is new is sent once. What cannot be walked here is copied out, registers and stack, and gets an id of its own.
 *
 * One call of bpf_loop does a frame a turn; kernels without it (before 5.17) have `acu_walk_bounded`, which calls a
 * function as often as there are frames. Everything that changes between turns lies in struct walk, so that the
 * verifier, which knows nothing of what is in there, sees one turn like the other.
 *
 * `acu_fork` and `acu_exec` are programs of their own on the scheduler's raw tracepoints: a child is walked by what is
 * known of its parent from its first instruction on, and a process that begins another program is not known at once.
 *
 * Compiled by clang when acu is built; no kernel headers but the types of its interface. x86-64. */
#include "rules.h"
#include "stack_memory.h"

enum { most_steps = 18, trampoline_bytes = 128, breakpoint = 0xcc };

/* In python.bpf.c and so on, one for each runtime. */
int acu_python(__u64 slot);
int acu_php(__u64 slot);
int acu_perl(__u64 slot);
int acu_luajit(__u64 slot);
int acu_luajit_frame(__u64 slot);
int acu_lua(__u64 slot);
int acu_hotspot_frame(__u64 slot);
int acu_ruby(__u64 slot);
int acu_ruby_frame(__u64 slot);
int acu_node_frame(__u64 slot);

/* A pointer-sized member of a structure of the kernel, by its setting; 0 also where it cannot be read. */
inline_always __u64 read_member(__u64 of, __u64 offset) {
  __u64 value = 0;
  read_kernel(&value, sizeof value, (void *)(of + offset - 1));
  return value;
}

/* Fills w->kept: the kernel's list of functions whose return is probed, the innermost first. */
__attribute__((noinline)) int acu_keep_returns(__u64 slot) {
  __u32 key = slot;
  struct walk *w = map_lookup(acu_walks, &key);
  const __u64 *set = acu_walk_set;
  if (!w) return 0;
  const __u64 next = set[WALK_SET_RETURN_NEXT] - 1, stack = set[WALK_SET_RETURN_STACK] - 1,
              address = set[WALK_SET_RETURN_ADDRESS] - 1;
  __u64 at = w->returns, n = 0;
  for (; n < WALK_MOST_RETURNS && at; n++) {
    read_kernel(&w->kept[n].slot, 8, (void *)(at + stack));
    read_kernel(&w->kept[n].address, 8, (void *)(at + address));
    read_kernel(&at, 8, (void *)(at + next));
  }
  w->kept_count = n;
  return 0;
}

/* Sets pc to where the function returns to whose return address was below sp. Callers come in the list's order; entries
 * between are of calls that were left by longjmp(3), or that are one with their caller's (a jump instead of a call). */
__attribute__((noinline)) int acu_kept_return(__u64 slot) {
  __u32 key = slot;
  struct walk *w = map_lookup(acu_walks, &key);
  if (!w) return 0;
  for (__u64 n = w->kept_next & (WALK_MOST_RETURNS - 1); n < WALK_MOST_RETURNS && n < w->kept_count; n++) {
    if (w->kept[n].slot != w->sp - 8) continue;
    w->kept_next = n + 1;
    w->pc = w->kept[n].address;
    break;
  }
  return 0;
}

/* Sets w->mapping to the mapping that holds w->wanted, and returns whether there is one. What the search sets is in memory, of which verifiers know
 * nothing: so they go through the search once, and not through all that there are. */
__attribute__((noinline)) int acu_find_mapping(__u64 slot) {
  __u32 key = slot;
  struct walk *w = map_lookup(acu_walks, &key);
  if (!w || !w->mappings) return 0;
  volatile __u32 *low = &w->mapping;
  const __u64 address = w->wanted;
  const struct walk_mapping *m = element(acu_mappings, *low);
  if (m && address >= m->begin && address < m->end) return 1;
  *low = w->first;
  __u64 n = w->mappings;
  for (int i = 0; i < 13 && n > 1; i++) {
    const __u64 half = n >> 1;
    m = element(acu_mappings, *low + half);
    if (!m) return 0;
    if (m->begin <= address) {
      *low += half;
      n -= half;
    } else {
      n = half;
    }
  }
  m = element(acu_mappings, *low);
  return m && address >= m->begin && address < m->end;
}

/* The number of the rule for an address of the file of `m`. */
inline_always __u32 find_number(const struct walk_mapping *m, __u64 address) {
  address += m->bias;
  __u64 page = (address >> UNWIND_PAGE_BITS) - m->first_page;
  if (page >= m->pages) return UNWIND_RULE_NO_TABLE;
  const __u64 at = m->starts + page;
  const struct walk_page *rows = element(acu_starts, at);
  if (!rows) return UNWIND_RULE_NO_TABLE;
  __u64 low = rows->first, n = rows->count, wanted = address & 0xffff;
  __u64 *pair;
  __u32 key;
  for (int i = 0; i < most_steps && n > 1; i++) {
    __u64 half = n >> 1, middle = low + half;
    key = middle >> 1;
    pair = map_lookup(acu_rows, &key);
    if (!pair) return UNWIND_RULE_NO_TABLE;
    __u64 row = *pair >> ((middle & 1) << 5);
    if ((row & 0xffff) <= wanted) {
      low = middle;
      n -= half;
    } else {
      n = half;
    }
  }
  key = low >> 1;
  pair = map_lookup(acu_rows, &key);
  if (!pair) return UNWIND_RULE_NO_TABLE;
  return (*pair >> ((low & 1) << 5) >> 16) & 0xffff;
}

inline_always void keep_rule(struct walk *w, __u64 at) {
  __u64 check;
  struct walk_rule *kept = place_of(w, at, &check);
  kept->rule = w->rule_word;
  kept->check = check ^ w->rule_word;
}

/* For find_rule() (rules.h). */
__attribute__((noinline)) int acu_find_rule(__u64 slot) {
  __u32 key = slot;
  struct walk *w = map_lookup(acu_walks, &key);
  if (!w) return WALK_NOT_HELD;
  w->wanted = code_of(w);
  const struct walk_mapping *m = acu_find_mapping(slot) ? element(acu_mappings, w->mapping) : 0;
  if (!m) return WALK_CODE_NOT_KNOWN;
  const __u64 number = find_number(m, w->wanted);
  const __u64 *rule = element(acu_rules, number);
  if (!rule) return WALK_NOT_HELD;
  w->rule_word = *rule;
  keep_rule(w, code_of(w));
  return 0;
}

/* At the trampoline the function has returned, and the registers become those of the instruction after its call. The kernel's list has
 * this return until the trampoline's system call (since Linux 6.11) was handled; then its address is where it was, below the
 * registers that the trampoline has saved and takes back: `41 5b` (pop %r11), `59` (pop %rcx), `c3` (ret). */
__attribute__((noinline)) int acu_at_trampoline(__u64 slot) {
  enum { after_call = 13, after_r11 = 15, after_rcx = 16 };
  __u32 key = slot;
  struct walk *w = map_lookup(acu_walks, &key);
  if (!w) return 0;
  const __u64 at = w->registers[ARCH_RIP] - w->trampoline, sp = w->registers[ARCH_RSP];
  const __u64 place = sp + (at == after_call ? 16 : at == after_r11 ? 8 : 0);
  if (w->kept_count && (at < after_call || w->kept[0].slot == place)) {
    w->registers[ARCH_RIP] = w->kept[0].address;
    w->registers[ARCH_RSP] = w->kept[0].slot + 8;
    w->kept_next = 1;
  } else if (at == after_call || at == after_r11 || at == after_rcx) {
    if (read_user(&w->registers[ARCH_RIP], 8, (void *)place)) return 0;
    w->registers[ARCH_RSP] = place + 8;
  }
  return 0;
}

/* While the return of a function is probed (uretprobe), the kernel has put the address of a trampoline where its return
 * address was, and keeps that. The thread may be at the trampoline itself; at the copy of a probed instruction, which lies behind
 * it; or, until the kernel has looked for its probe, right behind a breakpoint, whose place it will go back to. Each member costs
 * 20 ns: those that show where the trampoline is are read only where one may be met. */
inline_always void find_returns(struct walk *w) {
  w->kept_count = w->kept_next = w->trampoline = 0;
  const __u64 *set = acu_walk_set;
  if (!set[WALK_SET_UTASK]) return;
  if (!w->utask) return;
  const __u64 task = get_current_task(), utask = w->utask == WALK_NOT_READ ? read_member(task, set[WALK_SET_UTASK]) : w->utask;
  if (!utask) return;
  w->returns = read_member(utask, set[WALK_SET_RETURNS]);
  if (!w->returns && find_kept(w, w->registers[ARCH_RIP]) && w->rule.cfa != UNWIND_CFA_NO_TABLE) return;
  __u8 before = 0;
  if (!read_user(&before, 1, (void *)(w->registers[ARCH_RIP] - 1)) && before == breakpoint) w->registers[ARCH_RIP]--;
  __u64 memory = read_member(task, set[WALK_SET_MM]);
  w->trampoline = read_member(read_member(memory, set[WALK_SET_XOL]), set[WALK_SET_TRAMPOLINE]);
  if (!w->trampoline) return;
  if (w->returns) acu_keep_returns(w->slot);
  __u64 at = w->registers[ARCH_RIP] - w->trampoline;
  if (at < trampoline_bytes) acu_at_trampoline(w->slot);
  else if (at < page_bytes) w->registers[ARCH_RIP] = read_member(utask, set[WALK_SET_STEPPED]);
}

inline_always long stop(struct walk *w, __u32 why) {
  w->end = why;
  return 1;
}

/* The caller of code of V8 without a frame, found with the entry. */
inline_always long to_caller_of_leaf(struct walk *w) {
  struct node_memory *m = &w->language_walk.node;
  w->pc = m->next_pc;
  w->sp = m->next_sp;
  w->bp = m->next_bp;
  w->is_exact = 0;
  return 0;
}

/* A caller that only a frame pointer tells of. */
inline_always long by_frame_pointer(struct walk *w) {
  __u64 bp = w->bp, next, address;
  if (w->is_node && w->language_walk.node.next_pc) return to_caller_of_leaf(w);
  if (!bp && w->stack.count > 1) return stop(w, UNWIND_COMPLETE);
  if (bp < w->sp || bp & 7 || bp - w->sp > UNWIND_MOST_FRAME) return stop(w, UNWIND_NO_FRAME_POINTER);
  if (use_word(w, bp, &next) || use_word(w, bp + 8, &address)) return stop(w, UNWIND_UNREADABLE);
  if (!address) return stop(w, UNWIND_COMPLETE);
  w->wanted = address - 1;
  if (!w->is_blind && address != w->trampoline && !acu_find_mapping(w->slot)) return stop(w, UNWIND_NO_FRAME_POINTER);
  w->pc = address;
  w->sp = bp + 16;
  w->bp = next;
  w->is_exact = 0;
  return 0;
}

inline_always long out_of_signal(struct walk *w, __u64 context) {
  __u64 pc, sp, bp;
  if (read_word(w, context + ARCH_UCONTEXT_RBP, &bp) || read_word(w, context + ARCH_UCONTEXT_RSP, &sp) ||
      read_word(w, context + ARCH_UCONTEXT_RIP, &pc))
    return stop(w, UNWIND_UNREADABLE);
  never_repeat(w);
  w->pc = pc;
  w->sp = sp;
  w->bp = bp;
  w->is_exact = 1;
  return 0;
}

inline_always long find_cfa(struct walk *w, struct unwind_rule *rule, __u64 *cfa) {
  __u64 offset = rule->cfa_parts.offset, extra = rule->cfa_parts.extra;
  switch (rule->cfa) {
  case UNWIND_CFA_RSP: *cfa = w->sp + (__s64)rule->cfa_offset; return 0;
  case UNWIND_CFA_RBP: *cfa = w->bp + (__s64)rule->cfa_offset; return 0;
  case UNWIND_CFA_RSP_MEMORY:
  case UNWIND_CFA_RBP_MEMORY:
    if (read_word(w, (rule->cfa == UNWIND_CFA_RSP_MEMORY ? w->sp : w->bp) + offset, cfa)) return UNWIND_UNREADABLE;
    never_repeat(w);
    *cfa += extra;
    return 0;
  case UNWIND_CFA_PLT: *cfa = w->sp + offset + ((w->pc & 15) >= extra ? 8 : 0); return 0;
  case UNWIND_CFA_REGISTER:
    if (w->stack.count != 1 || extra > ARCH_RIP) return WALK_NOT_HELD;
    never_repeat(w);
    *cfa = w->registers[extra & 15] + offset;
    return 0;
  default: return WALK_NOT_HELD;
  }
}

/* The caller of code of a JVM, found with the frame. */
inline_always long to_caller_of_java(struct walk *w) {
  const struct hotspot_memory *m = &w->language_walk.hotspot;
  if (!m->next_pc || m->next_sp <= w->sp) return stop(w, UNWIND_NO_FRAME_POINTER);
  w->pc = m->next_pc;
  w->sp = m->next_sp;
  w->bp = m->next_bp;
  w->is_exact = 0;
  return 0;
}

/* From the frame at w->pc to its caller. */
inline_always long to_caller(struct walk *w) {
  if (w->pc - w->java_begin < w->java_bytes) return to_caller_of_java(w);
  struct unwind_rule *rule = &w->rule;
  long why = w->is_blind ? 0 : find_rule(w);
  if (why) return stop(w, why);
  if (w->is_blind || rule->cfa == UNWIND_CFA_NO_TABLE) return by_frame_pointer(w);
  if (rule->cfa == UNWIND_CFA_END) return stop(w, UNWIND_COMPLETE);
  if (rule->cfa == UNWIND_CFA_SIGNAL) return out_of_signal(w, w->sp + (__s64)rule->cfa_parts.offset);
  __u64 cfa = 0, address = 0, bp = w->bp;
  why = find_cfa(w, rule, &cfa);
  if (why) return stop(w, why);
  if (cfa <= w->sp) return stop(w, UNWIND_NO_PROGRESS);
  /* The lower one first: what lies above is read with it. */
  if (rule->rbp == UNWIND_RBP_AT_CFA || rule->rbp == UNWIND_RBP_AT_RBP || rule->rbp == UNWIND_RBP_AT_RSP) {
    const __u64 from = rule->rbp == UNWIND_RBP_AT_CFA ? cfa : rule->rbp == UNWIND_RBP_AT_RBP ? w->bp : w->sp;
    if (use_word(w, from + (__s64)rule->rbp_offset, &bp)) return stop(w, UNWIND_UNREADABLE);
  } else if (rule->rbp == UNWIND_RBP_UNDEFINED) {
    bp = 0;
  }
  if (use_word(w, cfa - 8, &address)) return stop(w, UNWIND_UNREADABLE);
  if (!address) return stop(w, UNWIND_COMPLETE);
  w->pc = address;
  w->sp = cfa;
  w->bp = bp;
  w->is_exact = 0;
  return 0;
}

inline_always void add_evaluation(struct walk *w) {
  struct language_walk *l = &w->language_walk;
  const __u32 at = w->evaluations & (LANGUAGE_MAX_EVALUATIONS - 1);
  if (!w->evaluations) l->evaluation_is = !w->is_exact ? LANGUAGE_CALLS : w->stack.count ? LANGUAGE_INTERRUPTED : LANGUAGE_RUNS;
  l->evaluation_rbp[at] = w->bp;
  l->evaluation_rsp[at] = w->is_lua ? 0 : w->sp;
  w->awaits_cfa = w->is_lua;
  w->evaluations++;
}

/* The frame at pc; how many of them run an interpreter's evaluation function tells whether there are language frames to look for. */
inline_always void add_frame(struct walk *w) {
  if (w->pc - w->java_begin < w->java_bytes) {
    acu_hotspot_frame(w->slot);
    return;
  }
  if (w->is_node && acu_node_frame(w->slot)) return;
  if (w->awaits_cfa) {
    w->language_walk.evaluation_rsp[(w->evaluations - 1) & (LANGUAGE_MAX_EVALUATIONS - 1)] = w->sp;
    w->awaits_cfa = 0;
  }
  if (w->is_luajit && !w->evaluations) acu_luajit_frame(w->slot);
  if (w->is_ruby) acu_ruby_frame(w->slot);
  const __u64 at = code_of(w);
  if (at - w->evaluation[0].begin < w->evaluation[0].end - w->evaluation[0].begin) add_evaluation(w);
  if (at - w->evaluation[1].begin < w->evaluation[1].end - w->evaluation[1].begin) add_evaluation(w);
  add_word(w, w->pc);
}

inline_always long step(struct walk *w) {
  if (to_caller(w)) return 1;
  if (w->stack.count - w->stack.mixed >= w->limit) return stop(w, UNWIND_TOO_DEEP);
  if (w->kept_count && w->pc == w->trampoline) acu_kept_return(w->slot);
  add_frame(w);
  return 0;
}

static long turn(__u32 index, void *context) { return step(*(struct walk **)context); }

/* The same for kernels without bpf_loop. That it is visible means that their verifier looks at it once, for any number,
 * instead of at each call. */
__attribute__((noinline)) int acu_step(__u64 slot) {
  __u32 key = slot;
  struct walk *w = map_lookup(acu_walks, &key);
  return w ? step(w) : 1;
}

/* ------------------------------------------------------------------------------------------------ sending */

/* Registers and stack as they are; the id, 0 where there is no room. A quarter of the ring is left to stacks, which are
 * small. Whoever walks it is woken: what is known then needs no copy. */
__attribute__((noinline)) __u64 acu_copy_out(__u64 slot) {
  __u32 key = slot;
  struct walk *w = map_lookup(acu_walks, &key);
  if (!w) return 0;
  __u64 room = ring_query(acu_walked, query_size);
  if (ring_query(acu_walked, query_waiting) > room - room / 4) return 0;
  struct walk_copy *copy = ring_reserve(acu_walked, sizeof *copy, 0);
  if (!copy) return 0;
  __u64 sp = w->registers[ARCH_RSP], id, size;
  copy->kind = WALK_RECORD_COPY;
  copy->pid = w->pid;
  copy->time = ktime_get_ns();
  copy->limit = w->limit;
  copy->why = w->end;
  copy->seed = w->seed;
  copy->trampoline = w->trampoline;
  copy->kept_count = w->kept_count;
  if (w->kept_count) read_kernel(copy->kept, sizeof copy->kept, w->kept);
  for (int i = 0; i < ARCH_REGISTERS; i++) copy->registers[i] = w->registers[i];
  id = mix(mix(w->seed, copy->time), get_random()) | 1;
  copy->id = id;
  /* As far as pages can be read; the first one from sp on. A function that has moved sp far down may not have touched
   * the lowest ones yet: they are zero. */
  __u64 bytes, missing = 0;
  size = page_bytes - (sp & (page_bytes - 1));
  if (read_user(copy->stack, size & 0x1fff, (void *)sp)) missing = size;
  bytes = size;
  for (int i = 0; i < WALK_STACK_BYTES / page_bytes - 1; i++) {
    if (bytes > WALK_STACK_BYTES - page_bytes) break;
    if (read_user(copy->stack + bytes, page_bytes, (void *)(sp + bytes))) {
      if (missing < bytes) break;
      missing += page_bytes;
    }
    bytes += page_bytes;
  }
  copy->missing = missing;
  copy->bytes = bytes;
  ring_submit(copy, force_wakeup);
  count(WALK_COUNT_COPIED);
  return id;
}

/* The id of the stack, 0 if it was lost. */
__attribute__((noinline)) __u64 acu_keep(__u64 slot) {
  __u32 key = slot;
  struct walk *w = map_lookup(acu_walks, &key);
  if (!w) return 0;
  __u64 id = w->hash | 1;
  __u64 *known = &acu_walk_known[(id >> 32) & (WALK_KNOWN - 1)];
  if (*known == id) return id;
  w->stack.id = id;
  if (!map_lookup(acu_walk_ids, &w->stack.id)) {
    __u64 n = w->stack.count;
    if (n > WALK_WORDS) return 0;
    w->stack.kind = WALK_RECORD_STACK;
    w->stack.pid = w->pid;
    w->stack.time = ktime_get_ns();
    /* First it is known that there is room. */
    long kept = map_update(acu_walk_ids, &w->stack.id, &w->stack.count, no_exist);
    if (kept && (int)kept != -17) { /* -EEXIST: another CPU was first */
      count(WALK_COUNT_NO_ROOM);
      return 0;
    }
    if (ring_output(acu_walked, &w->stack, __builtin_offsetof(struct walk_stack, words) + 8 * n, wakeup())) {
      map_delete(acu_walk_ids, &w->stack.id);
      if (*known == id) *known = 0; /* another CPU found it there */
      count(WALK_COUNT_RING_FULL);
      return 0;
    }
  }
  *known = id;
  return id;
}

inline_always void begin(struct walk *w) {
  find_returns(w);
  w->pc = w->registers[ARCH_RIP];
  w->sp = w->registers[ARCH_RSP];
  w->bp = w->registers[ARCH_RBP];
  w->is_exact = 1;
  w->window = 0;
  w->hash = w->seed;
  w->stack.count = w->stack.mixed = 0;
  w->end = WALK_UNFINISHED;
  w->is_blind = w->is_done = 0;
  w->evaluations = 0;
  add_frame(w);
}

/* Why a thread has no user stack any more; 0: it should have one. Most of the time that short-lived processes spend in the
 * kernel goes into taking their memory apart, when they have none. */
inline_always __u32 why_none(struct walk *w) {
  const __u64 *set = acu_walk_set;
  if (set[WALK_SET_MM] && !read_member(get_current_task(), set[WALK_SET_MM])) return WALK_EXITING;
  return w->syscall == ARCH_CALL_EXECVE || w->syscall == ARCH_CALL_EXECVEAT ? WALK_EXECUTING : 0;
}

/* What becomes of a stack that cannot be walked here, for the reason in w->end; sets w->is_done and returns its id, or leaves it to frame pointers. */
__attribute__((noinline)) __u64 acu_not_walked(__u64 slot) {
  __u32 key = slot;
  struct walk *w = map_lookup(acu_walks, &key);
  if (!w) return 0;
  __u64 word, id = 0;
  const int is_unreadable = w->end == UNWIND_UNREADABLE, is_unknown = w->end == WALK_PROCESS_NOT_KNOWN;
  const __u32 none = is_unreadable || read_user(&word, sizeof word, (void *)w->registers[ARCH_RSP]) ? why_none(w) : 0;
  if (none) {
    count(none);
    w->is_done = 1;
    w->hash = w->seed;
    w->stack.count = w->stack.mixed = 0;
    add_word(w, STACK_END | none);
    w->stack.native = 1;
    return acu_keep(slot);
  }
  if (is_unreadable) return 0;
  if (!is_unknown || w->first < WALK_MOST_COPIES) id = acu_copy_out(slot);
  w->is_done = id != 0;
  if (!id) count(WALK_COUNT_NOT_COPIED);
  if (!id || !is_unknown) return id;
  struct walk_process *asked = (struct walk_process *)w->bytes; /* nothing was read there yet */
  asked->first = w->first + 1;
  asked->count = 0;
  asked->list = asked->language = 0;
  map_update(acu_processes, &w->pid, asked, w->first ? any : no_exist);
  note_change();
  return id;
}

/* A walk is mostly of the process of the walk before, whose entry has not changed: looking it up takes as long as a frame. */
inline_always void find_process(struct walk *w) {
  const __u64 changes = acu_walk_set[WALK_SET_CHANGES];
  w->awaits_cfa = 0;
  w->language_walk.luajit.jit_base = 0;
  if (w->found_pid == w->pid && w->changes == changes) return;
  struct walk_process *process = map_lookup(acu_processes, &w->pid);
  w->changes = changes;
  w->found_pid = w->pid;
  w->first = process ? process->first : 0;
  w->mappings = process ? process->count : 0;
  w->mapping = w->first;
  w->list = process ? mix(0, process->list) : 0;
  w->stack.language = w->language = process ? process->language : 0;
  const struct language_table *table = w->language ? element(acu_languages, w->language) : 0;
  w->is_luajit = table && table->kind == LANGUAGE_LUAJIT;
  w->is_lua = table && table->kind == LANGUAGE_LUA;
  const int is_java = table && table->kind == LANGUAGE_JAVA;
  w->java_begin = is_java ? table->hotspot.begin : 0;
  w->java_bytes = is_java ? table->hotspot.end - table->hotspot.begin : 0;
  w->is_ruby = table && table->kind == LANGUAGE_RUBY;
  w->is_node = table && table->kind == LANGUAGE_NODE;
  for (int i = 0; i < LANGUAGE_CODE_RANGES; i++) {
    w->evaluation[i].begin = table ? table->evaluation[i].begin : 0;
    w->evaluation[i].end = table ? table->evaluation[i].end : 0;
  }
}

/* Puts the frames of the thread's language behind the native ones (language.h). */
inline_always void walk_language(struct walk *w) {
  const struct language_table *table = element(acu_languages, w->language);
  if (!table) return;
  w->language_walk.end = LANGUAGE_NO_THREAD;
  switch (table->kind) {
  case LANGUAGE_PYTHON: acu_python(w->slot); break;
  case LANGUAGE_PHP: acu_php(w->slot); break;
  case LANGUAGE_LUAJIT: acu_luajit(w->slot); break;
  case LANGUAGE_PERL: acu_perl(w->slot); break;
  case LANGUAGE_LUA: acu_lua(w->slot); break;
  case LANGUAGE_RUBY: acu_ruby(w->slot); break;
  }
  const __u32 end = w->language_walk.end;
  if (end < LANGUAGE_ENDS) count(WALK_COUNT_LANGUAGE + end);
}

inline_always __u64 walk(struct walk *w, int has_loop) {
  find_process(w);
  begin(w);
  if (!w->mappings && w->limit > 1) {
    w->end = WALK_PROCESS_NOT_KNOWN;
    const __u64 id = acu_not_walked(w->slot);
    if (w->is_done) return id;
    w->is_blind = 1;
  }
  const int may_repeat = has_loop && w->limit > 1 && !w->is_blind && !w->kept_count && !w->is_luajit && !w->is_ruby && !w->java_bytes && !w->is_node;
  if (may_repeat) {
    const __u64 id = acu_repeated(w->slot);
    if (id) return id;
  }
  if (w->limit <= 1) {
    w->end = UNWIND_COMPLETE;
  } else if (has_loop) {
    loop(WALK_MOST_FRAMES, turn, &w, 0);
  } else {
    for (int i = 0; i < WALK_MOST_FRAMES; i++)
      if (acu_step(w->slot)) break;
  }
  __u32 end = w->end;
  if (end == UNWIND_UNREADABLE || (end >= WALK_CODE_NOT_KNOWN && !w->is_blind)) {
    const __u64 id = acu_not_walked(w->slot);
    if (w->is_done) return id;
  }
  if (w->is_blind) end = WALK_PROCESS_NOT_KNOWN;
  w->stack.is_cut = end == UNWIND_TOO_DEEP;
  if (end == UNWIND_TOO_DEEP && w->limit < WALK_MOST_FRAMES) end = UNWIND_COMPLETE; /* as many as were asked for */
  if (end != UNWIND_COMPLETE) add_word(w, STACK_END | (end & 0xff));
  if (end < WALK_ENDS) count(end);
  w->stack.native = w->stack.count;
  if (has_loop && w->evaluations) walk_language(w);
  w->repeat.id = acu_keep(w->slot);
  if (may_repeat && w->repeat.id && !w->evaluations && end == UNWIND_COMPLETE) acu_keep_repeat(w->slot);
  return w->repeat.id;
}

/* The id of the stack of the walk in that slot. Visible, so that the verifier goes through it once and not again for each stack
 * that a program takes. */
__attribute__((noinline)) __u64 acu_walk(__u64 slot) {
  __u32 key = slot;
  struct walk *w = map_lookup(acu_walks, &key);
  return w ? walk(w, 1) : 0;
}

/* The same for kernels without bpf_loop. */
__attribute__((noinline)) __u64 acu_walk_bounded(__u64 slot) {
  __u32 key = slot;
  struct walk *w = map_lookup(acu_walks, &key);
  return w ? walk(w, 0) : 0;
}

/* --------------------------------------------------------------------------------- the life of processes */

struct raw_tracepoint {
  __u64 arguments[3];
};

/* sched_process_fork(parent, child): current is the parent. */
entry int acu_fork(struct raw_tracepoint *at) {
  const __u64 offset = acu_walk_set[WALK_SET_TGID];
  __u32 parent = get_current_pid_tgid() >> 32, child = 0;
  if (!offset || read_kernel(&child, sizeof child, (void *)(at->arguments[1] + offset)) || child == parent) return 0;
  struct walk_process *process = map_lookup(acu_processes, &parent);
  if (!process || !process->count) return 0;
  struct walk_process copy = *process;
  map_update(acu_processes, &child, &copy, 0);
  note_change();
  return 0;
}

/* sched_process_exec(task, old_pid, program): current is the task. */
entry int acu_exec(struct raw_tracepoint *at) {
  __u32 pid = get_current_pid_tgid() >> 32;
  if (!acu_walk_set[WALK_SET_TGID]) return 0;
  map_delete(acu_processes, &pid);
  note_change();
  return 0;
}
