// The tasks of asyncio in a stopped program. asyncio keeps them in sets of its module (asyncio.tasks): up to 3.11 in _all_tasks, later in
// _scheduled_tasks and _eager_tasks. What a task does is told by its coroutine: the innermost value on the stack of a suspended coroutine
// is what it awaits, which may be a coroutine in turn.
//
// The structure of a task in C is private to _asyncio; in 3.8 to 3.13 it ends with the future that the task waits for, its coroutine, its name and
// its context, in this order (Modules/_asynciomodule.c, TaskObj). The context is recognised by its type, and the name before it by its own.
#include "runtime/python.h"
#include "runtime/python_objects.h"

#include <algorithm>
#include <set>

namespace runtime {

namespace {

constexpr size_t most_interpreters = 64, most_tasks = 1 << 20, most_coroutines = 1000, most_references = 64;
constexpr uint64_t largest_task = 512; // bytes
constexpr uint64_t most_reads = 1 << 28;

// ------------------------------------------------------------------------------------------ coroutines

enum class Execution : uint8_t { created, suspended, executing, finished };

class Coroutines {
public:
  explicit Coroutines(const PythonObjects& objects) : o_(objects), l_(objects.layout()) {}

  bool is_one(uint64_t object) const {
    using enum PythonGlobal;
    return o_.is_one_of(object, {coroutine_type, generator_type, async_generator_type});
  }
  // 0: it has none any more.
  uint64_t frame_of(uint64_t coroutine) const {
    return o_.is_since(0x030b) ? coroutine + l_.generator_frame : o_.word(coroutine + l_.generator_frame).value_or(0);
  }

  std::optional<Execution> execution_of(uint64_t coroutine) const {
    using enum Execution;
    if (o_.is_since(0x030b)) {
      const auto state = byte(coroutine + l_.generator_state);
      if (!state) return std::nullopt;
      const int first_suspended = o_.is_since(0x030d) ? -2 : -1;
      return *state < first_suspended ? created : *state < 0 ? suspended : *state == 0 ? executing : finished;
    }
    const auto frame = o_.word(coroutine + l_.generator_frame);
    if (!frame) return std::nullopt;
    if (!*frame) return finished;
    const auto state = byte(*frame + l_.frame_state);
    const auto last = o_.number(*frame + o_.walk_layout().frame_position, 4);
    if (!state || !last) return std::nullopt;
    if (o_.is_since(0x030a)) return *state < -1 ? created : *state < 0 ? suspended : *state == 0 ? executing : finished;
    return *state ? executing : static_cast<int32_t>(*last) < 0 ? created : suspended;
  }

  // What a suspended coroutine waits for; 0: nothing, or it is not known.
  uint64_t awaited_by(uint64_t coroutine) const {
    const uint64_t frame = frame_of(coroutine);
    if (!awaits(coroutine, frame)) return 0;
    if (!o_.is_since(0x030a)) {
      const auto top = o_.word(frame + l_.frame_stack_top);
      return top && *top ? o_.word(*top - 8).value_or(0) : 0;
    }
    const auto depth = o_.number(frame + l_.frame_stack_top, 4);
    const auto stack = o_.is_since(0x030b) ? std::optional(frame + l_.frame_variables) : o_.word(frame + l_.frame_stack);
    constexpr uint64_t deepest = 1 << 16;
    return depth && stack && *depth && *depth <= deepest ? o_.word(*stack + 8 * (*depth - 1)).value_or(0) : 0;
  }

private:
  std::optional<int> byte(uint64_t at) const {
    const auto value = o_.number(at, 1);
    return value ? std::optional(static_cast<int8_t>(*value)) : std::nullopt;
  }

  // Whether it is at an `await` or `yield from`, not at a `yield`. From 3.11 on the next instruction is RESUME, whose argument says so; before, it is
  // YIELD_FROM.
  bool awaits(uint64_t coroutine, uint64_t frame) const {
    constexpr uint64_t yield_from = 72, after_yield_from = 2, after_await = 3;
    const auto position = o_.word(frame + o_.walk_layout().frame_position);
    if (!position || execution_of(coroutine) != Execution::suspended) return false;
    if (o_.is_since(0x030d)) return byte(coroutine + l_.generator_state) == -1;
    if (o_.is_since(0x030b)) {
      const auto argument = o_.number(*position + 3, 1);
      return argument == after_yield_from || argument == after_await;
    }
    const auto code = o_.word(frame + o_.walk_layout().frame_code);
    const auto bytecode = code ? o_.word(*code + l_.code_bytecode) : std::nullopt;
    const uint64_t next = ((*position & 0xffffffff) << o_.walk_layout().position_shift) + 2;
    return bytecode && o_.number(*bytecode + o_.walk_layout().bytes_data + next, 1) == yield_from;
  }

  const PythonObjects& o_;
  const PythonObjectLayout& l_;
};

// --------------------------------------------------------------------------------------------- tasks

// What a task refers to; 0: nothing.
struct Parts {
  uint64_t coroutine = 0, future = 0, name = 0;
  std::vector<uint64_t> callbacks; // to be called when it is done
};

class Tasks {
public:
  Tasks(const StoppedRuntime& runtime, std::span<const LanguageStack> threads)
      : runtime_(runtime), threads_(threads), o_(runtime.objects, runtime.table.python, runtime.memory, most_reads), coroutines_(o_) {}

  AsyncTasks find() {
    uint64_t interpreter = o_.word(runtime_.table.root + runtime_.table.python.interpreters_head).value_or(0);
    out_.problem = interpreter ? "the module asyncio.tasks is not loaded" : "the list of interpreters could not be read";
    for (size_t i = 0; interpreter && i < most_interpreters; i++) {
      o_.forget_failure();
      const uint64_t modules = o_.word(interpreter + o_.layout().interpreter_modules).value_or(0);
      if (const uint64_t module = modules ? o_.item(modules, "asyncio.tasks") : 0)
        add_of_module(module);
      else if (o_.failed())
        out_.problem = "the list of modules could not be read";
      interpreter = o_.word(interpreter + runtime_.table.python.interpreter_next).value_or(0);
    }
    connect();
    for (auto& [key, object] : described_) out_.objects.push_back(object);
    return std::move(out_);
  }

private:
  void add_of_module(uint64_t module) {
    const uint64_t names = o_.word(module + python::module_dict).value_or(0);
    if (!names) return;
    out_.problem.clear();
    bool has_sets = false;
    for (const std::string_view name : {"_all_tasks", "_scheduled_tasks", "_eager_tasks"}) {
      const uint64_t set = o_.item(names, name);
      if (!set) continue;
      has_sets = true;
      const uint64_t data = o_.is_exactly(set, PythonGlobal::set_type) ? set : o_.attribute(set, "data");
      const bool is_weak = data != set;
      const bool is_complete = data && o_.each_of_set(data, [&](uint64_t item) {
        const uint64_t task = is_weak ? o_.word(item + python::weak_object).value_or(0) : item;
        if (!o_.is_none(task) && seen_.insert(task).second) add(task);
        return out_.all.size() < most_tasks;
      });
      if (!is_complete) out_.problem = "the set asyncio.tasks." + std::string(name) + " could not be read";
    }
    if (!has_sets) out_.problem = "asyncio.tasks has no set of tasks";
  }

  void add(uint64_t task) {
    const auto parts = parts_of(task);
    const auto execution = parts && coroutines_.is_one(parts->coroutine) ? coroutines_.execution_of(parts->coroutine) : std::nullopt;
    if (!parts || (!execution && coroutines_.is_one(parts->coroutine))) {
      out_.unreadable++;
      return;
    }
    if (execution == Execution::finished) return;
    AsyncTask one = {.address = task, .name = name_of(parts->name)};
    using enum AsyncTask::State;
    const bool is_waiting = parts->future && !o_.is_none(parts->future);
    one.state = execution == Execution::executing ? running : is_waiting ? waiting : execution == Execution::created ? created : ready;
    if (const auto* type = is_waiting ? o_.type_of(parts->future) : nullptr) one.waits_for = type->name;
    if (execution) one.words = one.state == running ? running_words(parts->coroutine) : suspended_words(parts->coroutine);
    if (one.state == waiting) waiting_for_[parts->future].push_back(out_.all.size());
    callbacks_.push_back(parts->callbacks);
    out_.all.push_back(std::move(one));
  }

  std::string name_of(uint64_t name) const {
    if (auto text = o_.utf8(name)) return *text;
    // From 3.13 on, a number until the name is asked for.
    const auto number = o_.number(name + python::long_digits, 4);
    return o_.is_exactly(name, PythonGlobal::long_type) && number ? "Task-" + std::to_string(*number) : std::string();
  }

  bool is_made_in_c(uint64_t task) const {
    const PythonObjects::Type* type = o_.type_of(task);
    for (unsigned depth = 0; type && depth < 32; depth++) {
      if (type->full_name == "_asyncio.Task") return true;
      type = type->base ? o_.type_at(type->base) : nullptr;
    }
    return false;
  }

  std::optional<Parts> parts_of(uint64_t task) const { return is_made_in_c(task) ? parts_in_c(task) : attributes_of(task); }

  std::optional<Parts> attributes_of(uint64_t task) const {
    Parts out = {.coroutine = o_.attribute(task, "_coro"), .future = o_.attribute(task, "_fut_waiter"), .name = o_.attribute(task, "_name")};
    if (!out.coroutine) return std::nullopt;
    if (const uint64_t callbacks = o_.attribute(task, "_callbacks")) add_callbacks(callbacks, out.callbacks);
    return out;
  }

  std::optional<Parts> parts_in_c(uint64_t task) const {
    const PythonObjects::Type* type = o_.type_of(task);
    const uint64_t end = std::min(type->size, largest_task);
    constexpr uint64_t first = 24; // behind the loop
    Parts out;
    for (uint64_t at = first; at + 24 <= end; at += 8) {
      const auto future = o_.word(task + at - 8), coroutine = o_.word(task + at), name = o_.word(task + at + 8), context = o_.word(task + at + 16);
      if (!future || !coroutine || !name || !context) return std::nullopt;
      if (*coroutine && is_callable(*coroutine)) out.callbacks.push_back(*coroutine);
      if (o_.is_exactly(*coroutine, PythonGlobal::list_type)) add_callbacks(*coroutine, out.callbacks);
      if (!*coroutine || !*context || !is_name(*name) || !is_context(*context)) continue;
      out.coroutine = *coroutine, out.future = *future, out.name = *name;
      return out;
    }
    return std::nullopt;
  }
  bool is_name(uint64_t object) const {
    return object && o_.is_one_of(object, {PythonGlobal::str_type, PythonGlobal::long_type});
  }
  bool is_context(uint64_t object) const {
    const PythonObjects::Type* type = o_.type_of(object);
    return type && (type->full_name == "_contextvars.Context" || type->full_name == "Context");
  }
  bool is_callable(uint64_t object) const {
    if (o_.is_one_of(object, {PythonGlobal::function_type, PythonGlobal::method_type})) return true;
    const PythonObjects::Type* type = o_.type_of(object);
    return type && type->full_name == "functools.partial";
  }
  // A list of pairs: what is called, and its context.
  void add_callbacks(uint64_t list, std::vector<uint64_t>& to) const {
    const PythonObjects::Type* type = o_.type_of(list);
    if (!type || !type->has(python::list_subclass)) return;
    o_.each_of_list(list, [&](uint64_t pair) {
      if (o_.is_exactly(pair, PythonGlobal::tuple_type))
        if (const auto called = o_.word(pair + python::tuple_items)) to.push_back(*called);
      return to.size() < most_references;
    });
  }

  // -------------------------------------------------------------------------------------- await chains

  // What wraps a coroutine or generator: `coro.__await__()`, steps of asynchronous generators.
  uint64_t unwrapped(uint64_t object) const {
    static constexpr std::string_view wrappers[] = {"coroutine_wrapper", "async_generator_asend", "async_generator_athrow", "anext_awaitable"};
    for (unsigned depth = 0; depth < 32; depth++) {
      const PythonObjects::Type* type = object ? o_.type_of(object) : nullptr;
      if (!type || std::ranges::find(wrappers, type->full_name) == std::end(wrappers)) break;
      object = o_.word(object + python::wrapped).value_or(0);
    }
    return object;
  }

  std::vector<uint64_t> suspended_words(uint64_t coroutine) {
    std::vector<uint64_t> frames; // outermost first
    std::set<uint64_t> inside;
    while (coroutine && coroutines_.is_one(coroutine) && frames.size() < most_coroutines && inside.insert(coroutine).second) {
      frames.push_back(coroutines_.frame_of(coroutine));
      coroutine = unwrapped(coroutines_.awaited_by(coroutine));
    }
    LanguageStack stack;
    for (size_t i = frames.size(); i--;)
      if (!add_python_frame(runtime_.table, frames[i], runtime_.memory.read, stack)) break;
    keep(stack.objects);
    return stack.words;
  }

  // Of the thread that runs it: from the innermost frame to that of the coroutine.
  std::vector<uint64_t> running_words(uint64_t coroutine) {
    const uint64_t frame = coroutines_.frame_of(coroutine);
    for (const LanguageStack& thread : threads_)
      if (const auto at = std::ranges::find(thread.frames, frame); at != thread.frames.end())
        return {thread.words.begin(), thread.words.begin() + 2 * (at - thread.frames.begin() + 1)};
    LanguageStack stack;
    add_python_frame(runtime_.table, frame, runtime_.memory.read, stack);
    keep(stack.objects);
    return stack.words;
  }

  void keep(const std::vector<language_object>& objects) {
    for (const language_object& object : objects) described_.try_emplace({object.address, object.check}, object);
  }

  // ------------------------------------------------------------------------------------ who awaits whom

  // What a callback may set when the task is done: what its function encloses (gather, shield, wait), arguments of a partial
  // (wait_for), the future of a TaskGroup.
  std::vector<uint64_t> references_of(uint64_t callback) const {
    std::vector<uint64_t> out;
    const auto add_all = [&](uint64_t tuple, bool are_cells) {
      if (!tuple || !o_.is_exactly(tuple, PythonGlobal::tuple_type)) return;
      o_.each_of_tuple(tuple, [&](uint64_t item) {
        out.push_back(are_cells ? o_.word(item + python::cell_value).value_or(0) : item);
        return out.size() < most_references;
      });
    };
    if (o_.is_exactly(callback, PythonGlobal::function_type)) {
      add_all(o_.word(callback + o_.layout().function_closure).value_or(0), true);
    } else if (o_.is_exactly(callback, PythonGlobal::method_type)) {
      const uint64_t self = o_.word(callback + python::method_self).value_or(0);
      out.push_back(self ? o_.attribute(self, "_on_completed_fut") : 0);
    } else if (const auto* type = o_.type_of(callback); type && type->full_name == "functools.partial") {
      add_all(o_.word(callback + python::partial_arguments).value_or(0), false);
    }
    return out;
  }

  void connect() {
    for (size_t i = 0; i < out_.all.size(); i++) {
      connect(i, out_.all[i].address);
      for (const uint64_t callback : callbacks_[i])
        for (const uint64_t future : references_of(callback)) connect(i, future);
    }
  }
  void connect(size_t task, uint64_t future) {
    const auto at = waiting_for_.find(future);
    if (at == waiting_for_.end()) return;
    std::vector<size_t>& waiters = out_.all[task].awaited_by;
    for (const size_t waiter : at->second) {
      if (waiter == task || std::ranges::find(waiters, waiter) != waiters.end()) continue;
      waiters.push_back(waiter);
      out_.all[waiter].awaits++;
    }
  }

  const StoppedRuntime& runtime_;
  std::span<const LanguageStack> threads_;
  PythonObjects o_;
  Coroutines coroutines_;
  AsyncTasks out_;
  std::set<uint64_t> seen_;
  std::map<uint64_t, std::vector<size_t>> waiting_for_; // tasks by the future, or task, that they wait for
  std::vector<std::vector<uint64_t>> callbacks_;        // of each task
  std::map<std::pair<uint64_t, uint32_t>, language_object> described_;
};

} // namespace

AsyncTasks python_tasks(const StoppedRuntime& runtime, std::span<const LanguageStack> threads) { return Tasks(runtime, threads).find(); }

} // namespace runtime
