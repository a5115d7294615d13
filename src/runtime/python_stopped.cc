#include "runtime/python.h"

#include "runtime/stopped_walk.h"

#include "runtime/python_walk.h"

namespace runtime {

static bool find_thread(const language_table& table, language_walk& walk) {
  if (python_search(&table, &walk)) return false;
  for (uint32_t turn = 0; turn < LANGUAGE_MAX_THREADS; turn++)
    if (python_search_turn(&table, &walk)) break;
  return walk.end == LANGUAGE_COMPLETE;
}

LanguageStack walk_python(const language_table& table, const ThreadWalk& thread, const ReadMemory& read) {
  walked_memory = &read;
  language_walk walk = {};
  walk.thread_pointer = thread.thread_pointer;
  if (!find_thread(table, walk) || python_begin(&table, &walk)) return {.words = {}, .objects = {}, .end = walk.end};
  return walk_frames(
      spec::FrameKind::python, walk, [&] { return python_turn(&table, &walk); },
      [&](language_object& object) {
        std::memcpy(object.object, walk.python.code_bytes, PYTHON_CODE_BYTES);
        python_describe(&table.python, &walk, &object);
      });
}

} // namespace runtime
