// Maps of kernel programs: keys, values, and the functions that change them.
#include "emit/kernel_c.h"

#include "lang/parse.h"

#include <algorithm>

namespace emit {

using namespace lang;
using type::Kind;

bool KernelC::has_slots(const Map& m) { return m.value->is(Kind::hist) || m.value->is(Kind::lhist); }

std::vector<RecordPart> KernelC::key_parts(const Map& m) {
  std::vector<RecordPart> out;
  uint32_t at = 0;
  auto add = [&](const type::Type& t) {
    RecordPart p{.type = &t};
    p.is_signed = t.is_signed;
    p.kind = t.is(Kind::string) ? RecordPart::text : t.is(Kind::boolean) ? RecordPart::boolean : t.is(Kind::pointer) ? RecordPart::address
             : t.is(Kind::enumeration) ? RecordPart::enumeration : RecordPart::number;
    p.size = p.kind == RecordPart::text ? (t.size + 7) / 8 * 8 : 8;
    p.offset = at;
    at += p.size;
    out.push_back(p);
  };
  if (m.key && m.key->is(Kind::tuple))
    for (const type::Field& f : m.key->fields()) add(*f.type);
  else if (m.key)
    add(*m.key);
  return out;
}

uint32_t KernelC::key_size(const Map& m) {
  const std::vector<RecordPart> parts = key_parts(m);
  const uint32_t size = parts.empty() ? 0 : parts.back().offset + parts.back().size;
  return std::max(8u, size + (has_slots(m) ? 8 : 0));
}

std::string KernelC::map_function(const Map& m, std::string_view what) {
  used_[&m].insert(std::string(what));
  return names_.of(m) + "_" + std::string(what);
}

// Keys of numbers are written where they are used.
std::string KernelC::key(const Map& m, const Expr* e, const std::string& slot) {
  const std::vector<RecordPart> parts = key_parts(m);
  const std::string type = "struct " + names_.of(m) + "_key";
  std::vector<const Expr*> all;
  const Tuple* t = if_a<Tuple>(e);
  if (t && m.key->is(Kind::tuple))
    all.assign(t->elements.begin(), t->elements.end());
  else if (e)
    all.push_back(e);
  if (all.size() != parts.size()) {
    refuse(e ? e->where : m.where, "a tuple that is a value as a key", "keys are written part by part there", "@m[a, b]");
    return "0";
  }
  const bool is_plain = std::ranges::all_of(parts, [](const RecordPart& p) { return p.kind != RecordPart::text; });
  std::vector<std::string> numbers(parts.size());
  for (size_t i = 0; i < parts.size(); i++) {
    const type::Type& part = *parts[i].type;
    if (!part.is_integer() && !part.is(Kind::pointer) && !part.is(Kind::string)) {
      refuse(all[i]->where, "a key of type " + type::to_string(part), "keys are numbers and text there");
      return "0";
    }
    if (parts[i].kind == RecordPart::text) continue;
    numbers[i] = word(*all[i], part.is_signed, lowest);
    if (part.is_integer() && part.size < 8 && all[i]->type->size > part.size)
      numbers[i] = std::string(part.is_signed ? "(s" : "(u") + std::to_string(8 * part.size) + ")(" + numbers[i] + ")";
  }
  if (is_plain) {
    std::string list;
    for (const std::string& n : numbers) list += (list.empty() ? "" : ", ") + n;
    if (!slot.empty()) list += (list.empty() ? "" : ", ") + slot;
    return "&(" + type + "){" + (list.empty() ? "0" : list) + "}";
  }
  if (key_size(m) > 256)
    refuse(e->where, "a key of " + std::to_string(key_size(m)) + " bytes", "a BPF program has a stack of 512 bytes", "limit the text: str(p, 64)");
  const std::string name = "key" + std::to_string(serial_++);
  out_.line(type + " " + name + " = {};");
  for (size_t i = 0; i < parts.size(); i++) {
    const std::string to = name + ".part" + std::to_string(i);
    if (parts[i].kind == RecordPart::text)
      text_into(to, parts[i].type->size, *all[i]);
    else
      out_.line(to + " = " + numbers[i] + ";");
  }
  if (!slot.empty()) out_.line(name + ".slot = " + slot + ";");
  return "&" + name;
}

Text KernelC::map(const MapRef& e) {
  const Map& m = *e.map;
  if (has_slots(m) || m.value->is(Kind::min) || m.value->is(Kind::max) || m.value->is(Kind::stats) || m.value->is(Kind::avg) || m.value->is(Kind::tseries)) {
    refuse(e.where, "the value of this aggregation in a program", "it is put together in user space");
    return {"0"};
  }
  const std::string k = key(m, e.key);
  return {map_function(m, "get") + "(" + k + ")"};
}

void KernelC::update(const MapRef& m, BinaryOp op, const std::string& by) {
  const std::string k = key(*m.map, m.key);
  if (op == BinaryOp::add || op == BinaryOp::sub) {
    const bool is_word = by.find(' ') == by.npos;
    out_.line(map_function(*m.map, "add") + "(" + k + ", " + (op == BinaryOp::sub ? (is_word ? "-" + by : "-(" + by + ")") : by) + ");");
    return;
  }
  const std::string old = map_function(*m.map, "get") + "(" + k + ")";
  out_.line(map_function(*m.map, "set") + "(" + k + ", " + old + " " + std::string(to_string(op)) + " (" + by + "));");
}

void KernelC::aggregate(const MapRef& m, const Call& c) {
  const type::Type& t = *m.map->value;
  const std::string_view name = c.name;
  if (t.is(Kind::tseries)) return refuse(c.where, "`tseries()`", "there are no time series");
  const std::string n = c.arguments.empty() ? "1" : word(*c.arguments[0], t.is_signed, lowest);
  if (name == "hist" || name == "lhist") {
    std::string slot;
    if (name == "hist") {
      helpers_.insert("power_bucket");
      slot = "power_bucket(" + n + ", " + std::to_string(t.step) + ")";
    } else {
      helpers_.insert("step_bucket");
      slot = "step_bucket(" + n + ", " + std::to_string(t.low) + ", " + std::to_string(t.high) + ", " + std::to_string(t.step) + ")";
    }
    const std::string k = key(*m.map, m.key, slot);
    return out_.line(map_function(*m.map, "add") + "(" + k + ", 1);");
  }
  const std::string k = key(*m.map, m.key);
  const std::string_view function = name == "count" || name == "sum" ? "add" : name == "min" ? "keep_min" : name == "max" ? "keep_max" : "add_counted";
  out_.line(map_function(*m.map, function) + "(" + k + ", " + n + ");");
}

// ------------------------------------------------------------------------------------------ declarations

static std::string value_type(const Map& m, const std::string& name) {
  const type::Type& t = *m.value;
  if (t.is(Kind::string)) return "struct " + name + "_value";
  if (t.is(Kind::min) || t.is(Kind::max) || t.is(Kind::avg) || t.is(Kind::stats)) return "struct pair";
  return t.is_signed && !KernelC::has_slots(m) ? "s64" : "u64";
}

std::string KernelC::maps() {
  std::string out;
  for (const Map* m : job_.program.maps) {
    if (!m->value || !m->used) continue;
    const std::string name = names_.of(*m);
    const std::string k = "struct " + name + "_key";
    out += "// @" + std::string(m->name) + "\n" + k + " {\n";
    size_t n = 0;
    for (const RecordPart& p : key_parts(*m)) {
      const std::string part = "part" + std::to_string(n++);
      out += p.kind == RecordPart::text ? "  char " + part + "[" + std::to_string(p.size) + "];\n" : std::string(p.is_signed ? "  s64 " : "  u64 ") + part + ";\n";
    }
    if (has_slots(*m)) out += "  u64 slot;\n";
    if (n == 0 && !has_slots(*m)) out += "  u64 none;\n";
    out += "};\n";
    if (m->value->is(Kind::string)) out += "struct " + name + "_value {\n  char text[" + std::to_string((m->value->size + 7) / 8 * 8) + "];\n};\n";
    const std::string v = value_type(*m, name);
    uint64_t entries = m->max_entries ? m->max_entries : job_.program.config.number("max_map_keys");
    if (!m->key) entries = 1;
    if (has_slots(*m)) entries *= 64;
    const bool is_lru = m->storage == Storage::lruhash || m->storage == Storage::percpulruhash;
    if (style_ == KernelStyle::libbpf)
      out += "struct {\n  __uint(type, " + std::string(is_lru ? "BPF_MAP_TYPE_LRU_HASH" : "BPF_MAP_TYPE_HASH") + ");\n  __uint(max_entries, " + std::to_string(entries) +
             ");\n  __type(key, " + k + ");\n  __type(value, " + v + ");\n} " + name + " SEC(\".maps\");\n\n";
    else
      out += "BPF_TABLE(\"" + std::string(is_lru ? "lru_hash" : "hash") + "\", " + k + ", " + v + ", " + name + ", " + std::to_string(entries) + ");\n\n";
    const bool is_bcc = style_ == KernelStyle::bcc;
    const std::string find = is_bcc ? name + ".lookup(key)" : "bpf_map_lookup_elem(&" + name + ", key)";
    const std::string make = is_bcc ? name + ".insert(key, &zero)" : "bpf_map_update_elem(&" + name + ", key, &zero, BPF_NOEXIST)";
    const std::string put = is_bcc ? name + ".update(key, &value)" : "bpf_map_update_elem(&" + name + ", key, &value, BPF_ANY)";
    const std::string drop = is_bcc ? name + ".delete(key)" : "bpf_map_delete_elem(&" + name + ", key)";
    auto used = [&](std::string_view what) {
      const auto at = used_.find(m);
      return at != used_.end() && at->second.contains(std::string(what));
    };
    const std::string head = "static __always_inline ", in = "(" + k + " *key";
    const std::string slot = "  " + v + (v.starts_with("struct") ? " zero = {};" : " zero = 0;") + "\n  " + v + " *found = " + find + ";\n  if (!found) {\n    " + make + ";\n    found = " + find + ";\n  }\n";
    if (used("get")) out += head + v + " " + name + "_get" + in + ")\n{\n  " + v + " *found = " + find + ";\n  return found ? *found : 0;\n}\n\n";
    if (used("has")) out += head + "int " + name + "_has" + in + ")\n{\n  return " + find + " != 0;\n}\n\n";
    if (used("find")) out += head + "void *" + name + "_find" + in + ")\n{\n  return " + find + ";\n}\n\n";
    if (used("set")) out += head + "void " + name + "_set" + in + ", " + v + " value)\n{\n  " + put + ";\n}\n\n";
    if (used("put")) {
      std::string given = put;
      const size_t at = given.find("&value");
      given.replace(at, 6, "value");
      out += head + "void " + name + "_put" + in + ", void *value)\n{\n  " + given + ";\n}\n\n";
    }
    if (used("delete")) out += head + "void " + name + "_delete" + in + ")\n{\n  " + drop + ";\n}\n\n";
    if (used("add")) out += head + "void " + name + "_add" + in + ", " + v + " n)\n{\n" + slot + "  if (found)\n    __sync_fetch_and_add(found, n);\n}\n\n";
    if (used("add_counted"))
      out += head + "void " + name + "_add_counted" + in + ", s64 n)\n{\n" + slot + "  if (found) {\n    __sync_fetch_and_add(&found->value, n);\n    __sync_fetch_and_add(&found->count, 1);\n  }\n}\n\n";
    for (const auto& [function, sign] : {std::pair("keep_min", "<"), std::pair("keep_max", ">")})
      if (used(function))
        out += head + "void " + name + "_" + function + in + ", " + (m->value->is_signed ? "s64" : "u64") + " n)\n{\n" + slot + "  if (found && (!found->count || n " + sign +
               (m->value->is_signed ? " (s64)" : " ") + "found->value)) {\n    found->value = n;\n    found->count = 1;\n  }\n}\n\n";
  }
  return out;
}

std::string KernelC::helpers() const {
  std::string out;
  const std::string head = "static __always_inline ";
  for (const std::string& h : helpers_) {
    if (h == "divided" || h == "remainder")
      out += head + "u64 " + h + "(u64 a, u64 b)\n{\n  return b ? a " + (h == "divided" ? "/" : "%") + " b : 1;\n}\n\n";
    else if (h == "same_text")
      out += head + "int same_text(const char *a, const char *b, int size)\n{\n#pragma unroll\n  for (int i = 0; i < size; i++)\n    if (a[i] != b[i])\n      return 0;\n  return 1;\n}\n\n";
    else if (h == "power_bucket")
      out += head +
             "u64 power_bucket(s64 n, int bits)\n{\n  u64 v = n, log = 0;\n  if (n < 0)\n    return 0;\n  if (v < 1ULL << bits)\n    return v + 1;\n"
             "#pragma unroll\n  for (int step = 32; step; step /= 2)\n    if (v >> (log + step))\n      log += step;\n"
             "  return ((log - bits) << bits) + ((n >> (log - bits)) & ((1ULL << bits) - 1)) + 1 + (1ULL << bits);\n}\n\n";
    else if (h == "step_bucket")
      out += head + "u64 step_bucket(s64 n, s64 low, s64 high, s64 step)\n{\n  if (n < low)\n    return 0;\n  if (n >= high)\n    return ((u64)(high - low) + step - 1) / (u64)step + 1;\n"
                    "  return (u64)(n - low) / (u64)step + 1;\n}\n\n";
    else if (h == "MEMBER")
      out += "#define MEMBER(p, member) ({ typeof((p)->member) v_; bpf_probe_read_kernel(&v_, sizeof(v_), &(p)->member); v_; })\n\n";
    else {
      const size_t at = h.find('_');
      const std::string type = h.substr(at + 1);
      out += head + (type[0] == 's' ? "s64 " : "u64 ") + h + "(u64 address)\n{\n  " + type + " value = 0;\n  bpf_probe_read_" + h.substr(0, at) +
             "(&value, sizeof(value), (void *)address);\n  return value;\n}\n\n";
    }
  }
  return out;
}

} // namespace emit
