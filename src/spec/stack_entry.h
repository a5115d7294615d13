/* What the words of a walked stack mean, from the walkers in the kernel (bpf/lib/) to whoever names its frames. Plain C;
 * for C++ stack_entries.h reads them.
 *
 * A stack is a list of entries, the innermost frame first. An entry is
 *
 *   one word: an address        of user code in a user stack, of the kernel's in a kernel stack
 *   two words: tagged           a frame that is no address, as that of an interpreter:
 *     0xac | tag | 48 bits        the kind's tag (spec/frame_kinds.h) and a number, such as how far an instruction is in its function
 *     64 bits                     another number, such as the address of the function; any value
 *   one word: STACK_END plus a number   at the end of a user stack that does not reach its outermost frame: why
 *                                       (spec/stack_ends.h)
 *
 * No code has an address that begins with 0xac, on no architecture: of addresses the highest 7 bits or more are equal. But a
 * damaged stack may hold any number for a return address, so a word that begins so is an entry of two only if a kind has
 * the tag. The last 256 addresses are no code's either. */
#pragma once

#define STACK_TAGGED 0xacull
#define STACK_MARK_SHIFT 56
#define STACK_TAG_SHIFT 48
#define STACK_NUMBER_MASK 0xffffffffffffull

/* Tags of kinds that walkers in the kernel know. */
#define LANGUAGE_TAG_PYTHON 1ull
#define LANGUAGE_TAG_PHP 2ull
#define LANGUAGE_TAG_PERL 3ull
#define LANGUAGE_TAG_LUA 4ull
/* Machine code of an interpreter, hidden where functions of the language are shown. The second word is its address. */
#define INTERPRETER_TAG 5ull
#define LANGUAGE_TAG_RUBY 6ull
/* Among native frames: compiled functions are machine code. */
#define LANGUAGE_TAG_JAVA 10ull
#define LANGUAGE_TAG_NODE 11ull

#define STACK_END 0xffffffffffffff00ull
