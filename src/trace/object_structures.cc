// Structures that describe objects of the kernel as they are made: struct perf_event_attr, union bpf_attr, struct io_uring_params,
// struct open_how.
#include "trace/structures.h"

#include <algorithm>
#include <cstdio>

namespace trace {

using base::ByteSpan;

namespace {

std::string flags(std::string_view set, uint64_t value) { return spec::flags_text(*spec::find_flag_set(set), value); }

std::string perf_size(uint32_t size) {
  constexpr uint32_t sizes[] = {64, 72, 80, 96, 104, 112, 120, 128, 136};
  const auto* at = std::find(std::begin(sizes), std::end(sizes), size);
  if (at == std::end(sizes)) return hexadecimal(size);
  return "PERF_ATTR_SIZE_VER" + std::to_string(at - std::begin(sizes));
}

std::string perf_config(uint32_t type, uint64_t config) {
  enum : uint32_t { hardware, software, tracepoint, cache, raw, breakpoint };
  switch (type) {
  case hardware: return flags("perf_hardware", config);
  case software: return flags("perf_software", config);
  case tracepoint: return std::to_string(config);
  case breakpoint: return config ? hexadecimal(config) : "0";
  default: return hexadecimal(config);
  }
}

// One member of union bpf_attr.
struct Member {
  enum class As : uint8_t { number, hex, address, text, set };
  std::string_view name;
  size_t at;
  As as = As::number;
  std::string_view set = {};
  size_t bytes = 4; // of a text its room
};

using As = Member::As;

void show_members(std::string& out, ByteSpan bytes, uint64_t size, std::span<const Member> members) {
  out += "{";
  const char* between = "";
  for (const Member& m : members) {
    const size_t width = m.as == As::address ? 8 : m.bytes;
    if (m.at + width > size || m.at + width > bytes.size()) break;
    const uint64_t value = width == 8 ? number_at<uint64_t>(bytes, m.at) : number_at<uint32_t>(bytes, m.at);
    out.append(between).append(m.name).append("=");
    between = ", ";
    switch (m.as) {
    case As::number: out += std::to_string(width == 8 ? static_cast<int64_t>(value) : static_cast<int32_t>(value)); break;
    case As::hex: out += value ? hexadecimal(value) : "0"; break;
    case As::address: out += pointer(value); break;
    case As::set: out += flags(m.set, value); break;
    case As::text: {
      const ByteSpan room = bytes.subspan(m.at, m.bytes);
      out += quoted(room.first(static_cast<size_t>(std::find(room.begin(), room.end(), std::byte{0}) - room.begin())), false);
    }
    }
  }
  out += "}";
}

} // namespace

// struct perf_event_attr of linux/perf_event.h, without what only some kinds of events have.
void show_perf_attr(std::string& out, const Shown& v) {
  enum : size_t { size_at = 4, config = 8, period = 16, sample = 24, format = 32, bits_at = 40 };
  static constexpr std::string_view bits[] = {"disabled", "inherit", "pinned", "exclusive", "exclude_user", "exclude_kernel", "exclude_hv", "exclude_idle",
                                              "mmap", "comm", "freq", "inherit_stat", "enable_on_exec", "task", "watermark"};
  const auto type = number_at<uint32_t>(v.bytes, 0);
  const auto set = number_at<uint64_t>(v.bytes, bits_at);
  constexpr uint64_t has_frequency = 1 << 10;
  out += "{type=" + flags("perf_type", type) + ", size=" + perf_size(number_at<uint32_t>(v.bytes, size_at)) +
         ", config=" + perf_config(type, number_at<uint64_t>(v.bytes, config)) + (set & has_frequency ? ", sample_freq=" : ", sample_period=") +
         std::to_string(number_at<uint64_t>(v.bytes, period)) + ", sample_type=" + flags("perf_sample", number_at<uint64_t>(v.bytes, sample)) +
         ", read_format=" + flags("perf_read_format", number_at<uint64_t>(v.bytes, format));
  for (size_t i = 0; i < std::size(bits); i++)
    if (set >> i & 1) out.append(", ").append(bits[i]).append("=1");
  static constexpr std::string_view precise[] = {"arbitrary skid", "constant skid", "requested to have 0 skid", "must have 0 skid"};
  const uint64_t skid = set >> 15 & 3;
  out += ", precise_ip=" + std::to_string(skid) + " /* " + std::string(precise[skid]) + " */";
  constexpr size_t first_more = 17;
  static constexpr std::string_view more[] = {"mmap_data", "sample_id_all", "exclude_host", "exclude_guest", "exclude_callchain_kernel", "exclude_callchain_user", "mmap2",
                                              "comm_exec", "use_clockid", "context_switch", "write_backward", "namespaces", "ksymbol", "bpf_event", "aux_output", "cgroup",
                                              "text_poke", "build_id", "inherit_thread", "remove_on_exec", "sigtrap"};
  for (size_t i = 0; i < std::size(more); i++)
    if (set >> (first_more + i) & 1) out.append(", ").append(more[i]).append("=1");
  if (const uint64_t reserved = set >> (first_more + std::size(more))) out += ", __reserved_1=" + hexadecimal(reserved) + " /* Bits 63..38 */";
  out += ", ...}";
}

// union bpf_attr of linux/bpf.h, by the command; of others the address.
void show_bpf_attr(std::string& out, const Shown& v) {
  static constexpr Member map_create[] = {{"map_type", 0, As::set, "bpf_map_type"}, {"key_size", 4}, {"value_size", 8}, {"max_entries", 12}, {"map_flags", 16, As::set, "bpf_map_flags"},
                                          {"inner_map_fd", 20}, {"map_name", 28, As::text, {}, 16}, {"map_ifindex", 44}, {"btf_fd", 48}, {"btf_key_type_id", 52},
                                          {"btf_value_type_id", 56}, {"btf_vmlinux_value_type_id", 60}, {"map_extra", 64, As::hex, {}, 8}};
  static constexpr Member element[] = {{"map_fd", 0}, {"key", 8, As::address}, {"value", 16, As::address}, {"flags", 24, As::set, "bpf_update_flags", 8}};
  static constexpr Member deleted[] = {{"map_fd", 0}, {"key", 8, As::address}};
  static constexpr Member next_key[] = {{"map_fd", 0}, {"key", 8, As::address}, {"next_key", 16, As::address}};
  static constexpr Member prog_load[] = {{"prog_type", 0, As::set, "bpf_prog_type"}, {"insn_cnt", 4}, {"insns", 8, As::address}, {"license", 16, As::address}, {"log_level", 24},
                                         {"log_size", 28}, {"log_buf", 32, As::address}, {"kern_version", 40, As::hex}, {"prog_flags", 44, As::set, "bpf_prog_flags"},
                                         {"prog_name", 48, As::text, {}, 16}, {"prog_ifindex", 64}, {"expected_attach_type", 68}, {"prog_btf_fd", 72},
                                         {"func_info_rec_size", 76}, {"func_info", 80, As::address}, {"func_info_cnt", 88}, {"line_info_rec_size", 92},
                                         {"line_info", 96, As::address}, {"line_info_cnt", 104}, {"attach_btf_id", 108}, {"attach_prog_fd", 112}};
  static constexpr Member object[] = {{"pathname", 0, As::address}, {"bpf_fd", 8}, {"file_flags", 12, As::hex}};
  static constexpr Member attach[] = {{"target_fd", 0}, {"attach_bpf_fd", 4}, {"attach_type", 8}, {"attach_flags", 12, As::hex}};
  static constexpr Member next_id[] = {{"start_id", 0}, {"next_id", 4}, {"open_flags", 8, As::hex}};
  static constexpr Member by_id[] = {{"id", 0}, {"next_id", 4}, {"open_flags", 8, As::hex}};
  static constexpr Member information[] = {{"bpf_fd", 0}, {"info_len", 4}, {"info", 8, As::address}};
  static constexpr Member raw_tracepoint[] = {{"name", 0, As::address}, {"prog_fd", 8}};
  static constexpr Member btf[] = {{"btf", 0, As::address}, {"btf_log_buf", 8, As::address}, {"btf_size", 16}, {"btf_log_size", 20}, {"btf_log_level", 24}};
  static constexpr Member one_map[] = {{"map_fd", 0}};
  static constexpr Member batch[] = {{"in_batch", 0, As::address}, {"out_batch", 8, As::address}, {"keys", 16, As::address}, {"values", 24, As::address}, {"count", 32},
                                     {"map_fd", 36}, {"elem_flags", 40, As::hex, {}, 8}, {"flags", 48, As::hex, {}, 8}};
  static constexpr Member link[] = {{"prog_fd", 0}, {"target_fd", 4}, {"attach_type", 8}, {"flags", 12, As::hex}};
  static constexpr Member one_link[] = {{"link_fd", 0}};
  static constexpr std::span<const Member> commands[] = {
      map_create, element, element, deleted, next_key, prog_load, object, object, attach, attach, {}, next_id, next_id, by_id, by_id, information, {},
      raw_tracepoint, btf, by_id, {}, element, one_map, next_id, batch, batch, batch, batch, link, {}, by_id, next_id, {}, {}, one_link};
  const auto command = static_cast<uint32_t>(v.call.arguments[0]);
  if (command >= std::size(commands) || commands[command].empty() || v.bytes.empty()) return void(out += pointer(v.value));
  show_members(out, v.bytes, v.call.arguments[2], commands[command]);
}

// struct io_uring_params of linux/io_uring.h
void show_io_uring_params(std::string& out, const Shown& v) {
  enum : size_t { entries = 0, completions = 4, bits = 8, cpu = 12, idle = 16, features = 20, queue = 24, reserved = 28, submission = 40, completion = 80 };
  auto number = [&](size_t at) { return std::to_string(number_at<uint32_t>(v.bytes, at)); };
  auto hex = [&](size_t at) { return number_at<uint32_t>(v.bytes, at) ? hexadecimal(number_at<uint32_t>(v.bytes, at)) : std::string("0"); };
  const auto set = number_at<uint32_t>(v.bytes, bits);
  constexpr uint32_t attaches = 1 << 5;
  out += "{flags=" + flags("io_uring_setup_flags", set) + ", sq_thread_cpu=" + hex(cpu) + ", sq_thread_idle=" + number(idle);
  if (set & attaches) out += ", wq_fd=" + number(queue);
  if (hex(reserved) + hex(reserved + 4) + hex(reserved + 8) != "000") out += ", resv=[" + hex(reserved) + ", " + hex(reserved + 4) + ", " + hex(reserved + 8) + "]";
  if (!v.call.failed()) {
    auto offsets = [&](size_t at, std::span<const std::string_view> names) {
      std::string text = "{";
      for (size_t i = 0; i < names.size(); i++) text.append(i ? ", " : "").append(names[i]).append("=").append(number(at + 4 * i));
      return text + "}";
    };
    static constexpr std::string_view of_submission[] = {"head", "tail", "ring_mask", "ring_entries", "flags", "dropped", "array"};
    static constexpr std::string_view of_completion[] = {"head", "tail", "ring_mask", "ring_entries", "overflow", "cqes", "flags"};
    out += ", sq_entries=" + number(entries) + ", cq_entries=" + number(completions) + ", features=" + flags("io_uring_features", number_at<uint32_t>(v.bytes, features)) +
           ", sq_off=" + offsets(submission, of_submission) + ", cq_off=" + offsets(completion, of_completion);
  }
  out += "}";
}

// struct file_handle of fcntl.h; name_to_handle_at fills in its type and bytes.
void show_file_handle(std::string& out, const Shown& v) {
  enum : size_t { type = 4, head = 8 };
  constexpr uint32_t most = 128;
  const auto length = number_at<uint32_t>(v.bytes, 0);
  out += "{handle_bytes=" + std::to_string(length);
  const bool is_unwritten = v.call.failed() && v.index == 2; // of name_to_handle_at
  if (!is_unwritten) {
    out += ", handle_type=" + std::to_string(number_at<int32_t>(v.bytes, type)) + ", f_handle=";
    const ByteSpan bytes = v.bytes.size() > head ? v.bytes.subspan(head, std::min<size_t>({length, most, v.bytes.size() - head})) : ByteSpan();
    out += "\"";
    for (std::byte b : bytes) {
      char text[8];
      std::snprintf(text, sizeof text, "\\x%02x", std::to_integer<unsigned>(b));
      out += text;
    }
    out += length > most ? "\"..." : "\"";
  }
  out += "}";
}

// struct mount_attr of linux/mount.h
void show_mount_attributes(std::string& out, const Shown& v) {
  enum : size_t { set = 0, clear = 8, shares = 16, namespace_at = 24, all = 32 };
  if (v.call.arguments[4] < all) return void(out += pointer(v.value));
  out += "{attr_set=" + flags("mount_attribute_bits", number_at<uint64_t>(v.bytes, set)) + ", attr_clr=" +
         flags("mount_attribute_bits", number_at<uint64_t>(v.bytes, clear)) + ", propagation=" + flags("propagation", number_at<uint64_t>(v.bytes, shares)) +
         ", userns_fd=" + std::to_string(number_at<uint64_t>(v.bytes, namespace_at)) + "}";
}

// struct landlock_ruleset_attr and landlock_path_beneath_attr of linux/landlock.h
void show_landlock_ruleset(std::string& out, const Shown& v) {
  const uint64_t size = v.call.arguments[1];
  if (size < sizeof(uint64_t)) return void(out += pointer(v.value));
  out += "{handled_access_fs=" + flags("landlock_access", number_at<uint64_t>(v.bytes, 0)) + (size > sizeof(uint64_t) ? ", ...}" : "}");
}
void show_landlock_rule(std::string& out, const Shown& v) {
  constexpr uint32_t path_beneath = 1;
  if (static_cast<uint32_t>(v.call.arguments[1]) != path_beneath) return void(out += pointer(v.value));
  out += "{allowed_access=" + flags("landlock_access", number_at<uint64_t>(v.bytes, 0)) + ", parent_fd=" + descriptor_text(v, number_at<int32_t>(v.bytes, 8)) + "}";
}

void show_open_how(std::string& out, const Shown& v) {
  const auto bits = number_at<uint64_t>(v.bytes, 0), mode = number_at<uint64_t>(v.bytes, 8);
  constexpr uint64_t creates = 0100, temporary = 020000000;
  constexpr uint64_t least = 24; // bytes; the kernel takes no less
  if (v.call.arguments[3] < least) return void(out += pointer(v.value));
  out += "{flags=" + flags("open_flags", bits);
  if (mode || bits & (creates | temporary)) out += ", mode=" + octal(mode);
  out += ", resolve=" + flags("resolve_flags", number_at<uint64_t>(v.bytes, 16)) + "}";
}

} // namespace trace
