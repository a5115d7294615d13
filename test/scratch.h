// A folder for the files of a test, and commands that make them; it is removed at the end.
#pragma once

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>

class Scratch {
public:
  Scratch() {
    char name[] = "/tmp/acu-test-XXXXXX";
    if (const char* made = ::mkdtemp(name)) folder_ = made;
  }
  Scratch(const Scratch&) = delete;
  ~Scratch() {
    if (!folder_.empty()) (void)!std::system(("rm -rf " + folder_).c_str());
  }
  const std::string& folder() const { return folder_; }
  std::string path(const std::string& name) const { return folder_ + "/" + name; }
  // In the folder; whether it succeeded.
  bool run(const std::string& command) const {
    return std::system(("cd " + folder_ + " && { " + command + " ; } >" + folder_ + "/.log 2>&1").c_str()) ==
           0;
  }
  // What the last command wrote.
  std::string log() const { return read(".log"); }
  void write(const std::string& name, const std::string& text) const {
    std::ofstream(path(name), std::ios::binary) << text;
  }
  std::string read(const std::string& name) const {
    std::ifstream file(path(name), std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }

private:
  std::string folder_;
};
