// A stopped program that tests make up: areas of memory, threads by their registers, a heap of glibc's malloc chunk by chunk.
#pragma once

#include "target/areas.h"
#include "target/heap.h"
#include "target/target.h"

#include <cstring>
#include <deque>

namespace target {

class FakeTarget : public Target {
public:
  Memory& memory() override { return memory_; }
  const std::vector<Module>& modules() const override { return modules_; }
  const std::vector<Thread>& threads() const override { return threads_; }
  uint32_t pid() const override { return 17; }
  std::string_view name() const override { return name_; }
  std::string_view arguments() const override { return arguments_; }
  const Fault* fault() const override { return fault_ ? &*fault_ : nullptr; }
  const std::vector<std::string>& problems() const override { return problems_; }
  std::string_view title() const override { return "process 17"; }
  std::vector<Window> writable() const override { return memory_.areas(); }
  bool is_code(uint64_t address) const override { return address >= code_ && address < code_ + 0x1000; }

  // Words that can be written and read from this address on.
  void add(uint64_t address, std::vector<uint64_t> words) {
    const std::vector<uint64_t>& kept = contents_.emplace_back(std::move(words));
    memory_.add({address, kept.size() * 8, reinterpret_cast<const std::byte*>(kept.data()), Missing::none});
    memory_.sort();
  }
  // Memory that is not there, for a reason.
  void add_missing(uint64_t address, uint64_t size, Missing why) {
    memory_.add({address, size, nullptr, why});
    memory_.sort();
  }
  void add_thread(uint32_t id, uint64_t stack_pointer, std::string name = "app") {
    Thread t{.id = id, .name = std::move(name)};
    t.registers[register_sp] = stack_pointer;
    threads_.push_back(t);
  }
  static constexpr size_t register_ip = spec::x86_64.word_of("ip");
  std::string name_ = "app", arguments_;
  std::optional<Fault> fault_;
  uint64_t code_ = 0x10000; // a page of code in no file
  std::vector<Thread> threads_;
  std::vector<Module> modules_;
  std::vector<std::string> problems_;

private:
  AreaMemory memory_;
  std::deque<std::vector<uint64_t>> contents_;
};

// The main heap: a thread's cache, chunks one behind the other, and at last what is not given out.
class HeapBuilder {
public:
  static constexpr uint64_t header = 16, cache_size = 0x290, in_use_before = 1;
  explicit HeapBuilder(uint64_t begin = 0x100000) : begin_(begin) {
    start_chunk(cache_size);
    words_.resize(cache_size / 8);
  }
  uint64_t begin() const { return begin_; }
  // A block with these words at its start; `size`: bytes that may be used, 8 more than a multiple of 16. Its address.
  uint64_t used(uint64_t size, std::vector<uint64_t> words = {}) {
    const uint64_t at = start_chunk(size + 8);
    words_.resize((at - begin_) / 8 + (size + 8) / 8);
    std::copy(words.begin(), words.end(), words_.begin() + static_cast<ptrdiff_t>((at + header - begin_) / 8));
    return at + header;
  }
  // A free block, in a list alone.
  uint64_t freed(uint64_t size) {
    const uint64_t at = used(size) - header;
    word(at + 16) = word(at + 24) = at;
    free_size_ = size + 8;
    return at + header;
  }
  // Free in the cache of a thread: it counts as used for malloc. Links are hidden since glibc 2.32.
  void cache(uint64_t address, uint64_t size) {
    const uint64_t list = (size + 8) / 16 - 2, cached = begin_ + header;
    uint64_t& head = word(cached + 128 + 8 * list);
    word(address) = head ^ address >> 12;
    head = address;
    auto* counts = reinterpret_cast<uint16_t*>(&word(cached));
    counts[list]++;
  }
  uint64_t& word(uint64_t address) { return words_[(address - begin_) / 8]; }
  // With `rest` bytes at the end.
  std::vector<uint64_t> finish(uint64_t rest = 0x1000) {
    start_chunk(rest);
    words_.resize(words_.size() + rest / 8 - 2);
    return words_;
  }

private:
  // Its header; of one behind a free one also the size of that.
  uint64_t start_chunk(uint64_t size) {
    const uint64_t at = begin_ + words_.size() * 8;
    words_.push_back(free_size_);
    words_.push_back(size | (free_size_ ? 0 : in_use_before));
    free_size_ = 0;
    return at;
  }
  uint64_t begin_, free_size_ = 0;
  std::vector<uint64_t> words_;
};

} // namespace target
