// Any bytes as a core dump that is looked at: its memory, modules, threads, stacks and heap, and all that `acu core` tells of them.
#include "format/core_file.h"
#include "probe/stopped_program.h"
#include "heap/report.h"
#include "snapshot/summary.h"
#include "target/core_target.h"
#include "target/heap.h"
#include "target/reach.h"

#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  base::ByteSpan bytes(reinterpret_cast<const std::byte*>(data), size);
  auto core = format::CoreFile::view(bytes);
  if (!core.ok()) return 0;
  std::unique_ptr<target::Target> target = target::make_core(std::move(*core), "core", {});
  const target::Heap heap = target::find_heap(*target);
  uint64_t end = 0;
  for (const target::Chunk& c : heap.chunks) {
    if (c.address < end) std::abort(); // in order, and none in another
    end = c.address + 1;
  }
  const target::Reach reach = target::find_reach(*target, heap);
  for (uint32_t i : reach.order) {
    const uint32_t holder = reach.steps[i].holder;
    if (holder != target::Reach::root && holder >= heap.chunks.size()) std::abort();
  }
  uint64_t lost = 0, leaks = 0;
  for (const target::Lost& l : target::find_lost(*target, heap, reach)) lost += l.chunks;
  for (size_t i = 0; i < heap.chunks.size(); i++) leaks += reach.is_leak(heap, i);
  if (lost != leaks) std::abort(); // each is lost with one
  target::Stacks stacks(*target, 64);
  probe::StoppedProgram stopped(*target, stacks);
  if (snapshot::summarize(stopped, {.with_heap = true}).empty() || snapshot::summarize(stopped, {.json = true, .with_heap = true}).empty()) std::abort();
  for (const char* question : {"heap", "leaks"})
    for (const char* verb : {"count", "list", "summarize", "explain"}) {
      const std::vector<std::string> words = {question, verb};
      for (bool json : {false, true})
        if (!heap::answer_heap(*target, stacks, words, json).ok()) std::abort();
    }
  const uint64_t somewhere = heap.chunks.empty() ? 0x1000 : heap.chunks.back().address;
  char address[24];
  std::snprintf(address, sizeof address, "0x%llx", static_cast<unsigned long long>(somewhere));
  const std::vector<std::string> words = {"refs", address, "explain"};
  if (!heap::answer_heap(*target, stacks, words, false).ok()) std::abort();
  return 0;
}
