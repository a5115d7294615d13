// Walks the frames of a thread in memory that does not change, by the steps that the walker in the kernel takes.
#include "runtime/python.h"

#include "spec/stack_entries.h"

#include <set>

namespace runtime {

// The memory of the walk that is under way on this thread: the steps are plain C, and know a macro only.
static thread_local const ReadMemory* memory = nullptr;

static int read_memory(void* to, uint64_t size, uint64_t from) {
  return !size || (*memory)(from, std::span(static_cast<std::byte*>(to), size)) ? 0 : 1;
}

} // namespace runtime

#define language_read(to, size, from) runtime::read_memory(to, size, from)
#include "runtime/python_walk.h"

namespace runtime {

// Frames that may lead in circles, as the memory may be damaged.
static constexpr uint32_t max_turns = 1 << 17;

static bool find_thread(const language_table& table, language_walk& walk) {
  if (python_search(&table, &walk)) return false;
  for (uint32_t turn = 0; turn < LANGUAGE_MAX_THREADS; turn++)
    if (python_search_turn(&table, &walk)) break;
  return walk.end == LANGUAGE_COMPLETE;
}

LanguageStack walk_python(const language_table& table, uint64_t thread_pointer, const ReadMemory& read) {
  memory = &read;
  LanguageStack out;
  language_walk walk = {};
  walk.thread_pointer = thread_pointer;
  std::set<std::pair<uint64_t, uint32_t>> described;
  if (find_thread(table, walk) && !python_begin(&table, &walk)) {
    for (uint32_t turn = 0;; turn++) {
      if (turn == max_turns) {
        walk.end = LANGUAGE_TOO_DEEP;
        break;
      }
      if (python_turn(&table, &walk)) break;
      if (!walk.code) continue;
      out.words.insert(out.words.end(), {spec::tagged_word(spec::FrameKind::python, language_entry(&walk)), walk.code});
      if (!described.emplace(walk.code, walk.check).second) continue;
      language_object& object = out.objects.emplace_back();
      object.address = walk.code;
      object.check = walk.check;
      std::memcpy(object.object, walk.python.code_bytes, PYTHON_CODE_BYTES);
      python_describe(&table.python, &walk, &object);
    }
  }
  out.end = walk.end;
  memory = nullptr;
  return out;
}

} // namespace runtime
