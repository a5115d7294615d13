// The writer of random scripts, shared by the files that each write one family of the language. A script
// has a fixed set of variables and maps with one type each, so that it compiles; each family beyond numbers
// and text is in about half of the scripts. Depth and loops are bounded, so that scripts end.
#pragma once

#include "session/random_script.h"

#include <cstdint>
#include <random>
#include <string>
#include <vector>

class RandomWriter {
public:
  RandomWriter(uint64_t seed, const RandomScriptShape& shape);
  std::string script();

private:
  // A member of the script's structure, as an expression that follows a pointer.
  struct Member {
    std::string name;
    enum Kind { number, text, array } kind;
    int length = 0; // of an array
  };
  // What may be read and assigned where the writer is now; functions have their own.
  struct Scope {
    std::vector<std::string> signed_numbers, unsigned_numbers, texts;
    bool names_values = false; // the variables of structures, tuples and arrays are there
  };

  // Chance.
  int number(int below) { return static_cast<int>(random_() % static_cast<uint64_t>(below)); }
  bool chance(int percent) { return number(100) < percent; }
  std::string index(int below) { return std::to_string(number(below)); }
  template<class T> const T& one_of(const std::vector<T>& list) {
    return list[static_cast<size_t>(number(static_cast<int>(list.size())))];
  }
  std::string one_of(std::initializer_list<const char*> list) {
    return list.begin()[number(static_cast<int>(list.size()))];
  }

  // Output, line by line.
  void line(const std::string& text);
  void open(const std::string& head);
  void close();
  std::string fresh(const char* stem) { return stem + std::to_string(next_++); }

  // random_script.cc: the parts of a script.
  void write_config();
  void write_functions();
  void write_macros();
  void write_variables();
  void write_end();

  // random_numbers.cc: `depth` is how deep the expression already is.
  std::string literal();
  std::string typed_literal();
  std::string narrow();
  std::string integer_type();
  std::string expr(int depth);                                           // of any integer type
  std::string wide(int depth) { return "(int64)(" + expr(depth) + ")"; } // an int64
  std::string unsigned_wide(int depth) { return "(uint64)(" + expr(depth) + ")"; }
  std::string leaf();
  std::string condition(int depth);
  std::string comparison_of_values(int depth);

  // random_text.cc
  std::string word();
  std::string quoted() { return "\"" + word() + "\""; }
  std::string text();                    // a string, without effects
  std::string long_text(int depth);      // a string that takes some work
  std::string number_of_text(int depth); // an integer
  std::string condition_of_text();
  std::string length(); // of text, known at compile time or not

  // random_values.cc: structures, enumerations, tuples, records, arrays.
  void write_c_types();
  void write_values();
  std::string member_number();
  std::string member_text();
  std::string small_tuple(int depth);
  std::string record(int depth);
  std::string narrow_tuple();
  void narrow_statement();
  std::string array_element();
  void value_statement();

  // random_maps.cc
  void write_maps();
  std::string map_number();
  void map_statement(int depth);
  void aggregate_statement(int depth);
  void declared_map_statement(int depth);
  void map_loop();

  // random_statements.cc
  void statement(int depth);
  void simple_statement();
  void print_statement();
  void block(const std::string& head, bool in_loop);
  void loop(int depth);

  std::mt19937_64 random_;
  std::string out_;
  size_t depth_ = 0;
  int next_ = 0;
  int statements_;
  Scope scope_;
  std::vector<Member> members_;
  std::vector<std::string> plain_functions_, numeric_functions_, text_functions_; // written so far
  bool c_types_, values_, functions_, macros_, declared_maps_, aggregations_, more_text_, loops_;
};
