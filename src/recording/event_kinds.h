// The kinds of events that acu itself records, one row each: fields in the order of a batch's columns.
#pragma once

#include "recording/events.h"

#include <array>

namespace recording {

enum class Kind : uint8_t { sched_switch, sched_wakeup, syscall, cpu_sample, block_io, network, page_fault, lock, call, process_start, process_exit, counter, log, mark };

struct KindRow {
  Kind kind;
  std::string_view name;
  Meaning meaning;
  std::string_view fields; // "NAME:TYPE" separated by spaces; the types of FieldType in short: n, s (signed), d (duration), a, text, thread, stack
  std::string_view doc;
};

inline constexpr std::array kind_rows = {
    KindRow{.kind = Kind::sched_switch, .name = "sched_switch", .meaning = Meaning::sched, .fields = "next:thread state:n stack:stack",
            .doc = "The thread leaves its CPU to `next`. `state`: the kernel's task state, 0 if it is still runnable (preempted)."},
    KindRow{.kind = Kind::sched_wakeup, .name = "sched_wakeup", .meaning = Meaning::wakeup, .fields = "woken:thread stack:stack", .doc = "The thread wakes `woken`."},
    KindRow{.kind = Kind::syscall, .name = "syscall", .meaning = Meaning::interval, .fields = "duration:d name:text result:s stack:stack", .doc = "A system call ends."},
    KindRow{.kind = Kind::cpu_sample, .name = "cpu_sample", .meaning = Meaning::sample, .fields = "stack:stack weight:d", .doc = "The thread ran; `weight`: the CPU time that it stands for."},
    KindRow{.kind = Kind::block_io, .name = "block_io", .meaning = Meaning::interval, .fields = "duration:d device:text operation:text bytes:n stack:stack sector:n",
            .doc = "A request of a block device is complete. The thread asked for it, with this stack. `sector`: where it begins, in units of 512 bytes."},
    KindRow{.kind = Kind::network, .name = "network", .meaning = Meaning::none, .fields = "operation:text bytes:n protocol:text peer:text port:n",
            .doc = "The thread sends to a socket or receives from it. `peer`, `port`: where it is connected to; empty and 0 if it is not."},
    KindRow{.kind = Kind::page_fault, .name = "page_fault", .meaning = Meaning::none, .fields = "address:a stack:stack", .doc = "The kernel provides a page."},
    KindRow{.kind = Kind::lock, .name = "lock", .meaning = Meaning::interval, .fields = "duration:d lock:a owner:thread stack:stack", .doc = "A wait for a lock ends. `owner`: who had it, or the idle thread if that is not known."},
    KindRow{.kind = Kind::call, .name = "call", .meaning = Meaning::interval, .fields = "duration:d function:text result:s", .doc = "A followed function returns."},
    KindRow{.kind = Kind::process_start, .name = "process_start", .meaning = Meaning::none, .fields = "started:thread", .doc = "The thread starts another one."},
    KindRow{.kind = Kind::process_exit, .name = "process_exit", .meaning = Meaning::none, .fields = "", .doc = "The thread ends."},
    KindRow{.kind = Kind::counter, .name = "counter", .meaning = Meaning::counter, .fields = "name:text value:s", .doc = "A value at a time."},
    KindRow{.kind = Kind::log, .name = "log", .meaning = Meaning::none, .fields = "text:text", .doc = "A line that a script printed."},
    KindRow{.kind = Kind::mark, .name = "mark", .meaning = Meaning::mark, .fields = "text:text", .doc = "What triggered the recording."},
};

// Whether its events are lines that a script printed; the first field is the text.
bool is_log(const EventKind& kind);
// The row as a kind, for a file.
EventKind kind_of(Kind kind);

} // namespace recording
