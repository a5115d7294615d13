// What a user may do. Each role includes those before it.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace web {

enum class Role : uint8_t {
  view,    // reads the store
  measure, // also runs scripts, tools and measurements
  admin,   // also sees the audit, and stops what others measure
};

inline constexpr std::array<std::string_view, 3> role_names = {"view", "measure", "admin"};
constexpr std::string_view name_of(Role role) { return role_names[static_cast<size_t>(role)]; }
constexpr std::optional<Role> find_role(std::string_view name) {
  for (size_t i = 0; i < role_names.size(); i++)
    if (role_names[i] == name) return static_cast<Role>(i);
  return std::nullopt;
}

} // namespace web
