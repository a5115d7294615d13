// A program that makes calls as those of 32 bits do, and ends with one of 64 bits. Its memory is below 4 GB: built -static -no-pie.
static long call(long n, long a, long b, long c) { long r; asm volatile("int $0x80" : "=a"(r) : "a"(n), "b"(a), "c"(b), "d"(c) : "memory", "r8", "r9", "r10", "r11"); return r; }
static long call64(long n, long a) { long r; asm volatile("syscall" : "=a"(r) : "a"(n), "D"(a) : "memory", "rcx", "r11"); return r; }
static char path[] = "/etc/hostname", text[64];
void _start(void) {
  long fd = call(5, (long)path, 0, 0);   // open
  long n = call(3, fd, (long)text, 64);  // read
  call(4, 1, (long)text, n);             // write
  call(6, fd, 0, 0);                     // close
  call(20, 0, 0, 0);                     // getpid
  call(33, (long)"/nonexistent", 4, 0);  // access
  call(195, (long)path, (long)text, 0);  // stat64
  call(102, 1, (long)text, 0);           // socketcall
  call(90, 0, 0, 0);                     // mmap of old
  call64(60, 3);                         // exit, of 64 bits
}
