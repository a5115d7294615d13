// Runs a fuzz entry on the files and folders given, without a fuzzer: the corpus as a test. Each file is also tried broken off
// at three places.
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

namespace {

std::string read(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void run(const std::string& text) {
  LLVMFuzzerTestOneInput(reinterpret_cast<const uint8_t*>(text.data()), text.size());
}

} // namespace

int main(int argc, char** argv) {
  namespace fs = std::filesystem;
  std::vector<fs::path> files;
  for (int i = 1; i < argc; i++) {
    if (!fs::is_directory(argv[i])) {
      files.emplace_back(argv[i]);
      continue;
    }
    for (const auto& entry : fs::recursive_directory_iterator(argv[i]))
      if (entry.is_regular_file()) files.push_back(entry.path());
  }
  size_t inputs = 0;
  for (const fs::path& file : files) {
    std::printf("%s\n", file.c_str()); // the last line names the culprit of a crash
    std::fflush(stdout);
    std::string text = read(file);
    run(text);
    for (size_t part = 1; part < 4; part++) run(text.substr(0, text.size() * part / 4));
    inputs += 4;
  }
  std::printf("%zu files, %zu inputs\n", files.size(), inputs);
  return inputs ? 0 : 1;
}
