// The kernel engine. See engine.h.
#include "bpf/engine.h"

#include "bpf/features.h"
#include "bpf/hot_keys.h"
#include "bpf/leave_closing.h"
#include "bpf/syscall.h"
#include "bpf/walk_maps.h"
#include "host/cpus.h"
#include "ir/held_records.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <iterator>
#include <map>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <utility>

namespace bpf {

static constexpr size_t iterator_step = 64; // objects between two looks at what was sent
static constexpr int closing_limit_ms = 2000; // the kernel takes 10 to 30 ms for its grace period

base::Result<std::unique_ptr<Engine>> Engine::load(const ir::Program& program, const Object& object,
                                                   const Options& options) {
  std::unique_ptr<Engine> engine(new Engine(program));
  if (object.walks) engine->walker_ = options.walker;
  ACU_TRY(engine->loaded_,
          bpf::load(program, object, {options.license, options.log_size, options.verbose, options.source, options.log, engine->walker_.get()}));
  engine->emit_ = options.emit;
  engine->license_ = options.license;
  engine->log_size_ = options.log_size;
  engine->target_pid_ = options.target_pid;
  engine->command_pid_ = options.command_pid;
  for (const Code& code : object.programs) engine->infos_.push_back({code.name, code.insns.size()});
  for (size_t i = 0; i < program.maps.size(); i++) engine->key_sizes_.push_back(object.maps[i].key_size);

  auto fd = [&](int index) { return engine->loaded_.maps[static_cast<size_t>(index)].get(); };
  engine->hot_fds_.assign(program.maps.size(), -1);
  for (size_t i = 0; i < object.hot.size(); i++)
    if (object.hot[i] >= 0) engine->hot_fds_[i] = fd(object.hot[i]);
  auto spec = [&](int index) -> const MapSpec& { return object.maps[static_cast<size_t>(index)]; };
  if (object.state >= 0) ACU_CHECK(engine->open_state(spec(object.state), fd(object.state)));
  if (object.ring >= 0) {
    ACU_TRY(engine->ring_, Ring::open(fd(object.ring), spec(object.ring).max_entries));
    engine->ring_bytes_ = spec(object.ring).max_entries;
  }
  if (object.flight_ring >= 0) {
    const uint32_t cpus = spec(object.flight_cursors).max_entries;
    const uint32_t bytes = spec(object.flight_ring).max_entries / cpus * flight_segment;
    ACU_TRY(engine->flight_, FlightRing::open(program, fd(object.flight_cursors), fd(object.flight_ring), cpus, bytes));
  }
  if (object.packets >= 0) {
    ACU_TRY(engine->packets_, Packets::open(fd(object.packets), object.ring_bytes));
  }
  if (object.walks) ACU_CHECK(engine->open_walker(object));
  if (object.places >= 0) engine->places_fd_ = fd(object.places);
  if (object.stacks >= 0) {
    engine->stacks_fd_ = fd(object.stacks);
    engine->stack_bytes_ = spec(object.stacks).value_size;
    if (object.known >= 0) engine->known_fd_ = fd(object.known);
  }
  return engine;
}

// Programs without the walkers of these runtimes give way to others that have them.
base::Status Engine::add_languages(Languages languages) {
  EmitOptions wider = emit_;
  wider.languages |= languages;
  if (wider.languages == emit_.languages) return {};
  ACU_TRY(const Object object, emit(program_, wider));
  ACU_CHECK(exchange(program_, object, {.license = license_, .log_size = log_size_}, loaded_));
  emit_ = std::move(wider);
  return {};
}

base::Status Engine::open_walker(const Object& object) {
  if (walker_) {
    walker()->add_user(this, [this](Languages languages) { return add_languages(languages); });
    return wait_for_walker();
  }
  walker_ = std::make_shared<SharedWalker>();
  // They outlive this engine, as others may use them.
  uint32_t ring_bytes = 0;
  for (size_t i = program_.maps.size(); i < object.maps.size(); i++) {
    const MapSpec& map = object.maps[i];
    if (std::ranges::find(shared_walk_maps, map.name) == std::end(shared_walk_maps)) continue;
    if (map.type == BPF_MAP_TYPE_RINGBUF) ring_bytes = map.max_entries;
    walker_->maps.emplace(map.name, ::fcntl(loaded_.maps[i].get(), F_DUPFD_CLOEXEC, 0));
  }
  const auto fd = [&](std::string_view name) {
    const auto map = walker_->maps.find(name);
    return map == walker_->maps.end() ? -1 : map->second.get();
  };
  ACU_TRY(walker_->walker, Walker::open(fd, ring_bytes, emit_.languages));
  walker()->add_user(this, [this](Languages languages) { return add_languages(languages); });
  // Processes are told from here on; a number of another pid namespace would mislead.
  if (program_.task.tgid && !program_.pid_namespace.inode) walker_->walker->tables().set(WALK_SET_TGID, program_.task.tgid);
  for (size_t i = 0; i < loaded_.watchers.size(); i++)
    if (loaded_.watchers[i].valid())
      walker_->watchers.emplace_back(raw_tracepoint_open(object.watchers[i].name.c_str(), loaded_.watchers[i].get()));
  return wait_for_walker();
}

base::Status Engine::wait_for_walker() {
  if (!ring_) return {};
  wait_both_ = base::Fd(::epoll_create1(EPOLL_CLOEXEC));
  for (int ring : {ring_->wait_fd(), walker()->wait_fd()}) {
    epoll_event event{EPOLLIN, {}};
    if (::epoll_ctl(wait_both_.get(), EPOLL_CTL_ADD, ring, &event) != 0)
      return base::errno_error("cannot wait for user stacks", errno);
  }
  return {};
}

int Engine::wait_fd() const {
  if (walker_) return ring_ ? wait_both_.get() : walker_->walker->wait_fd();
  return ring_ ? ring_->wait_fd() : packets_ ? packets_->wait_fd() : -1;
}

base::Status Engine::open_state(const MapSpec& spec, int fd) {
  state_bytes_ = size_t{spec.max_entries} * spec.value_size;
  void* at = ::mmap(nullptr, state_bytes_, PROT_READ, MAP_SHARED, fd, 0);
  if (at == MAP_FAILED) return base::errno_error("cannot map the counters", errno);
  state_ = {static_cast<const uint64_t*>(at), state_bytes_ / sizeof(uint64_t)};
  return {};
}

Engine::~Engine() {
  if (walker_ && walker_->walker) walker()->remove_user(this);
  detach();
  if (state_.data()) ::munmap(const_cast<uint64_t*>(state_.data()), state_bytes_);
}

base::Status Engine::attach(uint32_t index, const std::function<base::Status(base::Error)>& refused) {
  const ir::Probe& probe = program_.probes[index];
  if (probe.context == probe::Context::none) return {};
  watch_modules(probe);
  if (probe.context == probe::Context::registers) {
    std::vector<const probe::Event*> events;
    for (uint32_t e : probe.events) events.push_back(&program_.events[e]);
    return attach_user(index, events, probe.cookies, refused);
  }
  if (probe.context == probe::Context::kernel_registers) return attach_kernel(index, refused);
  probe::AttachOptions options{target_pid_, command_pid_, {}}; // on all CPUs
  for (uint32_t e : probe.events) {
    const probe::Event& event = program_.events[e];
    auto attachment = probe::attach(event, probe.context, loaded_.programs[index].get(), options);
    if (!attachment.ok()) {
      if (!refused) return std::move(attachment.error());
      ACU_CHECK(refused(std::move(attachment.error())));
      continue;
    }
    if (attachment->iterator.valid()) iterators_.push_back({index, std::move(attachment->iterator)});
    attachment->probe = index;
    auto& list = probe.context == probe::Context::tracepoint ? slow_ : quick_;
    list.push_back(std::move(*attachment));
    attached_++;
  }
  return {};
}

// Counts the events that are refused.
static probe::Refusal counting(const probe::Refusal& refused, size_t& missing) {
  if (!refused) return {};
  return [&](base::Error why) {
    missing++;
    return refused(std::move(why));
  };
}

// All events of a user probe that are in one file at once.
base::Status Engine::attach_user(uint32_t index, std::span<const probe::Event* const> events,
                                 std::span<const uint64_t> cookies,
                                 const std::function<base::Status(base::Error)>& refused) {
  size_t missing = 0;
  const probe::Refusal counted = counting(refused, missing);
  std::vector<bool> done(events.size());
  for (size_t first = 0; first < events.size(); first++) {
    if (done[first]) continue;
    std::vector<const probe::Event*> here;
    std::vector<uint64_t> told;
    for (size_t i = first; i < events.size(); i++) {
      if (done[i] || events[i]->binary != events[first]->binary) continue;
      done[i] = true;
      here.push_back(events[i]);
      if (!cookies.empty()) told.push_back(cookies[i]);
    }
    probe::UserProgram user = {.events = here,
                               .cookies = told,
                               .fd = loaded_.programs[index].get(),
                               .link = user_link(program_.probes[index]),
                               .pid = target_pid_};
    ACU_TRY(probe::Attachment attachment, probe::attach_user(user, counted));
    attachment.probe = index;
    attachment.file = events[first]->binary;
    auto& list = attachment.perf_events.empty() ? quick_ : slow_;
    list.push_back(std::move(attachment));
  }
  attached_ += events.size() - missing;
  return {};
}

base::Result<bool> Engine::step(uint32_t index) {
  // One byte for each object that was gone through: no more of them than the ring has room for, if each sends a record.
  std::array<char, 256> bytes;
  size_t largest = 64;
  for (const ir::Action& a : program_.actions) largest = std::max<size_t>(largest, a.record_size());
  const size_t most = std::clamp<size_t>(ring_bytes_ / 2 / largest, 1, bytes.size());
  for (Iterator& it : iterators_) {
    if (it.probe != index || !it.file.valid()) continue;
    ssize_t n = ::read(it.file.get(), bytes.data(), most);
    if (n > 0 || (n < 0 && (errno == EINTR || errno == EAGAIN))) return true;
    if (n < 0) return base::errno_error("cannot go on with " + program_.probes[index].name, errno);
    it.file.reset();
    return true;
  }
  return false;
}

// All functions of the kernel that a probe is at, at once.
base::Status Engine::attach_kernel(uint32_t index, const std::function<base::Status(base::Error)>& refused) {
  const ir::Probe& probe = program_.probes[index];
  std::vector<const probe::Event*> events;
  for (uint32_t e : probe.events) events.push_back(&program_.events[e]);
  size_t missing = 0;
  const probe::Refusal counted = counting(refused, missing);
  // Then what an event is, is told by the address of its function.
  bool by_address = places_fd_ >= 0 && kernel_link(program_, probe) == probe::KernelLink::event;
  if (by_address && !probe.cookies.empty())
    for (auto [address, which] : probe::addresses_of(events)) {
      uint64_t key = address ^ uint64_t{index} << 48;
      if (int error = map_update(places_fd_, &key, &probe.cookies[which]); error < 0)
        return base::errno_error("cannot write down where " + events[which]->name + " is", -error);
    }
  probe::KernelProgram kernel = {.events = events,
                                 .cookies = by_address ? std::span<const uint64_t>() : probe.cookies,
                                 .fd = loaded_.programs[index].get(),
                                 .link = kernel_link(program_, probe)};
  ACU_TRY(probe::Attachment attachment, probe::attach_kernel(kernel, counted));
  attachment.probe = index;
  auto& list = attachment.perf_events.empty() ? quick_ : slow_;
  list.push_back(std::move(attachment));
  attached_ += events.size() - missing;
  return {};
}

// Gives the links with probes in programs, which are to be closed.
std::vector<base::Fd> Engine::detach_those(const std::function<bool(const probe::Attachment&)>& which) {
  std::vector<base::Fd> in_programs;
  for (auto* list : {&quick_, &slow_}) {
    std::vector<probe::Attachment> kept;
    for (probe::Attachment& a : *list) {
      if (!which(a))
        kept.push_back(std::move(a));
      else if (!a.file.empty() && a.perf_events.empty())
        std::ranges::move(a.links, std::back_inserter(in_programs));
    }
    list->swap(kept);
  }
  return in_programs;
}

void Engine::detach_file(std::string_view file) {
  auto in_file = detach_those([&](const probe::Attachment& a) { return !a.file.empty() && a.file == file; });
  are_held_ |= !close_together(std::move(in_file), closing_limit_ms);
}

void Engine::detach_probes(std::span<const uint32_t> probes) {
  detaching_ = begin_closing_together(
      detach_those([&](const probe::Attachment& a) { return std::ranges::find(probes, a.probe) != probes.end(); }));
}

bool Engine::is_detaching() {
  pollfd end = {.fd = detaching_.get(), .events = POLLIN, .revents = 0};
  if (detaching_.valid() && ::poll(&end, 1, 0) != 0) detaching_ = {};
  return detaching_.valid();
}

// The events stay open until the end, for closing them takes time.
void Engine::unwatch(uint64_t address) {
  for (auto* list : {&quick_, &slow_})
    for (probe::Attachment& a : *list)
      if (a.watched && a.watched == address) a.disable();
}

static uint64_t number_of_module(const std::string& module) {
  struct stat about = {};
  return ::stat(("/sys/module/" + module).c_str(), &about) == 0 ? about.st_ino : 0;
}

// The kernel keeps modules that some kinds of links are in; others go with their probes.
void Engine::watch_modules(const ir::Probe& probe) {
  for (uint32_t e : probe.events) {
    const std::string& module = program_.events[e].category;
    if (!probe::is_kernel_function(program_.events[e].kind) || module.empty()) continue;
    auto same = [&](auto& m) { return m.first == module; };
    if (std::none_of(modules_.begin(), modules_.end(), same)) modules_.emplace_back(module, number_of_module(module));
  }
}

void Engine::detach() {
  for (auto& [module, number] : modules_)
    if (number && number_of_module(module) != number) gone_modules_.push_back(module);
  modules_.clear();
  // First everything stops, then things are closed, so that all probes see the same end.
  if (!slow_.empty()) stop_programs(loaded_);
  for (auto* list : {&quick_, &slow_})
    for (const probe::Attachment& a : *list) missed_hits_ += probe::missed_hits(a);
  std::vector<base::Fd> in_programs;
  for (probe::Attachment& a : quick_)
    if (!a.file.empty()) std::ranges::move(a.links, std::back_inserter(in_programs));
  for (auto* list : {&quick_, &slow_}) {
    for (probe::Attachment& a : *list) a.disable();
  }
  quick_.clear();
  are_held_ |= !close_together(std::move(in_programs), closing_limit_ms);
  are_held_ |= is_detaching();
  std::vector<base::Fd> descriptors;
  std::vector<probe::Definitions> definitions;
  for (probe::Attachment& a : slow_) {
    definitions.push_back(std::move(a.definitions));
    for (auto* list : {&a.links, &a.slow_links, &a.perf_events}) {
      for (base::Fd& fd : *list) descriptors.push_back(std::move(fd));
    }
  }
  slow_.clear();
  leave_closing(std::move(descriptors), std::move(definitions));
  iterators_.clear();
  attached_ = 0;
}

base::Result<int64_t> Engine::run(uint32_t index) {
  int32_t result = 0;
  int error = program_run(loaded_.programs[index].get(), result);
  if (error < 0) return base::errno_error("cannot run " + infos_[index].name, -error);
  return result;
}

size_t Engine::drain(const std::function<void(std::span<const std::byte>)>& take) {
  size_t count = walker_ ? walker()->drain() : 0;
  if (ring_ && program_.speculations != ~0u)
    count += ring_->drain([&](std::span<const std::byte> record) { take_committed(record, take); });
  else
    count += ring_ ? ring_->drain(take) : 0;
  count += packets_ ? packets_->drain(take) : 0;
  return count + drain_lost_exit(take);
}

void Engine::take_committed(std::span<const std::byte> record, const std::function<void(std::span<const std::byte>)>& take) {
  uint32_t index;
  std::memcpy(&index, record.data(), sizeof index);
  if (index != ir::committed) return take(record);
  incomplete_ += ir::take_held(program_, record.subspan(8), take);
}

// An exit() that found the ring full ends the session all the same: its record is made up here, behind the others.
size_t Engine::drain_lost_exit(const std::function<void(std::span<const std::byte>)>& take) {
  uint64_t lost = state_.empty() ? 0 : __atomic_load_n(&state_[state_lost_exit], __ATOMIC_ACQUIRE);
  if (lost == 0 || std::exchange(told_lost_exit_, true)) return 0;
  struct {
    uint32_t action, zero;
    int64_t status;
  } record = {static_cast<uint32_t>(lost - 1), 0, program_.actions[lost - 1].status};
  take(std::as_bytes(std::span(&record, 1)));
  return 1;
}

MapShape Engine::shape(uint32_t index) const {
  const ir::Map& map = program_.maps[index];
  uint32_t cpus = ir::is_percpu(map.kind) ? host::possible_cpus() : 1;
  return {loaded_.maps[index].get(), key_sizes_[index], map.value_size, cpus, map.present_offset};
}

HotMaps Engine::hot_maps(uint32_t index) const {
  const ir::Map& map = program_.maps[index];
  HotMaps maps{shape(index), shape(index), has_cells(map)};
  maps.shared.value_size = static_cast<uint32_t>(shared_value_size(map, maps.shared.cpus));
  maps.shared.cpus = 1;
  maps.hot.fd = hot_fds_[index];
  return maps;
}

base::Status Engine::prepare(uint32_t index) {
  if (program_.maps[index].kind == ir::MapKind::task && !tasks_) {
    ACU_TRY(tasks_, TaskStorage::open());
  }
  return {};
}

// Offsets of the ids of user stacks in a value.
static void find_stacks(const type::Type& t, uint32_t offset, std::vector<uint32_t>& found) {
  if ((t.is(type::Kind::ustack) && !t.by_frame_pointers) || t.is(type::Kind::stack)) found.push_back(offset);
  if (t.is(type::Kind::tuple))
    for (const type::Field& f : t.fields()) find_stacks(*f.type, offset + f.offset, found);
}

// A stack that was copied out has an id of its own until it is walked. Stacks that differ only in hidden frames have different ids, too. Keys that turn
// out to be equal become one entry with the values of all, as if they were of more CPUs.
void Engine::join_same_stacks(uint32_t index, std::vector<ir::Entry>& entries) {
  std::vector<uint32_t> places;
  if (program_.maps[index].key) find_stacks(*program_.maps[index].key, 0, places);
  if (places.empty()) return;
  walker()->drain();
  std::map<std::vector<std::byte>, size_t> known;
  std::vector<ir::Entry> joined;
  for (ir::Entry& e : entries) {
    for (uint32_t place : places) {
      uint64_t id;
      if (place + sizeof id > e.key.size()) continue;
      std::memcpy(&id, e.key.data() + place, sizeof id);
      id = walker()->same(id);
      std::memcpy(e.key.data() + place, &id, sizeof id);
    }
    auto [at, is_new] = known.try_emplace(e.key, joined.size());
    if (is_new) {
      joined.push_back(std::move(e));
    } else {
      auto& values = joined[at->second].values;
      values.insert(values.end(), e.values.begin(), e.values.end());
    }
  }
  entries = std::move(joined);
}

base::Result<std::vector<ir::Entry>> Engine::read_map(uint32_t index) {
  ACU_CHECK(prepare(index));
  ir::MapKind kind = program_.maps[index].kind;
  if (kind == ir::MapKind::task) return tasks_->read(shape(index));
  if (ir::is_scalar(kind)) return read_scalar(shape(index));
  ACU_TRY(std::vector<ir::Entry> entries, has_hot(index) ? read_hot(hot_maps(index)) : read_hash(shape(index)));
  if (walker_) join_same_stacks(index, entries);
  return entries;
}

base::Result<std::optional<std::vector<ir::Entry>>> Engine::take_map(uint32_t index) {
  std::optional<std::vector<ir::Entry>> entries;
  const ir::MapKind kind = program_.maps[index].kind;
  if (kind == ir::MapKind::task || ir::is_scalar(kind)) return entries;
  ACU_TRY(entries, has_hot(index) ? take_hot(hot_maps(index)) : take_hash(shape(index)));
  if (entries && walker_) join_same_stacks(index, *entries);
  return entries;
}

// A stack that is seen again is kept, or sent, again.
void Engine::forget_stacks(std::span<const uint64_t> kernel_stacks) {
  for (uint64_t id : kernel_stacks)
    if (stacks_fd_ >= 0) map_delete(stacks_fd_, &id);
  if (walker_) walker()->forget_sent();
}

// Of an entry of the kernel's stacks: their number, then the frames.
static std::vector<uint64_t> frames_of(std::span<const std::byte> entry) {
  uint64_t count = 0;
  if (entry.size() < sizeof count) return {};
  std::memcpy(&count, entry.data(), sizeof count);
  std::vector<uint64_t> out(std::min<uint64_t>(count, entry.size() / sizeof count - 1));
  std::memcpy(out.data(), entry.data() + sizeof count, out.size() * sizeof count);
  return out;
}

base::Status Engine::begin_stacks() {
  if (stacks_fd_ >= 0) {
    const MapShape shape = {.fd = stacks_fd_, .key_size = 8, .value_size = stack_bytes_};
    ACU_TRY(std::optional<std::vector<ir::Entry>> entries, take_hash(shape));
    if (!entries) {
      ACU_TRY(entries, read_hash(shape));
      ACU_CHECK(clear_hash(shape));
    }
    older_stacks_.clear();
    for (const ir::Entry& e : *entries) {
      uint64_t id = 0;
      std::memcpy(&id, e.key.data(), sizeof id);
      older_stacks_[id] = frames_of(e.values);
    }
    if (known_fd_ >= 0) ACU_CHECK(clear_scalar({.fd = known_fd_, .value_size = 8 * known_stacks}));
  }
  return walker_ ? walker()->begin_generation() : base::Status();
}

base::Status Engine::clear_map(uint32_t index) {
  ACU_CHECK(prepare(index));
  ir::MapKind kind = program_.maps[index].kind;
  if (kind == ir::MapKind::task) return tasks_->clear(shape(index));
  if (has_hot(index)) return clear_hot(hot_maps(index));
  return ir::is_scalar(kind) ? clear_scalar(shape(index)) : clear_hash(shape(index));
}

base::Status Engine::zero_map(uint32_t index) {
  ACU_CHECK(prepare(index));
  ir::MapKind kind = program_.maps[index].kind;
  if (kind == ir::MapKind::task) return tasks_->zero(shape(index));
  if (has_hot(index)) return zero_hot(hot_maps(index));
  return ir::is_scalar(kind) ? zero_scalar(shape(index)) : zero_hash(shape(index));
}

base::Status Engine::put(uint32_t index, std::span<const std::byte> key, std::span<const std::byte> value) {
  ACU_CHECK(prepare(index));
  const MapShape map = shape(index);
  const bool is_one = program_.maps[index].kind == ir::MapKind::array && key.empty();
  const bool fits = is_one || (program_.maps[index].kind == ir::MapKind::hash && key.size() == map.key_size);
  if (!fits || value.size() != map.value_size) return base::Error{base::Failure::runtime, "an entry does not fit its map"};
  const uint32_t first = 0;
  if (int error = map_update(map.fd, is_one ? static_cast<const void*>(&first) : key.data(), value.data()); error < 0)
    return base::errno_error("cannot set an entry of a map", -error);
  return {};
}

std::vector<uint64_t> Engine::stack(uint64_t id) {
  if (walker_ && id)
    if (auto frames = walker()->find(id); !frames.empty()) return {frames.begin(), frames.end()};
  if (stacks_fd_ < 0 || id == 0) return {};
  std::vector<std::byte> entry(stack_bytes_);
  if (map_lookup(stacks_fd_, &id, entry.data()) == 0) return frames_of(entry);
  auto older = older_stacks_.find(id);
  return older == older_stacks_.end() ? std::vector<uint64_t>() : older->second;
}

ir::Counters Engine::counters() {
  ir::Counters counters;
  auto at = [&](size_t index) {
    return index < state_.size() ? __atomic_load_n(&state_[index], __ATOMIC_RELAXED) : 0;
  };
  counters.lost_events = at(state_lost_events) + incomplete_ + (packets_ ? packets_->lost() : 0);
  counters.scratch_busy = at(state_scratch_busy);
  counters.stacks_full = at(state_stacks_full);
  counters.stacks_busy = at(state_stacks_busy);
  if (walker_) {
    Walker::Counts walks = walker()->counts();
    counters.stacks_full += walks.no_room;
    counters.stacks_busy += walks.ring_full;
  }
  size_t next = state_first_counter;
  for (size_t i = 0; i < program_.maps.size(); i++) counters.map_full.push_back(at(next++));
  for (size_t i = 0; i < program_.sites.size(); i++) counters.sites.push_back(at(next++));
  counters.missed_hits = missed_hits_;
  counters.gone_modules = gone_modules_;
  counters.are_held = are_held_;
  const ir::Counters runs = run_counters();
  counters.runs = runs.runs, counters.run_ns = runs.run_ns, counters.missed_runs = runs.missed_runs;
  return counters;
}

ir::Counters Engine::run_counters() const {
  ir::Counters counters;
  bpf_prog_info info;
  for (const base::Fd& fd : loaded_.programs) {
    if (program_info(fd.get(), info) != 0) continue;
    counters.missed_runs += info.recursion_misses;
    counters.runs += info.run_cnt;
    counters.run_ns += info.run_time_ns;
  }
  return counters;
}

} // namespace bpf
