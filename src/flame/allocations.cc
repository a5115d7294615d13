// A file that defines malloc (or jemalloc's) has an allocator. Several may be there: the C library's, and one that was
// loaded before it. The dynamic loader's own is not used by programs.
#include "flame/allocations.h"

#include "base/fd.h"
#include "base/privilege.h"
#include "base/text.h"
#include "format/elf_dynamic.h"
#include "probe/exception_reach.h"
#include "probe/uprobe.h"
#include "spec/allocation_functions.h"
#include "spec/nothrow_functions.h"
#include "spec/object_functions.h"
#include "symbol/binaries.h"
#include "symbol/library_search.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <set>
#include <unistd.h>

namespace flame {

namespace {

// The probes of a file to import; where they are is told beside.
struct Functions {
  std::string text;
  std::vector<lang::Insert> places;
  size_t rows = 0;

  // `name` = at these places, with `block`: a predicate, and macros of scripts/allocations.bt.
  void add(std::string_view name, std::string_view kind, const std::vector<std::string>& functions, std::string_view block) {
    const std::string own = std::string(name) + std::to_string(rows);
    text += own + " = " + std::string(kind) + "program:function " + std::string(block) + "\n";
    places.push_back({own, session::listed(kind, functions), "allocator"});
  }
};

struct Finder {
  Functions functions;
  std::vector<std::string> takers, givers, careful; // the last: of the takers those at their return instructions
  std::vector<std::string> notes;

  void take(const spec::AllocationFunctions& row, const std::vector<std::string>& places, bool is_careful);
};

void append(std::vector<std::string>& to, const std::vector<std::string>& more) { to.insert(to.end(), more.begin(), more.end()); }

void Finder::take(const spec::AllocationFunctions& row, const std::vector<std::string>& places,
                  bool is_careful) {
  if (places.empty()) return;
  functions.rows++;
  append(row.size.empty() ? givers : takers, places);
  if (row.size.empty()) return functions.add("giving", "uprobe:", places, "{ GIVING }");
  if (is_careful) careful = places;
  // A row that is careful has nothing to do at the entry.
  functions.add("taking", "uprobe:", places, "{ TAKING(" + std::string(row.size) + ", " + std::string(is_careful ? "@careful++;" : row.at_entry) + ") }");
  functions.add("taken", "uretprobe:", places, "{ TAKEN(" + std::string(row.at_exit) + ") }");
}

// "malloc", "je_malloc" or both.
std::vector<std::string> names_in(symbol::Binary& file, std::string_view name) {
  std::vector<std::string> out;
  for (std::string_view prefix : {std::string_view(), spec::allocation_prefix}) {
    std::string full = std::string(prefix) + std::string(name);
    if (!file.find_functions(full, false).empty()) out.push_back(std::move(full));
  }
  return out;
}

std::string place_in(const symbol::Binary& file, const std::string& name) { return "\"" + file.name() + "\":" + name; }

// Functions that were found: one may have several names, also in several rows.
using Known = std::set<std::pair<const symbol::Binary*, uint64_t>>;

// Those of a row that are not known yet.
std::vector<std::string> functions_in(symbol::Binary& file, const spec::AllocationFunctions& row, Known& known) {
  std::vector<std::string> out;
  for (std::string_view name : base::split(row.names, ' '))
    for (std::string& full : names_in(file, name))
      if (known.insert({&file, file.find_functions(full, false).front().address}).second) out.push_back(std::move(full));
  return out;
}

std::string missing_in(symbol::Binary& file) {
  std::string out;
  for (std::string_view name : base::split(spec::essential_allocation_functions, ' '))
    if (names_in(file, name).empty()) out.append(out.empty() ? "" : ", ").append(name);
  return out;
}

std::string last_part(const std::string& path) { return path.substr(path.rfind('/') + 1); }

// The library that a file needs: in the folders that the file names, or where the loader looks for all (symbol/library_search.h).
std::string library_of(const symbol::Binary& file, std::string_view name) {
  for (std::string_view given : format::library_folders(file.file().elf())) {
    std::string folder(given);
    for (std::string_view origin : {"$ORIGIN", "${ORIGIN}"})
      if (folder.starts_with(origin)) folder.replace(0, origin.size(), file.name().substr(0, file.name().rfind('/')));
    std::string path = folder + "/" + std::string(name);
    if (base::is_accessible(path.c_str(), R_OK)) return path;
  }
  const std::vector<std::string> paths = symbol::find_libraries(name, {});
  return paths.empty() ? std::string() : paths.front();
}

// What the dynamic loader will map for a program: its libraries, theirs, and those of LD_PRELOAD.
std::vector<std::string> files_of(const std::string& program, symbol::Binaries& binaries) {
  std::vector<std::string> out = {program};
  if (const char* preloaded = std::getenv("LD_PRELOAD")) {
    for (std::string_view names : base::split(preloaded, ':')) // or blanks
      for (std::string_view name : base::split(names, ' '))
        if (!name.empty()) out.emplace_back(name);
  }
  std::set<std::string> known(out.begin(), out.end());
  for (size_t i = 0; i < out.size(); i++) {
    auto found = binaries.find(out[i]);
    if (!found.ok()) continue;
    for (symbol::Binary* file : *found)
      for (std::string_view name : format::needed_libraries(file->file().elf())) {
        std::string path = library_of(*file, name);
        if (!path.empty() && known.insert(path).second) out.push_back(std::move(path));
      }
  }
  return out;
}

std::string first_line(const std::string& path) {
  char out[256] = {};
  const base::Fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (file.get() < 0 || ::read(file.get(), out, sizeof out - 1) <= 0) return {};
  return std::string(out, std::strcspn(out, "\n"));
}

// A script is run by the program of its first line, and `env` by what it is told to look for; both are followed.
std::string program_of(std::string word) {
  constexpr int max_steps = 4;
  for (int step = 0; step < max_steps; step++) {
    if (word.find('/') == word.npos) {
      const std::vector<std::string> paths = symbol::find_programs(word, {});
      if (paths.empty()) return word;
      word = paths.front();
    }
    const std::string line = first_line(word);
    if (!line.starts_with("#!")) return word;
    std::vector<std::string_view> words;
    for (std::string_view w : base::split(std::string_view(line).substr(2), ' '))
      if (!w.empty()) words.push_back(w);
    if (words.empty()) return word;
    const bool is_env = words.size() > 1 && words[0].ends_with("/env") && !words[1].starts_with("-");
    word = is_env ? words[1] : words[0];
  }
  return word;
}

// Out of memory they throw, which the program may get over; while their returns are probed like others it
// would be ended. `is_any_careful` is set where they are probed at their return instructions.
bool follows_safely(symbol::Binary& file, const std::vector<std::string>& names, probe::ExceptionReach& reach,
                    std::vector<std::string>& notes, bool& is_any_careful) {
  bool is_careful = false;
  for (const std::string& name : names) {
    const symbol::FunctionSymbol f = file.find_functions(name, false).front();
    if (!reach.may_pass(file, f)) continue;
    is_careful = true;
    if (probe::find_return_places(file, f).ok()) continue;
    notes.push_back("`operator new` of " + last_part(file.name()) +
                    " is not tracked: an exception from it (out of memory) would terminate the program, and its return "
                    "instructions are not known");
    return false;
  }
  is_any_careful |= is_careful;
  if (is_careful)
    notes.push_back("`operator new` of " + last_part(file.name()) +
                    " is probed at its return instructions, since it may throw (out of memory): about " +
                    std::to_string(spec::return_instruction_ns / 1000) + " us more per call");
  return true;
}

// Each call that is followed, from its entry to its return.
Allocations followed(const std::vector<symbol::Binary*>& files, symbol::Binaries& binaries) {
  Finder out;
  Known known;
  probe::ExceptionReach reach(binaries);
  for (const spec::AllocationFunctions& row : spec::allocation_functions) {
    std::vector<std::string> places;
    bool is_careful = false;
    for (symbol::Binary* file : files) {
      const std::vector<std::string> names = functions_in(*file, row, known);
      if (!names.empty() && row.may_throw && !follows_safely(*file, names, reach, out.notes, is_careful))
        continue;
      for (const std::string& name : names) places.push_back(place_in(*file, name));
    }
    out.take(row, places, is_careful);
  }
  session::BuiltinScript counts("allocation_counts");
  counts.set_places("taking", session::listed("uprobe:", out.takers));
  counts.set_places("giving", session::listed("uprobe:", out.givers));
  counts.set_places("careful", session::listed("uprobe:", out.careful));
  return Allocations{"allocator_functions.bt", std::move(out.functions.text), std::move(out.functions.places), std::move(counts), std::move(out.notes)};
}

bool has_malloc_of_glibc(symbol::Binary& file) {
  return !file.find_functions("__libc_malloc", false).empty() && !file.find_functions("malloc_info", false).empty();
}

// Calls by their entries alone. Where the size of what is freed is not known, a note says which calls are not counted.
Allocations sampled(const std::vector<symbol::Binary*>& files, bool freed) {
  Allocations out;
  Functions functions;
  Known known;
  std::vector<std::string> unsized;
  for (const spec::AllocationFunctions& row : spec::allocation_functions) {
    if (freed ? !row.frees : row.size.empty()) continue;
    for (bool is_glibc : {false, true}) {
      if (is_glibc && row.relays == "1") continue;
      std::vector<std::string> places, names;
      for (symbol::Binary* file : files) {
        if (has_malloc_of_glibc(*file) != is_glibc) continue;
        for (std::string& name : functions_in(*file, row, known)) {
          places.push_back(place_in(*file, name));
          names.push_back(std::move(name));
        }
      }
      if (places.empty()) continue;
      const std::string_view size = !freed ? row.size : is_glibc ? "SIZE_IN_GLIBC" : row.freed_size;
      if (size.empty()) {
        for (std::string& name : names)
          if (!name.starts_with("_Z") && std::ranges::find(unsized, name) == unsized.end()) unsized.push_back(std::move(name));
        continue;
      }
      std::string condition = is_glibc && !row.relays.empty() ? "!(" + std::string(row.relays) + ")" : "1";
      if (freed) condition += " && arg0";
      functions.rows++;
      functions.add("sampled", "uprobe:", places, "/@each && (" + condition + ") && counts()/ { SAMPLED(" + std::string(size) + ") }");
    }
  }
  out.name = "sampled_functions.bt";
  out.functions = std::move(functions.text);
  out.places = std::move(functions.places);
  if (!unsized.empty())
    out.notes.push_back("not counted: blocks freed by " + session::listed("", unsized) + " without their sizes, which acu cannot read from this allocator");
  return out;
}

// The functions of Python that create objects.
Allocations creating(const std::vector<symbol::Binary*>& files) {
  Functions functions;
  for (const spec::ObjectFunction& row : spec::object_functions) {
    std::vector<std::string> places;
    for (symbol::Binary* file : files)
      if (!file->find_functions(std::string(row.name), false).empty()) places.push_back(place_in(*file, std::string(row.name)));
    if (places.empty()) continue;
    functions.rows++;
    functions.add("sampled", "uprobe:", places, "/@each && counts()/ { CREATED(" + std::string(row.type) + ", " + std::string(row.items) + ") }");
  }
  return Allocations{.name = "python_object_functions.bt", .functions = std::move(functions.text), .places = std::move(functions.places), .counts = {}, .notes = {}};
}

base::Result<Allocations> find_in(symbol::Binaries& binaries, const std::vector<std::string>& paths, const std::string& whose,
                                  spec::AllocatorCalls calls) {
  const bool are_objects = calls == spec::AllocatorCalls::objects;
  std::vector<symbol::Binary*> files;
  std::string program, seen;
  for (const std::string& path : paths) {
    auto found = binaries.find(path);
    if (!found.ok()) continue;
    for (symbol::Binary* file : *found) {
      if (seen.empty()) program = file->name() + (file->is_stripped() ? ", which is stripped" : "");
      seen.append(seen.empty() ? "" : ", ").append(last_part(file->name()));
      if (!names_in(*file, are_objects ? spec::essential_object_function : "malloc").empty()) files.push_back(file);
    }
  }
  if (files.empty() && are_objects)
    return base::Error{base::Failure::nothing_matched, "no Python in " + whose + ": it has " + (seen.empty() ? "no readable files" : "mapped " + seen) +
                                                           ", and none of them defines " + std::string(spec::essential_object_function)};
  if (files.empty())
    return base::Error{base::Failure::nothing_matched,
                       "no malloc, calloc, realloc, free in " + whose + ": it has " +
                           (seen.empty() ? "no readable files" : "mapped " + seen) +
                           (program.empty() ? "" : "; its program is " + program) +
                           "\nhint: acu flame alloc, without --leaks, shows memory growth as the kernel counts it"};
  if (are_objects) return creating(files);
  Allocations out;
  if (calls == spec::AllocatorCalls::live)
    out = followed(files, binaries);
  else
    out = sampled(files, calls == spec::AllocatorCalls::freed);
  if (out.functions.empty())
    return base::Error{base::Failure::nothing_matched, "the sizes of freed blocks are not available in " + whose +
                                                           (out.notes.empty() ? "" : ": " + out.notes.front()) +
                                                           "\nhint: acu flame alloc --leaks tracks every block"};
  for (symbol::Binary* file : files)
    if (std::string missing = missing_in(*file); !missing.empty())
      out.notes.push_back(last_part(file->name()) + " has no symbols for " + missing +
                          ": what they allocate or free is not counted");
  return out;
}

} // namespace

base::Result<Allocations> find_allocations(int pid, spec::AllocatorCalls calls) {
  symbol::Binaries binaries(pid);
  std::vector<std::string> paths;
  for (const auto& mapped : binaries.mapped()) paths.push_back(mapped.path);
  return find_in(binaries, paths, "process " + std::to_string(pid), calls);
}

base::Result<Allocations> find_allocations(const std::string& command, spec::AllocatorCalls calls) {
  symbol::Binaries binaries;
  const std::string program = program_of(command);
  return find_in(binaries, files_of(program, binaries), "`" + command + "`", calls);
}

double cost_of_following(uint64_t taken, uint64_t given, uint64_t careful, uint64_t duration_ns) {
  const uint64_t spent =
      taken * spec::taking_ns + given * spec::giving_ns + careful * spec::return_instruction_ns;
  return 100.0 * static_cast<double>(spent) / static_cast<double>(duration_ns);
}

} // namespace flame
