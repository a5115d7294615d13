// Where results go: a descriptor with a buffer of its own. Messages go to standard error, after the results
// that came before them.
#pragma once

#include "base/output_file.h"
#include "base/result.h"
#include "report/report.h"
#include "session/options.h"

#include <optional>
#include <string>

namespace session {

class Output : public report::Sink {
public:
  // Standard output, or the file of -o.
  static base::Result<std::unique_ptr<Output>> open(const Options& options);
  // `fd` must stay open as long as this. `at_once`: a person is watching; lines are written as they are
  // complete.
  Output(int fd, Buffering buffering, bool at_once) : fd_(fd), buffering_(buffering), at_once_(at_once) {}
  ~Output() override;

  void out(std::string_view text) override;
  void message(std::string_view text) override;
  void cut() override;
  // Before the session waits for something: whoever reads along sees all there is. `full` keeps it back.
  void settle() {
    if (buffering_ != Buffering::full) flush();
  }
  void flush();
  // All results are written. Failure: they are not, or not all in the file that was asked for.
  base::Status finish();
  // Results from here on are kept back …
  void hold() { holding_ = true; }
  // … those from here on go before them, …
  void pass() { holding_ = false; }
  // … and now they follow.
  void release();
  // … or are forgotten.
  void drop() {
    holding_ = false;
    held_.clear();
  }
  // The reader has gone (broken pipe).
  bool broken() const { return broken_; }
  // Why results could not be written, or 0.
  int failure() const { return failure_; }

private:
  static constexpr size_t buffer_bytes = 16 << 10;
  int fd_;
  std::optional<base::OutputFile> file_; // instead of fd_
  Buffering buffering_;
  bool at_once_;
  bool broken_ = false;
  int failure_ = 0;
  bool holding_ = false;
  std::string buffer_;
  std::string held_;
};

// Why results of this process did not get out, where finish() has not said so: an errno, or 0. For the exit status.
int lost_results();

using base::write_all;

} // namespace session
