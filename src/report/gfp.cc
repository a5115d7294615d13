// As the kernel's %pGg does it: the names of combinations are tried first, and what they cover is taken away.
// The bits are this machine's, where its types tell them: that needs a walk through all types, made when the
// first flags print.
#include "report/gfp.h"

#include "base/text.h"
#include "format/btf.h"
#include "spec/gfp.h"

#include <array>
#include <cstdio>

namespace report {

using Bits = std::array<uint64_t, std::size(spec::gfp_bits)>; // masks

static Bits find_bits() {
  Bits bits{};
  for (size_t i = 0; i < bits.size(); i++)
    if (spec::gfp_bits[i].bit != spec::gfp_no_bit) bits[i] = uint64_t{1} << spec::gfp_bits[i].bit;
  auto btf = format::Btf::open("/sys/kernel/btf/vmlinux");
  if (!btf.ok()) return bits;
  auto found = (*btf)->find_enumerator("___GFP_DMA_BIT");
  if (!found) return bits;
  bits = {};
  for (const type::Enumerator& e : (*btf)->enumerators(found->first))
    for (size_t i = 0; i < bits.size(); i++)
      if (e.name == "___GFP_" + std::string(spec::gfp_bits[i].name) + "_BIT" && e.value < 64)
        bits[i] = uint64_t{1} << e.value;
  return bits;
}

static uint64_t mask_of(const spec::GfpName& name, const Bits& bits) {
  uint64_t mask = 0;
  for (std::string_view word : base::split(name.bits, ' '))
    for (size_t i = 0; i < bits.size(); i++)
      if (spec::gfp_bits[i].name == word) mask |= bits[i];
  return mask;
}

std::string gfp_text(uint64_t flags) {
  static const Bits bits = find_bits();
  if (flags == 0) return "none";
  std::string out;
  auto take = [&](uint64_t mask, std::string_view prefix, std::string_view name) {
    if (mask == 0 || (flags & mask) != mask) return;
    if (!out.empty()) out += '|';
    out.append(prefix).append(name);
    flags &= ~mask;
  };
  for (const spec::GfpName& name : spec::gfp_names) take(mask_of(name, bits), "", name.name);
  uint64_t reclaim = 0; // both kinds have a name of their own
  for (size_t i = 0; i < bits.size(); i++)
    if (spec::gfp_bits[i].name.ends_with("_RECLAIM")) reclaim |= bits[i];
  take(reclaim, "", "__GFP_RECLAIM");
  for (size_t i = 0; i < bits.size(); i++) take(bits[i], "__GFP_", spec::gfp_bits[i].name);
  if (flags == 0) return out;
  char rest[24];
  std::snprintf(rest, sizeof rest, "0x%llx", static_cast<unsigned long long>(flags));
  if (!out.empty()) out += '|';
  return out += rest;
}

} // namespace report
