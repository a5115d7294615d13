// The lessons, in the order in which questions come up: what runs, what is called, what is waited for, who holds what, and why.
#include "learn/lesson.h"

#include "base/text.h"
#include "learn/programs.h"

namespace learn {

namespace {

template<const auto& names> std::string one_of(unsigned number) { return std::string(names[number % 3]); }
std::string plain_number(unsigned number) { return std::to_string(100 + number); }

constexpr Lesson table[] = {
    {.title = "What uses the CPU: acu top",
     .about = "A shop is busy all day. `acu top` samples what all CPUs run and lists the hottest functions. On a terminal it refreshes every second until you press q; here, -n 1 prints one table.",
     .command = "acu top -p $PID -n 1 -I 2s | head -12",
     .question = "Which function of the shop uses most of the CPU?",
     .hint = "The table is sorted by `self`: time in the function itself. The first shop_… function is the answer.",
     .program = "busy", .answer = one_of<hot_functions>},
    {.title = "Who calls it: acu record, acu report",
     .about = "Now nearly all the time is in one helper, shop_compare, which several functions call. A profile has whole call stacks, so it knows the callers. Record it to a file, then ask for one function.",
     .command = "acu record -q -p $PID --duration 2s -o shop.acu && acu report shop.acu --top 1 --function shop_compare",
     .question = "Which function causes most of the calls of shop_compare?",
     .hint = "Look below `called by`. `acu flame -p $PID --duration 2s` draws the same as a flame graph, flame.html.",
     .program = "callers", .answer = one_of<callers>},
    {.title = "System calls that fail: acu trace",
     .about = "The shop ignores its settings. `acu trace` shows system calls like strace, but does not stop the program. -Z shows only calls that fail.",
     .command = "acu trace -p $PID -Z --duration 2s 2>&1 | head -5",
     .question = "Which file does it look for in vain?",
     .hint = "The second argument of openat() is the path; ENOENT means that there is no such file.",
     .program = "missing", .answer = [](unsigned number) { return "shop-" + plain_number(number) + ".conf"; }},
    {.title = "Ready-made tools: acu execsnoop",
     .about = "acu brings tools for common questions; `acu tools` lists them, `acu NAME --help` explains one. The shop starts another program again and again, which top does not show: it ends at once. execsnoop shows "
              "programs as they start. -c ends a tool when a command ends; Ctrl-C does so, too.",
     .command = "acu execsnoop -c 'sleep 2' | grep -e ARGS -e ticket | head -5",
     .question = "Which number is in the arguments of the program that the shop starts (--ticket=…)?",
     .hint = "The last column has the arguments of the new program.",
     .program = "helper", .answer = plain_number},
    {.title = "A script of one line: acu -e",
     .about = "For other questions, write a script: a probe, a condition between slashes, and an action. This one counts the sizes of writes: @[key] = count() is a table that is printed at the end.",
     .command = "acu -q -c 'sleep 2' -e 'tracepoint:syscalls:sys_enter_write /pid == $PID/ { @[args.count] = count(); }'",
     .question = "Which size, in bytes, does the shop write most often?",
     .hint = "Maps are printed in the order of their counts: the last line is the most frequent one.",
     .program = "writes", .answer = plain_number},
    {.title = "Functions and their arguments: uprobe",
     .about = "A probe can be put on a function of a running program, without restarting it. `uprobe:FILE:FUNCTION` fires when it is called; arg0 is its first argument. Here customers ask for prices: "
              "shop_price_of(item).",
     .command = "acu -q -c 'sleep 2' -e 'uprobe:$EXE:shop_price_of /pid == $PID/ { @[arg0] = count(); }' | tail -4",
     .question = "Which item do they ask for most often?",
     .hint = "As before: the key with the highest count, in the last line.",
     .program = "prices", .answer = plain_number},
    {.title = "Waiting instead of working: acu top offcpu",
     .about = "This shop uses no CPU, and yet deliveries are late. Time off the CPU has stacks, too: `offcpu` shows where threads wait. (`acu flame offcpu` draws it.)",
     .command = "acu top offcpu -p $PID -n 1 -I 2s | head -8",
     .question = "In which function shop_wait_for_… does it wait longest?",
     .hint = "The table is sorted by self: waiting counts for the function of the program that asked for it.",
     .program = "waits", .answer = one_of<waits>},
    {.title = "The one slow call in many: acu slow",
     .about = "Most customers are served within a millisecond, but one in twenty waits for 40 ms. An average hides that. `acu slow` reports only slow calls of a function, with what happened meanwhile.",
     .command = "acu slow -p $PID shop_serve --duration 3s -n 2 2>&1",
     .question = "In which function do the slow calls of shop_serve spend their time?",
     .hint = "The line `where its time went` names it.",
     .program = "slow", .answer = one_of<slow_functions>},
    {.title = "Who holds the lock: acu waits",
     .about = "The shop sells little, because it waits for the lock of the till. Waiting for a lock is never the cause: the cause is what the holder does meanwhile. `acu waits` measures who waits for whom.",
     .command = "acu waits -p $PID --duration 2s 2>&1 | head -12",
     .question = "Which thread (auditor, reporter or cleaner) holds the lock too long?",
     .hint = "The first bottleneck names the thread that sleeps while it has the lock.",
     .program = "lock", .answer = one_of<threads>},
    {.title = "Facts about the host: acu sql",
     .about = "Some questions are about what there is, not about what happens. `acu sql` has processes, threads, files, sockets, memory and more as tables. This shop opens a file again and again and never closes it.",
     .command = "acu sql \"select path, count(*) as n from files where pid = $PID group by path order by n desc limit 3\"",
     .question = "Which file does it hold open 200 times? (Its name is enough.)",
     .hint = "The first row: the path with the highest number.",
     .program = "leak", .answer = [](unsigned number) { return "stock-" + plain_number(number) + ".db"; }},
    {.title = "It hangs: acu snap",
     .about = "This shop does nothing at all: no CPU, no system calls, so there is nothing to trace. `acu snap` copies a process within milliseconds and shows the stack of each thread.",
     .command = "acu snap -p $PID | head -30",
     .question = "Which function that shop_begin_day called does not return?",
     .hint = "In the stack, callers are below: it is between shop_wait_for_answer and shop_begin_day.",
     .program = "stuck", .answer = one_of<stuck_functions>},
    {.title = "Let acu ask the questions: acu why",
     .about = "You know what to measure now. `acu why` does it for you: it measures at low overhead, forms hypotheses, tests them, and names the cause with its evidence. It takes some seconds.",
     .command = "acu why -p $PID",
     .question = "Which function does acu name as the cause?",
     .hint = "The line `where` below the first finding.",
     .program = "busy", .answer = one_of<hot_functions>},
};

} // namespace

std::span<const Lesson> lessons() { return table; }

bool is_answer(std::string_view typed, std::string_view answer) {
  std::string text = base::lower(base::trim(typed));
  const auto is_around = [](char c) { return std::string_view(" '\"`.,()[]@:").find(c) != std::string_view::npos; };
  while (!text.empty() && is_around(text.back())) text.pop_back();
  while (!text.empty() && is_around(text.front())) text.erase(0, 1);
  if (const size_t slash = text.rfind('/'); slash != text.npos) text.erase(0, slash + 1);
  return text == answer;
}

} // namespace learn
