/* Offsets of the fields of CPython's structures that lead from a thread to its frames, and from a frame to its names, in bytes. Plain C:
 * tables of processes hold one (runtime/language.h).
 *
 *   3.8 to 3.10  thread state -> frame object -> f_back; each frame is an activation of its own
 *   3.11         thread state -> cframe -> interpreter frame -> previous; is_entry marks the outermost frame of an activation
 *   3.12         as 3.11, but a frame that C code owns (owner >= 3, no code) stands behind each activation
 *   3.13, 3.14   as 3.12, without cframe
 *
 * Sources: Include/cpython/ and Include/internal/ of CPython, by version (python_layouts.h says which files), and from 3.13 on
 * _Py_DebugOffsets, which the runtime publishes at the start of _PyRuntime. */
#pragma once

#include <linux/types.h>

enum {
  PYTHON_FRAME_BYTES = 128, /* read of a frame, at most: the largest offset plus 8, rounded up to a power of two */
  PYTHON_WINDOW = 512,      /* read at once, as frames are next to each other from 3.11 on; a power of two */
  PYTHON_CODE_BYTES = 256,  /* read of a code object, likewise */
  PYTHON_NO_FIELD = 0xffff,
};

/* Where an activation ends. */
enum {
  PYTHON_EACH_FRAME, /* behind each frame */
  PYTHON_ENTRY_FLAG, /* behind a frame whose byte at frame_owner is not 0 (is_entry) */
  PYTHON_SHIM,       /* at a frame whose byte at frame_owner is at least shim_owner, which is no call itself */
};

struct python_layout {
  __u16 version; /* 0x030b: 3.11 */
  __u8 boundary; /* PYTHON_EACH_FRAME, … */
  __u8 shim_owner;
  __u32 interpreters_head; /* in _PyRuntime: the first interpreter */
  __u32 interpreter_next;  /* in PyInterpreterState */
  __u32 threads_head;      /* in PyInterpreterState: the first thread state */
  __u16 thread_next;       /* in PyThreadState */
  __u16 thread_id;         /* pthread_self(), which is the thread pointer (fs base) */
  __u16 thread_frame;      /* the innermost frame, or the cframe */
  __u16 cframe_frame;      /* in _PyCFrame: current_frame; PYTHON_NO_FIELD: there is none */
  __u16 frame_bytes;       /* to be read of a frame, at most PYTHON_FRAME_BYTES */
  __u16 frame_previous;
  __u16 frame_code;
  __u16 frame_position; /* f_lasti (an int), or a pointer to an instruction */
  __u16 frame_owner;    /* a byte: see boundary */
  __u16 code_mask;      /* bits of frame_code that are a tag */
  __u8 position_is_pointer;
  __u8 position_shift; /* f_lasti << shift is in bytes of bytecode */
  __u16 code_bytes;    /* to be read of a code object, at most PYTHON_CODE_BYTES */
  __u16 code_size;     /* ob_size, or another word that differs between functions */
  __u16 code_first_line;
  __u16 code_file;
  __u16 code_name; /* co_qualname, or co_name before 3.11 */
  __u16 code_lines;
  __u16 code_instructions; /* where bytecode begins in the code object; only with position_is_pointer */
  __u16 text_length;       /* of a string: its length in characters */
  __u16 text_state;        /* kind, compact, ascii: bits (text_state_shift) */
  __u16 text_ascii;        /* characters of a string that is ASCII */
  __u16 text_compact;      /* characters of another compact string */
  __u16 bytes_size;        /* of a bytes object */
  __u16 bytes_data;
};

/* Of a walk: what was read last, and where the search for the thread goes on. */
struct python_memory {
  __u64 interpreter;
  __u64 window, window_bytes; /* what was read last around a frame: from where, how much */
  __u8 bytes[PYTHON_WINDOW] __attribute__((aligned(8)));
  __u8 code_bytes[PYTHON_CODE_BYTES] __attribute__((aligned(8)));
};
