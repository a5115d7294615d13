// A lesson of `acu learn`: a broken program, a command that shows what is wrong, and a question.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace learn {

struct Lesson {
  std::string_view title;
  std::string_view about;    // paragraphs; $PID and $EXE are replaced
  std::string_view command;  // to try; runs in a shell, with acu in the PATH, PID and EXE in the environment
  std::string_view question;
  std::string_view hint;
  std::string_view program;  // see programs.h
  // What is right for this number of the program, in small letters.
  std::string (*answer)(unsigned number);
};

std::span<const Lesson> lessons();

// Whether what a person typed means the answer: capitals, quotes, a path before it and parentheses behind it do not matter.
bool is_answer(std::string_view typed, std::string_view answer);

} // namespace learn
