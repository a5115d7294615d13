// Written types to types: the language's own names, then those of the kernel.
#include "lang/checker.h"

#include "base/text.h"

namespace lang {

using type::Kind;
using namespace spec;

namespace {

struct NumberName {
  std::string_view name;
  uint8_t size;
  bool is_signed;
};

// C's names as on x86-64 and arm64 Linux.
constexpr NumberName number_names[] = {
    {"int8", 1, true},
    {"int16", 2, true},
    {"int32", 4, true},
    {"int64", 8, true},
    {"uint8", 1, false},
    {"uint16", 2, false},
    {"uint32", 4, false},
    {"uint64", 8, false},
    {"int8_t", 1, true},
    {"int16_t", 2, true},
    {"int32_t", 4, true},
    {"int64_t", 8, true},
    {"uint8_t", 1, false},
    {"uint16_t", 2, false},
    {"uint32_t", 4, false},
    {"uint64_t", 8, false},
    {"short", 2, true},
    {"int", 4, true},
    {"long", 8, true},
    {"long long", 8, true},
    {"long int", 8, true},
    {"signed", 4, true},
    {"unsigned char", 1, false},
    {"signed char", 1, true},
    {"unsigned short", 2, false},
    {"unsigned int", 4, false},
    {"unsigned", 4, false},
    {"unsigned long", 8, false},
    {"unsigned long long", 8, false},
    {"size_t", 8, false},
    {"ssize_t", 8, true},
    {"uintptr_t", 8, false},
    {"intptr_t", 8, true},
};

struct KindName {
  std::string_view name;
  Kind kind;
};
constexpr KindName kind_names[] = {
    {"count_t", Kind::count},       {"sum_t", Kind::sum},         {"min_t", Kind::min},
    {"max_t", Kind::max},           {"avg_t", Kind::avg},         {"stats_t", Kind::stats},
    {"ksym_t", Kind::ksym},         {"usym_t", Kind::usym},       {"inet", Kind::inet},
    {"timestamp", Kind::timestamp}, {"username", Kind::username},
};

} // namespace

const type::Type* Checker::base_type(const TypeName& name) {
  if (name.of) return check_value(*name.of);
  if (name.keyword.empty()) {
    if (name.name == "void") return types_.none();
    if (name.name == "bool") return types_.boolean();
    if (name.name == "char") return types_.character();
    if (name.name == "string")
      return types_.string(static_cast<uint32_t>(program_.config.number("max_strlen")) + 1);
    for (const NumberName& n : number_names)
      if (n.name == name.name) return types_.integer(n.size, n.is_signed);
    for (const KindName& k : kind_names)
      if (k.name == name.name) return types_.simple(k.kind, k.kind != Kind::count);
  }
  return machine_.kernel_type(name.keyword, name.name);
}

const type::Type* Checker::resolve(TypeName& name) {
  const type::Type* t = base_type(name);
  if (!t) {
    std::string full = (name.keyword.empty() ? "" : std::string(name.keyword) + " ") + std::string(name.name);
    std::string hint;
    if (!machine_.btf()) hint = "this kernel has no type information (/sys/kernel/btf/vmlinux)";
    error(tag::unknown_type, name.where, "unknown type `" + full + "`", std::move(hint));
    return name.type = types_.none();
  }
  for (uint32_t i = 0; i < name.pointers; i++)
    t = types_.pointer(t == types_.none() ? nullptr : t, type::Space::kernel);
  if (name.is_array) {
    int64_t count = 0;
    if (name.count) {
      check_value(*name.count);
      count = name.count->constant.integer_value;
      if (name.count->constant.kind != Constant::integer || count <= 0 || count > 65536) {
        error(tag::bad_index, name.count->where, "an array's size is a number from 1 to 65536");
        count = 1;
      }
    }
    bool is_string = name.keyword.empty() && name.name == "string" && !name.pointers;
    t = is_string ? types_.string(static_cast<uint32_t>(count))
                  : types_.array(t, static_cast<uint32_t>(count));
  }
  return name.type = t;
}

} // namespace lang
