// Written types to types: the language's own names, then those of the kernel.
#include "lang/checker.h"

#include "format/btf.h"
#include "lang/c_types.h"

#include "base/text.h"

namespace lang {

using type::Kind;
using namespace spec;

const type::Type* Checker::base_type(const TypeName& name) {
  if (name.of) return check_for_type(*name.of);
  if (name.keyword.empty()) {
    if (name.name == "void") return types_.none();
    if (name.name == "string")
      return types_.string(static_cast<uint32_t>(program_.config.number("max_strlen")) + 1);
    if (name.name == "buffer") return types_.buffer(static_cast<uint32_t>(program_.config.number("max_strlen")));
    if (name.name == "kstack_t") return check_stack(Kind::kstack, {});
    if (name.name == "ustack_t") return check_stack(Kind::ustack, {});
    if (name.name == "stack_t") return check_stack(Kind::stack, {});
    bool is_own = program_.c_types->is_typedef(name.name);
    if (const type::Type* number = is_own ? nullptr : number_type(types_, name.name)) return number;
    if (auto kind = type::kind_of_name(name.name)) return types_.simple(*kind, *kind > Kind::count);
  }
  CTypes& own = *program_.c_types;
  if (const type::Type* t = own.find(name.keyword, name.name)) return t;
  if (const type::Type* t = program_type(name.keyword, name.name)) return t;
  if (const type::Type* t = machine_.kernel_type(name.keyword, name.name)) return t;
  if (name.in_typeof && name.keyword.empty())
    if (auto found = enumerator(name.name)) return found->first;
  return own.find_declared(name.keyword, name.name);
}

// The nearest name of a type, or a type of that name under another keyword.
std::string Checker::type_hint(const TypeName& name) {
  CTypes& own = *program_.c_types;
  for (std::string_view keyword : {"struct", "union", "enum", ""}) {
    if (keyword == name.keyword) continue;
    if (!own.find(keyword, name.name) && !machine_.kernel_type(keyword, name.name)) continue;
    return "did you mean `" + (keyword.empty() ? "" : std::string(keyword) + " ") + std::string(name.name) + "`?";
  }
  std::vector<std::string_view> names = own.names(name.keyword);
  if (name.keyword.empty())
    for (std::string_view n : {"int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "string"})
      names.push_back(n);
  std::erase(names, name.name); // one that is there but can't be worked out
  std::string_view near = base::nearest(name.name, names);
  if (near.empty() && machine_.btf()) {
    // Of the kernel's names only those that begin alike, and are types.
    std::vector<std::string_view> likely = machine_.btf()->names(name.name.substr(0, 4));
    std::erase_if(likely, [&](std::string_view n) {
      return n.size() + 2 < name.name.size() || n.size() > name.name.size() + 2;
    });
    near = base::nearest(name.name, likely);
    if (!near.empty() && !machine_.kernel_type(name.keyword, near)) near = {};
  }
  if (!near.empty())
    return "did you mean `" + (name.keyword.empty() ? "" : std::string(name.keyword) + " ") + std::string(near) + "`?";
  return machine_.btf() ? "" : "this kernel has no type information (/sys/kernel/btf/vmlinux)";
}

const type::Type* Checker::resolve(TypeName& name) {
  const type::Type* t = base_type(name);
  if (!t) {
    std::string full = (name.keyword.empty() ? "" : std::string(name.keyword) + " ") + std::string(name.name);
    error(tag::unknown_type, name.where, "unknown type `" + full + "`", report_ ? type_hint(name) : "");
    return name.type = types_.none();
  }
  bool is_first = name.keyword.empty() && !name.of;
  for (const TypeSuffix& s : name.suffixes) {
    if (t->is_aggregation() || (t->is(Kind::none) && s.is_array)) {
      error(tag::bad_cast, name.where, "there are no " + std::string(s.is_array ? "arrays" : "pointers") + " of " + (t->is(Kind::none) ? "void" : text(t)));
      return name.type = types_.none();
    }
    t = s.is_array ? array_of(*t, s, is_first) : types_.pointer(t == types_.none() ? nullptr : t, type::Space::kernel);
    is_first = false;
  }
  return name.type = t;
}

// T[n]; of text, bytes and addresses `n` is the size of the value itself.
const type::Type* Checker::array_of(const type::Type& t, const TypeSuffix& s, bool is_name) {
  int64_t count = 0;
  if (s.count) {
    check_value(*s.count);
    count = s.count->constant.integer_value;
    if (s.count->constant.kind != Constant::integer || count <= 0 || count > 65536) {
      error(tag::bad_index, s.count->where, "an array's size is a number from 1 to 65536");
      count = 1;
    }
  }
  const auto n = static_cast<uint32_t>(count);
  if (is_name && t.is(Kind::string)) return types_.string(n);
  if (is_name && t.is(Kind::buffer)) return types_.buffer(n);
  if (is_name && t.is(Kind::inet)) return &t;
  if (uint64_t{std::max(1u, t.size)} * n > 1 << 20) {
    error(tag::too_large, s.count->where, "this array is larger than 1 MiB");
    return types_.array(&t, 1);
  }
  return types_.array(&t, n);
}

} // namespace lang
