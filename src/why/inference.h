// The inference engine: forward chaining over facts, by CLIPS (libclips). What CLIPS has stays in inference.cc and clips_environment.cc.
//
// Rules assert conclusions (rules/language.clp), each about a cause and a subject ("process 4711", "disk vda", "host").
#pragma once

#include "base/result.h"
#include "why/fact.h"

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace why {

struct About {
  std::string cause;   // "mutex-across-io": the name of its rule file
  std::string subject;
  auto operator<=>(const About&) const = default;
  int pid() const; // of "process 4711"; -1: the subject is something else
};

struct Evidence {
  About about;
  bool supports = true;      // false: it contradicts
  bool is_decisive = false;  // it was seen itself, not inferred from what goes along with it
  std::string measurement;   // that it comes from
  std::string text;          // a sentence with numbers
};

struct Explanation {
  About about;
  double share = 0, low = 0, high = 0; // of the symptom, with its interval
  std::string text;                    // "78 % of the time of slow calls"
};

struct Need {
  About about;
  std::string measurement, target; // which, and of what: "waits", "4711"
  std::string text;                // what it would tell
  int priority = 0;                // higher first
};

struct Effect {
  About of, effect; // `effect` is a consequence of `of`, and no cause by itself
};

struct Remark {
  About about;
  enum Kind : uint8_t { title, place, advice, check, refutation } kind = title; // check: how to see afterwards that it helped
  std::string text;
};

struct Conclusions {
  std::vector<Evidence> evidence;
  std::vector<Explanation> explanations;
  std::vector<Need> needs; // highest priority first
  std::vector<Effect> effects;
  std::vector<Remark> remarks;
  std::string stopped; // the rule that was still firing as a limit of firings, time or memory was reached; empty: it ended by itself
  std::vector<std::string> mistakes; // that rules made as they ran: "rule NAME: why"; the other rules ran on
};

class Inference {
public:
  Inference();
  ~Inference();
  Inference(const Inference&) = delete;
  Inference& operator=(const Inference&) = delete;

  // The rules that acu has. They are right: a mistake is one of ours.
  void load_own();
  // Each *.clp file of a folder, in the order of their names. Failure: the file, the line, and what CLIPS says of it.
  base::Status load_folder(const std::string& folder);
  // The same of one file's text. Rules are data: they compute with facts, and have no files, commands, clock or chance (clips_environment.h).
  base::Status load(std::string_view text, std::string_view name);

  // Texts may have any bytes; conclusions hold them as base::printable does.
  void add(const Fact& fact);
  // Fires rules until none is left, or until it has fired `most`. Facts that are added later may be concluded from by another run.
  Conclusions run(uint64_t most = 1'000'000);

private:
  struct Environment;
  std::unique_ptr<Environment> environment_;
};

} // namespace why
