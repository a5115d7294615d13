// Files that were derived from others and cost time to make (tables of names, indexes of debug information),
// kept between runs. A file is found by what it was made from: kind and version of the format, build-id, and
// a number for the source (`CacheKey`). All of it is in the file's name and again in its header, with
// checksums: what does not fit is as good as absent.
//
// The folder is $ACU_CACHE (empty: no cache), else /var/cache/acu for root, else $XDG_CACHE_HOME/acu or
// ~/.cache/acu. It is used only when it belongs to this user or root and nobody else may write to it; without
// one everything works, only slower. Any number of processes may read, write and clean up at the same time:
// files appear under their name complete (written aside, then renamed) and a mapped one stays readable when
// it is removed.
#pragma once

#include "base/fd.h"
#include "base/file_map.h"
#include "base/reader.h"
#include "base/result.h"

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace symbol {

// What a cached file was made from.
struct CacheKey {
  std::string_view kind; // a short word: "names", "index"
  uint32_t version = 1;  // of the kind's format: raised when the bytes change their meaning
  base::ByteSpan build_id;
  // Tells apart what one build-id may give, such as a table made from the stripped file and one made with the
  // debug file that was installed later. Any number; `source_number` makes one from a file.
  uint64_t source = 0;
};

// A number for a file as it is now: size, time of change and inode. For `CacheKey::source`; 0: no such file.
uint64_t source_number(int fd);
// Two numbers into one, for files made from several others; a number and a file as it was when it was opened.
uint64_t combine(uint64_t a, uint64_t b);
uint64_t combine(uint64_t a, const base::FileId& file);

// Bytes of a cached file, mapped for as long as this lives; aligned to 8.
class CachedFile {
public:
  base::ByteSpan bytes() const { return bytes_; }

private:
  friend class Cache;
  friend class NewCachedFile;
  CachedFile(base::FileMap map, base::ByteSpan bytes) : map_(std::move(map)), bytes_(bytes) {}
  base::FileMap map_;
  base::ByteSpan bytes_;
};

// A file of the cache that is made where it lies, without a copy in memory. What is not finished was never there.
class NewCachedFile {
public:
  NewCachedFile(NewCachedFile&& o) noexcept;
  NewCachedFile& operator=(NewCachedFile&&) = delete;
  ~NewCachedFile();
  std::span<std::byte> bytes() const { return payload_; } // zeroes at first
  // To be read from here on, and not written any more; with `keep` found by others under its key.
  base::Result<CachedFile> finish(bool keep);

private:
  friend class Cache;
  NewCachedFile() = default;

  base::Fd folder_, file_;
  std::string folder_name_, temporary_, name_;
  CacheKey key_;
  uint64_t limit_ = 0;
  std::span<std::byte> all_, payload_; // with its header, and without
};

class Cache {
public:
  static constexpr uint64_t default_limit = uint64_t{1} << 30; // bytes of all files together

  // This user's. Nothing is made on disk before something is stored.
  static Cache of_user();
  // Empty: never finds or stores.
  explicit Cache(std::string folder, uint64_t limit = default_limit);

  // What was stored for the key, checked; its time of last use becomes now.
  std::optional<CachedFile> find(const CacheKey& key) const;
  // Stores the parts one after the other. When all files are larger than the limit together, those that were
  // not used for the longest time are removed. A failure says why; nothing depends on success.
  base::Status store(const CacheKey& key, std::span<const base::ByteSpan> parts) const;
  base::Status store(const CacheKey& key, base::ByteSpan bytes) const { return store(key, {&bytes, 1}); }

  // The same for one that is made piece by piece; what the key points to must last until it is finished.
  base::Result<NewCachedFile> make(const CacheKey& key, uint64_t size) const;

  const std::string& folder() const { return folder_; } // empty: there is none

private:
  std::string folder_;
  uint64_t limit_;
};

} // namespace symbol
