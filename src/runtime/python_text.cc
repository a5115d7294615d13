#include "runtime/python_text.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstring>

namespace runtime {

namespace {

std::string hex(uint64_t n) {
  char text[24];
  std::snprintf(text, sizeof text, "0x%lx", n);
  return text;
}

// ------------------------------------------------------------------------------------------- numbers

constexpr uint64_t most_digits = 36; // of 30 bits: 1,080 bits

// `digits` in base 2^bits, the lowest first.
std::string decimal(std::vector<uint32_t> digits, unsigned bits) {
  std::string out;
  while (!digits.empty()) {
    uint64_t rest = 0;
    for (size_t i = digits.size(); i--;) {
      rest = rest << bits | digits[i];
      digits[i] = static_cast<uint32_t>(rest / 10);
      rest %= 10;
    }
    out += static_cast<char>('0' + rest);
    while (!digits.empty() && !digits.back()) digits.pop_back();
  }
  if (out.empty()) out = "0";
  std::ranges::reverse(out);
  return out;
}

// ---------------------------------------------------------------------------------------- characters

struct Range {
  char32_t first, last;
};
// What repr() escapes above ASCII: controls, formats, separators, surrogates, private use (categories C and Z but for unassigned characters).
constexpr Range not_printable[] = {
    {0x80, 0xa0},     {0xad, 0xad},     {0x600, 0x605},     {0x61c, 0x61c},     {0x6dd, 0x6dd},     {0x70f, 0x70f},   {0x8e2, 0x8e2},
    {0x1680, 0x1680}, {0x180e, 0x180e}, {0x2000, 0x200f},   {0x2028, 0x202f},   {0x205f, 0x206f},   {0x3000, 0x3000}, {0xd800, 0xf8ff},
    {0xfeff, 0xfeff}, {0xfff9, 0xfffb}, {0x110bd, 0x110bd}, {0x1d173, 0x1d17a}, {0xe0001, 0x10ffff}};

bool is_printable(char32_t c) {
  if (c < 0x80) return c >= ' ' && c != 0x7f;
  return std::ranges::none_of(not_printable, [&](const Range& r) { return c >= r.first && c <= r.last; });
}

void append_escaped(std::string& out, char32_t c, char quote, bool is_bytes) {
  const char* simple = c == '\n' ? "\\n" : c == '\r' ? "\\r" : c == '\t' ? "\\t" : c == '\\' ? "\\\\" : nullptr;
  char text[16];
  if (simple) {
    out += simple;
  } else if (c == static_cast<unsigned char>(quote)) {
    out += '\\', out += quote;
  } else if (is_printable(c) && (!is_bytes || c < 0x80)) {
    append_utf8(out, c);
  } else {
    std::snprintf(text, sizeof text, c < 0x100 ? "\\x%02x" : c < 0x10000 ? "\\u%04x" : "\\U%08x", static_cast<unsigned>(c));
    out += text;
  }
}

void append_quoted(std::string& out, std::u32string_view text, bool is_cut, bool is_bytes) {
  const char quote = text.find(U'\'') != text.npos && text.find(U'"') == text.npos ? '"' : '\'';
  out += quote;
  for (const char32_t c : text) append_escaped(out, c, quote, is_bytes);
  out += quote;
  if (is_cut) out += "…";
}

// ------------------------------------------------------------------------------------------- objects

class Writer {
public:
  Writer(const PythonObjects& objects, const TextLimits& limits) : objects_(objects), limits_(limits) {}

  void add(uint64_t object);
  std::string take() { return std::move(out_); }

private:
  using Type = PythonObjects::Type;
  using Add = void (Writer::*)(uint64_t object, const Type& type);
  struct Shape {
    PythonGlobal type; // whose way to print it is
    uint64_t flag;     // of a subclass; 0: there is none
    Add add;
  };
  static const Shape shapes[];

  void add_number(uint64_t object, const Type& type);
  void add_bool(uint64_t object, const Type& type);
  void add_float(uint64_t object, const Type& type);
  void add_text(uint64_t object, const Type& type);
  void add_bytes(uint64_t object, const Type& type);
  void add_list(uint64_t object, const Type& type);
  void add_tuple(uint64_t object, const Type& type);
  void add_dict(uint64_t object, const Type& type);
  void add_set(uint64_t object, const Type& type);
  void add_function(uint64_t object, const Type& type);
  void add_method(uint64_t object, const Type& type);
  void add_builtin(uint64_t object, const Type& type);
  void add_module(uint64_t object, const Type& type);
  void add_class(uint64_t object, const Type& type);
  void add_generator(uint64_t object, const Type& type);
  void add_exception(uint64_t object, const Type& type);
  void add_instance(uint64_t object, const Type& type) { out_ += "<" + type.name + " object at " + hex(object) + ">"; }

  const Shape* shape_of(const Type& type) const;
  bool add_constant(uint64_t object);
  void add_unreadable();
  void add_named(std::string_view kind, uint64_t name);
  // Elements between brackets.
  bool enter(uint64_t object, std::string_view open, std::string_view close);
  bool begin_element(size_t number);
  void add_elements(const char* open, const char* close, const std::function<bool(const PythonObjects::EachItem&)>& each);

  const PythonObjects& objects_;
  const TextLimits& limits_;
  std::string out_;
  std::vector<uint64_t> inside_; // containers that are being printed
};

const Writer::Shape Writer::shapes[] = {
    {PythonGlobal::bool_type, python::long_subclass, &Writer::add_bool},
    {PythonGlobal::long_type, python::long_subclass, &Writer::add_number},
    {PythonGlobal::float_type, 0, &Writer::add_float},
    {PythonGlobal::str_type, python::str_subclass, &Writer::add_text},
    {PythonGlobal::bytes_type, python::bytes_subclass, &Writer::add_bytes},
    {PythonGlobal::list_type, python::list_subclass, &Writer::add_list},
    {PythonGlobal::tuple_type, python::tuple_subclass, &Writer::add_tuple},
    {PythonGlobal::dict_type, python::dict_subclass, &Writer::add_dict},
    {PythonGlobal::set_type, 0, &Writer::add_set},
    {PythonGlobal::function_type, 0, &Writer::add_function},
    {PythonGlobal::method_type, 0, &Writer::add_method},
    {PythonGlobal::builtin_type, 0, &Writer::add_builtin},
    {PythonGlobal::module_type, 0, &Writer::add_module},
    {PythonGlobal::type_type, python::type_subclass, &Writer::add_class},
    {PythonGlobal::coroutine_type, 0, &Writer::add_generator},
    {PythonGlobal::generator_type, 0, &Writer::add_generator},
    {PythonGlobal::async_generator_type, 0, &Writer::add_generator},
};

const Writer::Shape* Writer::shape_of(const Type& type) const {
  for (const Shape& shape : shapes) {
    const uint64_t known = objects_.global(shape.type);
    const Type* own = known ? objects_.type_at(known) : nullptr;
    if (own && own->repr == type.repr && (!shape.flag || type.has(shape.flag))) return &shape;
  }
  return nullptr;
}

bool Writer::add_constant(uint64_t object) {
  constexpr std::pair<PythonGlobal, const char*> constants[] = {
      {PythonGlobal::none, "None"}, {PythonGlobal::ellipsis, "Ellipsis"}, {PythonGlobal::not_implemented, "NotImplemented"}};
  for (const auto& [which, text] : constants)
    if (object == objects_.global(which)) return out_ += text, true;
  return false;
}

void Writer::add_unreadable() { out_ += text_of_failure(objects_, objects_.failed()); }

void Writer::add(uint64_t object) {
  if (!object) {
    out_ += "<NULL>";
    return;
  }
  if (add_constant(object)) return;
  objects_.forget_failure();
  if (!objects_.word(object + python::object_type)) return add_unreadable();
  const Type* type = objects_.type_of(object);
  if (!type) {
    out_ += "<damaged object at " + hex(object) + ">";
    return;
  }
  if (const Shape* shape = shape_of(*type)) return (this->*shape->add)(object, *type);
  const auto base = objects_.global(PythonGlobal::base_exception) ? objects_.word(objects_.global(PythonGlobal::base_exception)) : std::nullopt;
  const Type* exception = base ? objects_.type_at(*base) : nullptr;
  if (exception && type->has(python::exception_subclass) && type->repr == exception->repr) return add_exception(object, *type);
  add_instance(object, *type);
}

// Up to 3.11, the sign is that of the size; later in the two lowest bits of a tag (0: positive, 1: zero, 2: negative), with the size behind three.
void Writer::add_number(uint64_t object, const Type& type) {
  const auto head = objects_.word(object + python::var_size);
  const auto item_size = objects_.number(type.address + objects_.layout().type_item_size, 8);
  if (!head || !item_size) return add_unreadable();
  const auto size = static_cast<int64_t>(*head);
  const bool has_tag = objects_.is_since(0x030c);
  const bool is_negative = has_tag ? (*head & 3) == 2 : size < 0;
  const uint64_t count = has_tag ? *head >> 3 : size < 0 ? 0 - *head : *head;
  const unsigned bits = *item_size == 2 ? 15 : 30;
  const auto digit_at = [&](uint64_t i) { return objects_.number(object + python::long_digits + i * (bits / 15) * 2, bits / 15 * 2); };
  if (count > most_digits) {
    const auto top = digit_at(count - 1);
    if (!top) return add_unreadable();
    out_ += "<" + type.name + " of " + std::to_string((count - 1) * bits + static_cast<unsigned>(std::bit_width(*top))) + " bits>";
    return;
  }
  std::vector<uint32_t> digits;
  for (uint64_t i = 0; i < count; i++) {
    const auto digit = digit_at(i);
    if (!digit) return add_unreadable();
    digits.push_back(static_cast<uint32_t>(*digit));
  }
  out_ += (is_negative ? "-" : "") + decimal(std::move(digits), bits);
}

void Writer::add_bool(uint64_t object, const Type&) {
  const auto digit = objects_.number(object + python::long_digits, 4);
  if (!digit) return add_unreadable();
  out_ += *digit ? "True" : "False";
}

void Writer::add_float(uint64_t object, const Type&) {
  const auto bits = objects_.word(object + python::float_value);
  if (!bits) return add_unreadable();
  out_ += python_float(std::bit_cast<double>(*bits));
}

void Writer::add_text(uint64_t object, const Type&) {
  const auto text = objects_.text(object, limits_.characters);
  if (!text) return add_unreadable();
  append_quoted(out_, text->characters, text->is_cut, false);
}

void Writer::add_bytes(uint64_t object, const Type&) {
  const auto size = objects_.word(object + objects_.walk_layout().bytes_size);
  std::vector<std::byte> bytes(size ? std::min<uint64_t>(*size, limits_.characters) : 0);
  if (!size || !objects_.read(object + objects_.walk_layout().bytes_data, bytes)) return add_unreadable();
  std::u32string text;
  for (const std::byte b : bytes) text += static_cast<char32_t>(b);
  out_ += 'b';
  append_quoted(out_, text, *size > bytes.size(), true);
}

// ---------------------------------------------------------------------------------------- containers

// False: enough of them are there.
bool Writer::begin_element(size_t number) {
  if (number) out_ += ", ";
  if (number < limits_.elements && out_.size() < limits_.length) return true;
  out_ += "…";
  return false;
}

void Writer::add_elements(const char* open, const char* close, const std::function<bool(const PythonObjects::EachItem&)>& each) {
  out_ += open;
  size_t number = 0;
  const bool is_complete = each([&](uint64_t item) {
    if (!begin_element(number++)) return false;
    add(item);
    return true;
  });
  if (!is_complete) {
    if (number) out_ += ", ";
    add_unreadable();
  }
  out_ += close;
}

// False: a container within itself, for which repr() has dots, or too deep in others.
bool Writer::enter(uint64_t object, std::string_view open, std::string_view close) {
  const bool is_inside = std::ranges::find(inside_, object) != inside_.end();
  if (!is_inside && inside_.size() < limits_.depth) return inside_.push_back(object), true;
  out_.append(open).append(is_inside ? "..." : "…").append(close);
  return false;
}

void Writer::add_list(uint64_t object, const Type&) {
  if (!enter(object, "[", "]")) return;
  add_elements("[", "]", [&](const auto& use) { return objects_.each_of_list(object, use); });
  inside_.pop_back();
}

void Writer::add_tuple(uint64_t object, const Type&) {
  if (!enter(object, "(", ")")) return;
  const bool is_single = objects_.word(object + python::var_size) == 1;
  add_elements("(", is_single ? ",)" : ")", [&](const auto& use) { return objects_.each_of_tuple(object, use); });
  inside_.pop_back();
}

void Writer::add_set(uint64_t object, const Type& type) {
  if (!enter(object, "{", "}")) return;
  const bool is_plain = type.address == objects_.global(PythonGlobal::set_type), is_empty = objects_.word(object + python::set_used) == 0;
  const char* open = is_plain ? "{" : "({";
  if (!is_plain || is_empty) out_ += type.name;
  if (is_empty)
    out_ += "()";
  else
    add_elements(open, is_plain ? "}" : "})", [&](const auto& use) { return objects_.each_of_set(object, use); });
  inside_.pop_back();
}

void Writer::add_dict(uint64_t object, const Type&) {
  if (!enter(object, "{", "}")) return;
  out_ += "{";
  size_t number = 0;
  const bool is_complete = objects_.each_of_dict(object, [&](uint64_t key, uint64_t value) {
    if (!begin_element(number++)) return false;
    add(key);
    out_ += ": ";
    add(value);
    return true;
  });
  if (!is_complete) {
    if (number) out_ += ", ";
    add_unreadable();
  }
  out_ += "}";
  inside_.pop_back();
}

// --------------------------------------------------------------------------------------------- names

// By the object whose name is a string at that address.
void Writer::add_named(std::string_view kind, uint64_t name_at) {
  const auto name = objects_.word(name_at);
  const auto text = name ? objects_.utf8(*name) : std::nullopt;
  if (!text) return add_unreadable();
  out_ += "<" + std::string(kind) + " " + *text + ">";
}

void Writer::add_function(uint64_t object, const Type& type) { add_named(type.name, object + objects_.layout().function_name); }

void Writer::add_method(uint64_t object, const Type&) {
  const auto function = objects_.word(object + python::method_function);
  if (!function) return add_unreadable();
  if (!objects_.is_exactly(*function, PythonGlobal::function_type)) {
    out_ += "<bound method at " + hex(object) + ">";
    return;
  }
  add_named("bound method", *function + objects_.layout().function_name);
}

void Writer::add_builtin(uint64_t object, const Type&) {
  const auto definition = objects_.word(object + python::builtin_definition);
  const auto name = definition ? objects_.word(*definition) : std::nullopt;
  const std::string text = name ? objects_.c_text(*name) : std::string();
  if (text.empty()) return add_unreadable();
  out_ += "<built-in function " + text + ">";
}

void Writer::add_module(uint64_t object, const Type&) {
  const auto name = objects_.word(object + python::module_name);
  const auto text = name ? objects_.utf8(*name) : std::nullopt;
  if (!text) return add_unreadable();
  out_ += "<module '" + *text + "'>";
}

void Writer::add_class(uint64_t object, const Type&) {
  const Type* itself = objects_.type_at(object);
  if (!itself) return add_unreadable();
  out_ += "<class '" + itself->name + "'>";
}

void Writer::add_generator(uint64_t object, const Type& type) {
  const auto name = objects_.word(object + objects_.layout().generator_name);
  const auto text = name ? objects_.utf8(*name) : std::nullopt;
  if (!text) return add_unreadable();
  out_ += "<" + type.name + " object " + *text + " at " + hex(object) + ">";
}

void Writer::add_exception(uint64_t object, const Type& type) {
  if (!enter(object, "", "")) return;
  const auto arguments = objects_.word(object + python::exception_arguments);
  if (!arguments) {
    add_unreadable();
  } else if (const Type* of = objects_.type_of(*arguments); !of || !of->has(python::tuple_subclass)) {
    out_ += "<damaged object at " + hex(object) + ">";
  } else {
    out_ += type.name;
    add_elements("(", ")", [&](const auto& use) { return objects_.each_of_tuple(*arguments, use); });
  }
  inside_.pop_back();
}

} // namespace

std::string python_float(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
  char text[40];
  char* end = std::to_chars(text, text + sizeof text, value, std::chars_format::scientific).ptr;
  const std::string_view all(text, static_cast<size_t>(end - text)), mantissa = all.substr(0, all.find('e'));
  const int exponent = std::atoi(std::string(all.substr(all.find('e') + 1)).c_str());
  if (exponent < -4 || exponent >= 16) {
    char tail[16];
    std::snprintf(tail, sizeof tail, "e%c%02d", exponent < 0 ? '-' : '+', std::abs(exponent));
    return std::string(mantissa) + tail;
  }
  end = std::to_chars(text, text + sizeof text, value, std::chars_format::fixed).ptr;
  const std::string out(static_cast<const char*>(text), static_cast<size_t>(end - text));
  return out.find('.') != out.npos ? out : out + ".0";
}

std::string text_of_failure(const PythonObjects& objects, uint64_t address) {
  if (!address) return "<damaged>";
  if (objects.has_read_too_much()) return "<not read: its objects are too large>";
  const auto& why = objects.memory().why;
  return "<could not be read: " + hex(address) + " " + std::string(why ? why(address) : "is not readable") + ">";
}

std::string text_of_object(const PythonObjects& objects, uint64_t object, const TextLimits& limits) {
  if (limits.is_plain)
    if (auto text = objects.utf8(object, limits.characters)) return *text;
  Writer writer(objects, limits);
  writer.add(object);
  return writer.take();
}

} // namespace runtime
