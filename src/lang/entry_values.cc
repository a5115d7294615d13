// `entry(e)` of return probes: what e was when the function was entered. A probe at the entry of the same
// functions keeps the values in a map of acu's own, and the return probe looks them up there.
//
// A call is told by its thread and where its return address stands, so calls of a function within itself are
// told apart. A return whose call was entered before the probes were attached, or whose values found no room,
// does not run the block. The map lets go of what was used longest ago: calls that never return (longjmp,
// exceptions, a killed thread) leave their values behind.
#include "lang/checker.h"

#include "lang/walk.h"

#include <algorithm>

namespace lang {

using namespace spec;

namespace {

constexpr uint64_t most_calls = 16384; // that are entered and have not returned
#if defined(__x86_64__)
constexpr int64_t return_address = 8; // bytes of it on the stack, which are taken when a function returns
#else
constexpr int64_t return_address = 0;
#endif

// Makes trees.
struct Maker {
  Program& program;
  Range where;

  template<class Node> Node* node() const { return program.arena.make<Node>(where); }
  List<Expr*> list(const std::vector<Expr*>& of) const { return program.arena.copy(of); }
  Call* call(std::string_view name, const std::vector<Expr*>& arguments) const {
    Call* c = node<Call>();
    c->name = name;
    c->name_where = where;
    c->arguments = list(arguments);
    return c;
  }
  Expr* number(int64_t n) const {
    Integer* i = node<Integer>();
    i->value = static_cast<uint64_t>(n);
    return i;
  }
  Expr* binary(BinaryOp op, Expr* left, Expr* right) const {
    Binary* b = node<Binary>();
    b->op = op;
    b->left = left;
    b->right = right;
    return b;
  }
  Tuple* tuple(const std::vector<Expr*>& elements) const {
    Tuple* t = node<Tuple>();
    t->elements = list(elements);
    return t;
  }
  MapRef* map(Map* of, Expr* key) const {
    MapRef* m = node<MapRef>();
    m->name = of->name;
    m->map = of;
    m->key = key;
    return m;
  }
  // (thread, place of the return address), in a probe at the entry or at the return.
  Expr* key(bool at_return) const {
    Name* initial = node<Name>();
    initial->name = "init";
    String* sp = node<String>();
    sp->value = "sp";
    Expr* place = call("reg", {sp});
    if (at_return && return_address) place = binary(BinaryOp::sub, place, number(return_address));
    return tuple({call("tid", {initial}), place});
  }
};

bool is_entry(const Expr& e) {
  const Call* c = if_a<Call>(&e);
  return c && c->name == "entry" && c->arguments.size() == 1;
}

bool is_return_probe(const probe::Event& e) { return e.kind == probe::Kind::uretprobe; }

// The event at the entry of the function that another one is at the return of.
probe::Event entry_of(const probe::Event& e) {
  probe::Event out = e;
  out.kind = probe::Kind::uprobe;
  out.provider = "uprobe";
  out.name = "uprobe" + e.name.substr(std::min(e.name.find(':'), e.name.size()));
  out.at_entry = true;
  out.args = nullptr;
  return out;
}

} // namespace

// The block that keeps the values at the entry.
std::unique_ptr<Probe> Checker::entry_probe(const Probe& of, Map* kept, const std::vector<Expr*>& values) {
  Maker make{program_, values.front()->where};
  Assign* assign = make.node<Assign>();
  assign->target = make.map(kept, make.key(false));
  assign->value = values.size() == 1 ? values[0] : make.tuple(values);
  Block* body = program_.arena.make<Block>();
  body->where = make.where;
  body->statements = program_.arena.copy(std::vector<Stmt*>{assign});
  auto probe = std::make_unique<Probe>();
  probe->where = of.where;
  probe->specs = of.specs;
  probe->body = body;
  probe->is_own = true;
  for (const probe::Event* e : of.events) {
    program_.events.push_back(std::make_unique<probe::Event>(entry_of(*e)));
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
    Maker make{program_, e.where};
    MapRef* all = make.map(kept, make.key(true));
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
    Map* kept = program_.arena.make<Map>();
    kept->name = types_.keep("entry_" + std::to_string(++entry_maps_));
    kept->where = p->where;
    kept->storage = Storage::lruhash;
    kept->max_entries = most_calls;
    kept->is_own = true;
    program_.maps.push_back(kept);
    std::vector<Expr*> values = take_entry_values(*p, kept);
    Maker make{program_, p->where};
    Expr* is_kept = make.call("has_key", {make.map(kept, nullptr), make.key(true)});
    p->predicate = p->predicate ? make.binary(BinaryOp::logical_and, is_kept, p->predicate) : is_kept;
    for (auto& probe : split(entry_probe(*p, kept, values))) all.push_back(std::move(probe));
    all.push_back(std::move(p));
  }
  program_.probes = std::move(all);
}

} // namespace lang
