// The policy of this host applied to this process. session::parse_arguments, which reads the command line of every command, asks for
// permission here, so nothing that acu does comes before it.
//
// A policy binds callers that are not root: users of an acu with file capabilities, and users of sudo (SUDO_UID, which sudo sets). Their
// results are written and their commands started with their own rights, not acu's. Without a policy file nothing is restricted; a policy
// that cannot be read, has mistakes, or could be changed by others permits nothing.
#pragma once

#include "policy/policy.h"

#include <string>
#include <string_view>
#include <vector>

namespace policy {

inline constexpr std::string_view usual_file = "/etc/acu/policy";

// What a command line asks for, as far as a policy is concerned.
struct Asked {
  std::string_view command;
  std::vector<int> processes, threads;
  std::string user, group, container; // -u, --cgroup, --container; empty: not given
  bool starts_command = false;        // -c, or words behind `--`
  bool has_words = false, has_code_words = false; // words; some of them more than names
  std::string code, action; // the options that take code, or act on the host; empty: none
  bool is_help = false;
};

// Uses this file instead, also for root (`acu --policy FILE`). Failure (permission): the caller is not root.
base::Status use_file(std::string file);
// The file of use_file(); empty: none was given.
const std::string& given_file();

// Who started acu: the real user, or the user of sudo.
Caller caller();
// The same for any user of this host, by name or number. Failure (usage): there is none.
base::Result<Caller> caller_called(const std::string& name);

// Reads a file. Failure: it cannot be read, users other than root can change it, or mistakes.
base::Result<Policy> load(const std::string& file);

// Failure (permission): the policy does not permit it. If it does, this process has the rights that are left to it from here on.
base::Status enforce(const Asked& asked);

// For commands that nobody needs permission for, before they read a file that the caller names: this process then has the caller's own rights.
// Failure: the kernel refuses. Without a policy, or for root, it does nothing.
base::Status give_up_rights();

// Whether what acts on the host is permitted: false only for callers under a policy without `may unsafe`.
bool permits_unsafe();

// In a new process, before execve(2): the caller's user and groups, no capabilities, no setuid programs. Only system calls. 0, or an errno.
// Without a policy it does nothing.
int become_caller();

} // namespace policy
