#include "spec/c_macros.h"

#include <unordered_map>

namespace spec {

namespace {

namespace written {
constexpr CMacroRow rows[] = {
    {have_btf_macro, "1"},
    {"__BPF_TRACING__", "1"},
    // What only the preprocessor can answer.
    {"__LINE__", ""},
    {"__FILE__", ""},
    {"__COUNTER__", ""},
    {"__has_include", ""},
    {"__has_include_next", ""},
    // The language: C17 with GNU's additions.
    {"__STDC__", "1"},
    {"__STDC_VERSION__", "201710L"},
    {"__STDC_HOSTED__", "1"},
    {"__GNUC__", "4"},
    {"__GNUC_MINOR__", "2"},
    {"__GNUC_PATCHLEVEL__", "1"},
    {"__GNUC_STDC_INLINE__", "1"},
    {"__ELF__", "1"},
    {"__USER_LABEL_PREFIX__", ""},
    {"__REGISTER_PREFIX__", ""},
    // The system.
    {"__linux__", "1"},
    {"__linux", "1"},
    {"__gnu_linux__", "1"},
    {"__unix__", "1"},
    {"__unix", "1"},
#if defined(__x86_64__)
    {"__x86_64__", "1"},
    {"__x86_64", "1"},
    {"__amd64__", "1"},
    {"__amd64", "1"},
    {"__TARGET_ARCH_x86", "1"},
    {"__SIZEOF_LONG_DOUBLE__", "16"},
#elif defined(__aarch64__)
    {"__aarch64__", "1"},
    {"__ARM_ARCH", "8"},
    {"__ARM_64BIT_STATE", "1"},
    {"__CHAR_UNSIGNED__", "1"},
    {"__TARGET_ARCH_arm64", "1"},
    {"__SIZEOF_LONG_DOUBLE__", "16"},
#endif
    {"__LP64__", "1"},
    {"_LP64", "1"},
    {"__CHAR_BIT__", "8"},
    {"__BYTE_ORDER__", "1234"},
    {"__FLOAT_WORD_ORDER__", "1234"},
    {"__ORDER_LITTLE_ENDIAN__", "1234"},
    {"__ORDER_BIG_ENDIAN__", "4321"},
    {"__ORDER_PDP_ENDIAN__", "3412"},
    {"__LITTLE_ENDIAN__", "1"},
    // Sizes, types and limits of numbers.
    {"__SIZEOF_SHORT__", "2"},
    {"__SIZEOF_INT__", "4"},
    {"__SIZEOF_LONG__", "8"},
    {"__SIZEOF_LONG_LONG__", "8"},
    {"__SIZEOF_INT128__", "16"},
    {"__SIZEOF_POINTER__", "8"},
    {"__SIZEOF_SIZE_T__", "8"},
    {"__SIZEOF_PTRDIFF_T__", "8"},
    {"__SIZEOF_WCHAR_T__", "4"},
    {"__SIZEOF_WINT_T__", "4"},
    {"__SIZEOF_FLOAT__", "4"},
    {"__SIZEOF_DOUBLE__", "8"},
    {"__BIGGEST_ALIGNMENT__", "16"},
    {"__SIZE_TYPE__", "long unsigned int"},
    {"__PTRDIFF_TYPE__", "long int"},
    {"__WCHAR_TYPE__", "int"},
    {"__WINT_TYPE__", "unsigned int"},
    {"__CHAR16_TYPE__", "short unsigned int"},
    {"__CHAR32_TYPE__", "unsigned int"},
    {"__INTMAX_TYPE__", "long int"},
    {"__UINTMAX_TYPE__", "long unsigned int"},
    {"__INTPTR_TYPE__", "long int"},
    {"__UINTPTR_TYPE__", "long unsigned int"},
    {"__SIG_ATOMIC_TYPE__", "int"},
    {"__INT8_TYPE__", "signed char"},
    {"__INT16_TYPE__", "short int"},
    {"__INT32_TYPE__", "int"},
    {"__INT64_TYPE__", "long int"},
    {"__UINT8_TYPE__", "unsigned char"},
    {"__UINT16_TYPE__", "short unsigned int"},
    {"__UINT32_TYPE__", "unsigned int"},
    {"__UINT64_TYPE__", "long unsigned int"},
    {"__SCHAR_MAX__", "127"},
    {"__SHRT_MAX__", "32767"},
    {"__INT_MAX__", "2147483647"},
    {"__LONG_MAX__", "9223372036854775807L"},
    {"__LONG_LONG_MAX__", "9223372036854775807LL"},
    {"__WCHAR_MAX__", "2147483647"},
    {"__WCHAR_MIN__", "(-2147483647 - 1)"},
    {"__WINT_MAX__", "4294967295U"},
    {"__WINT_MIN__", "0U"},
    {"__PTRDIFF_MAX__", "9223372036854775807L"},
    {"__SIZE_MAX__", "18446744073709551615UL"},
    {"__INTMAX_MAX__", "9223372036854775807L"},
    {"__UINTMAX_MAX__", "18446744073709551615UL"},
    {"__INTPTR_MAX__", "9223372036854775807L"},
    {"__UINTPTR_MAX__", "18446744073709551615UL"},
    {"__INT8_MAX__", "127"},
    {"__INT16_MAX__", "32767"},
    {"__INT32_MAX__", "2147483647"},
    {"__INT64_MAX__", "9223372036854775807L"},
    {"__UINT8_MAX__", "255"},
    {"__UINT16_MAX__", "65535"},
    {"__UINT32_MAX__", "4294967295U"},
    {"__UINT64_MAX__", "18446744073709551615UL"},
    {"__SCHAR_WIDTH__", "8"},
    {"__SHRT_WIDTH__", "16"},
    {"__INT_WIDTH__", "32"},
    {"__LONG_WIDTH__", "64"},
    {"__LONG_LONG_WIDTH__", "64"},
};
} // namespace written
constexpr CMacroRows rows = CMacroRows::of<written::rows>();

} // namespace

std::optional<CMacroRow> find_c_macro(std::string_view name) {
  static const auto by_name = [] {
    std::unordered_map<std::string_view, CMacroRow> made;
    for (const CMacroRow& row : rows) made[row.name] = row;
    return made;
  }();
  const auto at = by_name.find(name);
  return at == by_name.end() ? std::nullopt : std::optional(at->second);
}

} // namespace spec
