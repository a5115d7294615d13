// A host in a file, as save.h writes it.
//
//   magic      "acuhost\n"
//   u32        version of the format
//   u32        CRC-32 of all that follows (zlib's)
//   u32        entries; for each: u32 bytes of its name, the name, u64 bytes, u64 bytes packed
//   …          the entries, packed (zlib, RFC 1950), in this order up to the end of the file
//
// Entries with a path for a name are files of that host. The others:
//
//   kernel             lines "release R", "version V", "machine M"
//   answers            lines "QUESTION NUMBER", of Environment::answer; also possible_cpus, boot_ns, boot_to_wall_ns
//   tracefs/NAME       a file of tracefs
//   tracefs formats    "CATEGORY:EVENT", NUL, its format, NUL, and so on
//
// Numbers are little-endian. An entry is unpacked when it is asked for.
#pragma once

#include "base/file_map.h"
#include "host/environment.h"

#include <map>

namespace host {

inline constexpr std::string_view saved_magic = "acuhost\n";
inline constexpr uint32_t saved_version = 1;

class SavedHost : public Environment {
public:
  static base::Result<std::unique_ptr<SavedHost>> open(const std::string& path);
  // Of bytes, which outlive it; `name` is for messages.
  static base::Result<std::unique_ptr<SavedHost>> view(base::ByteSpan bytes, std::string name);

  bool is_this_host() const override { return false; }
  Kernel kernel() override { return kernel_; }
  uint32_t possible_cpus() override;
  Clocks clocks() override;
  base::Result<std::string> read(const std::string& path) override;
  bool can_read(const std::string& path) override { return entries_.contains(path); }
  base::Result<std::unique_ptr<format::Btf>> types() override;
  base::Result<std::unique_ptr<format::Btf>> module_types(const std::string& module, const format::Btf& kernel) override;
  base::Result<format::Tracefs> tracefs() override;
  std::vector<std::optional<uint64_t>> addresses(std::span<const std::string_view> names) override;
  std::vector<std::byte> build_id() override { return {}; }
  int64_t answer(std::string_view question, int64_t otherwise, const std::function<int64_t()>& trial) override;

  // All names of entries, in their order.
  std::vector<std::string_view> names() const;

private:
  struct Entry {
    base::ByteSpan packed;
    uint64_t size = 0;
  };
  explicit SavedHost(std::string name) : name_(std::move(name)) {}
  base::Status take(base::ByteSpan bytes);
  base::Status take_kernel();
  void take_answers();
  // Of the file: "web1.host WHY".
  base::Error refuse(std::string_view why) const;
  base::Error damaged(std::string_view why) const;
  base::Error lacks(std::string_view what) const;
  base::Result<std::vector<std::byte>> unpack(const Entry& entry, std::string_view name) const;
  base::Result<std::string> read_tracefs(const std::string& place);

  std::string name_;
  base::FileMap file_;
  std::map<std::string, Entry, std::less<>> entries_;
  Kernel kernel_;
  std::map<std::string, int64_t, std::less<>> answers_;
  std::optional<std::string> formats_text_;
  std::map<std::string_view, std::string_view, std::less<>> formats_; // parts of that text
};

} // namespace host
