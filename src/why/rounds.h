// From a question to an answer: rounds of measurements, with rules between them that say what is worth measuring next.
#pragma once

#include "base/result.h"
#include "why/measurement.h"
#include "why/verdict.h"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace why {

struct Question {
  std::string kind = "any"; // slow, growing, stuck, failing, any
  int pid = -1;             // -1: the host
  std::string name;         // of the process
  std::string function;     // whose calls are asked about (symbol::SourceName); empty: all that the process does
  std::string file;         // the core dump or recording that is asked about; empty: what runs here is
  std::string before;       // of a recording: an earlier one, when all was well; empty: none
  std::string rules;        // a folder of the user's rules; empty: none
  uint64_t limit_ns = 15'000'000'000; // for all rounds
  double max_cost = default_max_cost; // of a measurement, in percent of a CPU
  bool wants_pictures = false;
};

// A measurement that was taken, or not.
struct Taken {
  std::string measurement;
  int pid = -1;
  std::string why;            // what it would tell; empty: it is part of the first round
  std::string problem;        // why it could not be taken; empty: it was
  uint64_t begin_ns = 0, interval_ns = 0; // since the question was asked
  size_t facts = 0;
};

struct Answer {
  std::vector<Finding> findings; // in their order
  std::vector<Taken> taken;
  std::vector<Picture> pictures;  // if they are wanted
  std::vector<std::string> notes; // what went wrong with rules, in sentences
  uint64_t duration_ns = 0;
  uint64_t cpu_ns = 0;        // that acu itself took
};

// A round begins: what is measured, and how long the whole may still last.
using Progress = std::function<void(const std::string& what, uint64_t left_ns)>;

base::Result<Answer> find_answer(const Question& question, const session::Options& run, const Progress& progress);

// For answers from elsewhere: rules and the request go in; findings and notes come out.
base::Status begin_inference(Inference& inference, const Question& question);
void conclude(const Conclusions& conclusions, const Question& question, Answer& answer);

// One measurement alone: its facts. Failure: it cannot be taken.
base::Result<std::vector<Fact>> measure(std::string_view measurement, const Subject& subject, const session::Options& run);

} // namespace why
