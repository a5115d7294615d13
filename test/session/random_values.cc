// Random structures over known bytes, enumerations, tuples, records and arrays.
#include "session/random_writer.h"

namespace {

std::string hex_escape(unsigned byte) {
  char text[8];
  snprintf(text, sizeof text, "\\x%02x", byte & 0xff);
  return text;
}

} // namespace

// One structure of random members, of at most 100 bytes.
void RandomWriter::write_c_types() {
  line("enum color { RED, GREEN = 5, BLUE, DARK = 1000 };");
  line("struct inner { short x; unsigned char y[3]; int z : 5; unsigned w : 9; };");
  line(std::string("struct sample {"));
  for (int i = 2 + number(6); i > 0; i--) {
    std::string name = fresh("m");
    int width = 1 + number(20);
    switch (number(9)) {
    case 0:
    case 1:
    case 2:
      line("  " +
           one_of({"char", "unsigned char", "short", "uint16_t", "int", "uint32_t", "long",
                   "unsigned long long"}) +
           " " + name + ";");
      members_.push_back({name, Member::number});
      break;
    case 3:
    case 4:
      line("  " + one_of({"int", "unsigned", "uint64_t", "long"}) + " " + name + " : " +
           std::to_string(width) + ";");
      members_.push_back({name, Member::number});
      break;
    case 5:
      line("  char " + name + "[" + std::to_string(width) + "];");
      members_.push_back({name, Member::text});
      break;
    case 6: {
      int length = 1 + number(5);
      line("  " + one_of({"unsigned char", "short", "int", "uint16_t"}) + " " + name + "[" +
           std::to_string(length) + "];");
      members_.push_back({name, Member::array, length});
      break;
    }
    case 7:
      line("  enum color " + name + "; bool " + name + "b;");
      members_.push_back({name, Member::number});
      members_.push_back({name + "b", Member::number});
      break;
    default:
      line(chance(70) ? "  struct inner " + name + ";"
                      : "  union { struct inner " + name + "; int " + name + "i; };");
      for (const char* inner : {".x", ".z", ".w"}) members_.push_back({name + inner, Member::number});
      members_.push_back({name + ".y", Member::array, 3});
    }
  }
  line(chance(25) ? "} __attribute__((packed));" : "};");
}

void RandomWriter::write_values() {
  if (c_types_) {
    std::string bytes;
    for (int i = 0; i < 128; i++)
      bytes += chance(40) ? hex_escape(97u + random_() % 5) : hex_escape(static_cast<unsigned>(random_()));
    line("$bytes_of_p = \"" + bytes + "\";");
    line("$p = (struct sample *)&$bytes_of_p; $v = *$p; @v[(int64)0] = $v; $color = (enum color)" + index(7) +
         ";");
  }
  if (values_) {
    line("$q = " + small_tuple(2) + "; @q[(int64)0] = $q; @qk[$q] = (int64)1;");
    line("$r = " + record(2) + "; @r = $r; @rk[$r] = (int64)1;");
    line("$bytes = (uint8[8])" + unsigned_wide(2) + "; $shorts = (int16[4])" + unsigned_wide(2) +
         "; @bytes[$bytes] = (int64)1;");
    line("$w = " + narrow_tuple() + "; @w[(int64)0] = $w; @wk[$w] = (int64)1; @nm[(int64)0] = " + narrow() + ";");
  }
}

std::string RandomWriter::member_number() {
  if (!scope_.names_values) return "(int64)(enum color)" + index(7);
  if (chance(10)) return "(int64)" + one_of({"RED", "GREEN", "DARK", "$color"});
  const Member& member = one_of(members_);
  std::string from = one_of({"$p.", "$p->", "$v.", "@v[(int64)0]."});
  if (member.kind == Member::text) return "(int64)strlen(" + from + member.name + ")";
  if (member.kind == Member::number) return "(int64)" + from + member.name;
  return "(int64)" + from + member.name + "[" + index(member.length) + "]";
}

std::string RandomWriter::member_text() {
  if (!scope_.names_values) return quoted();
  for (const Member& member : members_)
    if (member.kind == Member::text && chance(60))
      return chance(50) ? "$p." + member.name : "str($v." + member.name + ")";
  return quoted();
}

std::string RandomWriter::small_tuple(int depth) {
  return "((int8)(" + expr(depth) + "), (uint16)(" + expr(depth) + "), " + text() + ", ((uint32)(" +
         expr(depth) + "), " + condition(3) + "))";
}

// Members go by name: in any order.
std::string RandomWriter::record(int depth) {
  const std::string a = "a = (int16)(" + expr(depth) + ")", b = "b = " + text(), c = "c = (uint64)(" + expr(depth) + ")";
  switch (number(4)) {
  case 0: return "(" + b + ", " + c + ", " + a + ")";
  case 1: return "(" + c + ", " + a + ", " + b + ")";
  default: return "(" + a + ", " + b + ", " + c + ")";
  }
}

// The same shape with numbers of other widths each time.
std::string RandomWriter::narrow_tuple() { return "(" + narrow() + ", (" + narrow() + ", " + text() + "), " + narrow() + ")"; }

void RandomWriter::narrow_statement() {
  const std::string tuple = chance(50) ? "$w" : narrow_tuple(), at = "(int64)" + index(3), sum = one_of(scope_.signed_numbers);
  const std::string kv = fresh("$kv");
  switch (number(loops_ ? 10 : 8)) {
  case 0: return line("$w = " + narrow_tuple() + ";");
  case 1: return line("@w[" + at + "] = " + tuple + ";");
  case 2: return line("@wk[" + tuple + "] = (int64)(" + expr(2) + ");");
  case 3: return line("@wk[" + tuple + "]++; " + sum + " += @wk[" + tuple + "];");
  case 4: return line("print((" + tuple + ", @w[" + at + "]));");
  case 5: return line("@nm[" + at + "] = " + narrow() + "; " + sum + " ^= @nm[" + at + "];");
  case 6: return line("_ = delete(@wk, " + tuple + "); print(has_key(@wk, " + tuple + "));");
  case 7: return line("$w = " + condition(2) + " ? " + narrow_tuple() + " : @w[" + at + "];");
  case 8: return line("for (" + kv + " : @wk) { @seen_w[" + kv + ".0] = " + kv + ".1; " + sum + " += " + kv + ".0.0 * 3; }");
  default: return line("for (" + kv + " : @nm) { " + sum + " += " + kv + ".0 * " + kv + ".1; }");
  }
}

std::string RandomWriter::array_element() {
  if (!scope_.names_values) return typed_literal();
  switch (number(6)) {
  case 0: return "(int64)$bytes[" + index(8) + "]";
  case 1: return "(int64)$bytes[" + one_of(scope_.unsigned_numbers) + " & 7]";
  case 2: return "(int64)$shorts[" + index(4) + "]";
  case 3:
    return "(int64)" + one_of({"$w.0", "$w.1.0", "$w.2", "@w[(int64)1].0", "@nm[(int64)1]", "$q.0", "$q.1", "$q.3.0", "$q.3.1", "$r.a", "$r.c", "@r.a", "@q[(int64)0].1"});
  case 4: return "(int64)" + one_of({"@qk[$q]", "@rk[$r]", "@bytes[$bytes]"});
  default: return "(uint64)$bytes";
  }
}

void RandomWriter::value_statement() {
  if (!scope_.names_values || (!c_types_ && !values_)) return;
  if (c_types_ && (!values_ || chance(50))) {
    switch (number(7)) {
    case 0: return line("$v = *$p;");
    case 1: return line("@v[(int64)" + index(3) + "] = " + (chance(50) ? "*$p" : "$v") + ";");
    case 2: return line("@vk[*$p] = (int64)(" + expr(2) + ");");
    case 3: return line("$v = @v[(int64)" + index(3) + "]; print($v);");
    case 4: return line("$color = (enum color)(" + expr(2) + "); print($color); @colors[$color] = count();");
    case 5: return line("printf(\"%d %s %ld\\n\", $color, $color, " + member_number() + ");");
    default: return line("print((" + member_number() + ", *$p));");
    }
  }
  if (chance(40)) return narrow_statement();
  switch (number(9)) {
  case 0: return line("$q = " + small_tuple(1) + ";");
  case 1: return line("@q[(int64)" + index(3) + "] = " + (chance(50) ? "$q" : small_tuple(2)) + ";");
  case 2: return line("@qk[" + (chance(50) ? "$q" : small_tuple(2)) + "] = (int64)(" + expr(2) + ");");
  case 3: return line("$r = " + record(1) + ";");
  case 4: return line("@rk[" + (chance(50) ? "$r" : record(2)) + "]++; @r = $r;");
  case 5:
    return line("$bytes = (uint8[8])" + unsigned_wide(1) + "; @bytes[$bytes] = (int64)(" + expr(2) + ");");
  case 6: return line("$shorts = (int16[4])" + unsigned_wide(1) + "; print(($shorts, $bytes));");
  case 7: return line("$q = " + condition(2) + " ? $q : " + small_tuple(2) + ";");
  default: return line("print(($q, $r, " + condition(3) + "));");
  }
}
