// Kernel programs in C, for libbpf and BCC: one lowering; the two differ in how maps, events and members of kernel structures are
// written.
//
// A probe becomes a function of its context. Numbers have 64 bits, as in acu; text is in arrays of char. Map keys are structures of
// 64-bit numbers and padded text. Output, and what acts on whole maps, goes through a ring buffer as records, which the program in
// user space carries out in order: the same table of actions (`actions()`) describes them to both loaders.
#pragma once

#include "emit/c_like.h"
#include "emit/structures.h"

#include <set>
#include <string>
#include <vector>

namespace emit {

enum class KernelStyle : uint8_t { libbpf, bcc };

// A value in a record, or a part of a key: numbers of 8 bytes, or text.
struct RecordPart {
  enum Kind : uint8_t { number, text, boolean, address, enumeration } kind = number;
  uint32_t offset = 0, size = 8;
  bool is_signed = false;
  const type::Type* type = nullptr;
};

// What user space does when a record comes.
struct RecordAction {
  enum Kind : uint8_t { printf, print_value, print_map, clear, zero, exit } kind = printf;
  std::string text; // the format
  std::vector<RecordPart> parts;
  uint32_t size = 8; // of the record: u64 id, then the parts
  const lang::Map* map = nullptr;
  uint64_t top = 0, div = 0;
  int64_t status = 0;
};

// A probe's program and what it is attached to.
struct KernelProgram {
  std::string function;
  const probe::Event* event = nullptr;
  base::Range where; // of its block
};

class KernelC : public CLike {
public:
  KernelC(const Job& job, const Target& target, Writer& out, Names& names, KernelStyle style);

  void run(); // all probes; then the following tell what came of it
  std::string maps();          // their declarations and functions
  std::string helpers() const; // functions that are needed
  std::string structures() { return structures_.definitions(); }
  const std::vector<RecordAction>& actions() const { return actions_; }
  const std::vector<KernelProgram>& programs() const { return programs_; }
  std::vector<uint32_t> begin_actions, end_actions; // of begin and end, which run in user space

  static std::vector<RecordPart> key_parts(const lang::Map& m); // of the structure that keys are
  static uint32_t key_size(const lang::Map& m);
  static bool has_slots(const lang::Map& m); // histograms: a counter for each bucket
  std::string map_name(const lang::Map& m) { return names_.of(m); }

protected:
  Text variable(const lang::VariableRef& e) override { return {names_.of(*e.variable)}; }
  Text map(const lang::MapRef& e) override;
  Text name(const lang::Name& e) override;
  Text call(const lang::Call& e) override;
  Text cast(const lang::Cast& e) override;
  Text field(const lang::FieldRef& e) override;
  Text index(const lang::Index& e) override;
  Text binary(const lang::Binary& e) override;
  Text unary(const lang::Unary& e) override;
  Text number(const lang::Integer& e) override;
  void let(const lang::Let& s) override;
  void assign(const lang::Assign& s) override;
  void statement(const lang::Stmt& s) override;
  void conditional(const lang::If& s) override;
  void loop(const lang::While& s) override;
  void range(const lang::ForRange& s) override;
  void call_statement(const lang::Expr& e) override;
  void give_back(const lang::Return& s) override;

private:
  void probe(const lang::Probe& p);
  void action_block(const lang::Probe& p, std::vector<uint32_t>& to);
  void send(RecordAction action, lang::List<lang::Expr*> values);
  void text_into(const std::string& to, uint32_t size, const lang::Expr& e);
  std::string key(const lang::Map& m, const lang::Expr* key, const std::string& slot = {}); // its address, after statements
  std::string map_function(const lang::Map& m, std::string_view what);
  void aggregate(const lang::MapRef& m, const lang::Call& c);
  void update(const lang::MapRef& m, lang::BinaryOp op, const std::string& by);
  Text load(const Text& address, const type::Type& t, type::Space space);
  Text argument(const lang::FieldRef& e);
  std::string word(const lang::Expr& e, bool is_signed, int at_least = prefix); // a number of 64 bits
  bool reads_user(const lang::Expr& pointer) const;
  void declare(const lang::Block& b); // its variables
  std::string c_word(const type::Type& t) const { return t.is_signed ? "s64" : "u64"; }

  KernelStyle style_;
  Structures structures_;
  std::vector<RecordAction> actions_;
  std::vector<KernelProgram> programs_;
  std::map<const lang::Map*, std::set<std::string>> used_; // functions of maps
  std::set<std::string> helpers_;
  const lang::Probe* probe_ = nullptr;
  int serial_ = 0;
};

} // namespace emit
