// A program (-DMAIN) and a library that has a variable and two functions.
#ifdef MAIN
int first(int), second(int);
int main(void) { return first(1) + second(2) == 0; }
#else
int shared_number = 1000;
__thread int of_thread;
__attribute__((noinline)) int first(int n) { return shared_number += n; }
__attribute__((noinline)) int second(int n) { return (shared_number += n) + of_thread; }
#endif
