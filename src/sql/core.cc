// Opens recordings and core dumps; threads and modules of a core dump.
#include "sql/samples.h"
#include "sql/sources.h"
#include "sql/subject.h"

#include "base/fd.h"
#include "base/text.h"
#include "recording/report.h"
#include "snapshot/line.h"
#include "snapshot/profile.h"
#include "target/core_target.h"

#include <fcntl.h>

namespace sql {

namespace {

constexpr Column thread_columns[] = {
    column<&SampleRow::tid>("tid", "", "Thread ID."),
    column<&SampleRow::thread>("name", "", "Its name, if the dump has it, else that of the program."),
    column<&SampleRow::function>("function", "", "Function on top of the stack."),
    column<&SampleRow::module>("module", "", "File of its code."),
    column<&SampleRow::stack>("stack", "", "The stack, outermost function first, separated by semicolons."),
};

base::Result<std::vector<SampleRow>> read_threads(const Request& request) {
  const profile::Profile stacks = snapshot::profile_of_stacks(*request.subject().stopped);
  for (const std::string& note : stacks.about.notes) request.note(note);
  return sample_rows(stacks, {}, 0);
}

struct CoreModule {
  std::string begin, path, state, build_id;
  int64_t size = 0;
  std::optional<std::string> file;
};

constexpr Column module_columns[] = {
    column<&CoreModule::begin>("begin", "", "First address, in hexadecimal."),
    column<&CoreModule::size>("size", "bytes", "From its first to its last address."),
    column<&CoreModule::path>("path", "", "Path, as the program named it."),
    column<&CoreModule::build_id>("build_id", "", "Build ID in the dump; empty: it has none."),
    column<&CoreModule::file>("file", "", "The file that was found for it; NULL: none."),
    column<&CoreModule::state>("state", "", "found: the file has the same build ID; unverified: neither has one; missing; wrong: the file is another one."),
};

base::Result<std::vector<CoreModule>> read_modules(const Request& request) {
  constexpr std::string_view states[] = {"found", "unverified", "missing", "wrong"};
  std::vector<CoreModule> out;
  for (const target::Module& m : request.subject().core->modules()) {
    CoreModule row = {.begin = snapshot::hex(m.begin), .path = m.path, .state = std::string(states[m.state]), .build_id = {}, .size = static_cast<int64_t>(m.end - m.begin)};
    for (const std::byte byte : m.build_id) {
      char text[3];
      std::snprintf(text, sizeof text, "%02x", static_cast<unsigned>(byte));
      row.build_id += text;
    }
    if (m.file) row.file = m.opened;
    out.push_back(std::move(row));
  }
  return out;
}

} // namespace

base::Result<std::unique_ptr<Subject>> open_subject(const std::string& path) {
  auto out = std::make_unique<Subject>();
  const base::Fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.valid()) return base::errno_error("cannot read " + base::quoted(path), errno);
  ACU_TRY(const std::string magic, base::read_up_to(file, 4, path));
  if (magic != "\x7f" "ELF") {
    ACU_TRY(out->recording, recording::read_profile(path));
    return out;
  }
  ACU_TRY(out->core, target::open_core(path, {}));
  out->stacks = std::make_unique<target::Stacks>(*out->core);
  out->stopped = std::make_unique<probe::StoppedProgram>(*out->core, *out->stacks);
  return out;
}

const Table core_threads = {.of = Of::core, .name = "threads", .doc = "Its threads, with their stacks.", .example = "select function, count(*) from threads group by 1 order by 2 desc limit 5",
                            .columns = thread_columns, .read = rows_of<read_threads>, .expected_rows = 100};
const Table core_modules = {.of = Of::core, .name = "modules", .doc = "The program and its libraries.", .example = "select path, file from modules where state != 'found'", .columns = module_columns,
                            .read = rows_of<read_modules>, .expected_rows = 20};

} // namespace sql
