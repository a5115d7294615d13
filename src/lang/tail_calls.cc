// Return probes on functions that end with a jump to another one, where they are put on return instructions
// (probe::Event::tail_calls): the other function's return is theirs too, if the thread came from there. A map
// of acu's own has, by thread and place of the return address, which calls go on in another function:
//
//   at a jump out of the function                  @tail = jumped
//   at the entry of one that is jumped to          @tail = @tail == jumped ? within : none
//   at a jump from such a one to the next          @tail = @tail == within ? jumped : none
//   at the returns of those                        the block, if @tail == within
//
// So what a call left behind that an exception ended is not taken for another call in the same place.
#include "lang/checker.h"

#include "lang/tree_maker.h"
#include "lang/walk.h"

#include <algorithm>

namespace lang {

namespace {

constexpr int64_t jumped = 1, within = 2; // 0: none

using Events = std::vector<probe::Event*>;

// Takes the events at returns of other functions out of a probe's, by function: those of one are in a row.
std::vector<Events> take_followed(Events& events) {
  std::vector<Events> out;
  for (probe::Event* e : events) {
    if (!e->tail_calls) continue;
    if (out.empty() || out.back().front()->tail_calls != e->tail_calls) out.emplace_back();
    out.back().push_back(e);
  }
  std::erase_if(events, [](const probe::Event* e) { return e->tail_calls != nullptr; });
  return out;
}

} // namespace

// What keeps the map for the function that `at` is a return of: at these offsets, value = old `op` by.
std::unique_ptr<Probe> Checker::tail_probe(const Probe& of, Map* map, const probe::Event& at,
                                           const std::vector<uint64_t>& offsets, int64_t value,
                                           std::optional<BinaryOp> op) {
  TreeMaker make{program_, of.where};
  Expr* to = make.number(value);
  if (op)
    to = make.binary(*op,
                     make.binary(BinaryOp::bit_and, make.map(map, make.call_key(false)),
                                 make.number(*op == BinaryOp::shl ? jumped : within)),
                     to);
  auto probe = make.own_probe(of, make.map(map, make.call_key(false)), to);
  if (op) probe->predicate = make.map(map, make.call_key(false)); // not of other calls
  for (uint64_t offset : offsets) {
    auto e = std::make_unique<probe::Event>(at);
    e->kind = probe::Kind::uprobe;
    e->provider = "uprobe";
    e->at_return_instruction = false;
    e->tail_calls = nullptr;
    e->at_entry = true; // the return address is on top of the stack
    e->function_address = e->address;
    e->file_offset = offset;
    e->args = nullptr;
    program_.events.push_back(std::move(e));
    probe->events.push_back(program_.events.back().get());
  }
  return probe;
}

void Checker::follow_tail_calls() {
  std::vector<std::unique_ptr<Probe>> all;
  for (auto& p : program_.probes) {
    const size_t had = p->events.size();
    for (Events& events : take_followed(p->events)) {
      const std::shared_ptr<const probe::TailCalls> calls = events.front()->tail_calls;
      TreeMaker make{program_, p->where};
      Map* map = make.call_map(types_.keep("tail_" + std::to_string(++tail_maps_)));
      auto add = [&](const std::vector<uint64_t>& offsets, int64_t value, std::optional<BinaryOp> op) {
        if (!offsets.empty()) all.push_back(tail_probe(*p, map, *events.front(), offsets, value, op));
      };
      add(calls->jumps, jumped, {});
      add(calls->entries, 1, BinaryOp::shl);
      add(calls->onward, 1, BinaryOp::shr);
      auto twin = std::make_unique<Probe>(*p);
      twin->body = copy(program_, p->body);
      Expr* is_ours = make.binary(BinaryOp::eq, make.map(map, make.call_key(true)), make.number(within));
      twin->predicate =
          p->predicate ? make.binary(BinaryOp::logical_and, is_ours, copy(program_, p->predicate)) : is_ours;
      twin->is_own = std::any_of(p->events.begin(), p->events.end(), [&](auto* e) {
        return e->module == events.front()->module && e->function_address == events.front()->function_address;
      });
      twin->events = std::move(events);
      all.push_back(std::move(twin));
    }
    if (!p->events.empty() || !had) all.push_back(std::move(p));
  }
  program_.probes = std::move(all);
}

} // namespace lang
