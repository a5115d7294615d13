/* From a frame in a JVM's code to its caller, and which Java method it runs. Plain C, for the walker in the kernel (bpf/lib/hotspot.bpf.c) and for
 * stopped programs; language_read as python_walk.h has it.
 *
 *   find      the block of the code heap that pc is in: whoever calls does the hops of the segment map, as the kernel needs a loop of its own
 *   blob      what it is
 *   frame     the method and the position in it (as language_walk has them), and the caller's registers
 *
 * The caller of Java code is in the code heap, too: a compiled or interpreted method, or the stub through which C++ calls Java. So what is read as
 * a return address can be checked. Code that was interrupted while it made or took down its frame is looked at.
 *
 * A frame of a compiled method has LANGUAGE_FIRST in its entry, and its position is one of machine code: debug information tells which methods run
 * there (hotspot_code.h). Of an interpreted method the position is one of bytecode. */
#pragma once

#include "runtime/language_copy.h"

#define hotspot_is_code(l, address) ((address) - (l)->begin < (l)->end - (l)->begin)
#define hotspot_slot(m, offset) language_word((m)->slots, (offset) - HOTSPOT_SLOT_BCP)

/* Sets the heap that holds pc, and the segment; 1: none does. */
language_inline int hotspot_find_heap(const struct hotspot_layout *l, struct hotspot_memory *m) {
  m->is_known = 0;
  for (int i = 0; i < HOTSPOT_HEAPS; i++) {
    const struct hotspot_heap *heap = &l->heaps[i];
    if (m->pc - heap->begin >= heap->end - heap->begin) continue;
    m->heap = heap->begin;
    m->segments = heap->segments;
    m->segment = (m->pc - heap->begin) >> (l->segment_shift & 31);
    return 0;
  }
  return 1;
}

/* One hop back; 1: there are no more, `is_known` tells whether the block's begin was found. */
language_inline int hotspot_hop(struct hotspot_memory *m) {
  if (language_read(&m->hop, 1, m->segments + m->segment) || m->hop == HOTSPOT_FREE_SEGMENT) return 1;
  if (!m->hop) {
    m->is_known = 1;
    return 1;
  }
  if (m->hop > m->segment) return 1;
  m->segment -= m->hop;
  return 0;
}

language_inline void hotspot_block(const struct hotspot_layout *l, struct hotspot_memory *m) {
  m->blob = m->heap + (m->segment << (l->segment_shift & 31)) + l->block_header;
}

/* A place in the blob that was read, by the field that has it. */
language_inline __u64 hotspot_place(const struct hotspot_layout *l, const struct hotspot_memory *m, __u64 field) {
  return l->has_offsets ? m->blob + language_half(m->blob_bytes, field) : language_word(m->blob_bytes, field);
}

/* Two bytes of what was read into an array. */
#define hotspot_short(bytes, offset) (language_half(bytes, (offset) & ~3) >> (((offset) & 2) << 3) & 0xffff)

/* Reads the blob; 1: pc is not in its code. */
language_inline int hotspot_read_blob(const struct hotspot_layout *l, struct hotspot_memory *m) {
  if (language_read(m->blob_bytes, HOTSPOT_BLOB_BYTES, m->blob) && language_read(m->blob_bytes, HOTSPOT_HEADER_BYTES, m->blob)) return 1;
  const __u64 begin = hotspot_place(l, m, l->blob_code_begin), end = hotspot_place(l, m, l->blob_code_end);
  m->is_compiled = hotspot_short(m->blob_bytes, l->blob_header_size) == l->compiled_bytes;
  return begin <= m->blob || m->pc - begin >= end - begin;
}

/* What identifies a Method that was read. */
language_inline __u32 hotspot_method_check(const struct hotspot_layout *l, const struct hotspot_memory *m) {
  __u64 hash = language_mix(0, m->constants);
  hash = language_mix(hash, language_half(m->const_bytes, l->const_size));
  hash = language_mix(hash, language_half(m->const_bytes, l->const_name & ~3));
  return hash & LANGUAGE_CHECK_MASK;
}

/* What identifies a compiled method, or a stub, whose blob was read. */
language_inline __u32 hotspot_blob_check(const struct hotspot_layout *l, const struct hotspot_memory *m) {
  __u64 hash = language_mix(0, language_half(m->blob_bytes, l->blob_size));
  hash = language_mix(hash, m->is_compiled ? language_word(m->blob_bytes, l->compiled_method) : language_word(m->blob_bytes, l->blob_name));
  if (m->is_compiled) hash = language_mix(hash, language_half(m->blob_bytes, l->compiled_id));
  return hash & LANGUAGE_CHECK_MASK;
}

/* Reads a Method's constant part; 1: it is none. */
language_inline int hotspot_read_method(const struct hotspot_layout *l, struct hotspot_memory *m, __u64 method) {
  m->method = method;
  m->constants = 0;
  if (!method || method & 7 || language_read(&m->constants, 8, method + l->method_const) || !m->constants || m->constants & 7) return 1;
  return language_read(m->const_bytes, HOTSPOT_CONST_BYTES, m->constants) != 0;
}

/* Takes the caller from the two words at `top`: rbp, and the return address above it. 1: that is none. */
language_inline int hotspot_take_caller(const struct hotspot_layout *l, struct hotspot_memory *m, __u64 top, int keeps_bp) {
  if (language_read(m->text, 16, top)) return 1;
  const __u64 address = language_word(m->text, 8);
  if (!hotspot_is_code(l, address)) return 1;
  m->next_pc = address;
  m->next_sp = top + 16;
  m->next_bp = keeps_bp ? m->bp : language_word(m->text, 0);
  return 0;
}

/* Code without a frame: the return address is at the stack pointer. */
language_inline int hotspot_leaf(const struct hotspot_layout *l, struct hotspot_memory *m) { return hotspot_take_caller(l, m, m->sp - 8, 1); }

/* Where code is that was interrupted, by its bytes around pc, which is text[8]. */
enum { HOTSPOT_FRAME, HOTSPOT_FRAME_RBP_LIVE, HOTSPOT_PUSHED, HOTSPOT_NO_FRAME };

language_inline int hotspot_prologue(const __u8 *text) {
  if (text[7] == 0x55) return HOTSPOT_PUSHED; /* push %rbp */
  if ((text[1] == 0x48 && text[2] == 0x81 && text[3] == 0xec) || (text[4] == 0x48 && text[5] == 0x83 && text[6] == 0xec))
    return HOTSPOT_FRAME_RBP_LIVE; /* sub $size, %rsp */
  return HOTSPOT_NO_FRAME;
}

language_inline int hotspot_epilogue(const __u8 *text) {
  const __u8 first = text[8];
  if (first == 0x5d) return HOTSPOT_PUSHED;                                              /* pop %rbp */
  if (first == 0xc3) return HOTSPOT_NO_FRAME;                                            /* ret */
  if (first == 0x49 && text[9] == 0x3b && text[10] == 0xa7) return HOTSPOT_NO_FRAME;     /* cmp poll(%r15), %rsp */
  if (first == 0x0f && text[9] == 0x87 && text[14] == 0xc3) return HOTSPOT_NO_FRAME;     /* ja to its stub; ret */
  if (first == 0x4d && text[9] == 0x8b && text[10] == 0x97) return HOTSPOT_NO_FRAME;     /* mov page(%r15), %r10 */
  if (first == 0x41 && text[9] == 0x85 && text[11] == 0xc3) return HOTSPOT_NO_FRAME;     /* test %eax, (%r10); ret */
  return HOTSPOT_FRAME;
}

/* A frame of known size: of compiled methods, and of stubs that call C++. */
language_inline int hotspot_sized(const struct hotspot_layout *l, struct hotspot_memory *m) {
  const __u64 size = 8 * (__u64)language_half(m->blob_bytes, l->blob_frame_size);
  if (!size || size > HOTSPOT_MAX_FRAME) return 1;
  const __u64 top = m->sp + size - 16;
  int state = HOTSPOT_FRAME;
  if (m->is_exact && !language_read(m->text, HOTSPOT_TEXT_BYTES, m->pc - 8)) {
    const __u64 at = m->pc - hotspot_place(l, m, l->blob_code_begin);
    const int is_complete = (__s64)at >= (__s16)hotspot_short(m->blob_bytes, l->blob_frame_complete);
    state = is_complete ? hotspot_epilogue(m->text) : hotspot_prologue(m->text);
  }
  if (state == HOTSPOT_PUSHED && !hotspot_take_caller(l, m, m->sp, 0)) return 0;
  if (state == HOTSPOT_NO_FRAME && !hotspot_leaf(l, m)) return 0;
  if (!hotspot_take_caller(l, m, top, state == HOTSPOT_FRAME_RBP_LIVE)) return 0;
  return !m->is_exact || (hotspot_take_caller(l, m, m->sp, 0) && hotspot_leaf(l, m));
}

/* A frame of C's form. The call stub returns to C++. */
language_inline int hotspot_by_bp(struct hotspot_memory *m) {
  if (m->bp < m->sp || m->bp & 7 || m->bp - m->sp > HOTSPOT_MAX_FRAME || language_read(m->text, 16, m->bp)) return 1;
  m->next_pc = language_word(m->text, 8);
  m->next_sp = m->bp + 16;
  m->next_bp = language_word(m->text, 0);
  return 0;
}

/* Other stubs have no frame, or a frame like C's: the return address decides which. */
language_inline int hotspot_stub(const struct hotspot_layout *l, struct hotspot_memory *m) {
  if (m->is_exact && !hotspot_leaf(l, m)) return 0;
  return hotspot_by_bp(m);
}

/* An interpreted method; 1: rbp does not point to its frame. */
language_inline int hotspot_interpreted(const struct hotspot_layout *l, struct language_walk *w) {
  struct hotspot_memory *m = &w->hotspot;
  if (m->bp & 7 || m->bp < m->sp || m->bp - m->sp > HOTSPOT_MAX_FRAME ||
      language_read(m->slots, HOTSPOT_SLOT_RETURN + 8 - HOTSPOT_SLOT_BCP, m->bp + HOTSPOT_SLOT_BCP))
    return 1;
  const __u64 address = hotspot_slot(m, HOTSPOT_SLOT_RETURN), sender = hotspot_slot(m, HOTSPOT_SLOT_SENDER_SP), above = m->bp + 16;
  if (!hotspot_is_code(l, address) || hotspot_read_method(l, m, hotspot_slot(m, HOTSPOT_SLOT_METHOD))) return 1;
  m->next_pc = address;
  m->next_sp = sender >= above && sender - above < HOTSPOT_MAX_FRAME ? sender : above;
  m->next_bp = hotspot_slot(m, HOTSPOT_SLOT_RBP);
  const __u64 first = m->constants + l->const_bytes, size = hotspot_short(m->const_bytes, l->const_code_size);
  w->position = hotspot_slot(m, HOTSPOT_SLOT_BCP) - first;
  if (m->is_exact && m->r13 - first < size) w->position = m->r13 - first;
  if (w->position >= size) w->position = HOTSPOT_NO_POSITION;
  w->code = m->method;
  w->check = hotspot_method_check(l, m);
  w->is_first = 0;
  return 0;
}

/* The entry of a blob that was read. */
language_inline void hotspot_entry(const struct hotspot_layout *l, struct language_walk *w) {
  struct hotspot_memory *m = &w->hotspot;
  __u64 pc = m->pc;
  w->code = m->blob;
  w->check = hotspot_blob_check(l, m);
  w->is_first = 1;
  if (m->is_compiled && (pc == hotspot_place(l, m, l->compiled_deopt) || pc == hotspot_place(l, m, l->compiled_deopt_call)))
    language_read(&pc, 8, m->sp + language_half(m->blob_bytes, l->compiled_original_pc));
  w->position = (pc - hotspot_place(l, m, l->blob_code_begin)) & LANGUAGE_POSITION_MASK;
}

/* Of the frame at pc: its entry (`code` 0: it runs no Java), and its caller. Of code that is not the interpreter's, the blob was looked for. */
language_inline void hotspot_frame(const struct hotspot_layout *l, struct language_walk *w) {
  struct hotspot_memory *m = &w->hotspot;
  w->code = 0;
  m->next_pc = 0;
  if (m->pc == l->call_stub) {
    hotspot_by_bp(m);
  } else if (m->pc - l->interpreter_begin < l->interpreter_end - l->interpreter_begin) {
    if (hotspot_interpreted(l, w) && m->is_exact) hotspot_leaf(l, m);
  } else if (m->is_known) {
    hotspot_entry(l, w);
    if (hotspot_sized(l, m)) hotspot_stub(l, m);
  }
}

/* What names the frame that was read last, for programs that have ended when they are asked: symbols of the method, of its class and of its
 * descriptor in the place of lines. */
language_inline void hotspot_describe(const struct hotspot_layout *l, struct language_walk *w, struct language_object *object) {
  struct hotspot_memory *m = &w->hotspot;
  object->object[HOTSPOT_OBJECT_IS_BLOB] = w->is_first;
  object->object[HOTSPOT_OBJECT_HAS_NAME] = 0;
  if (w->is_first && !m->is_compiled) return;
  if (w->is_first && hotspot_read_method(l, m, language_word(m->blob_bytes, l->compiled_method))) return;
  const __u64 pool = language_word(m->const_bytes, l->const_pool);
  __u64 symbol = 0, name = hotspot_short(m->const_bytes, l->const_name);
  if (language_read(&symbol, 8, pool + l->pool_bytes + 8 * name)) return;
  language_copy(object->name, LANGUAGE_NAME_BYTES, symbol);
  name = hotspot_short(m->const_bytes, l->const_signature);
  if (language_read(&symbol, 8, pool + l->pool_bytes + 8 * name)) return;
  language_copy(object->lines, LANGUAGE_LINES_BYTES, symbol);
  if (language_read(&symbol, 8, pool + l->pool_holder) || language_read(&symbol, 8, symbol + l->class_name)) return;
  language_copy(object->file, LANGUAGE_FILE_BYTES, symbol);
  object->object[HOTSPOT_OBJECT_HAS_NAME] = 1;
}
