/* Where a HotSpot JVM keeps its code, and the fields that lead from a program counter to the Java method it belongs to, in bytes. Plain C: tables
 * of processes hold one (runtime/language.h).
 *
 *   pc -> heap -> segment map -> block -> CodeBlob: frame size; of compiled methods (nmethod) also the Method and the debug information
 *   rbp of a frame of the interpreter -> Method, bytecode pointer
 *   Method -> ConstMethod -> ConstantPool -> Symbol: names and lines
 *
 * The JVM publishes all of these offsets in its own tables (gHotSpotVMStructs, gHotSpotVMTypes; hotspot_structs.h), which are filled when the
 * library is loaded. Slots of interpreted frames are not published: frame_x86.hpp, the same from JDK 9 to 25.
 *
 * Sources: src/hotspot/share/runtime/vmStructs.cpp, code/codeBlob.hpp, code/nmethod.hpp, memory/heap.hpp; cpu/x86/frame_x86.hpp of OpenJDK. */
#pragma once

#include <linux/types.h>

enum {
  HOTSPOT_HEAPS = 3,       /* CodeHeap: one, or three with -XX:+SegmentedCodeCache */
  HOTSPOT_MAX_HOPS = 128,  /* in the segment map, from a segment back to the begin of its block */
  HOTSPOT_BLOB_BYTES = 512,   /* read of a CodeBlob, at most; a power of two */
  HOTSPOT_HEADER_BYTES = 128, /* read of one that is shorter than that, likewise */
  HOTSPOT_CONST_BYTES = 64,   /* read of a ConstMethod, likewise */
  HOTSPOT_SLOT_BYTES = 128,   /* read of an interpreted frame, likewise */
  HOTSPOT_TEXT_BYTES = 16,    /* of code, around pc */
  HOTSPOT_FREE_SEGMENT = 0xff,
  HOTSPOT_MAX_FRAME = 1 << 20,
  HOTSPOT_NO_POSITION = 0xffffff, /* no bytecode: native methods */
};

/* Bytes of language_object::object. */
enum { HOTSPOT_OBJECT_IS_BLOB, HOTSPOT_OBJECT_HAS_NAME };

/* Slots of interpreted frames, from rbp. */
enum { HOTSPOT_SLOT_BCP = -64, HOTSPOT_SLOT_METHOD = -24, HOTSPOT_SLOT_SENDER_SP = -8, HOTSPOT_SLOT_RBP = 0, HOTSPOT_SLOT_RETURN = 8 };

struct hotspot_heap {
  __u64 begin, end; /* that may be used, not only what is */
  __u64 segments;   /* the segment map: a byte for each segment */
};

struct hotspot_layout {
  __u64 begin, end;                         /* of all heaps together */
  __u64 interpreter_begin, interpreter_end; /* code of the interpreter, within */
  __u64 call_stub;                          /* where Java code returns to C++ */
  struct hotspot_heap heaps[HOTSPOT_HEAPS];
  __s32 types_distance, constants_distance; /* from `root` of the table, gHotSpotVMStructs, to the other tables of the JVM */
  __u16 version;       /* the feature release: 17 */
  __u16 segment_shift; /* log2 of the bytes of a segment */
  __u16 block_header;  /* bytes before each blob */
  __u16 blob_name;     /* in CodeBlob, as those that follow */
  __u16 blob_size, blob_header_size;
  __u16 blob_frame_complete; /* offset in the code from which on the frame is complete */
  __u16 blob_frame_size;     /* in words */
  __u16 has_offsets;         /* release 25: places in a blob are 4-byte offsets from its begin, and debug information is not in it */
  __u16 blob_code_begin, blob_code_end;
  __u16 blob_relocation_size, blob_mutable, blob_mutable_size;   /* if has_offsets: metadata is behind relocations */
  __u16 compiled_bytes; /* size of an nmethod's header, which tells it from other blobs */
  __u16 compiled_method, compiled_scopes, compiled_deopt, compiled_deopt_call; /* in nmethod, as those that follow */
  __u16 compiled_original_pc; /* offset in the frame */
  __u16 compiled_id;
  __u16 compiled_metadata, compiled_descriptors, compiled_descriptors_end; /* offsets from the blob, or from: */
  __u16 compiled_immutable, compiled_immutable_size;                       /* if has_offsets */
  __u16 method_const, method_flags, method_hidden; /* in Method; the last is a bit of its flags */
  __u16 const_bytes;                               /* size of a ConstMethod: its bytecode follows */
  __u16 const_pool, const_size, const_flags, const_code_size, const_name, const_signature; /* in ConstMethod; its size is in words */
  __u16 const_has_lines, const_hidden;             /* bits of its flags */
  __u16 pool_bytes;                                /* size of a ConstantPool: its entries follow */
  __u16 pool_holder, pool_file;                    /* in ConstantPool; pool_file: 0 if the class has it */
  __u16 class_file;                                /* in InstanceKlass, if the class has it */
  __u16 class_name;                                /* in Klass */
  __u16 symbol_length, symbol_body;
};

/* Of a walk: the frame that is looked at, and what was read last. */
struct hotspot_memory {
  __u64 pc, sp, bp, r13;
  __u32 is_exact;       /* pc is where the code was interrupted; r13 is known */
  __u32 is_known;       /* the blob was found */
  __u64 heap, segments; /* begin of the heap and of its segment map */
  __u64 segment;
  __u64 blob;
  __u64 next_pc, next_sp, next_bp; /* of the caller; next_pc 0: not found */
  __u64 method, constants;         /* that were read last; 0: none */
  __u32 is_compiled;
  __u32 reserved;
  __u8 hop;
  __u8 text[HOTSPOT_TEXT_BYTES] __attribute__((aligned(8)));
  __u8 slots[HOTSPOT_SLOT_BYTES] __attribute__((aligned(8)));
  __u8 const_bytes[HOTSPOT_CONST_BYTES] __attribute__((aligned(8)));
  __u8 blob_bytes[HOTSPOT_BLOB_BYTES] __attribute__((aligned(8)));
};
