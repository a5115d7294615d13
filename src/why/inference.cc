// Facts in, conclusions out: templates from the table of facts, facts through CLIPS' functions (texts of other programs are never parsed), and conclusions
// read from the templates of rules/language.clp.
#include "why/inference.h"

#include "base/text.h"
#include "why/clips_environment.h"
#include "why/measurement_names.h"
#include "why/rules.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>
#include <filesystem>

extern "C" {
#include <clips/clips.h>
}

namespace why {

int About::pid() const {
  constexpr std::string_view process = "process ";
  if (!subject.starts_with(process)) return -1;
  const auto number = base::parse_integer(std::string_view(subject).substr(process.size()));
  return number ? static_cast<int>(*number) : -1;
}

namespace {

std::string_view type_of(SlotType type) {
  switch (type) {
  case SlotType::number: return "(type NUMBER) (default 0.0)";
  case SlotType::integer: return "(type INTEGER) (default 0)";
  case SlotType::text: return "(type STRING) (default \"\")";
  }
  return {};
}

std::string template_of(const FactKind& kind) {
  std::string out = "(deftemplate " + std::string(kind.name) + "\n  (slot by (type SYMBOL) (default none))";
  for (const SlotKind& slot : kind.slots) out.append("\n  (slot ").append(slot.name).append(" ").append(type_of(slot.type)).append(")");
  return out + ")";
}

// One conclusion, while it is read.
class Row {
public:
  Row(void* environment, void* fact) : environment_(environment), fact_(fact) {}

  std::string text(const char* slot) const { return base::printable(raw(slot)); }
  bool is(const char* slot, std::string_view word) const { return raw(slot) == word; }
  double number(const char* slot) const {
    const dataObject value = get(slot);
    return value.type == FLOAT ? ValueToDouble(value.value) : value.type == INTEGER ? static_cast<double>(ValueToLong(value.value)) : 0;
  }
  About about(const char* cause = "cause", const char* subject = "subject") const { return {text(cause), text(subject)}; }

private:
  std::string_view raw(const char* slot) const {
    const dataObject value = get(slot);
    return value.type == SYMBOL || value.type == STRING ? ValueToString(value.value) : "";
  }
  dataObject get(const char* slot) const {
    dataObject value = {};
    EnvGetFactSlot(environment_, fact_, slot, &value);
    return value;
  }

  void* environment_;
  void* fact_;
};

void for_each_fact(void* environment, const char* name, const auto& use) {
  void* of = EnvFindDeftemplate(environment, name);
  if (!of) return; // rules were not loaded
  for (void* fact = EnvGetNextFactInTemplate(environment, of, nullptr); fact; fact = EnvGetNextFactInTemplate(environment, of, fact))
    use(Row(environment, fact));
}

Remark::Kind remark_kind(const Row& row) {
  constexpr std::array<std::string_view, 5> names = {"title", "place", "advice", "check", "refutation"};
  for (size_t i = 0; i < names.size(); i++)
    if (row.is("kind", names[i])) return static_cast<Remark::Kind>(i);
  return Remark::title;
}

} // namespace

struct Inference::Environment {
  ClipsEnvironment clips;
  std::vector<void*> templates; // in the order of fact_kinds()
};

Inference::Inference() : environment_(std::make_unique<Environment>()) {
  for (const FactKind& kind : fact_kinds()) {
    environment_->clips.build(template_of(kind));
    environment_->templates.push_back(EnvFindDeftemplate(environment_->clips.get(), std::string(kind.name).c_str()));
  }
}

Inference::~Inference() = default;

void Inference::load_own() {
  // Every file may use these.
  constexpr std::array<std::string_view, 2> before = {"language.clp", "common.clp"};
  const auto load_file = [&](const RuleFile& file) {
    [[maybe_unused]] const base::Status loaded = load(file.text, file.name);
    assert(loaded.ok());
  };
  for (std::string_view name : before)
    load_file(*std::find_if(rule_files().begin(), rule_files().end(), [&](const RuleFile& f) { return f.name == name; }));
  for (const RuleFile& file : rule_files())
    if (!base::is_one_of(before, file.name)) load_file(file);
}

base::Status Inference::load(std::string_view text, std::string_view name) { return environment_->clips.load(text, name); }

base::Status Inference::load_folder(const std::string& folder) {
  std::error_code failed;
  std::vector<std::string> paths;
  for (std::filesystem::directory_iterator at(folder, failed), end; !failed && at != end; at.increment(failed))
    if (at->path().extension() == ".clp") paths.push_back(at->path().string());
  if (failed) return base::errno_error(folder, failed.value());
  if (paths.empty()) return base::Error{base::Failure::usage, folder + ": no rules there: no file with the ending .clp"};
  std::sort(paths.begin(), paths.end());
  for (const std::string& path : paths) {
    ACU_TRY(const std::string text, base::read_file(path));
    ACU_CHECK(load(text, path));
  }
  return {};
}

void Inference::add(const Fact& fact) {
  const auto place = static_cast<size_t>(fact.kind - fact_kinds().data());
  assert(place < environment_->templates.size());
  ClipsEnvironment& clips = environment_->clips;
  void* environment = clips.get();
  clips.begin();
  auto* row = EnvCreateFact(environment, environment_->templates[place]);
  const auto put = [&](std::string_view slot, int type, void* value) {
    dataObject object = {};
    object.type = static_cast<unsigned short>(type);
    object.value = value;
    [[maybe_unused]] const bool is_put = EnvPutFactSlot(environment, row, std::string(slot).c_str(), &object);
    assert(is_put);
  };
  for (const auto& [name, value] : fact.slots) {
    const auto slot = std::find_if(fact.kind->slots.begin(), fact.kind->slots.end(), [&](const SlotKind& s) { return s.name == name; });
    assert(slot != fact.kind->slots.end());
    if (const auto* text = std::get_if<std::string>(&value)) {
      assert(slot->type == SlotType::text);
      // As reports print them: names may have any byte.
      put(name, STRING, EnvAddSymbol(environment, base::printable(*text).c_str()));
    } else if (const auto* whole = std::get_if<int64_t>(&value)) {
      assert(slot->type != SlotType::text);
      if (slot->type == SlotType::integer)
        put(name, INTEGER, EnvAddLong(environment, *whole));
      else
        put(name, FLOAT, EnvAddDouble(environment, static_cast<double>(*whole)));
    } else {
      assert(slot->type == SlotType::number);
      const double n = std::get<double>(value);
      put(name, FLOAT, EnvAddDouble(environment, std::isfinite(n) ? n : 0));
    }
  }
  if (!fact.measurement.empty()) put("by", SYMBOL, EnvAddSymbol(environment, std::string(fact.measurement).c_str()));
  EnvAssignFactSlotDefaults(environment, row);
  EnvAssert(environment, row);
  clips.end();
}

Conclusions Inference::run(uint64_t most) {
  ClipsEnvironment& clips = environment_->clips;
  void* environment = clips.get();
  Conclusions out;
  clips.begin();
  const uint64_t fired = clips.run(most);
  if (!clips.exhausted().empty())
    out.stopped = clips.exhausted();
  else if (fired >= most)
    out.stopped = clips.next_rule();
  out.mistakes = clips.take_mistakes();

  const auto check_measurement = [&](const About& about, const std::string& name) {
    if (find_measurement_name(name)) return true;
    out.mistakes.push_back("rules of " + about.cause + ": there is no measurement " + base::quoted(name));
    return false;
  };
  for_each_fact(environment, "evidence", [&](const Row& row) {
    Evidence e = {row.about(), row.is("side", "for"), row.is("decisive", "yes"), row.text("by"), row.text("text")};
    if (check_measurement(e.about, e.measurement)) out.evidence.push_back(std::move(e));
  });
  for_each_fact(environment, "explains", [&](const Row& row) {
    out.explanations.push_back({row.about(), row.number("share"), row.number("low"), row.number("high"), row.text("text")});
  });
  for_each_fact(environment, "need", [&](const Row& row) {
    Need n = {row.about(), row.text("measurement"), row.text("target"), row.text("text"), static_cast<int>(row.number("priority"))};
    if (check_measurement(n.about, n.measurement)) out.needs.push_back(std::move(n));
  });
  std::stable_sort(out.needs.begin(), out.needs.end(), [](const Need& a, const Need& b) { return a.priority > b.priority; });
  for_each_fact(environment, "effect", [&](const Row& row) { out.effects.push_back({row.about(), row.about("effect", "of-subject")}); });
  for_each_fact(environment, "remark", [&](const Row& row) { out.remarks.push_back({row.about(), remark_kind(row), row.text("text")}); });
  return out;
}

} // namespace why
