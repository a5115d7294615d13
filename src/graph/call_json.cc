#include "graph/call_json.h"

#include "report/json.h"

#include <cstdio>

namespace graph {

namespace {

std::string quoted(std::string_view text) {
  std::string out;
  report::append_json(out, text);
  return out;
}

std::string in_us(uint64_t ns) {
  char out[40];
  std::snprintf(out, sizeof out, "%llu.%03u", static_cast<unsigned long long>(ns / 1000),
                static_cast<unsigned>(ns % 1000));
  return out;
}

std::string_view name_of(Ended how) {
  switch (how) {
  case Ended::returned: return {};
  case Ended::unknown: return "its return is not probed";
  case Ended::left: return "did not return, or its return was lost";
  case Ended::by_exception: return "left by an exception";
  case Ended::by_jump: return "left by longjmp";
  case Ended::by_exec: return "exec";
  case Ended::by_exit: return "its thread ended";
  case Ended::by_end:
  case Ended::open: return "has not returned yet";
  }
  return {};
}

} // namespace

void CallJson::add(const std::string& event) {
  sink_.out(std::string(is_begun_ ? ",\n" : "{\"traceEvents\": [\n") + event);
  is_begun_ = true;
}

void CallJson::introduce(const CallThread& thread) {
  auto name = [&](const char* what, const std::string& text) {
    add("{\"name\": \"" + std::string(what) + "\", \"ph\": \"M\", \"pid\": " + std::to_string(thread.pid) +
        ", \"tid\": " + std::to_string(thread.tid) + ", \"args\": {\"name\": " + quoted(text) + "}}");
  };
  if (processes_.insert(thread.pid).second) name("process_name", thread.name);
  std::string& known = threads_[thread.tid];
  if (known == thread.name) return;
  known = thread.name;
  name("thread_name", thread.name);
}

void CallJson::end(const CallThread& thread, const Call& call, size_t) {
  if (!call.is_begun) return;
  introduce(thread);
  std::string args;
  auto add_argument = [&](std::string_view name, const std::string& value) {
    args += (args.empty() ? "" : ", ") + quoted(name) + ": " + value;
  };
  if (!call.arguments.empty()) add_argument("arguments", quoted(call.arguments));
  if (!call.result.empty()) add_argument("result", quoted(call.result));
  if (call.has_duration()) {
    add_argument("self_us", in_us(call.self_ns()));
    add_argument("waited_us", in_us(call.off.waited));
    add_argument("preempted_us", in_us(call.off.preempted));
  }
  if (call.forked_from) add_argument("forked_from", std::to_string(call.forked_from));
  if (!name_of(call.ended).empty()) add_argument("ended", quoted(name_of(call.ended)));
  add("{\"name\": " + quoted(call.function->name) + ", \"cat\": \"" +
      (call.function->is_kernel ? "kernel" : "user") + "\", \"ph\": \"X\", \"ts\": " + in_us(call.start_ns) +
      ", \"dur\": " + in_us(call.duration()) + ", \"pid\": " + std::to_string(thread.pid) +
      ", \"tid\": " + std::to_string(thread.tid) + ", \"args\": {" + args + "}}");
}

void CallJson::finish(uint64_t lost) {
  if (!is_begun_) sink_.out("{\"traceEvents\": [");
  sink_.out("\n], \"displayTimeUnit\": \"ns\", \"otherData\": {\"lost\": " + std::to_string(lost) + "}}\n");
}

} // namespace graph
