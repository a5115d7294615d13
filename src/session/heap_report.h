// The heap of a program that stands still, as text or JSON: what is used and free, what nothing leads to, who
// points to something, where a text stands.
#pragma once

#include "base/result.h"
#include "target/stacks.h"
#include "target/target.h"

#include <span>
#include <string>
#include <string_view>

namespace session {

// Whether a word is one of heap, leaks, refs, find.
bool is_heap_question(std::string_view word);

// `words`: the question and what it is about ("refs", "0x7f…").
base::Result<std::string> answer_heap(target::Target& target, target::Stacks& stacks,
                                      std::span<const std::string> words, bool json);

} // namespace session
