// Builtins that name numbers and addresses: errors, signals, system calls, IP and hardware addresses.
#include "lang/checker.h"

#include "lang/walk.h"

#include "spec/numbers.h"

#include <algorithm>
#include <arpa/inet.h>

namespace lang {

using type::Kind;
using namespace spec;

// strerror, signal_name, syscall_name: text that is known now for a literal, else as long as the longest name.
const type::Type* Checker::check_number_name(Call& e, const NumberNames& names) {
  if (e.arguments[0]->constant.kind == Constant::integer) {
    auto number = static_cast<int>(e.arguments[0]->constant.integer_value);
    std::string name(names.name_of(number));
    if (name.empty()) name = std::string(names.unknown) + (names.shows_unknown ? std::to_string(number) : "");
    return literal(e, name);
  }
  size_t longest = 0;
  for (int number = 0; number <= names.last; number++) longest = std::max(longest, names.name_of(number).size());
  return types_.string(static_cast<uint32_t>(longest) + 1);
}

// The bytes that a value stands for or points to, where they are a whole: arrays, structures, the kernel's arrays of
// characters. A literal is text in any case.
static const type::Type* bytes_behind(const Expr& e) {
  const type::Type* t = e.type;
  if (t->is(Kind::string) && e.constant.kind == Constant::text) return nullptr;
  if (t->is(Kind::pointer)) t = t->element;
  bool is_bytes = t && ((t->is(Kind::array) && t->element->is_integer()) || t->is(Kind::string) || t->is(Kind::structure));
  if (is_bytes && t->is(Kind::string)) return t->table->string(e.type == t ? stored_size(e) : t->size);
  return is_bytes ? t : nullptr;
}

// ntop([family,] address): a number is an IPv4 address; 4 or 16 bytes tell by their number which kind they are.
const type::Type* Checker::check_ntop(Call& e) {
  Expr& address = *e.arguments.back();
  const type::Type* t = address.type;
  int64_t family = 0;
  if (e.arguments.size() > 1) {
    Expr& f = *e.arguments[0];
    if (!f.type->is_integer() && !f.type->is(Kind::none))
      return mistake(tag::bad_argument, f.where, "`ntop` takes an address family first, not " + text(f.type),
                     "families are AF_INET and AF_INET6");
    if (f.constant.kind == Constant::integer) {
      family = f.constant.integer_value;
      if (family != AF_INET && family != AF_INET6)
        return mistake(tag::bad_argument, f.where, std::to_string(family) + " is no family of IP addresses",
                       "families are AF_INET (2) and AF_INET6 (10)");
    }
  }
  if (t->is(Kind::none)) return types_.simple(Kind::inet);
  const type::Type* bytes = bytes_behind(address);
  bool is_number = t->is_integer();
  bool by_family = t->is(Kind::pointer) && !bytes && family; // so many bytes as the family has
  if (!by_family && !is_number && !(bytes && (bytes->size == 4 || bytes->size == 16)))
    return mistake(tag::bad_argument, address.where, "`ntop` takes a number or 4 or 16 bytes, not " + text(t));
  if (family == AF_INET6 && !by_family && (is_number || bytes->size == 4))
    return mistake(tag::bad_argument, address.where, "an IPv6 address has 16 bytes, not those of " + text(t));
  return types_.simple(Kind::inet);
}

// pton("1.2.3.4"), pton("::1"): the bytes, known now.
const type::Type* Checker::check_pton(Call& e) {
  std::string address(e.arguments[0]->constant.text_value);
  bool is_v6 = address.find(':') != address.npos;
  char bytes[sizeof(in6_addr)];
  if (address.find('\0') != address.npos || ::inet_pton(is_v6 ? AF_INET6 : AF_INET, address.c_str(), bytes) != 1)
    return mistake(tag::bad_argument, e.arguments[0]->where,
                   "`" + address + "` is not an IPv" + (is_v6 ? "6" : "4") + " address",
                   is_v6 ? "IPv6 addresses look like `2001:db8::1`" : "IPv4 addresses look like `192.0.2.1`");
  size_t size = is_v6 ? sizeof(in6_addr) : sizeof(in_addr);
  set_text(e, types_.keep(std::string_view(bytes, size)));
  return types_.array(types_.integer(1, false), static_cast<uint32_t>(size));
}

// macaddr(address): six bytes, or where they are.
const type::Type* Checker::check_macaddr(Call& e) {
  const type::Type* t = e.arguments[0]->type;
  const type::Type* bytes = bytes_behind(*e.arguments[0]);
  bool is_address = t->is(Kind::integer) || (t->is(Kind::pointer) && !bytes);
  if (is_address || t->is(Kind::none) || (bytes && bytes->size == 6)) return types_.simple(Kind::mac);
  return mistake(tag::bad_argument, e.arguments[0]->where,
                 "`macaddr` takes 6 bytes or a pointer to them, not " + text(t));
}

} // namespace lang
