/* How a frame leads to its caller, as tables of a few bytes: what the walker in the kernel (BPF C) and the
 * one outside agree on. Plain C. x86-64, whose numbers are in spec/arch_x86_64_numbers.h.
 *
 * A file has rows, sorted by address, each {low 16 bits of an address of the file, number of a rule}: the
 * rule holds from there up to the next row. Rows lie in pages of 64 KiB of addresses; page p of a table that
 * begins with page `first_page` holds rows starts[p - first_page] up to, not including, starts[p - first_page
 * + 1]. No page is empty, and the first row of each has address 0: it repeats what holds at the page's start.
 * So the rule for an address is found by one index and a binary search of at most 17 steps over 16-bit
 * numbers. Addresses below the first page or above the last have rule UNWIND_RULE_NO_TABLE.
 *
 * Addresses are the file's own (as its program headers say), before the loader moves them. A return address
 * is looked up one byte lower, since the call may be the last instruction of its function; the address of the
 * innermost frame, and of a frame that a signal interrupted, as it is.
 *
 * Rules are kept once for all files, UNWIND_MOST_RULES at most. The first few numbers are the same
 * everywhere. Cached files number their rules for themselves and bring the list along (tables.h).
 *
 * A step, with cfa ("canonical frame address": the stack pointer before the call) from unwind_rule.cfa:
 *   rip of the caller = *(cfa - 8), rsp = cfa, rbp by unwind_rule.rbp.
 * but for UNWIND_CFA_SIGNAL, UNWIND_CFA_END, UNWIND_CFA_NO_TABLE and UNWIND_CFA_NOT_HELD: see there.
 * A caller's cfa is higher than the frame's, but across a signal (which may have its own stack).
 * Specification: DWARF 5, section 6.4; System V ABI for x86-64, section 3.2; sigreturn(2). */
#pragma once

#include "spec/arch_x86_64_numbers.h"

#ifndef __VMLINUX_H__
#include <linux/types.h>
#endif

struct unwind_row {
  __u16 address; /* low bits */
  __u16 rule;
};

struct unwind_rule {
  __u8 cfa;         /* enum unwind_cfa */
  __u8 rbp;         /* enum unwind_rbp */
  __s16 rbp_offset; /* bytes */
  union {
    __s32 cfa_offset; /* bytes; UNWIND_CFA_RSP, UNWIND_CFA_RBP */
    struct {
      __s16 offset; /* bytes */
      __s16 extra;  /* by kind */
    } cfa_parts;    /* the others */
  };
};

enum unwind_cfa {
  UNWIND_CFA_NO_TABLE = 0,   /* no table tells: as if the code kept a frame pointer, see below */
  UNWIND_CFA_NOT_HELD = 1,   /* a table tells, but no rule can hold it: walk outside, by the file */
  UNWIND_CFA_END = 2,        /* the outermost frame: it has no caller */
  UNWIND_CFA_RSP = 3,        /* rsp + cfa_offset */
  UNWIND_CFA_RBP = 4,        /* rbp + cfa_offset */
  UNWIND_CFA_RSP_MEMORY = 5, /* *(rsp + offset) + extra */
  UNWIND_CFA_RBP_MEMORY = 6, /* *(rbp + offset) + extra: functions that align the stack for themselves */
  UNWIND_CFA_REGISTER = 7,   /* register `extra` (DWARF's number) + offset; where the walker does not have */
                             /* that register it is as if not held: the innermost frame always has it */
  UNWIND_CFA_PLT = 8,        /* rsp + offset + ((rip & 15) >= extra ? 8 : 0) */
  UNWIND_CFA_SIGNAL = 9,     /* a struct ucontext is at rsp + offset; rip, rsp and rbp of the interrupted */
                             /* frame (and all others) are in it at ARCH_UCONTEXT_… */
};

enum unwind_rbp {
  UNWIND_RBP_SAME = 0,
  UNWIND_RBP_AT_CFA = 1,    /* *(cfa + rbp_offset) */
  UNWIND_RBP_AT_RBP = 2,    /* *(rbp + rbp_offset) */
  UNWIND_RBP_UNDEFINED = 3, /* lost: a caller whose cfa needs it cannot be walked */
  UNWIND_RBP_AT_RSP = 4,    /* *(rsp + rbp_offset) */
};

/* Rules that have the same number everywhere; that of unwind_cfa. */
enum {
  UNWIND_RULE_NO_TABLE = UNWIND_CFA_NO_TABLE,
  UNWIND_RULE_NOT_HELD = UNWIND_CFA_NOT_HELD,
  UNWIND_RULE_END = UNWIND_CFA_END,
  UNWIND_FIXED_RULES = 3,
  UNWIND_MOST_RULES = 1 << 16,
  UNWIND_PAGE_BITS = 16,
};

/* Without a table (UNWIND_CFA_NO_TABLE, and code that is in no file) a step is
 *   rip = *(rbp + 8), rsp = rbp + 16, rbp = *rbp
 * and is taken only if rbp is at least rsp and a multiple of 8, not more than UNWIND_MOST_FRAME above rsp,
 * and the new rip is code of the process. An rbp of 0 marks the outermost frame (System V ABI,
 * section 3.4.1); in the innermost frame it may as well be a number that the code keeps there, and is no such
 * mark. */
enum { UNWIND_MOST_FRAME = 1 << 20 };

/* Why a walk ended. Texts: reason.h. */
enum unwind_end {
  UNWIND_COMPLETE = 0,     /* the outermost frame: UNWIND_CFA_END, or a return address of 0 */
  UNWIND_NO_FRAME_POINTER, /* no table, and rbp is none by the conditions above */
  UNWIND_UNREADABLE,       /* memory that the rule needs */
  UNWIND_NOT_UNDERSTOOD,   /* the table says what is not known or needs a register that is lost; damaged */
  UNWIND_NO_CODE,          /* the return address is no code of the process */
  UNWIND_NO_PROGRESS,      /* the caller's frame is not above this one */
  UNWIND_TOO_DEEP,         /* more frames than asked for */
  UNWIND_STACK_CUT,        /* memory beyond what was copied of the stack */
  UNWIND_ENDS
};
