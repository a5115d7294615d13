// Loads some programs of floors.bpf.o: floor OBJECT PROGRAM…. Prints "attached", runs until SIGINT; reads the ring
// buffer every millisecond where `event` is among them and prints how many records came and were lost.
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static volatile sig_atomic_t ended;
static unsigned long records;
static void on_signal(int n) { ended = n; }
static int on_record(void* context, void* data, size_t size) {
  (void)context, (void)data, (void)size;
  return records++, 0;
}
static int quiet(enum libbpf_print_level level, const char* format, va_list list) {
  return level == LIBBPF_WARN ? vfprintf(stderr, format, list) : 0;
}

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  signal(SIGINT, on_signal);
  signal(SIGTERM, on_signal);
  libbpf_set_print(quiet);
  struct bpf_object* object = bpf_object__open(argv[1]);
  if (!object) return 1;
  struct bpf_program* program;
  bpf_object__for_each_program(program, object) {
    int wanted = 0;
    for (int i = 2; i < argc; i++) wanted |= !strcmp(argv[i], bpf_program__name(program));
    bpf_program__set_autoload(program, wanted);
  }
  if (bpf_object__load(object)) return 1;
  int polls = 0;
  bpf_object__for_each_program(program, object) {
    if (!bpf_program__autoload(program)) continue;
    if (!bpf_program__attach(program)) return 1;
    polls |= !strcmp(bpf_program__name(program), "event");
  }
  struct ring_buffer* ring =
      polls ? ring_buffer__new(bpf_object__find_map_fd_by_name(object, "ring"), on_record, NULL, NULL) : NULL;
  puts("attached");
  fflush(stdout);
  while (!ended) {
    if (ring) ring_buffer__consume(ring);
    usleep(ring ? 1000 : 100000);
  }
  if (ring) printf("records %lu\n", records);
  return 0;
}
