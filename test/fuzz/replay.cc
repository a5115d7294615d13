// replay NAME FILE|FOLDER…: runs the fuzz entry of that name on the files, without a fuzzer: the corpus as a test. Each file is also
// tried broken off at three places.
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

using Entry = int(const uint8_t* data, size_t size);
#define ENTRY(name) extern "C" Entry fuzz_##name;
#include "entries.inc"
#undef ENTRY

namespace {

constexpr struct {
  std::string_view name;
  Entry* run;
} entries[] = {
#define ENTRY(name) {#name, fuzz_##name},
#include "entries.inc"
#undef ENTRY
};

std::string read(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void run(Entry* entry, const std::string& text) { entry(reinterpret_cast<const uint8_t*>(text.data()), text.size()); }

} // namespace

int main(int argc, char** argv) {
  namespace fs = std::filesystem;
  Entry* entry = nullptr;
  for (const auto& known : entries)
    if (argc > 1 && known.name == argv[1]) entry = known.run;
  if (!entry) {
    std::fprintf(stderr, "no fuzz entry of this name; next: name one of test/fuzz/*_fuzz.cc\n");
    return 2;
  }
  std::vector<fs::path> files;
  for (int i = 2; i < argc; i++) {
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
    run(entry, text);
    for (size_t part = 1; part < 4; part++) run(entry, text.substr(0, text.size() * part / 4));
    inputs += 4;
  }
  std::printf("%zu files, %zu inputs\n", files.size(), inputs);
  return inputs ? 0 : 1;
}
