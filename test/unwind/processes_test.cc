// Stacks of other programs that wait in a system call, against eu-stack (elfutils).
#include "live.h"
#include "unwind/reason.h"

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <gtest/gtest.h>
#include <sstream>
#include <string>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace {

// A program that has written a byte and then waits; it ends with this.
class Waiting {
public:
  explicit Waiting(const std::vector<std::string>& command) {
    int told[2], kept[2];
    if (::pipe2(told, O_CLOEXEC) != 0 || ::pipe2(kept, O_CLOEXEC) != 0) return;
    pid_ = ::fork();
    if (pid_ == 0) {
      std::vector<char*> arguments;
      for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
      arguments.push_back(nullptr);
      ::dup2(kept[0], 0);
      ::dup2(told[1], 1);
      ::execv(arguments[0], arguments.data());
      ::_exit(127);
    }
    ::close(told[1]);
    ::close(kept[0]);
    char byte;
    is_there_ = pid_ > 0 && ::read(told[0], &byte, 1) == 1;
    ::close(told[0]);
    input_ = kept[1];
  }
  Waiting(const Waiting&) = delete;
  ~Waiting() {
    if (pid_ > 0) {
      ::kill(pid_, SIGKILL);
      ::waitpid(pid_, nullptr, 0);
    }
    if (input_ >= 0) ::close(input_);
  }
  // False: it ended, or never waits.
  bool wait_for_sleep() const {
    for (int i = 0; is_there_ && i < 3000; i++) {
      std::string state;
      std::getline(std::ifstream("/proc/" + std::to_string(pid_) + "/syscall"), state);
      if (!state.empty() && state[0] >= '0' && state[0] <= '9') return true;
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    return false;
  }
  pid_t pid() const { return pid_; }

private:
  pid_t pid_ = -1;
  int input_ = -1;
  bool is_there_ = false;
};

std::vector<uint64_t> by_eu_stack(pid_t pid) {
  std::vector<uint64_t> out;
  std::string command = "eu-stack -n 0 -p " + std::to_string(pid) + " 2>/dev/null";
  FILE* pipe = ::popen(command.c_str(), "r");
  char line[4096];
  while (pipe && std::fgets(line, sizeof line, pipe)) {
    unsigned long long address = 0;
    if (line[0] == '#' && std::sscanf(line, "#%*d %llx", &address) == 1) out.push_back(address);
  }
  if (pipe) ::pclose(pipe);
  return out;
}

std::optional<unwind::Registers> stop_and_read(pid_t pid) {
  user_regs_struct r;
  int status;
  if (::ptrace(PTRACE_SEIZE, pid, 0, 0) != 0 || ::ptrace(PTRACE_INTERRUPT, pid, 0, 0) != 0 ||
      ::waitpid(pid, &status, 0) != pid || ::ptrace(PTRACE_GETREGS, pid, 0, &r) != 0)
    return std::nullopt;
  unwind::Registers out;
  const unsigned long long order[] = {r.rax, r.rdx, r.rcx, r.rbx, r.rsi, r.rdi, r.rbp, r.rsp, r.r8,
                                      r.r9,  r.r10, r.r11, r.r12, r.r13, r.r14, r.r15, r.rip};
  for (unsigned i = 0; i < unwind::Registers::count; i++) out.set(i, order[i]);
  return out;
}

} // namespace

TEST(Processes, StacksAreThoseOfEuStack) {
  if (std::system("command -v eu-stack >/dev/null") != 0) GTEST_SKIP() << "eu-stack is not installed";
  const std::vector<std::vector<std::string>> commands = {
      {"/usr/bin/python3", "-c",
       "import os, time, re\ndef f(n):\n  return f(n - 1) if n else re.sub('a', lambda m: g(), 'a')\n"
       "def g():\n  os.write(1, b'x')\n  time.sleep(1000)\nsorted([1, 2], key=lambda v: f(20))\n"},
      {"/usr/bin/perl", "-e",
       "sub f { $_[0] ? f($_[0] - 1) : do { syswrite(STDOUT, 'x'); sleep 1000 } } f(10)"},
      {"/bin/bash", "-c", "f() { printf x; read line; }; f"},
  };
  for (const auto& command : commands) {
    SCOPED_TRACE(command[0]);
    if (::access(command[0].c_str(), X_OK) != 0) continue;
    Waiting program(command);
    ASSERT_TRUE(program.wait_for_sleep());
    std::vector<uint64_t> wanted = by_eu_stack(program.pid());
    ASSERT_TRUE(program.wait_for_sleep());
    auto registers = stop_and_read(program.pid());
    if (!registers || wanted.empty()) GTEST_SKIP() << "other processes may not be looked into";
    samples::LiveCode code(program.pid());
    for (bool all : {false, true}) {
      unwind::Walk walk = code.walk(*registers, {.all_registers = all});
      std::vector<uint64_t> found;
      for (const unwind::Frame& frame : walk.frames)
        found.push_back(*frame.registers.get(unwind::Registers::rip));
      EXPECT_EQ(found, wanted);
      EXPECT_EQ(walk.end, UNWIND_COMPLETE) << unwind::reason_of(walk.end).text;
    }
  }
}
