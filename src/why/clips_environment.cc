#include "why/clips_environment.h"

#include "base/clock.h"
#include "base/rounded.h"
#include "base/text.h"

#include <array>
#include <cassert>
#include <cstdio>
#include <span>

extern "C" {
#include <clips/clips.h>
}

// CLIPS calls these to define functions. As they are here, the library's own do not come along, nor do sines and logarithms, which would load libm at each
// start of acu.
extern "C" void UserFunctions() {}
extern "C" void EnvUserFunctions(void*) {}
extern "C" void ExtendedMathFunctionDefinitions(void*) {}

namespace why {

namespace {

// Of one rule, one added fact or one file, which take microseconds; and of all rules together. CPU time: a host that stalls must not look like a loop.
constexpr uint64_t max_step_ns = 2'000'000'000, max_run_ns = 60'000'000'000;
constexpr int64_t max_memory = int64_t{256} << 20;
constexpr size_t max_mistakes = 20;
constexpr char source_name[] = "rules";

// What rules may call. Left out besides everything that reaches outside: format (overruns its buffer), div and mod (trap), eval, build and funcall (run what
// was not checked), and whatever gives another result each time.
constexpr auto allowed = std::to_array<std::string_view>({
    "+", "-", "*", "/", "<", "<=", ">", ">=", "=", "<>", "!=", "abs", "min", "max", "integer", "float",
    "eq", "neq", "and", "or", "not", "numberp", "integerp", "floatp", "symbolp", "stringp", "lexemep", "multifieldp",
    "str-cat", "sym-cat", "str-length", "str-index", "str-compare", "sub-string", "upcase", "lowcase",
    "if", "while", "loop-for-count", "progn", "progn$", "foreach", "bind", "return", "break", "switch",
    "create$", "expand$", "length$", "nth$", "member$", "first$", "rest$",
    "assert", "retract", "modify", "duplicate", "any-factp", "find-fact", "find-all-facts", "do-for-fact", "do-for-all-facts",
});
constexpr std::array<std::string_view, 4> kept_constructs = {"defrule", "deffunction", "deftemplate", "defglobal"};

// Three digits, without zeros at the end: "0.12", "7.5", "120", "4710".
std::string short_number(double n) {
  char text[64];
  const double size = n < 0 ? -n : n;
  if (size >= 1e15) {
    std::snprintf(text, sizeof text, "%.3g", n);
    return text;
  }
  std::snprintf(text, sizeof text, "%.*f", size < 1 ? 3 : size < 10 ? 2 : size < 100 ? 1 : 0, n);
  std::string out = text;
  if (out.find('.') == out.npos) return out;
  while (out.back() == '0') out.pop_back();
  if (out.back() == '.') out.pop_back();
  return out;
}

struct Unit {
  double size = 1;
  const char* name = "";
};

// In the largest unit that leaves a whole number before the point.
std::string with_unit(double n, std::span<const Unit> units) {
  const double size = n < 0 ? -n : n;
  for (const Unit& unit : units)
    if (size >= unit.size) return short_number(n / unit.size) + unit.name;
  return short_number(n / units.back().size) + units.back().name;
}

constexpr Unit durations[] = {{1e9, " s"}, {1e6, " ms"}, {1e3, " us"}, {1, " ns"}};
constexpr Unit sizes[] = {{1e12, " TB"}, {1e9, " GB"}, {1e6, " MB"}, {1e3, " kB"}, {1, " bytes"}};

std::string percent(double n) { return short_number(base::rounded(n * 1000) / 10.0) + "%"; }
std::string duration(double n) { return with_unit(n, durations); }
std::string bytes(double n) { return with_unit(n, sizes); }
std::string number(double n) { return short_number(n); }

template<std::string (*format)(double)>
void* formatted(void* environment) {
  return EnvAddSymbol(environment, format(EnvRtnDouble(environment, 1)).c_str());
}

template<std::string (*format)(double)>
void define(void* environment, const char* name) {
  EnvDefineFunction2(environment, name, 's', PTIEF formatted<format>, name, "11n");
}

// "[PRNTUTIL2] Syntax Error:  Check\nERROR:\n(defrule …" -> "Syntax Error: Check"
std::string first_sentence(std::string_view output) {
  output = output.substr(0, output.find("\nERROR:"));
  std::string out;
  for (std::string_view line : base::split(output, '\n')) {
    line = base::trim(line);
    if (line.starts_with('[') && !out.empty()) break; // the next message
    if (line.starts_with('[')) line = base::trim(line.substr(std::min(line.find(']') + 1, line.size())));
    if (line.empty()) continue;
    if (!out.empty()) out += ' ';
    out += line;
  }
  while (out.ends_with('.')) out.pop_back();
  base::replace_all(out, "  ", " ");
  return base::printable(out);
}

// CLIPS shows the construct up to the mistake; its end is where to look.
std::string end_of_construct(std::string_view output) {
  const size_t at = output.find("\nERROR:\n");
  if (at == output.npos) return {};
  std::string_view shown = base::trim(output.substr(at + 8));
  shown = base::trim(shown.substr(shown.find_last_of('\n') + 1));
  return base::printable(shown.substr(shown.size() - std::min<size_t>(shown.size(), 60)));
}

} // namespace

// What CLIPS calls; it hands on its environment, whose context is ours.
struct ClipsEnvironment::Callbacks {
  static ClipsEnvironment& own(void* environment) { return *static_cast<ClipsEnvironment*>(GetEnvironmentContext(environment)); }

  static std::string firing_rule(void* environment) {
    defrule* rule = EngineData(environment)->ExecutingRule;
    return rule ? EnvGetDefruleName(environment, rule) : "";
  }

  // What is printed, and what would be read from a terminal; texts are read through other names.
  static int takes(void*, const char* name) {
    constexpr std::array<std::string_view, 8> names = {STDOUT, STDIN, WERROR, WWARNING, WTRACE, WDIALOG, WDISPLAY, WPROMPT};
    return base::is_one_of(names, name);
  }
  static int print(void* environment, const char* name, const char* text) {
    ClipsEnvironment& self = own(environment);
    if (std::string_view(name) != WERROR) return 1;
    if (self.output_.empty()) {
      self.line_ = GetLineCount(environment);
      self.rule_ = firing_rule(environment);
    }
    self.output_ += text;
    return 1;
  }
  static int read(void*, const char*) { return EOF; }
  static int put_back(void*, int, const char*) { return EOF; }
  static int leave(void*, int) { return 0; }

  static void before_rule(void* environment, void*) { own(environment).step_end_ = 0; }

  // CLIPS calls it after each rule, each call of a function and each round of a loop.
  static void check(void* environment) {
    ClipsEnvironment& self = own(environment);
    if (EnvMemUsed(environment) <= max_memory && self.has_time()) return;
    SetHaltExecution(environment, TRUE);
    if (!self.exhausted_.empty()) return;
    self.exhausted_ = firing_rule(environment);
    if (self.exhausted_.empty()) self.exhausted_ = "a rule's conditions";
    self.line_ = GetLineCount(environment);
  }
};

ClipsEnvironment::ClipsEnvironment() : environment_(CreateEnvironment()) {
  SetEnvironmentContext(environment_, this);
  // Behind texts that are read (priority 0), which are asked for at each character.
  EnvAddRouter(environment_, "acu", -1, Callbacks::takes, Callbacks::print, Callbacks::read, Callbacks::put_back, Callbacks::leave);
  for (const char* router : {"terminal", "fileio", "wclips"}) EnvDeleteRouter(environment_, router);
  std::vector<std::string> removed;
  for (FunctionDefinition* f = GetFunctionList(environment_); f; f = f->next) {
    const std::string_view name = ValueToString(f->callFunctionName);
    const bool is_internal = name.starts_with('('); // rules cannot spell it
    if (!is_internal && !base::is_one_of(allowed, name)) removed.emplace_back(name);
  }
  for (const std::string& name : removed) UndefineFunction(environment_, name.c_str());
  removed.clear();
  for (construct* c = ConstructData(environment_)->ListOfConstructs; c; c = c->next)
    if (!base::is_one_of(kept_constructs, c->constructName)) removed.emplace_back(c->constructName);
  for (const std::string& name : removed) RemoveConstruct(environment_, name.c_str());
  define<percent>(environment_, "percent");
  define<duration>(environment_, "duration");
  define<bytes>(environment_, "bytes");
  define<number>(environment_, "number");
  EnvAddBeforeRunFunction(environment_, "acu", Callbacks::before_rule, 0);
  EnvAddPeriodicFunction(environment_, "acu", Callbacks::check, 0);
  EnvSetConserveMemory(environment_, TRUE);
  EnvReset(environment_);
}

ClipsEnvironment::~ClipsEnvironment() { DestroyEnvironment(environment_); }

// The clock is read at each 64th check, as that takes longer than most rules.
bool ClipsEnvironment::has_time() {
  if (++checks_ % 64) return true;
  const uint64_t now = base::clock_ns(CLOCK_THREAD_CPUTIME_ID);
  if (!step_end_) step_end_ = now + max_step_ns;
  if (!run_end_) run_end_ = now + max_run_ns;
  return now <= std::min(step_end_, run_end_);
}

void ClipsEnvironment::begin() {
  step_end_ = run_end_ = 0;
  exhausted_.clear();
  output_.clear();
  line_ = 0;
  SetHaltExecution(environment_, FALSE);
  SetEvaluationError(environment_, FALSE);
}

void ClipsEnvironment::end() {
  if (!exhausted_.empty()) output_ = exhausted_ + ": a computation without end";
  note_mistake();
}

void ClipsEnvironment::build(const std::string& construct) {
  begin();
  [[maybe_unused]] const bool is_built = EnvBuild(environment_, construct.c_str());
  assert(is_built);
  const size_t begin = construct.find(' ') + 1;
  if (construct.starts_with("(deftemplate ")) known_.templates.insert(construct.substr(begin, construct.find_first_of(" \n)", begin) - begin));
}

base::Status ClipsEnvironment::load(std::string_view text, std::string_view name) {
  ACU_CHECK(check_rule_text(text, name, known_));
  begin();
  const std::string ended(text);
  OpenStringSource(environment_, source_name, ended.c_str(), 0);
  const bool is_loaded = LoadConstructsFromLogicalName(environment_, source_name);
  CloseStringSource(environment_, source_name);
  const auto failure = [&](std::string why) {
    return base::Error{base::Failure::usage, std::string(name) + ":" + std::to_string(std::max<int64_t>(line_, 1)) + ": " + why};
  };
  if (!exhausted_.empty()) return failure("a computation without end");
  if (is_loaded && output_.empty()) return {};
  std::string why = first_sentence(output_);
  if (std::string near = end_of_construct(output_); !near.empty()) why += ", at " + base::quoted(near);
  return failure(why);
}

void ClipsEnvironment::note_mistake() {
  if (output_.empty()) return;
  if (rule_.empty()) { // a condition: CLIPS names its rule further down
    constexpr std::string_view mark = "in rule ";
    if (const size_t at = output_.find(mark); at != output_.npos) rule_ = base::trim(output_.substr(at + mark.size(), output_.find('\n', at) - at - mark.size()));
  }
  std::string mistake = rule_.empty() ? "" : "rule " + rule_ + ": ";
  mistake += first_sentence(output_);
  output_.clear();
  if (mistakes_.size() < max_mistakes && std::find(mistakes_.begin(), mistakes_.end(), mistake) == mistakes_.end()) mistakes_.push_back(std::move(mistake));
}

// A mistake of a rule stops CLIPS; the rules after it go on.
uint64_t ClipsEnvironment::run(uint64_t most) {
  uint64_t fired = 0;
  while (fired < most && exhausted_.empty() && EnvGetNextActivation(environment_, nullptr)) {
    SetHaltExecution(environment_, FALSE);
    SetEvaluationError(environment_, FALSE);
    const int64_t n = EnvRun(environment_, static_cast<int64_t>(most - fired));
    note_mistake();
    if (n <= 0) break;
    fired += static_cast<uint64_t>(n);
  }
  return fired;
}

std::string ClipsEnvironment::next_rule() const {
  void* next = EnvGetNextActivation(environment_, nullptr);
  return next ? EnvGetActivationName(environment_, next) : "";
}

std::vector<std::string> ClipsEnvironment::take_mistakes() {
  note_mistake();
  return std::exchange(mistakes_, {});
}

} // namespace why
