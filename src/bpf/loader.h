// From an Object to descriptors: creates the maps, fills and freezes the constant ones, puts their
// descriptors into the instructions and loads the programs. Nothing is pinned: when the descriptors are
// closed, all is gone.
//
// The first attempt asks for no log and no line information (14 to 35 µs a program). Only after a failure is
// the program loaded again with both, to be able to say what is wrong.
#pragma once

#include "base/fd.h"
#include "base/result.h"
#include "bpf/object.h"

#include <string>
#include <vector>

namespace bpf {

struct SharedWalker;
struct Loaded;

struct LoadOptions {
  std::string license = "GPL";
  uint32_t log_size = 1000000; // most bytes of the verifier's log
  bool verbose = false;        // failures carry the whole log
  const base::Source* source = nullptr;
  std::string* log = nullptr; // where the verifier's log of each program goes, if it is wanted
  const SharedWalker* walker = nullptr; // whose maps are used instead of new ones of their names
  const Loaded* before = nullptr;       // see exchange()
};

struct Loaded {
  std::vector<base::Fd> maps;     // by Object::maps
  std::vector<std::string> names; // of them
  std::vector<base::Fd> programs; // by Object::programs: what is attached
  // By Object::programs: an array of one program, to which that of `programs` only jumps, as it may be exchanged; not valid: it is whole.
  std::vector<base::Fd> jumps;
  std::vector<base::Fd> watchers; // by Object::watchers; not valid where the kernel refused one
  base::Fd stop;                  // array of one u64, see stop_programs; none where nothing needs it
};

// The i-th program is of the kind that program.probes[i].context asks for. Failures: permission (what is
// missing), unsupported (the kernel lacks something), runtime (verifier, memory).
base::Result<Loaded> load(const ir::Program& program, const Object& object, const LoadOptions& options);

// Puts those programs of `object`, another one of the same program, into the places of those of `loaded` that may be exchanged: each probe takes the one
// or the other, and none is missed. They use the same maps. A failure leaves some or all as they were.
base::Status exchange(const ir::Program& program, const Object& object, LoadOptions options, const Loaded& loaded);

// From then on programs at perf tracepoints and such events of user code return at once.
void stop_programs(const Loaded& loaded);

} // namespace bpf
