// The texts of a compiler's headers, and the names of those that need not be on the machine.
#include "spec/c_headers.h"

#include "base/text.h"

#include <algorithm>
#include <iterator>

namespace spec {

namespace {

struct Header {
  std::string_view name, text;
};

// Only what a script can use of them: types, limits, and the macros on which other headers rely.
constexpr Header builtin_headers[] = {
    {"stddef.h", R"(#pragma once
typedef __SIZE_TYPE__ size_t;
typedef __PTRDIFF_TYPE__ ptrdiff_t;
typedef __WCHAR_TYPE__ wchar_t;
typedef __WINT_TYPE__ wint_t;
#ifndef NULL
#define NULL ((void *)0)
#endif
#define offsetof(type, member) __builtin_offsetof(type, member)
)"},
    {"stdarg.h", "#pragma once\ntypedef void *va_list;\ntypedef void *__gnuc_va_list;\n"},
    {"stdbool.h", R"(#pragma once
#define bool _Bool
#define true 1
#define false 0
#define __bool_true_false_are_defined 1
)"},
    {"stdalign.h", "#pragma once\n#define alignas _Alignas\n#define alignof _Alignof\n"},
    {"stdnoreturn.h", "#pragma once\n#define noreturn _Noreturn\n"},
    {"float.h", "#pragma once\n#define FLT_RADIX 2\n#define FLT_MANT_DIG 24\n#define DBL_MANT_DIG 53\n"},
    {"limits.h", R"(#pragma once
#define CHAR_BIT __CHAR_BIT__
#define SCHAR_MIN (-SCHAR_MAX - 1)
#define SCHAR_MAX __SCHAR_MAX__
#define UCHAR_MAX (SCHAR_MAX * 2 + 1)
#define CHAR_MIN SCHAR_MIN
#define CHAR_MAX SCHAR_MAX
#define SHRT_MIN (-SHRT_MAX - 1)
#define SHRT_MAX __SHRT_MAX__
#define USHRT_MAX (SHRT_MAX * 2 + 1)
#define INT_MIN (-INT_MAX - 1)
#define INT_MAX __INT_MAX__
#define UINT_MAX (INT_MAX * 2U + 1U)
#define LONG_MIN (-LONG_MAX - 1L)
#define LONG_MAX __LONG_MAX__
#define ULONG_MAX (LONG_MAX * 2UL + 1UL)
#define LLONG_MIN (-LLONG_MAX - 1LL)
#define LLONG_MAX __LONG_LONG_MAX__
#define ULLONG_MAX (LLONG_MAX * 2ULL + 1ULL)
#ifndef PATH_MAX
#define NAME_MAX 255
#define PATH_MAX 4096
#endif
)"},
    {"stdint.h", R"(#pragma once
typedef __INT8_TYPE__ int8_t;
typedef __INT16_TYPE__ int16_t;
typedef __INT32_TYPE__ int32_t;
typedef __INT64_TYPE__ int64_t;
typedef __UINT8_TYPE__ uint8_t;
typedef __UINT16_TYPE__ uint16_t;
typedef __UINT32_TYPE__ uint32_t;
typedef __UINT64_TYPE__ uint64_t;
typedef __INTPTR_TYPE__ intptr_t;
typedef __UINTPTR_TYPE__ uintptr_t;
typedef __INTMAX_TYPE__ intmax_t;
typedef __UINTMAX_TYPE__ uintmax_t;
#define INT8_MIN (-128)
#define INT16_MIN (-32767 - 1)
#define INT32_MIN (-2147483647 - 1)
#define INT64_MIN (-__INT64_MAX__ - 1)
#define INT8_MAX __INT8_MAX__
#define INT16_MAX __INT16_MAX__
#define INT32_MAX __INT32_MAX__
#define INT64_MAX __INT64_MAX__
#define UINT8_MAX __UINT8_MAX__
#define UINT16_MAX __UINT16_MAX__
#define UINT32_MAX __UINT32_MAX__
#define UINT64_MAX __UINT64_MAX__
#define INTPTR_MAX __INTPTR_MAX__
#define UINTPTR_MAX __UINTPTR_MAX__
#define SIZE_MAX __SIZE_MAX__
)"},
};

constexpr std::string_view kernel_folders[] = {
    "acpi/",   "asm-generic/", "asm/",  "block/", "bpf/",   "clocksource/", "crypto/",
    "drivers/", "drm/",        "dt-bindings/", "fs/", "generated/", "keys/", "kernel/", "kvm/",
    "linux/",  "math-emu/",    "media/", "memory/", "misc/", "mm/",          "mtd/",
    "net/",    "pcmcia/",      "ras/",  "rdma/",  "rv/",    "scsi/",        "soc/",
    "sound/",  "target/",      "trace/", "uapi/", "ufs/",   "vdso/",        "video/",
    "xen/",    "rxe/",         "sched/", "xfs/",  "ext4/",  "nfs/"};

constexpr std::string_view constants_headers[] = {
    "arpa/inet.h",  "errno.h",      "fcntl.h",      "inttypes.h",   "netinet/in.h",
    "netinet/ip.h", "netinet/tcp.h", "sched.h",     "signal.h",     "stdio.h",
    "stdlib.h",     "string.h",     "sys/errno.h",  "sys/mman.h",   "sys/param.h",   "sys/signal.h",
    "sys/socket.h", "sys/stat.h",   "sys/time.h",   "sys/types.h",  "sys/un.h",      "sys/wait.h",
    "time.h",       "unistd.h",     "sys/syscall.h", "syscall.h",   "netinet/udp.h", "net/if.h",
    "sys/resource.h", "sys/epoll.h", "poll.h",      "pthread.h",     "ctype.h"};

} // namespace

std::string_view builtin_header(std::string_view name) {
  for (const Header& h : builtin_headers)
    if (h.name == name) return h.text;
  return {};
}

bool is_kernel_header(std::string_view name) {
  if (name == "vmlinux.h" || name.ends_with("/vmlinux.h")) return true;
  return std::any_of(std::begin(kernel_folders), std::end(kernel_folders),
                     [&](std::string_view folder) { return name.starts_with(folder); });
}

bool is_constants_header(std::string_view name) { return base::is_one_of(constants_headers, name); }

} // namespace spec
