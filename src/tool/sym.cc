// `acu sym`: functions, lines and inlined calls of addresses, from the command line or a pipe. What a pipe
// holds at once is answered together, so that whoever writes an address and waits gets the answer, and a long
// list is quick.
#include "base/text.h"
#include "report/json.h"
#include "report/place.h"
#include "session/arguments.h"
#include "session/output.h"
#include "symbol/symbolizer.h"
#include "tool/tool.h"

#include <cerrno>
#include <charconv>
#include <climits>
#include <poll.h>
#include <set>
#include <unistd.h>

namespace tool {

namespace {

using spec::OptionId;
using symbol::Symbolizer;

struct Request {
  symbol::SymbolizeOptions options;
  pid_t pid = 0;    // 0: none
  std::string file; // empty: none
  bool kernel = false, from_input = false, json = false;
  std::vector<std::string> words;
};

base::Result<Request> read_request(const session::Arguments& arguments) {
  Request out;
  if (const std::string* text = arguments.value(OptionId::pid)) {
    ACU_TRY(out.pid, session::read_pid("-p", *text));
  }
  if (const std::string* file = arguments.value(OptionId::elf_file)) out.file = *file;
  out.kernel = arguments.has(OptionId::kernel);
  out.from_input = arguments.has(OptionId::standard_input);
  out.json = arguments.has(OptionId::json);
  out.options.lines = !arguments.has(OptionId::names);
  out.options.inlines = !arguments.has(OptionId::no_inlines);
  out.options.mangled = arguments.has(OptionId::mangled);
  out.options.search.download = arguments.has(OptionId::debuginfod);
  for (const session::Given& g : arguments.options)
    if (g.id == OptionId::debuginfo) out.options.search.folders.push_back(g.value);
  out.words = arguments.words;
  if ((out.pid != 0) + !out.file.empty() + out.kernel > 1)
    return base::usage_error("`-p`, `-e` and `-k` cannot be combined");
  if (out.words.empty() && !out.from_input)
    return base::usage_error("no addresses: give some, or `--stdin` to read them (see `acu help sym`)");
  if (!out.words.empty() && out.from_input) return base::usage_error("addresses and `--stdin` cannot be combined");
  return out;
}

// Hexadecimal, with or without 0x; nothing else may follow.
bool parse_address(std::string_view text, uint64_t& address) {
  if (text.starts_with("0x") || text.starts_with("0X")) text.remove_prefix(2);
  if (text.empty() || text.size() > 16) return false;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), address, 16);
  return error == std::errc() && end == text.data() + text.size();
}

class Answers {
public:
  explicit Answers(const Request& request) : request_(request), symbolizer_(request.options) {}

  base::Status prepare() {
    if (request_.pid) ACU_CHECK(symbolizer_.set_process(request_.pid));
    if (request_.file.empty()) return {};
    ACU_TRY(module_, symbolizer_.add_file(request_.file));
    return {};
  }

  // "0x1139", or "/bin/ls+0x4a30".
  base::Result<Symbolizer::Question> question(std::string_view word) {
    Symbolizer::Question out = {.module = module_};
    if (parse_address(word, out.address)) {
      bool has_meaning =
          module_ != Symbolizer::no_module || request_.pid || request_.kernel || out.address >> 63;
      if (has_meaning) return out;
      return base::usage_error("`" + std::string(word) +
                   "`: no target given for this address: add `-p PID` or `-e FILE`, or write FILE+0xOFFSET");
    }
    size_t plus = word.rfind('+');
    if (plus == word.npos || plus == 0 || !parse_address(word.substr(plus + 1), out.address))
      return base::usage_error("`" + std::string(word) + "` is not an address: give a hexadecimal number, or FILE+0xOFFSET");
    ACU_TRY(out.module, symbolizer_.find_file(std::string(word.substr(0, plus))));
    return out;
  }

  // Answers in the order in which they were put.
  void put(const Symbolizer::Question& question) { questions_.push_back(question); }
  void put(std::string_view word, const base::Error& error) {
    mistakes_.push_back({questions_.size(), std::string(word), error.message});
  }

  // Writes the answers; 0, or an errno.
  int write() {
    constexpr size_t piece = 128 << 10; // small, so that it stays in the processor's caches
    std::span<const symbol::Place> places = symbolizer_.find(questions_);
    int error = 0;
    size_t next = 0;
    for (size_t i = 0; i <= places.size() && !error; i++) {
      for (; next < mistakes_.size() && mistakes_[next].before == i; next++) append(mistakes_[next]);
      if (i < places.size()) append(places[i]);
      if (out_.size() < piece && i < places.size()) continue;
      error = base::write_all(STDOUT_FILENO, out_);
      out_.clear();
    }
    has_mistakes_ |= !mistakes_.empty();
    questions_.clear();
    mistakes_.clear();
    return error;
  }

  bool has_mistakes() const { return has_mistakes_; }

  // Files that the process has mapped and that could not be read, each once: their functions have no names.
  void note_problems() const {
    std::set<std::string_view> noted;
    for (const symbol::Mapping& m : symbolizer_.mappings())
      if (const std::string& problem = symbolizer_.problem_of(m); !problem.empty() && noted.insert(problem).second)
        complain("note: no names of " + base::quoted(m.path) + ": " + problem + "\n");
  }

private:
  struct Mistake {
    size_t before; // which question it stands
    std::string word, message;
  };
  void append(const symbol::Place& place) {
    if (request_.json)
      report::append_place_json(out_, place);
    else
      report::append_place(out_, place, request_.file.empty() && !request_.kernel);
  }
  void append(const Mistake& mistake) {
    if (!request_.json) {
      out_ += mistake.word + ": " + mistake.message + "\n";
      return;
    }
    out_ += "{\"address\": ";
    report::append_json(out_, mistake.word);
    out_ += ", \"error\": ";
    report::append_json(out_, mistake.message);
    out_ += "}\n";
  }

  const Request& request_;
  Symbolizer symbolizer_;
  uint32_t module_ = Symbolizer::no_module;
  std::vector<Symbolizer::Question> questions_;
  std::vector<Mistake> mistakes_;
  std::string out_;
  bool has_mistakes_ = false;
};

// The exit status after writing. Whoever reads may have enough.
int finish(int error) {
  return error == 0 || error == EPIPE ? 0 : fail(base::errno_error("standard output", error));
}

int answer_words(Answers& answers, const Request& request) {
  for (const std::string& word : request.words) {
    auto question = answers.question(word);
    if (!question.ok()) return fail(question.error());
    answers.put(*question);
  }
  const int error = answers.write();
  answers.note_problems();
  return finish(error);
}

bool is_more_at_once() {
  pollfd input = {.fd = STDIN_FILENO, .events = POLLIN, .revents = 0};
  return ::poll(&input, 1, 0) > 0 && (input.revents & (POLLIN | POLLHUP));
}

// Lines are found for many addresses at once; names alone need no more memory than a piece of the input takes.
int answer_input(Answers& answers, const Request& request) {
  constexpr size_t piece = 64 << 10;
  const size_t max_at_once = request.options.lines ? 4 << 20 : piece;
  std::string text;
  for (bool ended = false; !ended;) {
    do {
      size_t have = text.size();
      text.resize(have + piece);
      ssize_t n = ::read(STDIN_FILENO, text.data() + have, piece);
      text.resize(have + static_cast<size_t>(std::max<ssize_t>(n, 0)));
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) return fail(base::errno_error("standard input", errno));
      ended = n == 0;
    } while (!ended && text.size() < max_at_once && is_more_at_once());
    bool is_all = ended || text.size() >= max_at_once + piece; // or a line that never ends
    size_t end = is_all ? text.size() : text.rfind('\n') + 1;   // 0: no line is complete
    for (std::string_view line : base::split(std::string_view(text).substr(0, end), '\n')) {
      std::string_view word = base::trim(line);
      if (word.empty()) continue;
      auto question = answers.question(word);
      if (question.ok())
        answers.put(*question);
      else
        answers.put(word, question.error());
    }
    text.erase(0, end);
    if (int error = answers.write()) return finish(error);
  }
  answers.note_problems();
  return answers.has_mistakes() ? static_cast<int>(base::Failure::runtime) : 0;
}

} // namespace

int sym(const session::Arguments& arguments) {
  auto request = read_request(arguments);
  if (!request.ok()) return fail(request.error());
  Answers answers(*request);
  if (auto ready = answers.prepare(); !ready.ok()) return fail(ready.error());
  return request->from_input ? answer_input(answers, *request) : answer_words(answers, *request);
}

} // namespace tool
