#!/usr/bin/env python3
"""Prints the rows of src/runtime/perl_layouts.h: perl_layouts.py CORE…

Each CORE is a folder with the headers of one Perl (such as /usr/lib/x86_64-linux-gnu/perl/5.36/CORE). A small C program is compiled against it,
with threads and without, and its offsets are read from the assembler's input.
"""
import glob
import os
import re
import shutil
import tempfile

from layouts import constants, print_rows, row

PROGRAM = r"""
#define PERL_NO_GET_CONTEXT
#define PERL_NO_INLINE_FUNCTIONS
#include "EXTERN.h"
#include "perl.h"
#include <stddef.h>
#define at offsetof
#define WORD(name, value) const unsigned name = value;
#ifdef USE_ITHREADS
WORD(current_stack, at(struct interpreter, Icurstackinfo))
WORD(current_statement, at(struct interpreter, Icurcop))
WORD(statement_file, at(COP, cop_file))
#else
WORD(statement_file, at(COP, cop_filegv))
#endif
WORD(stack_contexts, at(PERL_SI, si_cxstack))
WORD(stack_previous, at(PERL_SI, si_prev))
WORD(stack_top, at(PERL_SI, si_cxix))
WORD(context_bytes, sizeof(PERL_CONTEXT))
WORD(context_statement, at(PERL_CONTEXT, blk_oldcop))
WORD(context_return, at(PERL_CONTEXT, blk_sub.retop))
WORD(context_code, at(PERL_CONTEXT, blk_sub.cv))
WORD(context_name, at(PERL_CONTEXT, blk_eval.old_namesv))
WORD(statement_line, at(COP, cop_line))
WORD(statement_sequence, at(COP, cop_seq))
WORD(value_body, at(SV, sv_any))
WORD(value_pointer, at(SV, sv_u))
WORD(code_stash, at(XPVCV, xcv_stash))
WORD(code_name, at(XPVCV, xcv_gv_u))
WORD(code_flags, at(XPVCV, xcv_flags))
WORD(glob_name, at(XPVGV, xiv_u))
WORD(glob_stash, at(XPVGV, xnv_u))
WORD(glob_effective, at(GP, gp_egv))
WORD(stash_max, at(XPVHV, xhv_max))
#if PERL_VERSION >= 36
WORD(aux_in_body, 1)
WORD(stash_aux, at(struct xpvhv_with_aux, xhv_aux))
#endif
WORD(aux_name, at(struct xpvhv_aux, xhv_name_u))
WORD(aux_names, at(struct xpvhv_aux, xhv_name_count))
WORD(key_length, at(HEK, hek_len))
WORD(key_text, at(HEK, hek_key))
WORD(code_is_named, CVf_NAMED)
WORD(code_is_lexical, CVf_LEXICAL)
_Static_assert(at(PERL_CONTEXT, cx_type) == 0 && at(PERL_CONTEXT, blk_format.cv) == at(PERL_CONTEXT, blk_sub.cv) &&
  at(PERL_CONTEXT, blk_format.retop) == at(PERL_CONTEXT, blk_sub.retop) && at(PERL_CONTEXT, blk_eval.retop) == at(PERL_CONTEXT, blk_sub.retop) &&
  CXt_NULL == 0 && CXt_SUB == 9 && CXt_FORMAT == 10 && CXt_EVAL == 11 && CXp_SUB_RE_FAKE == 0x80 && CXp_REAL == 0x20 && CXp_TRYBLOCK == 0x40, "");
#if PERL_VERSION >= 34
_Static_assert(CXp_TRY == 0x80, "");
#endif
#if PERL_VERSION >= 36
_Static_assert(CXt_DEFER == 13, "");
#endif
"""
# As struct perl_layout (src/runtime/perl_layout.h) declares them.
ORDER = ["has_threads", "aux_in_body", "current_stack", "current_statement", "stack_bytes", "stack_contexts", "stack_previous", "stack_top",
         "context_bytes", "context_statement", "context_return", "context_code", "context_name", "statement_line",
         "statement_file", "statement_sequence", "value_body", "value_pointer", "code_bytes", "code_stash", "code_name", "code_flags",
         "glob_name", "glob_stash", "glob_effective", "stash_max", "stash_aux", "aux_name", "aux_names", "key_length", "key_text",
         "code_is_named", "code_is_lexical"]


def row_of(core, has_threads):
    header = open(os.path.join(core, "patchlevel.h")).read()
    minor, patch = (int(re.search(rf"^#define PERL_{name}\s+(\d+)", header, re.M).group(1)) for name in ("VERSION", "SUBVERSION"))
    with tempfile.TemporaryDirectory() as folder:
        for path in glob.glob(os.path.join(core, "*.h")):
            shutil.copy(path, folder)
        if not has_threads:
            with open(os.path.join(folder, "config.h"), "a") as f:
                f.write("\n#undef USE_ITHREADS\n#undef MULTIPLICITY\n")
        found = constants(PROGRAM, [folder], ["-D_GNU_SOURCE"])
    found["has_threads"] = int(has_threads)
    # As long as all fields that are read, but no longer: what is behind may not be mapped.
    found["stack_bytes"] = (max(found[f] for f in ("stack_contexts", "stack_previous", "stack_top")) + 8 + 7) // 8 * 8
    found["code_bytes"] = max(found["code_flags"] + 4, found["code_name"] + 8)
    fields = {"version": f"0x05{minor:02x}", **{name: found.get(name, 0) for name in ORDER}}
    return row(fields, f"Perl 5.{minor}.{patch}, {'with' if has_threads else 'without'} threads")


print_rows(__doc__, lambda core: [row_of(core, has_threads) for has_threads in (True, False)])
