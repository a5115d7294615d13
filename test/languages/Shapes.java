// Programs with known stacks, for java.py: Shapes NAME [ARGUMENT]. It runs in Java 8.
import java.io.File;

public class Shapes {
  static final File NOTHING = new File("/nonexistent/acu-shapes");
  static volatile long sink;

  static boolean descend(int depth) {
    if (depth > 0) return descend(depth - 1);
    return NOTHING.delete();
  }
  static void deep(int depth) { descend(depth); }

  // Of a CPU, in nanoseconds.
  static long spent() { return java.lang.management.ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime(); }

  // That many tenths of 104.3 ms of this thread: no multiple of a sampling period.
  static void busy(int share) {
    for (long end = spent() + share * 10430000L; spent() < end; )
      for (int i = 0; i < 20000; i++) sink += i ^ sink;
  }
  static void seventy() { busy(7); }
  static void twenty() { busy(2); }
  static void ten() { busy(1); }
  static void shares(int seconds) {
    for (long end = spent() + seconds * 1000000000L; spent() < end; ) {
      seventy();
      twenty();
      ten();
    }
  }

  // Methods that the compiler puts into their caller; nothing but the sums is left of them.
  static int first(int x) { return x * 31 + 7; }
  static int second(int x) { return first(x) ^ x >> 3; }
  static void spin(int seconds) {
    int x = 1;
    for (long end = spent() + seconds * 1000000000L; spent() < end; )
      for (int i = 0; i < 1000000; i++) x = second(x);
    sink = x;
  }

  public static void main(String[] words) {
    int argument = words.length > 1 ? Integer.parseInt(words[1]) : 0;
    switch (words[0]) {
      case "deep": deep(argument); break;
      case "shares": shares(argument); break;
      case "spin": spin(argument); break;
      default: throw new IllegalArgumentException(words[0]);
    }
  }
}
