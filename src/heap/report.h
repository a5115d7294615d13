// The heap of a stopped program, as text or JSON: used, free and unreachable blocks, what
// points to an address, and where a text is. Each question has four verbs:
//
//   count      how many, and how many bytes
//   list       each of them, one a line
//   summarize  how they fall into groups: sizes, types, places
//   explain    why they are there: who holds them, or for what is lost what hangs on it
#pragma once

#include "base/result.h"
#include "target/stacks.h"
#include "target/target.h"

#include <span>
#include <string>
#include <string_view>

namespace heap {

// Whether a word is one of heap, leaks, refs, find.
bool is_heap_question(std::string_view word);

// `words`: the question, what it is about ("refs", "0x7f…"), and the verb; without one `heap` and `leaks` are
// summarized, `refs` and `find` listed.
base::Result<std::string> answer_heap(target::Target& target, target::Stacks& stacks,
                                      std::span<const std::string> words, bool json);

// Of a summary: one line of text, and one more where the heap is damaged; or a JSON object. Empty: there is
// no heap.
std::string heap_totals(target::Target& target, bool json);

// Who holds the memory, as a flame graph of bytes: variables and stacks, and above them the chunks that they
// lead to by the shortest way (target/reach.h). Chunks of one kind in a row, such as those of a list, are one
// frame. `words`: must be the question `heap` alone.
base::Status write_holders(target::Target& target, target::Stacks& stacks, std::span<const std::string> words,
                           const std::string& path);

} // namespace heap
