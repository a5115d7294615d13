// Records of processes as the kernel writes them, and what becomes of them: the first byte of each piece
// tells how it is used, so that the history of a few processes gets all kinds of events in any order.
#include "symbol/process_events.h"
#include "symbol/process_history.h"
#include "symbol/process_map.h"

#include <cstdlib>
#include <cstring>

using symbol::ProcessEvent;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  symbol::parse_process_map({reinterpret_cast<const char*>(data), size});
  symbol::ProcessHistory history;
  base::ByteSpan rest(reinterpret_cast<const std::byte*>(data), size);
  while (rest.size() > 8) {
    uint16_t length;
    std::memcpy(&length, rest.data() + 6, sizeof length);
    size_t taken = std::min<size_t>(std::max<size_t>(length, 8), rest.size());
    ProcessEvent e = symbol::parse_process_event(rest.first(taken));
    rest = rest.subspan(taken);
    if (e.kind == ProcessEvent::Kind::mapping && e.begin >= e.end) std::abort();
    uint32_t pid = e.pid % 8, parent = e.parent % 8;
    symbol::CodeRange range = {
        .begin = e.begin, .end = e.end, .offset = e.offset, .file = e.file.build_id_size, .since = e.time};
    switch (e.kind) {
    case ProcessEvent::Kind::fork: history.fork(parent, pid, e.time); break;
    case ProcessEvent::Kind::exec: history.exec(pid, e.time); break;
    case ProcessEvent::Kind::exit: history.exit(pid, e.time); break;
    case ProcessEvent::Kind::lost: history.events_lost(); break;
    case ProcessEvent::Kind::mapping:
      e.tid % 4 ? history.map(pid, range) : history.look(pid, {&range, 1}, e.time);
      break;
    case ProcessEvent::Kind::none: break;
    }
    const symbol::CodeRange* found = history.find(parent, e.begin, e.time);
    if (found && !found->holds(e.begin)) std::abort();
    (void)history.find(pid, e.begin);
    (void)history.ranges(pid);
  }
  return 0;
}
