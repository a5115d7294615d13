// The measurement `page-faults`: what page faults of a process cost, by the kind of memory and the function that touches it. All of them are counted; how long they
// take is sampled, as the kernel has no event at the end of one.
#include "why/calls_instrument.h"
#include "why/instruments.h"
#include "why/program_location.h"

#include <algorithm>
#include <map>

namespace why {

namespace {

constexpr std::string_view measurement = "page-faults";
constexpr double least_share = 0.001;

// Functions of the kernel (mm/memory.c, mm/filemap.c, mm/swap_state.c of Linux 5.10 to 6.18) that show for which kind of memory a fault is. Some are inlined in some kernels.
struct FaultKind {
  std::string_view what;
  std::string_view functions[8];
};
constexpr FaultKind fault_kinds[] = {
    {"swap", {"do_swap_page", "swapin_readahead", "swap_readpage", "swap_read_folio"}},
    {"copy", {"do_wp_page", "wp_page_copy", "do_cow_fault", "do_huge_pmd_wp_page"}},
    {"file", {"do_fault", "do_read_fault", "do_shared_fault", "filemap_fault", "filemap_map_pages", "do_fault_around"}},
    {"new memory", {"do_anonymous_page", "do_huge_pmd_anonymous_page", "alloc_anon_folio", "clear_page_erms", "clear_page_rep", "clear_huge_page", "folio_zero_user", "shmem_fault"}},
};
constexpr std::string_view fault_functions[] = {"asm_exc_page_fault", "exc_page_fault", "do_user_addr_fault", "handle_mm_fault", "__handle_mm_fault", "faultin_page"};

bool has_function(const std::vector<symbol::Frame>& frames, std::span<const std::string_view> names) {
  return std::ranges::any_of(frames, [&](const symbol::Frame& f) { return !f.name.empty() && std::ranges::find(names, f.name) != names.end(); });
}

// Empty: the stack is not that of a page fault.
std::string_view kind_of(const std::vector<symbol::Frame>& kernel) {
  if (!has_function(kernel, fault_functions)) return {};
  for (const FaultKind& kind : fault_kinds)
    if (has_function(kernel, kind.functions)) return kind.what;
  return "other";
}

struct Place {
  Sliced time;
  double longest = 0; // of one stack
  waits::StackId stack;
};

class PageFaultsInstrument final : public CallsInstrument {
public:
  explicit PageFaultsInstrument(const Subject& subject) : CallsInstrument("why_page_faults", subject) {}

  base::Result<std::vector<Fact>> end(uint64_t interval_ns) override;
};

base::Result<std::vector<Fact>> PageFaultsInstrument::end(uint64_t) {
  ACU_TRY(const std::vector<ScriptRow> samples, rows("samples"));
  ACU_TRY(const std::vector<ScriptRow> counts, rows("faults"));
  ACU_TRY(const Sliced own, busy());
  std::map<std::pair<std::string_view, std::string>, Place> places; // by kind and function
  double all = 0;
  for (const ScriptRow& r : samples) {
    const std::string_view what = kind_of(stacks().frames(r.stack("0", 0)));
    if (what.empty()) continue;
    const waits::StackId user = r.stack("1", static_cast<uint32_t>(subject_.pid));
    Place& place = places[{what, location_of(stacks(), user).function}];
    const auto ns = static_cast<double>(r.sum());
    place.time.add_to(r.number("2"), ns);
    all += ns;
    if (ns > place.longest) place.longest = ns, place.stack = user;
  }
  const double faults = counts.empty() ? 0 : rate(counts.front().count());
  std::vector<Fact> out;
  for (const auto& [key, place] : places) {
    const ShareInterval share = share_of(place.time, own);
    if (share.share < least_share) continue;
    Slots slots = {{"what", std::string(key.first)}, {"rate", faults * place.time.sum() / all}};
    put_location(slots, location_of(stacks(), place.stack));
    put_share(slots, share);
    out.push_back(fact_about(subject_.pid, "page-faults", measurement, std::move(slots)));
  }
  return out;
}

} // namespace

std::unique_ptr<Instrument> make_page_faults_instrument(const Subject& subject) { return std::make_unique<PageFaultsInstrument>(subject); }

} // namespace why
