// Prints what a translated script sends: the records of its clauses and its aggregations, in DTrace's formats.
#pragma once

#include "base/fd.h"
#include "dlang/aggregation.h"
#include "dlang/format.h"
#include "dlang/symbols.h"

#include <optional>
#include <unordered_map>

namespace dlang {

class Consumer {
public:
  // All of them outlive it. `patience_ms`: as report::Options has it, for system().
  Consumer(const Plan& plan, const ir::Program& program, ir::Engine& engine, report::Names& names, report::Printer& printer, report::Sink& sink,
           std::function<int()> patience_ms = {})
      : plan_(plan), program_(program), engine_(engine), names_(names), printer_(printer), sink_(sink), patience_ms_(std::move(patience_ms)), states_(plan.aggregations.size()), display_(plan.display) {}

  // A record: the value of print() in the translated program.
  void take(const type::Type& type, std::span<const std::byte> bytes);
  // The script has ended: aggregations that no printa() has printed.
  void finish();

private:
  // What D's functions did to an aggregation. Keys that were removed come back with what is counted from then on.
  struct State {
    int64_t normal = 1;
    bool printed = false;
    std::map<std::string, std::vector<int64_t>> removed; // their numbers at that time
  };
  struct Values; // of a record, taken one after the other

  void line(std::string& out, const Record& r, Values& values);
  void item(std::string& out, const Record& r, const Item& i, Values& values);
  std::string function_of(const Record& r, Values& values);
  std::string fault_text(const Record& r, Values& values);
  std::string formatted(const std::vector<Piece>& format, Values& values);
  std::string text_of(const type::Type& type, std::span<const std::byte> bytes, SymbolForm symbol);
  std::string value_text(const type::Type& type, std::span<const std::byte> bytes, SymbolForm symbol, bool quiet);
  std::string stack_text(const type::Type& type, std::span<const std::byte> bytes);
  std::string printa(const Item& i);
  std::string key_text(const Row& row, RowStyle style = RowStyle::plain);
  std::string value_text(size_t aggregation, const Row& row);
  std::string table(size_t aggregation, const Rows& rows);
  std::string flow_line(int64_t cpu, const std::string& provider, const std::string& function, const std::string& name);
  std::string formatted_line(const std::vector<Piece>& format, const Item& i, const std::vector<const Row*>& rows);
  Rows rows_of(size_t aggregation);
  std::vector<std::pair<std::string, const Row*>> sorted(size_t aggregation, const Rows& rows) const;
  void truncate(size_t aggregation, std::optional<int64_t> count);
  void clear(size_t aggregation);
  void each_map(size_t aggregation, const std::function<void(uint32_t)>& on);
  const std::vector<Piece>& format_of(const std::string& text);
  void write(std::string_view text);
  void put(std::string_view text);
  void reopen(const std::string& path);
  void cut();

  const Plan& plan_;
  const ir::Program& program_;
  ir::Engine& engine_;
  report::Names& names_;
  report::Printer& printer_;
  report::Sink& sink_;
  std::function<int()> patience_ms_;
  std::vector<State> states_; // by Plan::aggregations
  std::unordered_map<std::string, std::vector<Piece>> formats_;
  Display display_;               // as setopt() left it
  base::Fd file_;                 // of freopen()
  std::map<int64_t, int> depths_; // of calls, by CPU: flowindent
  bool has_header_ = false;
};

} // namespace dlang
