// The measurement `block-io`: how long block devices take for requests, and which processes use them (scripts/why_block_io.bt).
#include "why/instruments.h"

#include "why/script_instrument.h"

#include <algorithm>
#include <map>

namespace why {

namespace {

constexpr std::string_view own_name = "block-io";
constexpr size_t most_users = 8; // of each device

struct User {
  int64_t pid = 0;
  uint64_t requests = 0, ns = 0, bytes = 0;
};
struct Disk {
  uint64_t requests = 0, ns = 0;
  std::vector<uint64_t> service, queued; // of a sample
  std::map<uint32_t, User> users;
};

// The value that this part of the numbers does not exceed; 0: there are none.
double quantile(std::vector<uint64_t>& numbers, double part) {
  if (numbers.empty()) return 0;
  const auto index = std::min(numbers.size() - 1, static_cast<size_t>(part * static_cast<double>(numbers.size())));
  std::ranges::nth_element(numbers, numbers.begin() + static_cast<ptrdiff_t>(index));
  return static_cast<double>(numbers[index]);
}

class BlockIoInstrument final : public ScriptInstrument {
public:
  explicit BlockIoInstrument(const Subject& subject) : ScriptInstrument("why_block_io", subject, Scope::host) {}

  base::Result<std::vector<Fact>> end(uint64_t) override;

private:
  base::Result<std::map<std::string, Disk>> read();
};

base::Result<std::map<std::string, Disk>> BlockIoInstrument::read() {
  std::map<std::string, Disk> out;
  ACU_TRY(const std::vector<ScriptRow> disks, rows("disks"));
  ACU_TRY(const std::vector<ScriptRow> sample, rows("sample"));
  ACU_TRY(const std::vector<ScriptRow> users, rows("users"));
  ACU_TRY(const std::vector<ScriptRow> bytes, rows("bytes"));
  for (const ScriptRow& r : disks) out[r.text("key")] = {.requests = r.count(), .ns = r.sum()};
  for (const ScriptRow& r : sample) {
    Disk& disk = out[r.text("0")];
    disk.service.push_back(r.number("service"));
    disk.queued.push_back(r.number("queued"));
  }
  for (const ScriptRow& r : users)
    out[r.text("0")].users[static_cast<uint32_t>(r.number("1"))] = {.pid = static_cast<int64_t>(r.number("1")), .requests = r.count(), .ns = r.sum()};
  for (const ScriptRow& r : bytes) out[r.text("0")].users[static_cast<uint32_t>(r.number("1"))].bytes = r.sum();
  return out;
}

base::Result<std::vector<Fact>> BlockIoInstrument::end(uint64_t) {
  ACU_TRY(auto disks, read());
  ACU_TRY(const std::vector<ScriptRow> named, rows("name"));
  std::map<uint32_t, std::string> names;
  for (const ScriptRow& r : named) names[static_cast<uint32_t>(r.number("key"))] = r.text("value");
  std::vector<Fact> out;
  for (auto& [name, disk] : disks) {
    if (!disk.requests) continue;
    out.push_back({.kind = find_fact_kind("disk-latency"),
                   .slots = {{"device", name},
                             {"service", quantile(disk.service, 0.5)},
                             {"tail", quantile(disk.service, 0.99)},
                             {"queued", quantile(disk.queued, 0.5)},
                             {"parallel", share(disk.ns)}},
                   .measurement = own_name});
    std::vector<User> ranked;
    for (const auto& [pid, user] : disk.users) ranked.push_back(user);
    std::ranges::sort(ranked, std::greater(), &User::ns);
    if (ranked.size() > most_users) ranked.resize(most_users);
    // All are counted, so that the interval of the share is the share itself.
    for (const User& u : ranked) {
      const double part = std::min(1.0, static_cast<double>(u.ns) / static_cast<double>(std::max<uint64_t>(disk.ns, 1)));
      out.push_back({.kind = find_fact_kind("disk-user"),
                     .slots = {{"device", name},
                               {"pid", u.pid},
                               {"name", names[static_cast<uint32_t>(u.pid)]},
                               {"bytes", rate(u.bytes)},
                               {"share", part},
                               {"low", part},
                               {"high", part}},
                     .measurement = own_name});
    }
  }
  return out;
}

} // namespace

std::unique_ptr<Instrument> make_block_io_instrument(const Subject& subject) { return std::make_unique<BlockIoInstrument>(subject); }

} // namespace why
