#include "runtime/python.h"

#include "runtime/python_text.h"
#include "runtime/python_variables.h"
#include "runtime/stopped_walk.h"

#include "runtime/python_walk.h"

namespace runtime {

static bool find_thread(const language_table& table, language_walk& walk) {
  if (python_search(&table, &walk)) return false;
  for (uint32_t turn = 0; turn < LANGUAGE_MAX_THREADS; turn++)
    if (python_search_turn(&table, &walk)) break;
  return walk.end == LANGUAGE_COMPLETE;
}

static void describe(const language_table& table, const language_walk& walk, language_object& object) {
  std::memcpy(object.object, walk.python.code_bytes, PYTHON_CODE_BYTES);
  python_describe(&table.python, &walk, &object);
}

LanguageStack walk_python(const language_table& table, const ThreadWalk& thread, const ReadMemory& read) {
  walked_memory = &read;
  language_walk walk = {};
  walk.thread_pointer = thread.thread_pointer;
  if (!find_thread(table, walk) || python_begin(&table, &walk)) return {.words = {}, .objects = {}, .end = walk.end};
  return walk_frames(
      spec::FrameKind::python, walk, [&] { return python_turn(&table, &walk); },
      [&](language_object& object) { describe(table, walk, object); });
}

bool add_python_frame(const language_table& table, uint64_t frame, const ReadMemory& read, LanguageStack& to) {
  walked_memory = &read;
  language_walk walk = {};
  walk.frame = frame;
  walk.opens = to.words.empty();
  if (python_turn(&table, &walk) || !walk.code) return false;
  to.words.insert(to.words.end(), {spec::tagged_word(spec::FrameKind::python, language_entry(&walk)), walk.code});
  to.frames.push_back(frame);
  language_object object = {};
  object.address = walk.code;
  object.check = walk.check;
  describe(table, walk, object);
  to.objects.push_back(object);
  return true;
}

std::vector<Variable> python_variables(const StoppedRuntime& runtime, uint64_t frame, const TextLimits& limits) {
  const PythonObjects objects(runtime.objects, runtime.table.python, runtime.memory);
  std::vector<Variable> out;
  for (const PythonVariable& v : variables_of_python(objects, frame)) {
    const bool is_set = v.value || v.failed;
    const std::string text = v.failed ? text_of_failure(objects, v.failed) : is_set ? text_of_object(objects, v.value, limits) : "<no value>";
    out.push_back({v.name, text, v.is_argument, is_set});
  }
  return out;
}

} // namespace runtime
