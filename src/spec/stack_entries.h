// The entries of a walked stack, one after the other. What its words mean: stack_entry.h.
#pragma once

#include "spec/frame_kinds.h"
#include "spec/stack_ends.h"
#include "spec/stack_entry.h"

#include <cstdint>
#include <span>

namespace spec {

struct StackEntry {
  uint64_t address = 0; // of a tagged one its second word
  uint64_t number = 0;  // of a tagged one
  uint8_t tag = 0;      // 0: an address
};

// Takes the first entry of a stack that has one. What was cut between its words is lost with the second.
constexpr StackEntry take_entry(std::span<const uint64_t>& words) {
  const uint64_t word = words.front();
  words = words.subspan(1);
  const auto tag = static_cast<uint8_t>(word >> STACK_TAG_SHIFT);
  if (word >> STACK_MARK_SHIFT != STACK_TAGGED || !kind_with_tag(tag)) return {.address = word};
  StackEntry out = {.number = word & STACK_NUMBER_MASK, .tag = tag};
  if (words.empty()) return out;
  out.address = words.front();
  words = words.subspan(1);
  return out;
}

// The first word of a tagged entry.
constexpr uint64_t tagged_word(FrameKind kind, uint64_t number) {
  return STACK_TAGGED << STACK_MARK_SHIFT | uint64_t{row_of(kind).tag} << STACK_TAG_SHIFT | (number & STACK_NUMBER_MASK);
}

// Whether `address` is one of machine code: of a frame without a tag, or of an interpreter's.
constexpr bool has_code_address(const StackEntry& entry) { return !entry.tag || kind_with_tag(entry.tag)->layer == Layer::interpreter; }

constexpr bool is_stack_end(const StackEntry& entry) { return !entry.tag && is_stack_end(entry.address); }

// A user stack as its frames and why there are no more. Code without frame pointers leads astray: a return to nowhere is the
// end, too.
struct UserStack {
  std::span<const uint64_t> frames; // words
  uint64_t end = 0;                 // the word that tells; 0: none does
};
constexpr UserStack split_user_stack(std::span<const uint64_t> words) {
  std::span<const uint64_t> rest = words;
  while (!rest.empty()) {
    const size_t at = words.size() - rest.size();
    const StackEntry entry = take_entry(rest);
    if (!entry.tag && !entry.address) return {.frames = words.first(at)};
    if (rest.empty() && is_stack_end(entry)) return {.frames = words.first(at), .end = entry.address};
  }
  return {.frames = words};
}

} // namespace spec
