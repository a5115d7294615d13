// The table of subcommands. Only who goes through all of them needs it: others ask for one (find_subcommand).
#pragma once

#include "spec/call_options.h"
#include "spec/host_options.h"
#include "spec/profile_options.h"
#include "spec/script_options.h"
#include "spec/server_options.h"
#include "spec/snapshot_options.h"

namespace spec {

inline constexpr Subcommand subcommands[] = {
    {"run", "[options] FILE|-|-e SCRIPT [ARG…] [-- --NAME=VALUE…]",
     "Run a script (the word `run` may be omitted).", OptionTable::of<run_options>(),
     "acu run -e 'tracepoint:raw_syscalls:sys_enter { @[comm] = count(); }'"},
    {"list", "[-v] [PATTERN…]",
     "List probes, with -v also their arguments; or kernel types: 'struct list_head'.",
     OptionTable::of<list_options>(), "acu list -v 'tracepoint:sched:*'"},
    {"bpftrace", "[options] FILE|-|-e PROGRAM [ARG…] [-- --NAME=VALUE…]",
     "Run a script with bpftrace's options, exit statuses and output formats. A link to acu named bpftrace does the same.",
     OptionTable::of<bpftrace_options>(), "acu bpftrace -e 'BEGIN { printf(\"hello\\n\"); exit(); }'\nln -s /usr/bin/acu /usr/local/bin/bpftrace"},
    {"dscript", "[options] FILE|-|-n CLAUSE [ARG…]",
     "Run a script in D, the language of DTrace. `acu run FILE.d` and a link to acu named dtrace do the same.",
     OptionTable::of<dscript_options>(), "acu dscript -n 'syscall:::entry { @[execname] = count(); }'\nacu dscript -q -s opens.d -p 4711"},
    {"sym", "-p PID|-e FILE|-k [options] ADDR…|--stdin",
     "Resolve addresses to functions, source lines and inlined calls. An address is hexadecimal, or FILE+0xOFFSET.",
     OptionTable::of<sym_options>(), "acu sym -e /bin/ls 0x4a30"},
    {"modules", "-p PID|-k|FILE… [options]",
     "Show the modules of a process, where their symbols and debug information are, and what is missing.",
     OptionTable::of<modules_options>(), "acu modules -p 1"},
    {"flame", "[KIND|PROBE] [-p PIDS|-t TIDS|-u USER|--cgroup GROUP|--container CONTAINER|-a] [options] [-- CMD…]",
     "Draw a flame graph: where CPUs spend time, where threads wait, what allocates memory, what uses disks.\n"
     "KIND is cpu (default), offcpu (waiting), wall (both), offwake (waiting, with the stack of the waker), wakeup (who wakes whom), lock\n"
     "(waiting for a lock), holder (lock holders), gil (waiting for Python's GIL), goroutines (what goroutines of Go wait for), klock (locks in the\n"
     "kernel), faults (page faults), alloc (memory growth), allocated and freed (bytes allocated and freed with malloc), objects (Python objects\n"
     "created), mapped (memory requested from the kernel), leaks (memory not freed), io (bytes to and from disks), iotime (disk latency), dirty\n"
     "(data written back later), file (bytes to and from files, by path), net (bytes sent and received, by peer). With a PROBE: where it is hit.",
     OptionTable::of<flame_options>(),
     "acu flame -p 4711 --duration 10s\nacu flame offcpu -o sort.svg -- sort big.txt\n"
     "acu flame tracepoint:syscalls:sys_exit_read --weight args.ret -u www-data"},
    {"record", "[KIND|PROBE] [-p PIDS|-t TIDS|-u USER|--cgroup GROUP|--container CONTAINER|-a] [options] [-- CMD…]",
     "Record stacks to a file, for `acu report` or another tool; kinds and probes as for `acu flame`.", OptionTable::of<record_options>(),
     "acu record -a --duration 30s --split 1s\nacu record -o build.pb.gz -- make -j8\nacu record -F 999 -p 4711 -o "
     "app.acu"},
    {"flight", "[SCRIPT] [-p PIDS|-t TIDS|-u USER|--cgroup GROUP|--container CONTAINER|-a] [options] [-- CMD…]",
     "Record the events before a trigger: keep the newest in memory, and write them to a file when a trigger of --when occurs, when `acu dump` asks for it,\n"
     "on SIGUSR2, or when a signal ends the command. The same as `acu record --flight`.",
     OptionTable::of<flight_options>(),
     "acu record --flight --when 'uretprobe:./server:handle /retval == 500/'\nacu flight -p 4711 --streams sched,locks --memory 256M\n"
     "acu flight -e 'uretprobe:./server:handle { @ms = hist(retval) }' --when 'p99(@ms) > 50'"},
    {"dump", "[PID]", "Ask a flight recorder (`acu record --flight`) to write its file now, wait for it, and print its path. PID is the recorder's; it may be omitted if only one runs.",
     OptionTable::of<dump_options>(), "acu dump\nacu dump 4711"},
    {"top", "[KIND|PROBE] [-p PIDS|-t TIDS|-u USER|--cgroup GROUP|--container CONTAINER|-a] [options] [-- CMD…]",
     "Show the top functions live, refreshed every second; kinds and probes as for `acu flame`.\n"
     "On a terminal: arrows select, Enter shows callers and callees, t threads, / searches, space pauses, s sorts, a accumulates\n"
     "since the start, h shows help, q quits. Elsewhere: tables as text. A wait is counted when it ends.",
     OptionTable::of<top_options>(), "acu top\nacu top offcpu -p 4711\nacu top -n 3 -I 5s --top 10 -u postgres"},
    {"report", "FILE [options]",
     "Show what a recording contains: functions, callers and callees, processes, modules.\n"
     "Reads acu's own files, pprof, perf.data (with perf), perf script output and folded stacks.",
     OptionTable::of<report_options>(),
     "acu report recording.acu --from 41 --until 43\nacu report app.acu --function 'parse_*'\nperf script | acu report - "
     "-o flame.html"},
    {"timeline", "FILE [options]",
     "Show a recording of events over time: what each CPU ran, what each thread did and waited for, who woke it, calls and counters.\n"
     "The page zooms from minutes to nanoseconds; a selected range has its own flame graph and tables.",
     OptionTable::of<timeline_options>(), "acu timeline incident.acu\nacu timeline incident.acu --from 2s --until 2.5s -o incident.svg"},
    {"diff", "BEFORE AFTER [options] | FILE --from TIME --until TIME [options]",
     "Compare two recordings: which functions take more and which less; or compare a time range of one recording with the rest.", OptionTable::of<diff_options>(),
     "acu diff before.acu after.acu -o diff.html\nacu diff old.folded new.folded --top 5 --json\n"
     "acu diff spike.acu --from 41 --until 43"},
    {"trace", "[-p PIDS|--tid TIDS|-u USER|--cgroup GROUP|--container CONTAINER|-a] [options] [-- CMD…]",
     "Trace system calls, decoded like strace but without stopping processes: of a command, of processes, or of the whole system.",
     OptionTable::of<trace_options>(),
     "acu trace -e %file -y -- find /usr -maxdepth 2"},
    {"slow", "FUNCTION|syscalls|syscall:CALLS|io|PROBE PROBE [-p PIDS|-t TIDS|-u USER|--cgroup GROUP|--container CONTAINER|-a] [options] [-- CMD…]",
     "Report slow calls and what happened during them: stacks, waits, lock holders, wakers, and what ran instead.\n"
     "FUNCTION is a function of the program, or FILE:FUNCTION; where probing every call would cost too much, slow calls are found by\n"
     "their waits. CALLS are system call names as in `acu trace -e`, io means disk requests; two PROBEs are the start and the end\n"
     "of an operation.",
     OptionTable::of<slow_options>(),
     "acu slow -p 4711 handle_request\nacu slow syscall:fsync,fdatasync -a --min-duration 50ms\n"
     "acu slow --min-duration 1ms -n 5 read_page -- ./load"},
    {"waits", "[-p PIDS|-t TIDS|-u USER|--cgroup GROUP|--container CONTAINER|-a] [options] [-- CMD…]",
     "Report who waits for whom, what causes the waits, and the bottlenecks of a program: code, or waits for disks, timers and peers,\n"
     "with the speedup that the threads would have without each. The longest wait is often not the bottleneck.",
     OptionTable::of<waits_options>(), "acu waits -p 4711 --duration 5s\nacu waits --min-duration 20us -- ./load\nacu waits -a --duration 3s --json"},
    {"why", "[slow|growing|stuck|failing] [-p PID | -C NAME | --container CONTAINER] [options]",
     "Find out why a process, or the host, is slow, growing, stuck or failing: measure at low overhead, form hypotheses, take the measurement that\n"
     "distinguishes them, and report the cause with its evidence, its size, what to do, and what would refute it.",
     OptionTable::of<why_options>(), "acu why\nacu why -p 4711\nacu why slow -C nginx -o answer.html\nacu why growing -p 4711 --json"},
    {"graph", "[-p PIDS|-t TIDS|-u USER|--cgroup GROUP|--container CONTAINER|-a] [options] FUNCTION… [-- CMD…]",
     "Show nested calls like ftrace's function_graph: duration and off-CPU time of each, with arguments and results where types are\n"
     "known. Traces a process or the command itself, not its children. FUNCTION, also with * and ?: `main` of the program,\n"
     "`libc:malloc` of a library, `ns::f` by its C++ or Rust name, `k:vfs_read` of the kernel.",
     OptionTable::of<graph_options>(),
     "acu graph main 'parse_*' -- ./app input.txt\nacu graph -p 4711 handle_request libc:write k:vfs_write --min-duration 1ms\n"
     "acu graph -p 4711 'cpp:shop::*' --duration 5s -o calls.json"},
    {"stat", "[-p PIDS|-t TIDS|--cgroup GROUP|--container CONTAINER|-a] [options] [-- CMD…]",
     "Count events like perf stat: of a command and its children, a process, a control group, or all processes. With -a and\n"
     "a command, count everything while the command runs.", OptionTable::of<stat_options>(),
     "acu stat -- make\nacu stat -r 5 -e task-clock,page-faults -- sort big.txt\nacu stat -a -A -I 1s -e context-switches\n"
     "acu stat -p 4711 -e 'syscalls:sys_enter_*' --duration 10s"},
    {"core",
     "FILE [options] [SCRIPT|-e SCRIPT] [ARG…] [-- --NAME=VALUE…] | FILE heap|leaks|refs ADDR|find TEXT [count|list|summarize|explain]",
     "Inspect a core dump: signal, stacks with arguments and variables, modules. Or run a script on it, with the probes oneshot,\n"
     "thread, frame(\"FUNCTION\") and fault. Or search the heap of glibc's malloc: blocks in use (heap), unreachable blocks (leaks),\n"
     "pointers to an address (refs), a text (find); `explain` shows what holds a block.",
     OptionTable::of<core_options>(), "acu core core.1234 -e 'thread { @[ustack] = count(); }'"},
    {"snap", "-p PID|--container CONTAINER [options] [SCRIPT|-e SCRIPT] [ARG…] [-- --NAME=VALUE…] | -p PID heap|leaks|refs ADDR|find TEXT [count|list|summarize|explain]",
     "Inspect a live process: stacks, modules; or run a script on its memory, with the probes oneshot, thread and\n"
     "frame(\"FUNCTION\"). The process is stopped only while its memory is copied.",
     OptionTable::of<snap_options>(), "acu snap -p 1234 -e 'thread { @[ustack] = count(); }'"},
    {"sql", "[options] [QUERY] | --tables [TABLE…]",
     "Query processes, threads, files, sockets, memory and more as tables, in SQLite's SQL. Without a query, open a prompt on a terminal, and\n"
     "read the query from standard input elsewhere.",
     OptionTable::of<sql_options>(),
     "acu sql \"select pid, name, resident from processes order by resident desc limit 5\"\nacu sql --tables sockets\n"
     "acu sql -f csv \"select name, reads, writes from disks\""},
    {"export", "[options] FILE|TOOL|-|-e SCRIPT [ARG…] [-- --NAME=VALUE…]",
     "Run a script and offer its maps as metrics, in the OpenMetrics format, to Prometheus and others that ask for /metrics. A map is a metric, the parts of\n"
     "its keys are labels. Maps are read only when they are asked for.",
     OptionTable::of<export_options>(),
     "acu export -e 'tracepoint:syscalls:sys_enter_openat { @opens[comm] = count(); }'\nacu export runqlat --listen 127.0.0.1:9436\n"
     "acu export --container web -e 'profile:hz:99 { @samples[comm] = count(); }'"},
    {"emit", "--to FRAMEWORK [options] FILE|TOOL|-e SCRIPT [ARG…] [-- --NAME=VALUE…]",
     "Write a script as source for another framework: bpftrace (also older versions), SystemTap, DTrace and others. Parameters of the script become\n"
     "constants. What the framework lacks is rewritten, or reported with its location and an alternative.",
     OptionTable::of<emit_options>(),
     "acu emit --to bpftrace --target-version 0.17 opensnoop\nacu emit --to stap -o runqlat.stp runqlat\nacu emit --support"},
    {"convert", "[options] FILE|- [ARG…]",
     "Convert a SystemTap script to a script of acu, as a starting point. Comments that begin with `convert:` name what to decide or to check. What has no\n"
     "counterpart is an error with its location and an alternative. Arguments become part of the result; without them it has parameters. The result is not\n"
     "checked against this host: `acu run` does that.",
     OptionTable::of<convert_options>(), "acu convert iotime.stp\nacu convert -o iotime.bt iotime.stp\nacu convert times.stp 'kernel.function(\"vfs_read\")' 10"},
    {"tools", "[NAME|GROUP]",
     "List the built-in tools, which `acu NAME` runs, or those of a GROUP; with a NAME, explain it like `acu NAME --help`. A link to\n"
     "acu with the name of a tool works, too.",
     OptionTable::of<tools_options>(), "acu tools disks\nacu tools execsnoop --help\nacu execsnoop\nacu biolatency -- --seconds=5"},
    {"tool", "[add FILE|FOLDER | remove NAME | new NAME | test FILE|NAME | NAME|GROUP]",
     "Manage tools of your own: `add` checks scripts and installs them, `remove` uninstalls one, `new` writes a skeleton, `test` runs a tool's example and compares\n"
     "what it prints with the columns that its header promises. Without these words, the same as `acu tools`.",
     OptionTable::of<tool_options>(), "acu tool new slowlog\nacu tool test ./slowlog.bt\nacu tool add ./slowlog.bt\nacu tool remove slowlog"},
    {"mcp", "[options]",
     "Offer acu to an assistant: a server of the Model Context Protocol on standard input and output. Its verbs only read: they have limits of time,\n"
     "cost and output, check scripts before they run, and refuse those that change the system.",
     OptionTable::of<mcp_options>(), "acu mcp\nacu mcp --verbs host,sql,why --audit /var/log/acu-mcp.log"},
    {"api", "[options] [PATH]",
     "Offer the verbs of `acu mcp` to programs: JSON-RPC, one message a line, on a UNIX socket that only its owner can open. PATH is /run/acu.sock for root,\n"
     "$XDG_RUNTIME_DIR/acu.sock for others.",
     OptionTable::of<api_options>(), "acu api\nacu api --audit /var/log/acu-api.log /run/acu/api.sock"},
    {"serve", "[options]",
     "Record this host all the time (CPU time, waits, numbers of services) into an embedded store, and serve the console and its HTTP API on loopback. The printed address\n"
     "has a token that opens one session.",
     OptionTable::of<serve_options>(), "acu serve\nacu serve --listen 127.0.0.1:8080 --store /var/lib/acu/web1.db --keep 14d --max-size 2G\nacu serve --read-only --token-file /etc/acu/token\nacu serve --users /etc/acu/users --add-user alice --role measure\nacu serve --users /etc/acu/users --listen 10.0.0.5:7070 --tls-cert /etc/acu/cert.pem --tls-key /etc/acu/key.pem"},
    {"store", "FILE sizes|check|compact|export|import [RECORDING]",
     "Look after the store of `acu serve`: show what it holds, check it, delete and merge what is old, export a range as a recording, or import a recording.",
     OptionTable::of<store_options>(), "acu store /var/lib/acu/store.db sizes\nacu store /var/lib/acu/store.db export --service nginx.service --from -900 -o nginx.html\nacu store ./incident.db import incident.acu"},
    {"agent", "--to URL --token-file FILE [options]",
     "Record this host all the time, as `acu serve` does, and send it to the collector of a fleet. What cannot be sent waits in a spool on disk.",
     OptionTable::of<agent_options>(), "acu agent --to http://collector:7071 --token-file /etc/acu/agent.token\nacu agent --to http://127.0.0.1:7071 --token-file ./token --spool ./spool --max-size 1G"},
    {"collect", "--store URL --agents FILE [options]",
     "Receive the recordings of a fleet's agents and store them in ClickHouse. `acu serve --store URL` shows them.",
     OptionTable::of<collect_options>(), "acu collect --store clickhouse://acu@127.0.0.1:8123/acu --agents /etc/acu/agents\nacu collect --listen 10.0.0.5:7071 --store clickhouse://acu@ch1:8123/acu --agents /etc/acu/agents --keep-fine 3d"},
    {"learn", "[--list] [LESSON]",
     "Learn acu in the terminal: twelve lessons, each with a small broken program to examine and a question about it, from `acu top` to `acu why`.",
     OptionTable::of<learn_options>(), "acu learn\nacu learn --list\nacu learn 4"},
    {"policy", "check|show [options]",
     "Check the policy of this host, which limits who may trace what, or show what it permits to a user.\n"
     "The file is /etc/acu/policy; `acu --policy FILE COMMAND …` uses another one (for root).",
     OptionTable::of<policy_options>(), "acu policy check\nacu policy show --user alice\nacu policy check --file draft.policy"},
    {"info", "[--json] [--for FILE] | --save FILE", "Show what this kernel supports and what this user may do, or save it.", OptionTable::of<info_options>(),
     "acu info\nacu info --save web1.host"},
    {"help", "[SUBCOMMAND|reference|man [SUBCOMMAND]|completion bash|zsh|fish]",
     "Explain a subcommand, or print the reference manual, a manual page, or shell completions.",
     OptionTable::of<help_options>(), "acu help run\nacu help man trace | man -l -\nsource <(acu help completion bash)"},
};

} // namespace spec
