// Makes pieces of trees, for probes that acu adds to a script: of values at the entry (entry_values.cc) and of
// functions that end with a jump to another one (tail_calls.cc).
#pragma once

#include "lang/ast.h"
#include "spec/arch.h"

#include <memory>
#include <string_view>
#include <vector>

namespace lang {

constexpr uint64_t most_calls = 16384; // that are entered and have not returned
constexpr int64_t return_address = spec::arch.return_address_bytes; // taken from the stack when a function returns

struct TreeMaker {
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
  Stmt* statement(Expr* value) const {
    ExprStmt* s = node<ExprStmt>();
    s->value = value;
    return s;
  }
  Block* block(const std::vector<Stmt*>& statements) const {
    Block* b = program.arena.make<Block>();
    b->where = where;
    b->statements = program.arena.copy(statements);
    return b;
  }
  // A call: (thread, place of its return address), in a probe at the entry or, where the return address is off
  // the stack, at the return.
  Expr* thread() const {
    Name* initial = node<Name>();
    initial->name = "init";
    return call("tid", {initial});
  }
  Expr* call_key(bool at_return) const {
    String* sp = node<String>();
    sp->value = "sp";
    Expr* place = call("reg", {sp});
    if (at_return && return_address) place = binary(BinaryOp::sub, place, number(return_address));
    return tuple({thread(), place});
  }
  // A map of such calls. It lets go of what was used longest ago: calls that never return leave their values behind.
  Map* call_map(std::string_view name) const {
    Map* m = program.arena.make<Map>();
    m->name = name;
    m->where = where;
    m->storage = Storage::lruhash;
    m->max_entries = most_calls;
    m->is_own = true;
    program.maps.push_back(m);
    return m;
  }
  // A probe without events yet, which serves another one: { target = value }
  std::unique_ptr<Probe> own_probe(const Probe& serves, Expr* target, Expr* value) const {
    Assign* assign = node<Assign>();
    assign->target = target;
    assign->value = value;
    auto probe = std::make_unique<Probe>();
    probe->where = serves.where;
    probe->specs = serves.specs;
    probe->body = block({assign});
    probe->is_own = true;
    return probe;
  }
};


} // namespace lang
