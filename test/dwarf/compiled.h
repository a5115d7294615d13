// Programs compiled in a folder of their own, for tests that read what compilers write.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <unistd.h>

namespace samples {

// A folder that goes with the test.
class Folder {
public:
  Folder() {
    char name[] = "/tmp/acu-dwarf-XXXXXX";
    if (::mkdtemp(name)) path_ = name;
  }
  Folder(const Folder&) = delete;
  ~Folder() {
    if (!path_.empty()) (void)!std::system(("rm -rf " + path_).c_str());
  }
  std::string file(const std::string& name) const { return path_ + "/" + name; }
  std::string write(const std::string& name, const std::string& text) const {
    std::ofstream(file(name)) << text;
    return file(name);
  }

private:
  std::string path_;
};

// The standard output of a command; an empty text if it failed, its errors are shown.
inline std::string output_of(const std::string& command) {
  std::string out;
  FILE* pipe = ::popen(command.c_str(), "r");
  if (!pipe) return out;
  char block[4096];
  for (size_t n; (n = std::fread(block, 1, sizeof block, pipe)) > 0;) out.append(block, n);
  return ::pclose(pipe) == 0 ? out : std::string();
}

} // namespace samples
