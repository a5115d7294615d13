// Options of the commands about this host and about acu.
#pragma once

#include "spec/shared_options.h"

namespace spec {

inline constexpr Option policy_options[] = {
    {.id = OptionId::input, .name = "file", .argument = "FILE", .doc = "Read FILE instead of /etc/acu/policy."},
    {.id = OptionId::user, .letter = 'u', .name = "user", .argument = "USER", .doc = "Show what is permitted to USER (name or number; default: who runs acu)."},
    help_option,
};

inline constexpr Option info_options[] = {
    {.id = OptionId::json, .name = "json", .doc = "Print one JSON object."},
    {.id = OptionId::save,
     .name = "save",
     .argument = "FILE",
     .doc = "Write what the compiler needs to know about this host to FILE, for `acu run --for FILE` elsewhere."},
    for_option,
    help_option,
};

inline constexpr Option learn_options[] = {
    {.id = OptionId::list, .letter = 'l', .name = "list", .doc = "List the lessons, and exit."},
    help_option};

inline constexpr Option help_options[] = {
    help_option,
};

} // namespace spec
