#include "runtime/hotspot.h"

#include "format/elf_hash.h"
#include "runtime/hotspot_structs.h"

#include <algorithm>

namespace runtime {

std::optional<FileRuntime> recognise_hotspot(const format::ElfFile& file) {
  const auto structs = format::find_exported(file, "gHotSpotVMStructs");
  if (!structs) return std::nullopt;
  FileRuntime out = {.version = "HotSpot", .problem = "layout not known"};
  const auto types = format::find_exported(file, "gHotSpotVMTypes"), constants = format::find_exported(file, "gHotSpotVMIntConstants");
  if (!types || !constants) return out;
  out.problem.clear();
  out.table.kind = LANGUAGE_JAVA;
  out.table.root = structs->value;
  out.table.hotspot.types_distance = static_cast<int32_t>(static_cast<int64_t>(types->value - structs->value));
  out.table.hotspot.constants_distance = static_cast<int32_t>(static_cast<int64_t>(constants->value - structs->value));
  return out;
}

namespace {

// Fields by name; `to` 0 where a version has none of its names.
struct Field {
  uint16_t hotspot_layout::*to;
  std::string_view name, other = {};
  bool is_needed = true;
};
constexpr Field fields[] = {
    {&hotspot_layout::blob_name, "CodeBlob::_name"},
    {&hotspot_layout::blob_size, "CodeBlob::_size"},
    {&hotspot_layout::blob_header_size, "CodeBlob::_header_size"},
    {&hotspot_layout::blob_frame_complete, "CodeBlob::_frame_complete_offset"},
    {&hotspot_layout::blob_frame_size, "CodeBlob::_frame_size"},
    {&hotspot_layout::blob_code_begin, "CodeBlob::_code_begin", "CodeBlob::_code_offset"},
    {&hotspot_layout::blob_code_end, "CodeBlob::_code_end", "CodeBlob::_data_offset"},
    {&hotspot_layout::blob_relocation_size, "CodeBlob::_relocation_size", {}, false},
    {&hotspot_layout::blob_mutable, "CodeBlob::_mutable_data", {}, false},
    {&hotspot_layout::blob_mutable_size, "CodeBlob::_mutable_data_size", {}, false},
    {&hotspot_layout::compiled_method, "CompiledMethod::_method", "nmethod::_method"},
    {&hotspot_layout::compiled_scopes, "CompiledMethod::_scopes_data_begin", "nmethod::_scopes_data_offset"},
    {&hotspot_layout::compiled_deopt, "CompiledMethod::_deopt_handler_begin", "nmethod::_deopt_handler_offset"},
    {&hotspot_layout::compiled_deopt_call, "CompiledMethod::_deopt_mh_handler_begin", "nmethod::_deopt_mh_handler_offset"},
    {&hotspot_layout::compiled_original_pc, "nmethod::_orig_pc_offset"},
    {&hotspot_layout::compiled_id, "nmethod::_compile_id"},
    {&hotspot_layout::compiled_metadata, "nmethod::_metadata_offset", {}, false},
    {&hotspot_layout::compiled_descriptors, "nmethod::_scopes_pcs_offset"},
    {&hotspot_layout::compiled_descriptors_end, "nmethod::_dependencies_offset", "nmethod::_scopes_data_offset"},
    {&hotspot_layout::compiled_immutable, "nmethod::_immutable_data", {}, false},
    {&hotspot_layout::compiled_immutable_size, "nmethod::_immutable_data_size", {}, false},
    {&hotspot_layout::method_const, "Method::_constMethod"},
    {&hotspot_layout::method_flags, "Method::_flags", {}, false},
    {&hotspot_layout::const_pool, "ConstMethod::_constants"},
    {&hotspot_layout::const_size, "ConstMethod::_constMethod_size"},
    {&hotspot_layout::const_flags, "ConstMethod::_flags", "ConstMethod::_flags._flags"},
    {&hotspot_layout::const_code_size, "ConstMethod::_code_size"},
    {&hotspot_layout::const_name, "ConstMethod::_name_index"},
    {&hotspot_layout::const_signature, "ConstMethod::_signature_index"},
    {&hotspot_layout::pool_holder, "ConstantPool::_pool_holder"},
    {&hotspot_layout::pool_file, "ConstantPool::_source_file_name_index", {}, false},
    {&hotspot_layout::class_file, "InstanceKlass::_source_file_name_index", {}, false},
    {&hotspot_layout::class_name, "Klass::_name"},
    {&hotspot_layout::symbol_length, "Symbol::_length"},
    {&hotspot_layout::symbol_body, "Symbol::_body"},
};

struct Size {
  uint16_t hotspot_layout::*to;
  std::string_view type;
};
constexpr Size sizes[] = {
    {&hotspot_layout::block_header, "HeapBlock"},
    {&hotspot_layout::compiled_bytes, "nmethod"},
    {&hotspot_layout::const_bytes, "ConstMethod"},
    {&hotspot_layout::pool_bytes, "ConstantPool"},
};

// What a version lacks; empty: nothing.
std::string_view read_layout(const HotspotStructs& structs, hotspot_layout& l) {
  for (const Field& f : fields) {
    auto offset = structs.field(f.name);
    if (!offset && !f.other.empty()) offset = structs.field(f.other);
    if (!offset && f.is_needed) return f.name;
    l.*f.to = static_cast<uint16_t>(offset.value_or(0));
  }
  for (const Size& s : sizes) {
    const auto size = structs.size_of(s.type);
    if (!size || !*size) return s.type;
    l.*s.to = static_cast<uint16_t>(*size);
  }
  l.has_offsets = l.compiled_immutable != 0;
  if (l.has_offsets ? !l.blob_mutable || !l.blob_mutable_size || structs.field("CodeBlob::_code_begin") : !l.compiled_metadata)
    return "a known form of compiled code";
  l.method_hidden = static_cast<uint16_t>(structs.constant("Method::_hidden").value_or(0));
  l.const_has_lines = static_cast<uint16_t>(structs.constant("ConstMethod::_has_linenumber_table").value_or(1));
  // From release 21 on it is ConstMethodFlags::is_hidden, which is not published.
  if (!l.method_hidden && l.version >= 21) l.const_hidden = 1 << 12;
  return {};
}

// The code heaps and stubs; false: the JVM has not made them.
bool read_heaps(const HotspotStructs& structs, PagedMemory& memory, hotspot_layout& l) {
  const auto field = [&](std::string_view name) { return structs.field(name).value_or(0); };
  const auto value = [&](std::string_view name) { return memory.number(field(name), 8); };
  const uint64_t heaps = value("CodeCache::_heaps");
  const uint64_t count = heaps ? memory.number(heaps + structs.field("GrowableArrayBase::_len").value_or(field("GenericGrowableArray::_len")), 4) : 0;
  if (!count || count > HOTSPOT_HEAPS) return false;
  const uint64_t data = memory.number(heaps + field("GrowableArray<int>::_data"), 8);
  const uint64_t memory_at = field("CodeHeap::_memory"), map_at = field("CodeHeap::_segmap"), low = field("VirtualSpace::_low_boundary"),
                 high = field("VirtualSpace::_high_boundary");
  l.begin = ~uint64_t{0};
  l.end = 0;
  for (uint64_t n = 0; n < count; n++) {
    const uint64_t heap = memory.number(data + 8 * n, 8);
    hotspot_heap& to = l.heaps[n];
    to = {memory.number(heap + memory_at + low, 8), memory.number(heap + memory_at + high, 8), memory.number(heap + map_at + low, 8)};
    if (!to.begin || to.end <= to.begin || !to.segments) return false;
    l.segment_shift = static_cast<uint16_t>(memory.number(heap + field("CodeHeap::_log2_segment_size"), 4));
    l.begin = std::min<uint64_t>(l.begin, to.begin);
    l.end = std::max<uint64_t>(l.end, to.end);
  }
  const uint64_t interpreter = value("AbstractInterpreter::_code");
  l.call_stub = value("StubRoutines::_call_stub_return_address");
  if (!interpreter || !l.call_stub) return false;
  l.interpreter_begin = memory.number(interpreter + field("StubQueue::_stub_buffer"), 8);
  l.interpreter_end = l.interpreter_begin + memory.number(interpreter + field("StubQueue::_buffer_limit"), 4);
  return l.interpreter_begin >= l.begin && l.interpreter_end <= l.end;
}

} // namespace

std::optional<std::string> complete_hotspot(language_table& table, const ReadMemory& read) {
  PagedMemory memory(read);
  const auto at = [&](int32_t distance) { return table.root + static_cast<uint64_t>(int64_t{distance}); };
  hotspot_layout l = table.hotspot;
  const HotspotStructs structs(memory, table.root, at(l.types_distance), at(l.constants_distance));
  if (structs.is_empty()) return std::nullopt;
  l.version = static_cast<uint16_t>(memory.number(structs.field("Abstract_VM_Version::_vm_major_version").value_or(0), 4));
  if (!l.version) return std::nullopt;
  // JDK 8 calls its HotSpot 25; later ones have several code heaps.
  const std::string release = "release " + std::to_string(structs.field("CodeCache::_heap") ? 8 : l.version) + " is not supported";
  if (const std::string_view missing = read_layout(structs, l); !missing.empty()) return release + " (no " + std::string(missing) + ")";
  if (!read_heaps(structs, memory, l)) return std::nullopt;
  table.hotspot = l;
  return std::string();
}

} // namespace runtime
