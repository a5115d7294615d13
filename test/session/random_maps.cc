// Random use of maps: plain ones, aggregations, declared kinds, and loops over them that do not depend on the
// order.
#include "session/random_writer.h"

// Every map gets its type and exists.
void RandomWriter::write_maps() {
  line("@a[(int64)0] = (int64)0; @b[\"k\"] = (uint64)1; @c[(int64)1, \"k\"] = (int64)3; @n = (int64)0;");
  line("@text[(int64)0] = " + quoted() + ";");
  if (aggregations_) {
    line("@count[(int64)0] = count(); @sum = sum((int64)" + index(9) + "); @avg = avg((int64)" + index(9) +
         ");");
    line("@stats[(int64)0] = stats((int64)5); @min[\"k\"] = min((int64)" + index(9) +
         "); @max = max((uint64)1);");
    line("@h = hist((int64)" + index(50) + "); @l[\"k\"] = lhist((int64)" + index(50) + ", 0, 100, 10);");
  }
  if (declared_maps_)
    line(
        "@d[(int64)0] = (int64)1; @lru[\"k\"] = (int64)1; @p[(int64)0] = (int64)1; @pl[(int64)0] = count();");
}

std::string RandomWriter::map_number() {
  switch (number(aggregations_ ? 10 : 5)) {
  case 0:
  case 1: return "@a[(int64)" + index(4) + "]";
  case 2: return "@b[" + (!scope_.names_values ? quoted() : text()) + "]";
  case 3: return "@n";
  case 4:
    if (declared_maps_)
      return one_of({"@d[(int64)0]", "@lru[\"k\"]", "@p[(int64)0]", "(int64)@pl[(int64)0]", "@p[(int64)1]"});
    return "@c[(int64)" + index(4) + ", " + quoted() + "]";
  case 5: return "(int64)@count[(int64)" + index(4) + "]";
  case 6: return chance(50) ? "(int64)@sum" : "(int64)@avg";
  case 7: return "(int64)@min[" + quoted() + "]";
  case 8: return "(uint64)@max";
  default: return "(int64)@stats[(int64)" + index(2) + "]";
  }
}

void RandomWriter::map_statement(int depth) {
  std::string e = expr(1);
  switch (number(14)) {
  case 0:
  case 1: return line("@a[(int64)" + index(6) + "] = (int64)(" + e + ");");
  case 2: return line("@b[" + text() + "] = (uint64)(" + e + ");");
  case 3: return line("@c[(int64)" + index(4) + ", " + text() + "] = (int64)(" + e + ");");
  case 4: return line(chance(50) ? "@n = (int64)(" + e + ");" : "@n++;");
  case 5:
    return line("@a[(int64)" + index(6) + "] " + one_of({"+=", "-=", "*=", "&=", "|=", "^="}) + " (int64)(" +
                e + ");");
  case 6: return line("_ = delete(@a, (int64)" + index(5) + ");");
  case 7:
    return line(chance(50) ? "print(@a[(int64)" + index(4) + "]);" : "print(@c[(int64)1, " + text() + "]);");
  case 8:
    return line(chance(70) ? "@text[(int64)" + index(3) + "] = " + long_text(0) + ";"
                           : "print(len(@a) + len(@b));");
  case 9: return line("delete(@b, " + text() + ");");
  case 10:
    if (!scope_.names_values) return line("@n += 2;");
    {
      std::string found = fresh("$found");
      return line("{ let " + found + " = (int64)7; if (find(@a, (int64)" + index(5) + ", " + found +
                  ")) { print(" + found + "); } else { $i0 += " + found + "; } }");
    }
  case 11: return macros_ ? line("put(@a, (int64)" + index(5) + ", (int64)(" + e + "));") : line("@n -= 3;");
  case 12: return declared_maps_ ? declared_map_statement(depth) : line("print(@a);");
  default: return aggregations_ ? aggregate_statement(depth) : line("print((len(@c), @n));");
  }
}

void RandomWriter::declared_map_statement(int) {
  switch (number(5)) {
  case 0: return line("@d[(int64)" + index(50) + "] = " + wide(2) + ";");
  case 1: return line("@lru[" + text() + "] = " + wide(2) + ";");
  case 2: return line("@p[(int64)" + index(3) + "] " + one_of({"=", "+=", "-="}) + " " + wide(2) + ";");
  case 3: return line("@pl[(int64)" + index(5) + "] = count();");
  default: return line("delete(@p, (int64)" + index(3) + "); print(@d[(int64)" + index(3) + "]);");
  }
}

void RandomWriter::aggregate_statement(int) {
  switch (number(13)) {
  case 12: return line("@copy[(int64)" + index(3) + "] = " + one_of({"@count[(int64)1]", "@sum", "@avg", "@max"}) + "; print(@copy[(int64)1]);");
  case 0: return line("@count[(int64)" + index(4) + "] = count(); @sum = sum((int64)" + index(1000) + ");");
  case 1: return line("@h = hist(" + wide(2) + "); @l[" + text() + "] = lhist(" + wide(2) + ", 0, 100, 10);");
  case 2: return line("@min[" + text() + "] = min(" + wide(2) + "); @max = max(" + unsigned_wide(2) + ");");
  case 3:
    return line("@avg = avg((int64)" + index(500) + "); @stats[(int64)" + index(2) + "] = stats(" + wide(3) +
                ");");
  case 4: return line("print(@stats[(int64)" + index(3) + "]); print(@avg);");
  case 5: return line("print(@h); print(@l[" + quoted() + "]);");
  case 6:
    return line("print(@count" + (chance(50) ? ", 2" : std::string()) + "); print(@min[" + text() + "]);");
  case 7: return line("print((@sum, (int64)@max, " + text() + "));");
  case 8: return line(chance(50) ? "clear(@count);" : "zero(@l);");
  case 9: return line("delete(@min, " + text() + ");");
  case 10: return line("printf(\"%d %d %d\\n\", @avg, @sum, @count[(int64)" + index(4) + "]);");
  default: return line("print((len(@l), len(@count)));");
  }
}

// The turns are in any order: they only add up, count, or delete.
void RandomWriter::map_loop() {
  std::string kv = fresh("$kv");
  std::string sum = one_of(scope_.signed_numbers);
  switch (number(aggregations_ ? 6 : 4)) {
  case 0:
    return line("for (" + kv + " : @a) { " + sum + one_of({" += ", " ^= "}) + kv + ".0 * 3 + " + kv +
                ".1; }");
  case 1:
    return line("for (" + kv + " : @b) { if (strcontains(" + kv + ".0, " + quoted() + ")) { " + sum +
                " += (int64)" + kv + ".1; continue; } " + sum + "++; }");
  case 2:
    return line("for (" + kv + " : @c) { @seen[" + kv + ".0] = " + kv + ".1; " + sum + " += (int64)strlen(" +
                kv + ".0.1); }");
  case 3:
    return line("for (" + kv + " : @a) { if (" + kv + ".1 > " + one_of(scope_.signed_numbers) +
                ") { delete(@a, " + kv + ".0); } }");
  case 4: return line("for (" + kv + " : @count) { " + sum + " += (int64)" + kv + ".1 * " + kv + ".0; }");
  default:
    return line("for (" + kv + " : @" + one_of({"min", "stats"}) + ") { " + sum + " += (int64)" + kv +
                ".1; }");
  }
}
