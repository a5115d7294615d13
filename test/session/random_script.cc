// The parts of a random script in their order: configuration, C types, map declarations, macros, functions,
// and one `begin` probe that sets all variables, does random things, and prints all variables.
#include "session/random_script.h"

#include "session/random_writer.h"

RandomWriter::RandomWriter(uint64_t seed, const RandomScriptShape& shape) : random_(seed) {
  c_types_ = chance(40);
  values_ = chance(50);
  functions_ = chance(50);
  macros_ = chance(40);
  declared_maps_ = chance(25);
  aggregations_ = chance(60);
  more_text_ = chance(60);
  statements_ = shape.statements ? shape.statements : 3 + number(9);
  loops_ = shape.with_loops == 100 || chance(shape.with_loops);
}

void RandomWriter::line(const std::string& text) { out_ += std::string(2 * depth_, ' ') + text + "\n"; }
void RandomWriter::open(const std::string& head) {
  line(head + " {");
  depth_++;
}
void RandomWriter::close() {
  depth_--;
  line("}");
}

std::string RandomWriter::script() {
  write_config();
  if (c_types_) write_c_types();
  if (declared_maps_)
    line("let @d = hash(40); let @lru = lruhash(1000); let @p = percpuhash(40); let @pl = "
         "percpulruhash(1000);");
  if (macros_) write_macros();
  if (functions_) write_functions();
  open("begin");
  write_variables();
  for (int i = 0; i < statements_; i++) statement(0);
  write_end();
  close();
  return out_;
}

void RandomWriter::write_config() {
  std::string keys = "max_map_keys = 64; unstable_addr = enable; unstable_map_decl = enable";
  // Parameters of functions are as long as max_strlen, and take all words.
  if (chance(30))
    keys += "; max_strlen = " +
            (functions_ ? one_of({"64", "100", "300", "4096"}) : one_of({"8", "16", "33", "1000", "4096"}));
  if (chance(20)) keys += "; on_stack_limit = " + one_of({"0", "16", "64", "128"});
  line("config = { " + keys + " }");
}

// Each function sees its parameters, the maps, and the functions before it.
void RandomWriter::write_functions() {
  for (int i = 1 + number(3); i > 0; i--) {
    std::string name = fresh("f");
    const bool gives_text = chance(30), takes_text = gives_text || chance(50);
    scope_ = {{"$a"}, {"$b"}, {takes_text ? "$s" : "@text[(int64)1]"}};
    open("fn " + name + "($a : int64, $b : uint64" + (takes_text ? ", $s : string" : "") +
         ") : " + (gives_text ? "string" : "int64"));
    auto value = [&] { return gives_text ? (chance(50) ? text() : quoted()) : wide(2); };
    for (int k = number(3); k > 0; k--) simple_statement();
    if (chance(50)) {
      open("if (" + condition(2) + ")");
      line("return " + value() + ";");
      close();
    }
    if (chance(40) && loops_) {
      std::string counter = fresh("$c");
      open(chance(50)
               ? "for (" + counter + " : 0.." + index(7) + ")"
               : "for (let " + counter + " = 0; " + counter + " < " + index(6) + "; " + counter + "++)");
      simple_statement();
      line("if ((int64)" + counter + " > $a & 3) { return " + value() + "; }");
      close();
    }
    switch (number(3)) {
    case 0: line(value()); break;
    case 1: line("if (" + condition(2) + ") { " + value() + " } else { " + value() + " }"); break;
    default: line("return " + value() + ";");
    }
    close();
    (gives_text ? text_functions_ : takes_text ? numeric_functions_ : plain_functions_).push_back(name);
  }
  scope_ = {};
}

void RandomWriter::write_macros() {
  line("#define TWICE(x) ((x) * 2)");
  line("#define BASE " + index(100));
  line("macro clip(x, low, high) { let $x = x; $x < low ? low : ($x > high ? high : $x) }");
  line("macro bump($v, by) { $v += by; $v }");
  line("macro put(@m, k, v) { @m[k] = v; }");
  line("macro add_up($sum, n) { for ($i : 0..n) { $sum += $i; } }");
  line("macro describe(x) { x > 0 ? \"plus\" : \"not\" }");
}

void RandomWriter::write_variables() {
  scope_ = {{"$i0", "$i1", "$i2"}, {"$u0", "$u1", "$u2"}, {"$s0", "$s1"}};
  for (int i = 0; i < 3; i++) line("$i" + std::to_string(i) + " = (int64)" + literal() + ";");
  for (int i = 0; i < 3; i++) line("$u" + std::to_string(i) + " = (uint64)" + literal() + ";");
  line("$s0 = " + quoted() + "; $s1 = str(" + (chance(80) ? quoted() : "$2") + ");");
  line("$t = ((int64)1, " + quoted() + ", (int64)2);");
  write_maps();
  if (c_types_ || values_) write_values();
  scope_.names_values = true;
}

void RandomWriter::write_end() {
  for (int i = 0; i < 3; i++)
    line("printf(\"%ld %lx\\n\", $i" + std::to_string(i) + ", $u" + std::to_string(i) + ");");
  line("printf(\"%s %s\\n\", $s0, $s1); print($t);");
  if (values_) line("print($q); print($r);");
  if (c_types_) line("print(*$p); print($v);");
}

std::string random_script(uint64_t seed, const RandomScriptShape& shape) {
  return RandomWriter(seed, shape).script();
}

std::vector<std::string> random_script_parameters() { return {"12", "worker one", "0x7fffffffffffffff"}; }
