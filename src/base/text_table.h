// A table of rows with texts, without addresses in it. A std::string_view in a row is a pointer, which the loader fills in at each start, page by
// page; here the texts lie beside the rows, and the table is read from the file when it is first used.
//
//   struct Row { std::string_view name; int number; };
//   using Table = base::TextTable<Row, &Row::name>;
//   inline constexpr Row written[] = {{"one", 1}, {"two", 2}};
//   inline constexpr Table rows = Table::of<written>();
//
// All members that are texts are named in Table. Rows come by value: for (const Row& row : rows); a NUL stands behind each of their texts. `written` is for constants alone.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string_view>

namespace base {

template<class Row, std::string_view Row::*... texts> class TextTable {
  struct Place {
    uint32_t begin = 0, size = 0; // characters
  };
  struct Stored {
    Row row;                                       // its texts are empty
    std::array<Place, sizeof...(texts)> places = {}; // of the texts
  };
  template<size_t count, size_t characters> struct Storage {
    std::array<Stored, count> rows = {};
    std::array<char, characters> text = {};
  };

  template<const auto& written> static consteval size_t characters_of() {
    size_t sum = 0;
    for (const Row& row : written) sum += (((row.*texts).size() + 1) + ...);
    return sum;
  }
  template<const auto& written> static consteval auto stored() {
    Storage<std::size(written), characters_of<written>()> all;
    size_t number = 0, end = 0;
    for (const Row& row : written) {
      Stored& to = all.rows[number++];
      to.row = row;
      size_t text = 0;
      auto put = [&](std::string_view& from) {
        to.places[text++] = {static_cast<uint32_t>(end), static_cast<uint32_t>(from.size())};
        for (char c : from) all.text[end++] = c;
        all.text[end++] = 0;
        from = {};
      };
      (put(to.row.*texts), ...);
    }
    return all;
  }
  template<const auto& written> static constexpr auto storage = stored<written>();

public:
  constexpr TextTable() = default;
  template<const auto& written> static consteval TextTable of() {
    TextTable table;
    table.rows_ = storage<written>.rows.data();
    table.count_ = std::size(written);
    table.text_ = storage<written>.text.data();
    return table;
  }

  constexpr size_t size() const { return count_; }
  constexpr bool empty() const { return !count_; }
  constexpr Row operator[](size_t number) const {
    const Stored& from = rows_[number];
    Row row = from.row;
    size_t text = 0;
    auto take = [&](std::string_view& to) {
      const Place& place = from.places[text++];
      to = {text_ + place.begin, place.size};
    };
    (take(row.*texts), ...);
    return row;
  }

  class Iterator {
  public:
    using value_type = Row;
    using difference_type = std::ptrdiff_t;
    constexpr Iterator() = default;
    constexpr Iterator(const TextTable* table, size_t number) : table_(table), number_(number) {}
    constexpr Row operator*() const { return (*table_)[number_]; }
    constexpr Iterator& operator++() { return number_++, *this; }
    constexpr Iterator operator++(int) { return {table_, number_++}; }
    constexpr bool operator==(const Iterator&) const = default;

  private:
    const TextTable* table_ = nullptr;
    size_t number_ = 0;
  };
  constexpr Iterator begin() const { return {this, 0}; }
  constexpr Iterator end() const { return {this, count_}; }

private:
  const Stored* rows_ = nullptr;
  size_t count_ = 0;
  const char* text_ = nullptr;
};

} // namespace base
