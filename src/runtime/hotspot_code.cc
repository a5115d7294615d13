#include "runtime/hotspot_code.h"

#include "runtime/hotspot_stream.h"
#include "runtime/object_bytes.h"
#include "runtime/stopped_walk.h"

#include "runtime/hotspot_walk.h"

#include <algorithm>
#include <map>

namespace runtime {

namespace {

constexpr uint64_t max_bytes = 4 << 20; // of each part of the debug information
constexpr size_t max_depth = 256;       // of inlined calls
constexpr size_t max_calls = 1 << 17, max_methods = 1 << 12; // of a compiled method: what its descriptors lead to beyond that is not decoded
constexpr size_t descriptor_bytes = 16; // PcDesc: pc_offset, scope_decode_offset, obj_decode_offset, flags

struct Parts {
  struct Range {
    uint64_t begin, end;
  } descriptors, scopes, metadata;
};

Parts parts_of(const hotspot_layout& l, uint64_t blob, Bytes header) {
  const auto number = [&](uint16_t field) { return number_at(header, field, 4); };
  if (l.has_offsets) {
    const uint64_t from = number_at(header, l.compiled_immutable, 8), mutable_data = number_at(header, l.blob_mutable, 8);
    return {.descriptors = {from + number(l.compiled_descriptors), from + number(l.compiled_descriptors_end)},
            .scopes = {from + number(l.compiled_scopes), from + number(l.compiled_immutable_size)},
            .metadata = {mutable_data + number(l.blob_relocation_size), mutable_data + number(l.blob_mutable_size)}};
  }
  const uint64_t scopes = number_at(header, l.compiled_scopes, 8), descriptors = blob + number(l.compiled_descriptors);
  return {.descriptors = {descriptors, blob + number(l.compiled_descriptors_end)},
          .scopes = {scopes, descriptors},
          .metadata = {blob + number(l.compiled_metadata), scopes}};
}

std::vector<std::byte> part(const ReadMemory& read, const Parts::Range& range) {
  std::vector<std::byte> out;
  if (range.end <= range.begin || range.end - range.begin > max_bytes) return out;
  out.resize(range.end - range.begin);
  if (!read(range.begin, out)) out.clear();
  return out;
}

// Checks of methods, each read once.
class Checks {
public:
  Checks(const hotspot_layout& layout, const ReadMemory& read) : layout_(layout), read_(read) {}
  uint32_t of(uint64_t method) {
    const auto [at, is_new] = known_.try_emplace(method);
    if (!is_new) return at->second;
    hotspot_memory memory = {};
    walked_memory = &read_;
    if (!hotspot_read_method(&layout_, &memory, method)) at->second = hotspot_method_check(&layout_, &memory);
    return at->second;
  }
  const std::map<uint64_t, uint32_t>& known() const { return known_; }

private:
  const hotspot_layout& layout_;
  const ReadMemory& read_;
  std::map<uint64_t, uint32_t> known_;
};

} // namespace

std::span<const CompiledCode::Call> CompiledCode::at(uint64_t position) const {
  const auto place = std::ranges::lower_bound(places, position, {}, &Place::end);
  if (place == places.end() || !place->count) return std::span(methods).first(std::min<size_t>(methods.size(), 1));
  return std::span(calls).subspan(place->first, place->count);
}

CompiledCode read_compiled_code(const hotspot_layout& l, uint64_t blob, Bytes header, const ReadMemory& read) {
  const Parts parts = parts_of(l, blob, header);
  const auto descriptors = part(read, parts.descriptors), scopes = part(read, parts.scopes), metadata = part(read, parts.metadata);
  Checks checks(l, read);
  CompiledCode out;
  const uint64_t method = number_at(header, l.compiled_method, 8);
  out.methods.push_back({method, checks.of(method), HOTSPOT_NO_POSITION});
  std::map<uint32_t, std::pair<uint32_t, uint32_t>> decoded; // by offset in `scopes`: where in `calls`
  for (size_t at = 0; at + descriptor_bytes <= descriptors.size(); at += descriptor_bytes) {
    if (out.calls.size() >= max_calls || checks.known().size() >= max_methods) break;
    const auto end = static_cast<int32_t>(number_at(descriptors, at, 4));
    const auto scope = static_cast<uint32_t>(number_at(descriptors, at + 4, 4));
    if (end < 0 || !scope || scope >= scopes.size()) continue;
    const auto [place, is_new] = decoded.try_emplace(scope, out.calls.size(), 0);
    uint32_t next = scope;
    for (size_t depth = 0; is_new && next && depth < max_depth; depth++) {
      HotspotStream stream(scopes, next, l.version);
      const uint32_t caller = stream.number(), index = stream.number(), bytecode = stream.number();
      if (!stream.ok() || !index || 8 * uint64_t{index} > metadata.size()) break;
      const uint64_t called = number_at(metadata, 8 * (uint64_t{index} - 1), 8);
      // -1 is at the method's entry.
      out.calls.push_back({called, checks.of(called), bytecode ? bytecode - 1 : 0});
      place->second.second++;
      next = caller;
    }
    out.places.push_back({static_cast<uint32_t>(end), place->second.first, place->second.second});
  }
  std::ranges::stable_sort(out.places, {}, &CompiledCode::Place::end);
  for (const auto& [called, check] : checks.known())
    if (called != method) out.methods.push_back({called, check, HOTSPOT_NO_POSITION});
  return out;
}

} // namespace runtime
