// The members of C++ standard library objects that views.h reads: one table per kind of object, with one row per library.
//
// A path names members of members ("_M_impl._M_start"); base classes and anonymous members need no name, and a
// "__compressed_pair" stands for its first element. Alternatives ("__pair3_|__size_") are the names in several versions.
// Offsets are in bytes, those of nodes on 64-bit systems.
//
// libstdc++ since GCC 5: bits/stl_vector.h, basic_string.h, stl_tree.h, hashtable.h, stl_list.h, stl_deque.h,
// shared_ptr_base.h, std_function.h; std/variant, optional, span.
// libc++ 14 to 22 in its stable ABI: <vector>, <string>, __tree, __hash_table, <list>, <deque>, <variant>, … Version 20
// replaced the members that were a "__compressed_pair".
#pragma once

#include <cstdint>
#include <string_view>

namespace report {

using Path = std::string_view;

// Contiguous elements between two pointers.
struct RangeLayout {
  Path first, last;
};
inline constexpr RangeLayout vectors[] = {
    {.first = "_M_impl._M_start", .last = "_M_impl._M_finish"},
    {.first = "__begin_", .last = "__end_"},
};

// vector<bool>: bits from the lowest of the first byte, up to the bit `offset` of the word at `last`, or `count` of them.
struct BitsLayout {
  Path first, last = {}, offset = {}, count = {};
};
inline constexpr BitsLayout bit_vectors[] = {
    {.first = "_M_impl._M_start._M_p", .last = "_M_impl._M_finish._M_p", .offset = "_M_impl._M_finish._M_offset"},
    {.first = "__begin_", .count = "__size_"},
};

// Contiguous elements by a pointer and a count.
struct SpanLayout {
  Path data, length;
};
inline constexpr SpanLayout string_views[] = {
    {.data = "_M_str", .length = "_M_len"},
    {.data = "__data_|__data", .length = "__size_|__size"},
};
inline constexpr SpanLayout spans[] = { // of fixed extent: without a length
    {.data = "_M_ptr", .length = "_M_extent._M_extent_value"},
    {.data = "__data_|__data", .length = "__size_|__size"},
};

// libc++ keeps short texts within the object, at `small`: then the lowest bit of the first byte is 0, and the other bits are the
// length. In its alternate layout the text comes first, and the highest bit of the last byte is 0.
struct StringLayout {
  Path data, length, small = {};
};
inline constexpr StringLayout strings[] = {
    {.data = "_M_dataplus._M_p", .length = "_M_string_length"},
    {.data = "__r_|__rep_.__l.__data_", .length = "__r_|__rep_.__l.__size_", .small = "__r_|__rep_.__s.__data_"},
};

// Linked nodes: the address of the next one is at `link`, the element at `value`, rounded up to its alignment. Without a
// count the last link is null.
struct ChainLayout {
  Path first, count;
  uint64_t link, value;
};
inline constexpr ChainLayout lists[] = {
    {.first = "_M_impl._M_node._M_next", .count = "_M_impl._M_node._M_size", .link = 0, .value = 16},
    {.first = "__end_.__next_", .count = "__size_alloc_|__size_", .link = 8, .value = 16},
};
inline constexpr ChainLayout forward_lists[] = {
    {.first = "_M_impl._M_head._M_next", .count = {}, .link = 0, .value = 8},
    {.first = "__before_begin_.__next_", .count = {}, .link = 0, .value = 8},
};
inline constexpr ChainLayout hash_tables[] = {
    {.first = "_M_h._M_before_begin._M_nxt", .count = "_M_h._M_element_count", .link = 0, .value = 8},
    {.first = "__table_.__p1_|__first_node_.__next_", .count = "__table_.__p2_|__size_", .link = 0, .value = 16}, // behind its hash
};

// Search trees; `first` is the leftmost node.
struct TreeLayout {
  Path first, count;
  uint64_t left, right, parent, value;
};
inline constexpr TreeLayout trees[] = {
    {.first = "_M_t._M_impl._M_header._M_left", .count = "_M_t._M_impl._M_node_count", .left = 16, .right = 24, .parent = 8, .value = 32},
    {.first = "__tree_.__begin_node_", .count = "__tree_.__pair3_|__size_", .left = 0, .right = 8, .parent = 16, .value = 25}, // behind its colour
};

// An array of pointers to blocks, each with the same number of elements. libstdc++ has iterators for both ends (`first` is an element in
// the block that starts at `block_begin`, `block` its entry in the array), libc++ the index of the first element and a count.
struct DequeLayout {
  Path first, block, block_begin, last, last_block, last_begin;
};
inline constexpr DequeLayout iterated_deque = {
    .first = "_M_impl._M_start._M_cur",
    .block = "_M_impl._M_start._M_node",
    .block_begin = "_M_impl._M_start._M_first",
    .last = "_M_impl._M_finish._M_cur",
    .last_block = "_M_impl._M_finish._M_node",
    .last_begin = "_M_impl._M_finish._M_first",
};
struct IndexedDequeLayout {
  Path blocks, blocks_end, start, count;
};
inline constexpr IndexedDequeLayout indexed_deque = {.blocks = "__map_.__begin_", .blocks_end = "__map_.__end_", .start = "__start_", .count = "__size_"};

// A pointer, and the address of the counts: behind the virtual table the number of owners, less `not_counted`.
struct SharedLayout {
  Path pointer, counts;
  uint32_t count_size, not_counted;
};
inline constexpr SharedLayout shared_pointers[] = {
    {.pointer = "_M_ptr", .counts = "_M_refcount._M_pi", .count_size = 4, .not_counted = 0},
    {.pointer = "__ptr_", .counts = "__cntrl_", .count_size = 8, .not_counted = 1},
};

// An object at the start of `storage` (empty: of the whole), which `state` describes: whether there is one, or the number of its type.
struct ChoiceLayout {
  Path state, storage;
};
inline constexpr ChoiceLayout optionals[] = {
    {.state = "_M_payload._M_engaged", .storage = "_M_payload"},
    {.state = "__engaged_", .storage = {}},
};
inline constexpr ChoiceLayout variants[] = {
    {.state = "_M_index", .storage = "_M_u"},
    {.state = "__impl_|__impl.__index", .storage = "__impl_|__impl.__data"},
};

// std::function: empty if `filled` is null. The type of the function object is in the name of a symbol, as the `argument`-th argument
// of the template `holder`: of the function at `call`, or without `target` of the virtual table of the object there. A
// pointer to a function is at `target`, or behind the virtual table.
struct FunctionLayout {
  Path filled, call, target = {};
  std::string_view holder;
  int argument;
};
inline constexpr FunctionLayout functions[] = {
    {.filled = "_M_manager", .call = "_M_invoker", .target = "_M_functor", .holder = "_Function_handler<", .argument = 1},
    {.filled = "__f_.__f_", .call = "__f_.__f_", .holder = "__func<", .argument = 0},
};

// Members that are shown in place of their object.
inline constexpr Path arrays[] = {"_M_elems", "__elems_"};
inline constexpr Path numbers[] = {"_M_i", "_M_base._M_i", "_M_b._M_p", "_M_fp", "__r", "__a_.__a_value", "__rep_"}; // atomics, durations
inline constexpr Path references[] = {"_M_data", "__f_"};
inline constexpr Path unique_pointers[] = {"_M_t._M_t", "_M_t", "__ptr_"}; // a pointer, or a tuple that begins with one

} // namespace report
