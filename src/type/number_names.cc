// Names of numbers, as 64-bit Linux defines them: include/linux/types.h and include/uapi/asm-generic of the kernel, and
// the C library's headers where these name more.
#include "type/number_names.h"

#include "base/inline_text.h"

#include <algorithm>

namespace type {

namespace {

struct NumberName {
  base::InlineText<23> name;
  uint8_t size;
  bool is_signed;
  bool is_floating = false;
};

// The language's names, then C's and the kernel's.
constexpr NumberName rows[] = {
    {"int8", 1, true},         {"int16", 2, true},      {"int32", 4, true},
    {"int64", 8, true},        {"uint8", 1, false},     {"uint16", 2, false},
    {"uint32", 4, false},      {"uint64", 8, false},    {"int8_t", 1, true},
    {"int16_t", 2, true},      {"int32_t", 4, true},    {"int64_t", 8, true},
    {"uint8_t", 1, false},     {"uint16_t", 2, false},  {"uint32_t", 4, false},
    {"uint64_t", 8, false},    {"short", 2, true},      {"short int", 2, true},
    {"int", 4, true},          {"long", 8, true},       {"long long", 8, true},
    {"long int", 8, true},     {"signed", 4, true},     {"unsigned char", 1, false},
    {"signed char", 1, true},  {"unsigned short", 2, false}, {"unsigned int", 4, false},
    {"unsigned", 4, false},    {"unsigned long", 8, false}, {"unsigned long long", 8, false},
    {"size_t", 8, false},      {"ssize_t", 8, true},    {"uintptr_t", 8, false},
    {"intptr_t", 8, true},     {"ptrdiff_t", 8, true},  {"u8", 1, false},
    {"u16", 2, false},         {"u32", 4, false},       {"u64", 8, false},
    {"s8", 1, true},           {"s16", 2, true},        {"s32", 4, true},
    {"s64", 8, true},          {"__u8", 1, false},      {"__u16", 2, false},
    {"__u32", 4, false},       {"__u64", 8, false},     {"__s8", 1, true},
    {"__s16", 2, true},        {"__s32", 4, true},      {"__s64", 8, true},
    {"__be16", 2, false},      {"__be32", 4, false},    {"__be64", 8, false},
    {"__le16", 2, false},      {"__le32", 4, false},    {"__le64", 8, false},
    {"__uint8_t", 1, false},   {"__uint16_t", 2, false}, {"__uint32_t", 4, false},
    {"__uint64_t", 8, false},  {"__int8_t", 1, true},   {"__int16_t", 2, true},
    {"__int32_t", 4, true},    {"__int64_t", 8, true},  {"uchar", 1, false},
    {"ushort", 2, false},      {"uint", 4, false},      {"ulong", 8, false},
    {"pid_t", 4, true},        {"uid_t", 4, false},     {"gid_t", 4, false},
    {"off_t", 8, true},        {"loff_t", 8, true},     {"mode_t", 4, false},
    {"umode_t", 2, false},     {"dev_t", 4, false},     {"ino_t", 8, false},
    {"time_t", 8, true},       {"time64_t", 8, true},   {"clockid_t", 4, true},
    {"clock_t", 8, true},      {"key_t", 4, true},      {"sector_t", 8, false},
    {"blkcnt_t", 8, false},    {"gfp_t", 4, false},     {"dma_addr_t", 8, false},
    {"phys_addr_t", 8, false}, {"socklen_t", 4, false}, {"sa_family_t", 2, false},
    {"in_addr_t", 4, false},   {"in_port_t", 2, false}, {"nlink_t", 4, false},
    {"id_t", 4, false},        {"useconds_t", 4, false}, {"suseconds_t", 8, true},
    {"ktime_t", 8, true},      {"caddr_t", 8, false},   {"wchar_t", 4, true},
    {"float", 4, true, true},  {"double", 8, true, true}, {"long double", 16, true, true}};

} // namespace

std::vector<std::string_view> number_names() {
  std::vector<std::string_view> out;
  for (const NumberName& n : rows) out.push_back(n.name);
  return out;
}

bool is_number_name(std::string_view name) {
  return std::any_of(std::begin(rows), std::end(rows),
                     [&](const NumberName& n) { return n.name == name; });
}

const Type* number_type(Table& table, std::string_view name) {
  if (name == "bool" || name == "_Bool") return table.boolean();
  if (name == "char") return table.character();
  for (const NumberName& n : rows)
    if (n.name == name) return n.is_floating ? table.floating(n.size) : table.integer(n.size, n.is_signed);
  return nullptr;
}

} // namespace type
