// An overlay gives the inode numbers of the files below for files that were not copied up (Documentation/filesystems/overlayfs.rst).
#include "symbol/real_file.h"

#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>

namespace symbol {

std::optional<base::FileId> real_file(const std::string& path) {
  struct stat about = {};
  struct statfs file_system = {};
  if (::stat(path.c_str(), &about) != 0 || ::statfs(path.c_str(), &file_system) != 0) return std::nullopt;
  const bool is_overlay = file_system.f_type == OVERLAYFS_SUPER_MAGIC;
  return base::FileId{is_overlay ? 0 : about.st_dev, about.st_ino, about.st_size,
                      about.st_mtim.tv_sec * 1'000'000'000 + about.st_mtim.tv_nsec};
}

} // namespace symbol
