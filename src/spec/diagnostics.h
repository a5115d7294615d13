// The names of all that can be wrong with a script. A test in test/diagnostics/ bears each name.
#pragma once

#include <string_view>

namespace spec::tag {

#define ACU_TAG(name) inline constexpr std::string_view name = #name;
// Reading the text.
ACU_TAG(bad_character)
ACU_TAG(unterminated_string)
ACU_TAG(unterminated_comment)
ACU_TAG(bad_escape)
ACU_TAG(bad_number)
ACU_TAG(syntax)
ACU_TAG(too_deep)
ACU_TAG(not_text)
ACU_TAG(bad_config)
ACU_TAG(bad_directive)
ACU_TAG(missing_file)
ACU_TAG(empty_program)
// Probes.
ACU_TAG(unknown_provider)
ACU_TAG(bad_probe)
ACU_TAG(no_such_probe)
ACU_TAG(denied)
ACU_TAG(doubtful_probe)
ACU_TAG(too_many_probes)
// Names.
ACU_TAG(unknown_name)
ACU_TAG(unknown_function)
ACU_TAG(unknown_variable)
ACU_TAG(unknown_map)
ACU_TAG(unknown_type)
ACU_TAG(unknown_field)
ACU_TAG(redeclared)
ACU_TAG(bad_parameter)
ACU_TAG(bad_macro)
ACU_TAG(recursion)
// Types.
ACU_TAG(type_mismatch)
ACU_TAG(bad_operand)
ACU_TAG(bad_argument)
ACU_TAG(wrong_argument_count)
ACU_TAG(bad_cast)
ACU_TAG(bad_assignment)
ACU_TAG(bad_map_use)
ACU_TAG(bad_index)
ACU_TAG(bad_format)
ACU_TAG(bad_pattern)
ACU_TAG(misplaced)
ACU_TAG(missing_return)
ACU_TAG(too_large)
ACU_TAG(overflow)
ACU_TAG(unsafe)
ACU_TAG(writes)
ACU_TAG(user_failure)
ACU_TAG(unresolved)
ACU_TAG(no_debug_info)
ACU_TAG(no_value)
ACU_TAG(ambiguous)
// Warnings.
ACU_TAG(user_warning)
ACU_TAG(redefined)
ACU_TAG(unstable)
ACU_TAG(unused)
ACU_TAG(discarded)
ACU_TAG(unreachable)
ACU_TAG(sign_mix)
ACU_TAG(deprecated)
#undef ACU_TAG

} // namespace spec::tag
