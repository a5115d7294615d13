// The broken programs of the lessons. Their functions are called shop_…; the linker exports them, so that they have names
// even if acu's executable is stripped.
#pragma once

#include <string_view>

namespace learn {

constexpr unsigned numbers = 900; // a program's number is below

// Runs one until it is killed or the parent process ends; false: there is none of this name. It writes files in the current folder.
bool run_program(std::string_view name, unsigned number);

// Names that a number chooses from, for programs and answers.
constexpr std::string_view hot_functions[] = {"shop_check_stock", "shop_price_cart", "shop_print_receipt"};
constexpr std::string_view callers[] = {"shop_sort_prices", "shop_find_item", "shop_merge_orders"};
constexpr std::string_view waits[] = {"shop_wait_for_bank", "shop_wait_for_printer", "shop_wait_for_truck"};
constexpr std::string_view slow_functions[] = {"shop_reload_prices", "shop_write_journal", "shop_rotate_log"};
constexpr std::string_view threads[] = {"auditor", "reporter", "cleaner"};
constexpr std::string_view stuck_functions[] = {"shop_open_door", "shop_count_cash", "shop_unload_truck"};

} // namespace learn
