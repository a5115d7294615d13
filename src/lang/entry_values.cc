// `entry(e)` of return probes: what e was when the function was entered. A probe at the entry of the same
// functions keeps the values in a map of acu's own, and the return probe looks them up there.
//
// A call is told by its thread and where its return address stands, so calls of a function within itself are
// told apart. A system call is told by its thread alone: there it does not call another. A return whose call was entered before the probes were attached, or whose values found no room,
// does not run the block. The map lets go of what was used longest ago: calls that never return (longjmp,
// exceptions, a killed thread) leave their values behind.
#include "lang/checker.h"

#include "lang/tree_maker.h"
#include "lang/walk.h"

#include <algorithm>
#include <set>

namespace lang {

using namespace spec;

namespace {

bool is_entry(const Expr& e) {
  const Call* c = if_a<Call>(&e);
  return c && c->name == "entry" && c->arguments.size() == 1;
}

constexpr std::string_view exit_prefix = "sys_exit_";

bool is_syscall_exit(const probe::Event& e) {
  return e.kind == probe::Kind::tracepoint && e.category == "syscalls" && e.event.starts_with(exit_prefix);
}

bool is_return_probe(const probe::Event& e) { return e.kind == probe::Kind::uretprobe || is_syscall_exit(e); }

// Of what a value at the entry is kept: the call that the probe is in.
Expr* kept_key(const TreeMaker& make, const Probe& p, bool at_return) {
  return is_syscall_exit(*p.events.front()) ? make.thread() : make.call_key(at_return);
}

// The event at the entry of the function that another one is at the return of.
probe::Event entry_of(const probe::Event& e) {
  probe::Event out = e;
  out.kind = probe::Kind::uprobe;
  out.provider = "uprobe";
  out.name = "uprobe" + e.name.substr(std::min(e.name.find(':'), e.name.size()));
  out.at_entry = true;
  out.args = nullptr;
  if (!e.at_return_instruction) return out;
  out.at_return_instruction = false;
  out.address = e.function_address;
  out.file_offset = e.entry_offset;
  out.tail_calls = nullptr;
  return out;
}

} // namespace

// The block that keeps the values at the entry.
std::unique_ptr<Probe> Checker::entry_probe(const Probe& of, Map* kept, const std::vector<Expr*>& values) {
  TreeMaker make{program_, values.front()->where};
  auto probe = make.own_probe(of, make.map(kept, kept_key(make, of, false)),
                              values.size() == 1 ? values[0] : make.tuple(values));
  std::set<std::pair<const symbol::Binary*, uint64_t>> known; // a function may have several returns
  for (const probe::Event* e : of.events) {
    if (is_syscall_exit(*e)) {
      probe::Mismatch mismatch; // a system call with one tracepoint has the other
      const std::string enter = "sys_enter_" + e->event.substr(exit_prefix.size());
      for (probe::Event& entry : probe::match(machine_, std::vector<std::string_view>{"tracepoint", "syscalls", enter}, mismatch)) {
        program_.events.push_back(std::make_unique<probe::Event>(std::move(entry)));
        probe->events.push_back(program_.events.back().get());
      }
      continue;
    }
    probe::Event entry = entry_of(*e);
    if (e->at_return_instruction && !known.emplace(entry.module, entry.file_offset).second) continue;
    program_.events.push_back(std::make_unique<probe::Event>(std::move(entry)));
    probe->events.push_back(program_.events.back().get());
  }
  return probe;
}

// Replaces each `entry(e)` of the block by a look into the map; gives what is to be kept there.
std::vector<Expr*> Checker::take_entry_values(Probe& p, Map* kept) {
  std::vector<Expr*> values;
  std::vector<FieldRef*> parts;
  Rewriting how;
  how.statement = [](Stmt&) {};
  how.expression = [&](Expr& e) -> Expr* {
    if (!is_entry(e)) return &e;
    TreeMaker make{program_, e.where};
    MapRef* all = make.map(kept, kept_key(make, p, true));
    FieldRef* part = make.node<FieldRef>();
    part->operand = all;
    part->name = types_.keep(std::to_string(values.size()));
    part->name_where = e.where;
    values.push_back(as<Call>(e).arguments[0]);
    parts.push_back(part);
    return part;
  };
  rewrite(p.predicate, how);
  rewrite(p.body, how);
  if (values.size() != 1) return values;
  // One value needs no tuple around it.
  how.expression = [&](Expr& e) { return &e == parts[0] ? parts[0]->operand : &e; };
  rewrite(p.predicate, how);
  rewrite(p.body, how);
  return values;
}

// Once each block sees events that are alike; uses of `entry` elsewhere are left to be told as mistakes.
void Checker::keep_entry_values() {
  std::vector<std::unique_ptr<Probe>> all;
  for (auto& p : program_.probes) {
    bool uses = false;
    auto look = [&](const Expr& e) { uses |= is_entry(e); };
    walk(p->predicate, look);
    walk(p->body, look);
    if (!uses || !is_return_probe(*p->events.front())) {
      all.push_back(std::move(p));
      continue;
    }
    TreeMaker make{program_, p->where};
    Map* kept = make.call_map(types_.keep("entry_" + std::to_string(++entry_maps_)));
    std::vector<Expr*> values = take_entry_values(*p, kept);
    Expr* is_kept = make.call("has_key", {make.map(kept, nullptr), kept_key(make, *p, true)});
    p->predicate = p->predicate ? make.binary(BinaryOp::logical_and, is_kept, p->predicate) : is_kept;
    for (auto& probe : split(entry_probe(*p, kept, values))) all.push_back(std::move(probe));
    all.push_back(std::move(p));
  }
  program_.probes = std::move(all);
}

} // namespace lang
