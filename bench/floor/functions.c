// Puts one program of functions.bpf.o at a function: functions OBJECT PROGRAM BINARY OFFSET. By a link for many places
// (BPF_TRACE_UPROBE_MULTI, or _SESSION), which the packaged libbpf does not know yet. Prints "attached", runs until
// SIGINT.
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static volatile sig_atomic_t ended;
static void on_signal(int n) { ended = n; }

int main(int argc, char** argv) {
  if (argc < 5) return 2;
  signal(SIGINT, on_signal);
  signal(SIGTERM, on_signal);
  enum { multi = 48, session = 57 };
  size_t length = strlen(argv[2]);
  int type = length > 8 && !strcmp(argv[2] + length - 8, "_session") ? session : multi;
  struct bpf_object* object = bpf_object__open(argv[1]);
  if (!object) return 1;
  struct bpf_program *program, *wanted = NULL;
  bpf_object__for_each_program(program, object) {
    bool is_wanted = !strcmp(argv[2], bpf_program__name(program));
    bpf_program__set_autoload(program, is_wanted);
    if (is_wanted) wanted = program;
  }
  if (!wanted) return 2;
  bpf_program__set_expected_attach_type(wanted, type);
  if (bpf_object__load(object)) return 1;
  unsigned long long offset = strtoull(argv[4], NULL, 0);
  struct {
    __u32 program, target, type, flags;
    __u64 path, offsets, counters, cookies;
    __u32 count, multi_flags, pid, zero;
  } request = {.program = (__u32)bpf_program__fd(wanted), .type = (__u32)type,
               .path = (__u64)(unsigned long)argv[3], .offsets = (__u64)(unsigned long)&offset, .count = 1};
  if (syscall(SYS_bpf, BPF_LINK_CREATE, &request, sizeof request - 4) < 0) return perror("link"), 1;
  puts("attached");
  fflush(stdout);
  while (!ended) usleep(100000);
  return 0;
}
