// Functions of the C library that no exception and no cancelled thread passes through: its headers declare them so
// (__THROW: they call nothing of the program, and are no cancellation points), and the standard of C++ declares so the
// allocation functions of both languages but the plain `operator new`. A program that lets one pass nevertheless has no
// defined behaviour without acu either. Names may have wildcards (also for variants, such as
// "__memmove_avx_unaligned_erms"), and are compared without leading underscores.
//
// Exceptions that a handler of a signal throws are left out of account: the languages don't allow them.
#pragma once

#include <cstdint>
#include <string_view>

namespace spec {

// Whatever file has them: programs bring allocators of their own.
inline constexpr std::string_view nothrow_allocation_functions =
    "malloc calloc realloc reallocarray free cfree memalign aligned_alloc posix_memalign valloc pvalloc malloc_usable_size "
    "mallocx rallocx xallocx dallocx sdallocx nallocx je_malloc je_calloc je_realloc je_free je_memalign je_aligned_alloc "
    "je_posix_memalign je_valloc je_mallocx je_rallocx je_dallocx je_sdallocx "
    "ZnwmRKSt9nothrow_t ZnamRKSt9nothrow_t ZnwmSt11align_val_tRKSt9nothrow_t ZnamSt11align_val_tRKSt9nothrow_t ZdlPv* ZdaPv*";

// Of the C library alone.
inline constexpr std::string_view nothrow_library_functions =
    "str* stp* mem* wcs* wcp* wmem* mbr* mbs* wcr* isal* isasc* isblank* iscntrl* isctype* isdigit* isgraph* "
    "islower* isprint* ispunct* isspace* isupper* isw* isxdigit* to* rawmemchr ffs* bcmp bcopy bzero index rindex libc_malloc libc_calloc "
    "libc_realloc libc_free mallinfo* mallopt malloc_trim malloc_stats ato* abs labs llabs div ldiv lldiv rand* srand* random* srandom* "
    "drand48* lrand48* mrand48* getenv secure_getenv setenv unsetenv putenv clearenv realpath mkdtemp "
    "pthread_mutex_* pthread_rwlock_* pthread_spin_* pthread_cond_signal pthread_cond_broadcast pthread_cond_init pthread_cond_destroy "
    "pthread_barrier_init pthread_self pthread_equal pthread_attr_init pthread_attr_destroy pthread_attr_getstack* pthread_attr_setstack* pthread_getspecific pthread_setspecific pthread_key_* "
    "pthread_create pthread_detach pthread_kill pthread_sigmask sem_post sem_init sem_destroy sem_trywait sem_getvalue "
    "time clock clock_gettime clock_getres clock_settime gettimeofday localtime* gmtime* mktime timegm strftime ctime* asctime* times "
    "getpid getppid gettid getuid geteuid getgid getegid getpgid getsid getpagesize sysconf uname gethostname getcwd chdir fchdir "
    "getrlimit* setrlimit* getrusage nice getpriority setpriority sched_* "
    "socket socketpair bind listen getsockname getpeername getsockopt setsockopt shutdown inet_* hton* ntoh* "
    "mmap* munmap mprotect madvise mremap mlock* munlock* brk sbrk shmget shmat shmdt shmctl "
    "stat* fstat* lstat* access faccessat chmod fchmod* chown fchown* lchown umask mkdir* mknod* rmdir link* unlink* symlink* readlink* "
    "rename* truncate* ftruncate* dup dup2 dup3 pipe pipe2 isatty ttyname* epoll_create* epoll_ctl eventfd timerfd_* signalfd inotify_* "
    "kill killpg sigaction sigprocmask sigemptyset sigfillset sigaddset sigdelset sigismember sigpending alarm setitimer getitimer ioctl "
    "setlocale localeconv *gettext textdomain bindtextdomain nl_langinfo dlsym dlvsym dlerror dladdr* errno_location fileno ferror feof";

// Names of files (DT_SONAME, up to ".so") that these are in.
inline constexpr std::string_view c_library_files = "libc libpthread libm librt libdl ld-linux-x86-64 ld-musl-x86_64";

// Files whose tables of handlers (.gcc_except_table) tell nothing of a program's exceptions: they are for what the C
// library has to release when a thread is cancelled, the unwinder's own, and those of libraries of C++ that catch only
// what they throw themselves (allocators, when there is no memory; ICU throws nothing).
inline constexpr std::string_view files_without_handlers =
    "libc libpthread libm librt libdl libresolv libanl libutil libnsl ld-linux-x86-64 ld-musl-x86_64 libgcc_s libstdc++ libc++ libc++abi "
    "libunwind libjemalloc libtcmalloc libtcmalloc_minimal libicudata libicuuc libicui18n libicuio";

// What a probe at a return instruction adds to a call: the kernel has the processor execute the instruction alone, with two
// more traps (15 us in a virtual machine on AMD EPYC; less where traps don't leave the machine).
inline constexpr uint64_t return_instruction_ns = 15'000;

} // namespace spec
