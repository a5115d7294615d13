// A table of one folder that has exactly one row for each row of a table declared here, matched by name: what a builtin's
// check and lowering are, what a kind of probe does, which function a subcommand starts. The declared table lies in
// `spec` and knows no functions of the folders above. A row that is missing, doubled or unknown does not compile; the
// compiler's message shows its name.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string_view>
#include <utility>

namespace spec {

// A name as a template argument, which compilers show in their messages.
struct RowName {
  char text[32] = {};
  consteval RowName(std::string_view name) { std::copy(name.begin(), name.end(), text); }
  consteval bool is_empty() const { return !text[0]; }
};

template<RowName name> struct MissingRow {
  static_assert(name.is_empty(), "a declared name has no row in this table: `name`");
};
template<RowName name> struct DoubledRow {
  static_assert(name.is_empty(), "a name has two rows in this table: `name`");
};
template<RowName name> struct UnknownRow {
  static_assert(name.is_empty(), "a row's name is not declared: `name`");
};

// `Declared` and `Rows` are arrays of rows with a member `name`.
template<const auto& Declared, const auto& Rows> class CompleteTable {
  static constexpr size_t none = ~size_t{0};

  // For each row of `Of` the place of its name in `In`, or `none`. Looked for behind the one before: most tables have the
  // same order, and compilers limit what they compute.
  template<const auto& Of, const auto& In> static consteval auto places() {
    std::array<size_t, std::size(Of)> out = {};
    size_t next = 0;
    for (size_t i = 0; i < std::size(Of); i++) {
      out[i] = none;
      for (size_t tried = 0; tried < std::size(In) && out[i] == none; tried++, next++)
        if (In[next % std::size(In)].name == Of[i].name) out[i] = next % std::size(In);
    }
    return out;
  }
  static constexpr auto row_of_name = places<Declared, Rows>();
  static constexpr auto name_of_row = places<Rows, Declared>();

  static consteval std::string_view missing() {
    auto at = std::find(row_of_name.begin(), row_of_name.end(), none);
    return at == row_of_name.end() ? std::string_view() : Declared[at - row_of_name.begin()].name;
  }
  static consteval std::string_view unknown() {
    auto at = std::find(name_of_row.begin(), name_of_row.end(), none);
    return at == name_of_row.end() ? std::string_view() : Rows[at - name_of_row.begin()].name;
  }
  static consteval std::string_view doubled() {
    std::array<bool, std::size(Declared)> seen = {};
    for (size_t row = 0; row < std::size(Rows); row++)
      if (name_of_row[row] != none && std::exchange(seen[name_of_row[row]], true)) return Rows[row].name;
    return {};
  }

public:
  static consteval auto checked_places() {
    [[maybe_unused]] MissingRow<missing()> missing_row;
    [[maybe_unused]] DoubledRow<doubled()> doubled_row;
    [[maybe_unused]] UnknownRow<unknown()> unknown_row;
    std::array<uint8_t, std::size(Declared)> out = {};
    static_assert(std::size(Rows) <= 256);
    for (size_t i = 0; i < out.size(); i++) out[i] = static_cast<uint8_t>(row_of_name[i]);
    return out;
  }
};

// The place in `Rows` of each declared name, in the order of the declarations.
template<const auto& Declared, const auto& Rows>
inline constexpr auto row_places = CompleteTable<Declared, Rows>::checked_places();

// Calls `use` with the number `at` below `count` as a constant: `use.template operator()<at>()`. So a table of functions becomes
// code; as data its pointers would have to be relocated at each start of acu, which touches pages.
template<size_t count, size_t first = 0> constexpr decltype(auto) with_constant(size_t at, const auto& use) {
  if constexpr (count == 1)
    return use.template operator()<first>();
  else
    return at < first + count / 2 ? with_constant<count / 2, first>(at, use)
                                  : with_constant<count - count / 2, first + count / 2>(at, use);
}

} // namespace spec
