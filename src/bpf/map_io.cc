// Reading and clearing maps. See map_io.h.
#include "bpf/map_io.h"

#include "bpf/syscall.h"

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace bpf {
namespace {

constexpr size_t batch_bytes = 128 << 10; // of keys and values that one step brings

base::Error failed(const char* what, int error) { return base::errno_error(what, -error); }

using Step = int (*)(int map, Batch& batch);

// Walks a hash map in batches; `take` gets the keys and values of each. -EINVAL or -ENOTSUPP: the kernel has
// no batches for this map.
template<class Take> int walk_batches(const MapShape& map, Step step, Take take) {
  uint32_t room =
      static_cast<uint32_t>(std::clamp<size_t>(batch_bytes / (map.key_size + map.value_bytes()), 8, 4096));
  std::vector<std::byte> keys, values;
  uint32_t cursor[2] = {0, 0};
  bool is_first = true;
  for (;;) {
    keys.resize(size_t{room} * map.key_size);
    values.resize(room * map.value_bytes());
    uint32_t next = 0;
    Batch batch{is_first ? nullptr : &cursor[0], &next, keys.data(), values.data(), room};
    int result = step(map.fd, batch);
    if (result == -ENOSPC) { // one bucket has more entries than there is room
      room *= 2;
      continue;
    }
    if (result == -EINTR) continue;
    if (result < 0 && result != -ENOENT) return result;
    take(keys.data(), values.data(), batch.count);
    if (result == -ENOENT) return 0;
    cursor[0] = next;
    is_first = false;
  }
}

bool lacks_batches(int error) {
  constexpr int not_supported = 524; // the kernel's own ENOTSUPP
  return error == -EINVAL || error == -not_supported || error == -EOPNOTSUPP;
}

// All keys, one by one. A key that vanishes meanwhile makes the kernel begin again: no more steps than
// keys may be there, and doubles go.
std::vector<std::vector<std::byte>> list_keys(const MapShape& map) {
  std::vector<std::vector<std::byte>> keys;
  std::vector<std::byte> key(map.key_size), next(map.key_size);
  constexpr size_t limit = 1 << 24;
  for (int r = map_next_key(map.fd, nullptr, next.data()); r == 0 && keys.size() < limit;
       r = map_next_key(map.fd, key.data(), next.data())) {
    keys.push_back(next);
    key.swap(next);
  }
  std::sort(keys.begin(), keys.end());
  keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
  return keys;
}

base::Result<std::vector<std::byte>> read_array(const MapShape& map) {
  std::vector<std::byte> values(map.value_bytes());
  uint32_t key = 0;
  if (int error = map_lookup(map.fd, &key, values.data()); error < 0)
    return failed("cannot read a map", error);
  return values;
}

base::Status write_array(const MapShape& map, const std::vector<std::byte>& values) {
  uint32_t key = 0;
  if (int error = map_update(map.fd, &key, values.data()); error < 0)
    return failed("cannot write a map", error);
  return {};
}

} // namespace

static int read_batches(const MapShape& map, Step step, std::vector<ir::Entry>& entries) {
  return walk_batches(map, step, [&](const std::byte* keys, const std::byte* values, uint32_t count) {
    for (uint32_t i = 0; i < count; i++, keys += map.key_size, values += map.value_bytes()) {
      entries.push_back({{keys, keys + map.key_size}, {values, values + map.value_bytes()}});
    }
  });
}

base::Result<std::optional<std::vector<ir::Entry>>> take_hash(const MapShape& map) {
  std::vector<ir::Entry> entries;
  const int error = read_batches(map, map_lookup_and_delete_batch, entries);
  if (error == 0) return std::optional(std::move(entries));
  if (lacks_batches(error)) return std::optional<std::vector<ir::Entry>>();
  return failed("cannot take what a map holds", error);
}

base::Result<std::vector<ir::Entry>> read_hash(const MapShape& map) {
  std::vector<ir::Entry> entries;
  int error = read_batches(map, map_lookup_batch, entries);
  if (error == 0) return entries;
  if (!lacks_batches(error)) return failed("cannot read a map", error);
  std::vector<std::byte> value(map.value_bytes());
  for (auto& key : list_keys(map)) {
    if (map_lookup(map.fd, key.data(), value.data()) == 0) entries.push_back({std::move(key), value});
  }
  return entries;
}

base::Status clear_hash(const MapShape& map) {
  int error =
      walk_batches(map, map_lookup_and_delete_batch, [](const std::byte*, const std::byte*, uint32_t) {});
  if (error == 0) return {};
  if (!lacks_batches(error)) return failed("cannot clear a map", error);
  for (const auto& key : list_keys(map)) {
    error = map_delete(map.fd, key.data());
    if (error < 0 && error != -ENOENT) return failed("cannot clear a map", error);
  }
  return {};
}

base::Status zero_hash(const MapShape& map) {
  ACU_TRY(auto entries, read_hash(map));
  const std::vector<std::byte> zeros(map.value_bytes());
  for (const ir::Entry& entry : entries) {
    // Only keys that are still there: one that a probe deleted meanwhile must not come back.
    int error = map_update(map.fd, entry.key.data(), zeros.data(), BPF_EXIST);
    if (error < 0 && error != -ENOENT) return failed("cannot zero a map", error);
  }
  return {};
}

base::Result<std::vector<ir::Entry>> read_scalar(const MapShape& map) {
  ACU_TRY(auto values, read_array(map));
  bool is_present = map.present_offset == ~0u;
  for (uint32_t cpu = 0; cpu < map.cpus && !is_present; cpu++) {
    uint64_t flag;
    std::memcpy(&flag, values.data() + size_t{cpu} * map.value_size + map.present_offset, sizeof flag);
    is_present = flag != 0;
  }
  std::vector<ir::Entry> entries;
  if (is_present) entries.push_back({{}, std::move(values)});
  return entries;
}

base::Status clear_scalar(const MapShape& map) {
  return write_array(map, std::vector<std::byte>(map.value_bytes()));
}

base::Status zero_scalar(const MapShape& map) {
  ACU_TRY(auto values, read_array(map));
  for (uint32_t cpu = 0; cpu < map.cpus; cpu++) {
    std::byte* value = values.data() + size_t{cpu} * map.value_size;
    for (uint32_t i = 0; i < map.value_size; i++) {
      bool in_flag = map.present_offset != ~0u && i >= map.present_offset && i < map.present_offset + 8;
      if (!in_flag) value[i] = std::byte{};
    }
  }
  return write_array(map, values);
}

} // namespace bpf
