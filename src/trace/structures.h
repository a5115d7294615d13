// Structures and texts that arguments point to, from the bytes that were copied. Layouts: Linux's user API
// for x86-64.
#pragma once

#include "trace/text.h"
#include "trace/values.h"

namespace trace {

// "3", or with what it refers to "3</etc/passwd>".
std::string descriptor_text(const Shown& v, int fd);
void show_folder(std::string& out, const Shown& v);
void show_node_mode(std::string& out, const Shown& v);
void show_text(std::string& out, const Shown& v);
void show_pair(std::string& out, const Shown& v);
void show_stat(std::string& out, const Shown& v);
void show_statx(std::string& out, const Shown& v);
void show_statfs(std::string& out, const Shown& v);
// "{tv_sec=0, tv_nsec=5000000}". `fraction`: its name.
std::string time_text(base::ByteSpan bytes, size_t at, std::string_view fraction);
void show_timespec(std::string& out, const Shown& v);
void show_timeval(std::string& out, const Shown& v);
void show_file_times(std::string& out, const Shown& v);
void show_itimerspec(std::string& out, const Shown& v);
void show_itimerval(std::string& out, const Shown& v);
void show_futex_timeout(std::string& out, const Shown& v);
void show_signal_set(std::string& out, const Shown& v);
void show_sigaction(std::string& out, const Shown& v);
void show_signal_stack(std::string& out, const Shown& v);
void show_limits(std::string& out, const Shown& v);
void show_usage(std::string& out, const Shown& v);
void show_sysinfo(std::string& out, const Shown& v);
void show_uname(std::string& out, const Shown& v);
void show_wait_status(std::string& out, const Shown& v);
void show_address(std::string& out, const Shown& v);
void show_polls(std::string& out, const Shown& v);
// What came of them: "[{fd=3, revents=POLLIN}]".
std::string poll_results(base::ByteSpan bytes);
void show_vectors(std::string& out, const Shown& v);
void show_message(std::string& out, const Shown& v);  // struct msghdr
void show_messages(std::string& out, const Shown& v); // struct mmsghdr, the first of them whole
void show_epoll_event(std::string& out, const Shown& v);
void show_epoll_events(std::string& out, const Shown& v);
void show_clone_args(std::string& out, const Shown& v);
void show_cpus(std::string& out, const Shown& v);

// process_structures.cc
std::string signal_information(base::ByteSpan bytes); // struct siginfo: "{si_signo=SIGCHLD, si_code=CLD_EXITED, …}"
void show_siginfo(std::string& out, const Shown& v);
void show_sched_attr(std::string& out, const Shown& v);
void show_cap_header(std::string& out, const Shown& v);
void show_cap_data(std::string& out, const Shown& v);
void show_groups(std::string& out, const Shown& v);
void show_semaphore_operations(std::string& out, const Shown& v);
void show_queued_message(std::string& out, const Shown& v);
void show_shm_status(std::string& out, const Shown& v);
void show_msg_status(std::string& out, const Shown& v);
void show_semaphore_argument(std::string& out, const Shown& v);
void show_queue_attributes(std::string& out, const Shown& v);
void show_process_times(std::string& out, const Shown& v);
// command_values.cc
void show_hex32(std::string& out, const Shown& v);
void show_ioctl_command(std::string& out, const Shown& v);
void show_shm_command(std::string& out, const Shown& v);
void show_sem_command(std::string& out, const Shown& v);
void show_msg_command(std::string& out, const Shown& v);
void show_personality(std::string& out, const Shown& v);
void show_personality_result(std::string& out, const Shown& v);
void show_swap_flags(std::string& out, const Shown& v);
void show_quota_code(std::string& out, const Shown& v);
void show_io_priority(std::string& out, const Shown& v);
void show_io_priority_result(std::string& out, const Shown& v);
void show_memory_file_flags(std::string& out, const Shown& v);
void show_map_flags(std::string& out, const Shown& v);
void show_shm_flags(std::string& out, const Shown& v);
void show_cpu_feature(std::string& out, const Shown& v);
void show_death_signal(std::string& out, const Shown& v);
void show_speculation_argument(std::string& out, const Shown& v);
void show_console_level(std::string& out, const Shown& v);
void show_syslog_type(std::string& out, const Shown& v);
void show_machine_check_argument(std::string& out, const Shown& v);
void show_ambient_argument(std::string& out, const Shown& v);
void show_user_offset(std::string& out, const Shown& v);
void show_ptracer(std::string& out, const Shown& v);
void show_signal_out(std::string& out, const Shown& v);
void show_pointer_out(std::string& out, const Shown& v);
void show_policy_out(std::string& out, const Shown& v);
void show_node_mask(std::string& out, const Shown& v);
void show_addresses(std::string& out, const Shown& v);
void show_nodes(std::string& out, const Shown& v);
void show_time_zone(std::string& out, const Shown& v);
void show_futex_bits(std::string& out, const Shown& v);
void show_futex_wake(std::string& out, const Shown& v);
void show_user_segment(std::string& out, const Shown& v);
void show_sysctl_arguments(std::string& out, const Shown& v);
void show_futex_waiters(std::string& out, const Shown& v);
void show_io_control_block(std::string& out, const Shown& v);
void show_io_events(std::string& out, const Shown& v);
void show_mark_folder(std::string& out, const Shown& v);
void show_table_result(std::string& out, const Shown& v);
void show_scheduler_result(std::string& out, const Shown& v);
void show_membarrier_result(std::string& out, const Shown& v);
// object_structures.cc
void show_perf_attr(std::string& out, const Shown& v);
void show_bpf_attr(std::string& out, const Shown& v);
void show_io_uring_params(std::string& out, const Shown& v);
void show_file_handle(std::string& out, const Shown& v);
void show_mount_attributes(std::string& out, const Shown& v);
void show_landlock_ruleset(std::string& out, const Shown& v);
void show_landlock_rule(std::string& out, const Shown& v);
void show_open_how(std::string& out, const Shown& v);

void show_two_times(std::string& out, const Shown& v); // struct timeval
void show_access_times(std::string& out, const Shown& v); // struct utimbuf
void show_rest_of_time(std::string& out, const Shown& v);
void show_vector_places(std::string& out, const Shown& v); // an iovec without what it points to
// "[3 5]": the descriptors of a set of select(2).
std::string descriptor_set(base::ByteSpan bytes, const Shown& v);
void show_descriptor_set(std::string& out, const Shown& v);
void show_select_mask(std::string& out, const Shown& v);
// What came of them: "in [3], out [4]".
std::string select_results(const Call& call, const Options& options);

// "[1]", "[1, 2]"
template<class T> void show_numbers(std::string& out, const Shown& v) {
  out += "[";
  for (size_t at = 0; at + sizeof(T) <= v.bytes.size(); at += sizeof(T))
    out.append(at ? ", " : "").append(std::to_string(number_at<T>(v.bytes, at)));
  out += "]";
}

} // namespace trace
