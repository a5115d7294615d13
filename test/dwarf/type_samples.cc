#include "dwarf/type_samples.h"

#include <algorithm>
#include <array>
#include <random>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

namespace samples {

namespace {

struct Scalar {
  std::string_view text, shown;
  uint32_t bits; // as a bit-field at most; 0: can't be one
};
constexpr Scalar scalars[] = {
    {"char", "int8", 8},
    {"signed char", "int8", 8},
    {"unsigned char", "uint8", 8},
    {"short", "int16", 16},
    {"unsigned short", "uint16", 16},
    {"int", "int32", 32},
    {"unsigned", "uint32", 32},
    {"long", "int64", 64},
    {"unsigned long", "uint64", 64},
    {"long long", "int64", 64},
    {"unsigned long long", "uint64", 64},
    {"float", "float", 0},
    {"double", "double", 0},
    {"long double", "long double", 0},
    {"__int128", "uint8[16]", 0},
    {"void *", "void *", 0},
    {"char *", "int8 *", 0},
    {"const char *", "int8 *", 0},
    {"volatile unsigned short", "uint16", 16},
    {"number_t", "int32", 32},
    {"number_again_t", "int32", 32},
    {"row_t", "-", 0},
    {"function_t", "void *", 0},
};

// A type made before.
struct Made {
  std::string name;           // as the program writes it, without the keyword
  std::string written;        // with it
  std::string shown;          // as acu shows it
  std::set<std::string> line; // of classes: itself and all it comes from
  bool is_class = false, has_virtual = false, has_virtual_base = false, is_open = false, is_enum = false;
  bool is_small_enum = false, is_union = false, has_reference = false;
  bool is_plain = true; // C could have it
};

struct Member {
  std::string path;
  std::string shown;
  bool is_bits = false;
  std::string ones; // bit-fields: what sets all bits
};

class Generator {
public:
  Generator(uint64_t seed, bool is_cpp) : random_(seed), is_cpp_(is_cpp) {}
  std::string program(uint32_t types);

private:
  uint32_t up_to(uint32_t n) { return static_cast<uint32_t>(random_() % (n + 1)); }
  bool chance(uint32_t percent) { return random_() % 100 < percent; }
  template<class T> const T& any_of(const std::vector<T>& items) { return items[random_() % items.size()]; }
  std::string fresh(const char* prefix) { return prefix + std::to_string(next_++); }
  std::string dimensions(std::string& shown);
  std::string members(std::vector<Member>& out, const std::string& prefix, uint32_t depth, bool is_union);
  std::string plain(std::vector<Member>& out, const std::string& prefix, bool is_inner);
  std::string bits(std::vector<Member>& out, const std::string& prefix);
  std::string inlined(std::vector<Member>& out, const std::string& prefix, uint32_t depth);
  std::string bases(Made& made, std::vector<Member>& out);
  void structure();
  void enumeration();
  void class_template();
  void show(const Made& made, const std::vector<Member>& members);

  std::mt19937_64 random_;
  bool is_cpp_;
  uint32_t next_ = 0;
  std::string types_, prints_, space_;
  std::vector<Made> made_;
  std::vector<std::vector<Member>> members_; // of made_
  const Made* now_ = nullptr;
  bool has_reference_ = false, is_plain_ = true;
};

std::string Generator::dimensions(std::string& shown) {
  std::string out;
  for (uint32_t n = 1 + up_to(2), i = 0; i < n; i++) out += "[" + std::to_string(1 + up_to(4)) + "]";
  size_t inner = std::min(shown.size(), shown.find('[')); // the outer dimensions stand first
  if (shown != "-") shown.insert(inner, out);
  return out;
}

// `is_inner`: of a union or of what stands inside another type, where C++ allows less.
std::string Generator::plain(std::vector<Member>& out, const std::string& prefix, bool is_inner) {
  std::string name = fresh("m"), type, shown, after;
  uint32_t kind = up_to(99);
  if (kind < 55 || made_.empty()) {
    const Scalar& s = scalars[up_to(std::size(scalars) - 1)];
    type = s.text, shown = s.shown;
    bool is_char = type == "char";
    if (chance(25)) {
      after = dimensions(shown);
      if (is_char || type == "row_t") shown = "-";
    }
  } else if (kind < 75) { // a value of an earlier type
    const Made& m = any_of(made_);
    if (m.is_open || m.has_virtual_base || m.has_reference || (is_inner && !m.is_plain)) return {};
    is_plain_ = is_plain_ && m.is_plain;
    type = m.written, shown = m.shown;
    if (chance(20)) after = dimensions(shown);
  } else if (kind < 90) { // a pointer to one, or to itself
    const Made& m = chance(30) && now_ ? *now_ : any_of(made_);
    type = (chance(30) ? "const " : "") + m.written + " *", shown = m.shown + " *";
    if (chance(20)) after = dimensions(shown), shown = "-";
  } else if (!is_cpp_) {
    type = "char", after = "[" + std::to_string(1 + up_to(30)) + "]", shown = "string" + after;
  } else if (is_inner) {
    type = "wchar_t", shown = "int32";
  } else if (kind < 93) {
    has_reference_ = true; // where it is can't be asked for
    return "int &" + name + "; ";
  } else if (kind < 96 && now_ && now_->is_class) {
    return "int (" + now_->name.substr(now_->name.rfind(':') + 1) + "::*" + name + ")(int); ";
  } else if (kind < 98 && now_ && now_->is_class) {
    type = "int " + now_->name.substr(now_->name.rfind(':') + 1) + "::*", shown = "-";
  } else {
    return "static int " + name + "; ";
  }
  out.push_back({prefix + name, shown, false, {}});
  std::string attribute = chance(8)   ? " __attribute__((aligned(" + std::to_string(1u << up_to(5)) + ")))"
                          : chance(6) ? " __attribute__((packed))"
                                      : "";
  return type + " " + name + after + attribute + "; ";
}

std::string Generator::bits(std::vector<Member>& out, const std::string& prefix) {
  if (chance(8)) return "int : 0; ";
  std::string name = fresh("m"), text;
  uint32_t most = 0;
  std::string ones = "-1", shown = "-";
  if (chance(10)) {
    text = is_cpp_ ? "bool" : "_Bool", most = 1, ones = "1", shown = "bool";
  } else if (chance(10)) {
    for (int tries = 0; tries < 10 && !most; tries++)
      if (const Made* m = made_.empty() ? nullptr : &any_of(made_); m && m->is_small_enum)
        text = m->written, most = 32, ones = "(" + m->written + ")-1", shown = m->shown;
  }
  while (!most) {
    const Scalar& s = scalars[up_to(std::size(scalars) - 1)];
    text = s.text, most = s.bits, shown = s.shown;
  }
  uint32_t width = chance(10) ? most : 1 + up_to(most - 1);
  if (chance(8) && !text.starts_with("volatile")) return text + " : " + std::to_string(width) + "; ";
  out.push_back({prefix + name, shown, true, ones});
  return text + " " + name + " : " + std::to_string(width) + (chance(6) ? " __attribute__((packed))" : "") +
         "; ";
}

// A structure or union written inside another, with or without a name.
std::string Generator::inlined(std::vector<Member>& out, const std::string& prefix, uint32_t depth) {
  bool is_union = chance(50), is_named = chance(40);
  std::string name = is_named ? fresh("m") : "";
  const Made* outer = std::exchange(now_, nullptr);
  std::vector<Member> inner;
  std::string body = members(inner, prefix + (is_named ? name + "." : ""), depth + 1, is_union);
  now_ = outer;
  if (inner.empty()) body += "int " + fresh("x") + "; ";
  out.insert(out.end(), inner.begin(), inner.end());
  std::string packed = chance(10) ? " __attribute__((packed))" : "";
  return (is_union ? "union " : "struct ") + ("{ " + body + "}") + packed + (is_named ? " " + name : "") +
         "; ";
}

std::string Generator::members(std::vector<Member>& out, const std::string& prefix, uint32_t depth,
                               bool is_union) {
  std::string text;
  for (uint32_t n = 1 + up_to(is_union ? 3 : depth ? 4 : 9), i = 0; i < n; i++) {
    uint32_t kind = up_to(99);
    if (depth < 3 && kind < 12)
      text += inlined(out, prefix, depth);
    else if (kind < 45)
      text += bits(out, prefix);
    else
      text += plain(out, prefix, is_union || depth);
  }
  return text;
}

std::string Generator::bases(Made& made, std::vector<Member>& out) {
  std::string text;
  for (uint32_t n = up_to(3), i = 0; i < n && !made_.empty(); i++) {
    size_t at = random_() % made_.size();
    const Made& b = made_[at];
    bool meets = std::any_of(b.line.begin(), b.line.end(), [&](auto& l) { return made.line.contains(l); });
    if (!b.is_class || b.is_open || b.is_union || meets || b.has_reference) continue;
    bool is_virtual = chance(12);
    text += (text.empty() ? " : " : ", ") + std::string(is_virtual ? "virtual " : "") +
            (chance(70) ? "public " : "private ") + b.name;
    made.line.insert(b.line.begin(), b.line.end());
    made.has_virtual |= b.has_virtual || is_virtual;
    made.has_virtual_base |= b.has_virtual_base || is_virtual;
    // Members of what has virtual bases are where the object says: only its own are asked for.
    if (!is_virtual && !b.has_virtual_base)
      for (const Member& m : members_[at])
        if (m.path.find("m") != m.path.npos) out.push_back(m);
  }
  return text;
}

void Generator::show(const Made& made, const std::vector<Member>& members) {
  std::string quoted = "\"" + made.name + "\"";
  prints_ += "  T(" + quoted + ", " + made.written + ")\n";
  if (made.has_reference && !is_cpp_) return;
  for (const Member& m : members)
    prints_ += (m.is_bits ? "  B(" : "  F(") + quoted + ", " + made.written + ", " + m.path + ", \"" +
               m.shown + "\"" + (m.is_bits ? ", " + m.ones : "") + ")\n";
}

void Generator::structure() {
  Made made;
  bool is_union = chance(15);
  std::string plain_name = fresh(is_union ? "U" : "S");
  made.name = space_ + plain_name;
  const char* keyword = is_union ? "union" : is_cpp_ && chance(40) ? "class" : "struct";
  made.written = is_cpp_ ? made.name : keyword + (" " + made.name);
  made.is_class = is_cpp_ && !is_union;
  made.is_union = is_union;
  made.shown = (is_union ? "union " : "struct ") + made.name;
  made.line = {made.name};
  std::vector<Member> out;
  std::string before = made.is_class && chance(50) ? bases(made, out) : "", body;
  now_ = &made;
  has_reference_ = false;
  is_plain_ = true;
  if (!chance(5) || is_union) body = members(out, "", 0, is_union);
  now_ = nullptr;
  made.has_reference = has_reference_;
  made.is_plain = is_plain_ && before.empty();
  if (made.is_class && chance(15)) {
    body += "virtual int " + fresh("v") + "() { return 1; } ";
    made.has_virtual = true;
    made.is_plain = false;
  }
  if (made.is_class && chance(30)) body += "int " + fresh("f") + "(int a, char *b) { return a + *b; } ";
  if (made.is_class && chance(20)) body += "private: int " + fresh("p") + "; ";
  if (!is_union && !out.empty() && !is_cpp_ && chance(10)) {
    std::string name = fresh("m");
    body += "long " + name + "[]; ";
    made.is_open = true;
  }
  std::string attribute;
  if (chance(15)) attribute += " __attribute__((packed))";
  if (chance(10)) attribute += " __attribute__((aligned(" + std::to_string(1u << up_to(6)) + ")))";
  std::string pack = chance(8) ? std::to_string(1u << up_to(3)) : "";
  if (!pack.empty()) types_ += "#pragma pack(push, " + pack + ")\n";
  types_ += keyword + attribute + " " + plain_name + before + " { " + body + "};\n";
  if (!pack.empty()) types_ += "#pragma pack(pop)\n";
  types_ += made.written + " *keep_" + plain_name + ";\n";
  if (made.has_virtual_base) std::erase_if(out, [](const Member& m) { return m.is_bits; });
  show(made, out);
  made_.push_back(made);
  members_.push_back(out);
}

void Generator::enumeration() {
  static constexpr std::array<std::string_view, 5> under = {"unsigned char", "short", "unsigned", "long",
                                                            "signed char"};
  Made made;
  std::string plain_name = fresh("E");
  made.name = space_ + plain_name;
  bool is_scoped = is_cpp_ && chance(40);
  std::string type = is_cpp_ && (is_scoped || chance(30)) ? std::string(under[up_to(4)]) : "";
  made.written = is_cpp_ ? made.name : "enum " + made.name;
  made.shown = "enum " + made.name;
  made.is_enum = true;
  std::string body;
  bool is_wide = type.empty() && chance(15);
  made.is_small_enum = type.empty() && !is_wide;
  for (uint32_t n = 1 + up_to(5), i = 0; i < n; i++) {
    std::string name = fresh("e"), full = is_scoped ? made.name + "::" + name : space_ + name;
    int64_t value = static_cast<int64_t>(up_to(120));
    if (type.find("unsigned") == type.npos && chance(30)) value = -value;
    if (is_wide) value = value << 33;
    body += name + " = " + std::to_string(value) + (is_wide ? "L" : "") + ", ";
    prints_ += "  printf(\"E\\t" + made.name + "\\t%zu\\t" + name + "\\t%lld\\n\", sizeof(" + made.written +
               "), (long long)" + full + ");\n";
  }
  types_ += std::string("enum ") + (is_scoped ? "class " : "") + plain_name +
            (type.empty() ? "" : " : " + type) + " { " + body + "};\n" + made.written + " keep_" +
            plain_name + ";\n";
  made_.push_back(made);
  members_.emplace_back();
}

// One template and two of its instances.
void Generator::class_template() {
  std::string plain_name = fresh("T"), a = fresh("m"), b = fresh("m"), c = fresh("m");
  types_ += "template<class A, int n> struct " + plain_name + " { A " + a + "[n]; unsigned " + b + " : n; " +
            plain_name + " *" + c + "; };\n";
  for (const char* argument : {"int, 3", "char, 5"}) {
    Made made;
    made.name = made.written = space_ + plain_name + "<" + argument + ">";
    made.shown = "struct " + made.name;
    made.is_class = true;
    made.line = {made.name};
    types_ += made.name + " *" + fresh("keep") + ";\n";
    std::string quoted = "\"" + made.name + "\"", alias = fresh("alias");
    types_ += "typedef " + made.name + " " + alias + ";\n";
    Made written = made;
    written.written = space_ + alias;
    show(written, {{a, "-", false, {}}, {b, "uint32", true, "-1"}, {c, made.shown + " *", false, {}}});
    made_.push_back(written);
    members_.push_back({});
  }
}

std::string Generator::program(uint32_t types) {
  while (made_.size() < types) {
    bool opens = is_cpp_ && space_.empty() && chance(20), closes = !space_.empty() && chance(30);
    if (opens) {
      std::string name = fresh("ns");
      types_ += "namespace " + name + " {\n";
      space_ = name + "::";
    }
    uint32_t kind = up_to(99);
    if (kind < 12)
      enumeration();
    else if (is_cpp_ && kind < 20)
      class_template();
    else
      structure();
    if (closes) {
      types_ += "}\n";
      space_.clear();
    }
  }
  if (!space_.empty()) types_ += "}\n";
  return R"(#include <stdio.h>
#include <string.h>
typedef int number_t;
typedef number_t number_again_t;
typedef unsigned short row_t[3];
typedef int (*function_t)(int, char *);
static char room[1 << 22] __attribute__((aligned(64)));
static void print_bits(const char *type, const char *path, size_t size, const char *shown) {
  size_t first = 0, bits = 0;
  while (first < size * 8 && !(room[first / 8] >> first % 8 & 1)) first++;
  for (size_t i = first; i < size * 8; i++) bits += room[i / 8] >> i % 8 & 1;
  printf("F\t%s\t%s\t%zu\t%zu\t0\t%s\n", type, path, first, bits, shown);
}
// What is larger than the room is not looked at.
#define HAS_ROOM(type) if (sizeof(type) <= sizeof room)
#define T(name, type) HAS_ROOM(type) printf("T\t%s\t%zu\n", name, sizeof(type));
#define F(name, type, path, shown) HAS_ROOM(type) printf("F\t%s\t%s\t%zu\t0\t%zu\t%s\n", name, #path, \
  8 * (size_t)((char *)&((type *)room)->path - room), sizeof(((type *)room)->path), shown);
#define B(name, type, path, shown, ones) HAS_ROOM(type) { memset(room, 0, sizeof(type)); \
  ((type *)room)->path = ones; print_bits(name, #path, sizeof(type), shown); memset(room, 0, sizeof(type)); }
)" + types_ +
         "int main(void) {\n" + prints_ + "}\n";
}

} // namespace

Program generate(uint64_t seed, uint32_t types, bool is_cpp) {
  return {Generator(seed, is_cpp).program(types), types};
}

} // namespace samples
