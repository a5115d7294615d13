// The life of the tool: until SIGINT, exit() of the script, or the end of the command that is given.
#pragma once

#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile sig_atomic_t is_over;
static int exit_status;
static struct bpf_link *links[8192];
static size_t link_count;

static void on_signal(int number)
{
  (void)number;
  is_over = 1;
}

static void stop(int status)
{
  exit_status = status;
  is_over = 1;
}

static void fail(const char *what)
{
  fprintf(stderr, "ERROR: %s: %s\n", what, strerror(errno));
  exit(1);
}

static void keep(struct bpf_link *link, const char *what)
{
  if (!link)
    fail(what);
  if (link_count == sizeof(links) / sizeof(*links)) {
    errno = E2BIG;
    fail(what);
  }
  links[link_count++] = link;
}

static void attach_uprobe(struct bpf_program *program, const char *file, size_t offset, int is_return)
{
  LIBBPF_OPTS(bpf_uprobe_opts, options, .retprobe = is_return);
  keep(bpf_program__attach_uprobe_opts(program, -1, file, offset, &options), file);
}

// On the first CPU, or on all of them.
static void attach_clock(struct bpf_program *program, unsigned long long period, unsigned long long frequency, int is_everywhere)
{
  struct perf_event_attr attributes = {.size = sizeof(attributes), .type = PERF_TYPE_SOFTWARE, .config = PERF_COUNT_SW_CPU_CLOCK};
  long cpus = is_everywhere ? sysconf(_SC_NPROCESSORS_ONLN) : 1;
  attributes.freq = frequency != 0;
  if (frequency)
    attributes.sample_freq = frequency;
  else
    attributes.sample_period = period;
  for (long cpu = 0; cpu < cpus; cpu++) {
    int fd = (int)syscall(SYS_perf_event_open, &attributes, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);
    if (fd < 0)
      fail("perf_event_open");
    keep(bpf_program__attach_perf_event(program, fd), "perf event");
  }
}

static pid_t start(char **command)
{
  pid_t child = fork();
  if (child == 0) {
    execvp(*command, command);
    fprintf(stderr, "ERROR: %s: %s\n", *command, strerror(errno));
    _exit(127);
  }
  return child;
}

static void wait_for_the_end(struct ring_buffer *ring, char **command)
{
  struct sigaction action = {.sa_handler = on_signal};
  sigaction(SIGINT, &action, NULL);
  sigaction(SIGTERM, &action, NULL);
  pid_t child = *command && !is_over ? start(command) : 0;
  while (!is_over) {
    int got = ring_buffer__poll(ring, 50);
    fflush(stdout);
    if (got < 0 && got != -EINTR)
      break;
    if (child && waitpid(child, NULL, WNOHANG) == child)
      is_over = 1;
  }
  for (size_t i = 0; i < link_count; i++)
    bpf_link__destroy(links[i]);
  ring_buffer__consume(ring);
}
