#include "symbol/kept_sections.h"

#include <deque>
#include <memory>
#include <mutex>
#include <new>
#include <vector>

namespace symbol {
namespace {

class KeptSections final : public format::PlainStore {
public:
  KeptSections(Cache cache, const KeptSizes& sizes) : cache_(std::move(cache)), sizes_(sizes) {}

  base::ByteSpan find(const format::ElfFile& file, size_t section, uint64_t size) override {
    if (!is_kept(file, size)) return {};
    std::optional<CachedFile> found = cache_.find(key_of(file, section));
    if (!found || found->bytes().size() != size) return {};
    std::lock_guard lock(changing_);
    return found_.emplace_back(std::move(*found)).bytes();
  }
  base::ByteSpan make(const format::ElfFile& file, size_t section, uint64_t size,
                      const format::PlainFill& fill) override {
    if (!is_kept(file, size)) return {};
    auto made = cache_.make(key_of(file, section), size);
    if (!made.ok()) return make_in_memory(file, section, size, fill);
    if (!fill(made->bytes())) return {};
    auto found = made->finish(!file.damaged());
    if (!found.ok()) return {};
    std::lock_guard lock(changing_);
    return found_.emplace_back(std::move(*found)).bytes();
  }

private:
  bool is_kept(const format::ElfFile& file, uint64_t size) const {
    return size >= sizes_.from && size <= sizes_.to && file.id() != base::FileId();
  }
  // Where the cache's file system cannot promise room, as network file systems cannot, or has none.
  base::ByteSpan make_in_memory(const format::ElfFile& file, size_t section, uint64_t size,
                                const format::PlainFill& fill) {
    std::unique_ptr<std::byte[]> memory(new (std::nothrow) std::byte[size]);
    if (!memory || !fill({memory.get(), size})) return {};
    const base::ByteSpan bytes(memory.get(), size);
    if (!file.damaged()) (void)cache_.store(key_of(file, section), bytes); // else it is made again next time
    std::lock_guard lock(changing_);
    held_.push_back(std::move(memory));
    return bytes;
  }
  static CacheKey key_of(const format::ElfFile& file, size_t section) {
    return {"plain", 1, file.build_id(), combine(section, file.id())};
  }

  const Cache cache_;
  const KeptSizes sizes_;
  std::mutex changing_;
  std::deque<CachedFile> found_;
  std::vector<std::unique_ptr<std::byte[]>> held_;
};

} // namespace

const format::ElfFile& keep_sections(const format::ElfFile& file, Cache cache, const KeptSizes& sizes) {
  file.set_store(std::make_unique<KeptSections>(std::move(cache), sizes));
  return file;
}

} // namespace symbol
