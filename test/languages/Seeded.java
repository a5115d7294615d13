// Calls methods in many ways, by chance, and writes its own stack down before each trigger (common.py):
// Seeded FOLDER SEED COUNT unlink|spin|sleep|ask [wait] [THREADS]
//
// The trigger is File.delete(), which calls unlink(2). Methods become hot while it runs, so that stacks are of interpreted, compiled and inlined
// methods alike. It runs in Java 8.
import java.io.File;
import java.io.FileWriter;
import java.io.IOException;
import java.io.Writer;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.nio.file.Files;
import java.nio.file.Paths;
import java.security.AccessController;
import java.security.PrivilegedAction;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.function.IntUnaryOperator;
import java.util.stream.IntStream;

public class Seeded implements Runnable {
  static String folder, trigger;
  static int count;
  static final File NOTHING = new File("/nonexistent/acu-seeded");

  final Random random;
  final StringBuilder text = new StringBuilder();
  Writer out;
  int left;
  static volatile long sink;

  Seeded(long seed) { random = new Random(seed); }

  // ------------------------------------------------------------------------------------------- triggers

  int pull() {
    if (left <= 0) return 0;
    left--;
    switch (trigger) {
      case "spin": return spin();
      case "sleep": return sleep();
      case "ask": return ask();
      default: return delete();
    }
  }

  int delete() { write(new Throwable()); return NOTHING.delete() ? 1 : 0; }

  int spin() {
    write(new Throwable()); NOTHING.delete(); for (int n = 0; n < 2000000; n++) sink += n ^ sink; return 1;
  }

  int sleep() {
    write(new Throwable()); NOTHING.delete(); try { Thread.sleep(1); } catch (InterruptedException e) { } return 1;
  }

  int ask() {
    write(new Throwable()); System.out.println("ready"); try { return System.in.read(); } catch (IOException e) { return 0; }
  }

  void write(Throwable at) {
    text.setLength(0);
    for (StackTraceElement e : at.getStackTrace()) {
      final int line = Math.max(0, e.getLineNumber()); // native methods have none
      text.append(e.getClassName()).append('.').append(e.getMethodName()).append('|').append(line == 0 ? "" : e.getFileName()).append('|').append(line).append('\n');
    }
    text.append('\n');
    try {
      out.write(text.toString());
      out.flush();
    } catch (IOException e) {
      throw new RuntimeException(e);
    }
  }

  // -------------------------------------------------------------------------------------- ways to call

  interface Shape { int area(Seeded s, int depth); }
  static class Square implements Shape {
    public int area(Seeded s, int depth) { return s.call(depth) + 1; }
  }
  static class Circle implements Shape {
    public int area(Seeded s, int depth) {
      int x = s.call(depth);
      return x * 3;
    }
  }
  static abstract class Base {
    abstract int run(Seeded s, int depth);
    int twice(Seeded s, int depth) { return run(s, depth); }
  }
  static class Derived extends Base {
    int run(Seeded s, int depth) { return s.call(depth); }
    @Override int twice(Seeded s, int depth) { return super.twice(s, depth) + 1; }
  }
  class Inner {
    int value;
    Inner(int depth) { value = call(depth); }
  }
  static class Failure extends RuntimeException {
    Failure(String text) { super(text, null, false, false); }
  }
  static class Pair<T extends Comparable<T>> implements Comparable<Pair<T>> {
    T first;
    Seeded s;
    int depth;
    public int compareTo(Pair<T> other) {
      if (depth >= 0) s.call(depth);
      depth = -1;
      return first.compareTo(other.first);
    }
  }

  static final Shape[] SHAPES = {new Square(), new Circle()};
  static final Base DERIVED = new Derived();
  static final MethodHandle HANDLE;
  static final java.lang.reflect.Method REFLECTED;
  static {
    try {
      HANDLE = MethodHandles.lookup().findVirtual(Seeded.class, "handled", MethodType.methodType(int.class, int.class));
      REFLECTED = Seeded.class.getDeclaredMethod("reflected", int.class);
    } catch (ReflectiveOperationException e) {
      throw new RuntimeException(e);
    }
  }

  int handled(int depth) { return call(depth); }
  int reflected(int depth) { return call(depth); }
  synchronized int locked(int depth) { return call(depth); }
  int block(int depth) {
    synchronized (SHAPES) {
      return call(depth);
    }
  }
  final int small(int depth) { return call(depth); }
  private int smaller(int depth) { return small(depth); }
  static int fixed(Seeded s, int depth) { return s.smaller(depth); }
  int wide(long a, double b, int c, Object d, float e, long f, short g, int h, double i, int depth) {
    return call(depth) + (int) (a + b + c + e + f + g + h + i);
  }
  int descend(int levels, int depth) { return levels == 0 ? call(depth) : descend(levels - 1, depth) + 1; }
  int loop(int depth) {
    int sum = 0;
    for (int i = 0; i < 40; i++) {
      sum += i * 7 % 5;
      if (i == 20) sum += call(depth);
    }
    return sum;
  }
  int hot(int depth) {
    long sum = 0;
    for (int i = 0; i < 70000; i++) sum += i ^ sum;
    sink = sum;
    int x = call(depth);
    return x;
  }
  int fails(int depth) {
    try {
      call(depth);
      throw new Failure("expected");
    } catch (Failure e) {
      return call(depth > 1 ? 1 : 0);
    } finally {
      sink++;
    }
  }
  int divides(int depth) {
    try {
      return 1 / (depth - depth);
    } catch (ArithmeticException e) {
      return call(depth);
    }
  }
  int missing(Shape none, int depth) {
    try {
      return none.area(this, depth);
    } catch (NullPointerException e) {
      return call(depth);
    }
  }

  int call(int depth) {
    if (depth <= 0) return pull();
    final int next = depth - 1;
    switch (random.nextInt(24)) {
      case 0: return SHAPES[random.nextInt(2)].area(this, next);
      case 1: return DERIVED.twice(this, next);
      case 2: return new Inner(next).value;
      case 3: return fixed(this, next);
      case 4: return locked(next);
      case 5: return block(next);
      case 6: return wide(1, 2, 3, this, 4, 5, (short) 6, 7, 8, next);
      case 7: return descend(random.nextInt(12), next);
      case 8: return loop(next);
      case 9: return fails(next);
      case 10: return missing(null, next);
      case 11: return divides(next);
      case 12: {
        IntUnaryOperator f = x -> call(x);
        return f.applyAsInt(next);
      }
      case 13: {
        Callable<Integer> f = () -> handled(next);
        try {
          return f.call();
        } catch (Exception e) {
          throw new RuntimeException(e);
        }
      }
      case 14: {
        IntUnaryOperator f = this::reflected;
        return f.applyAsInt(next);
      }
      case 15:
        try {
          return (int) HANDLE.invokeExact(this, next);
        } catch (Throwable e) {
          throw new RuntimeException(e);
        }
      case 16:
        try {
          return (Integer) REFLECTED.invoke(this, next);
        } catch (ReflectiveOperationException e) {
          throw new RuntimeException(e);
        }
      case 17: return AccessController.doPrivileged((PrivilegedAction<Integer>) () -> call(next));
      case 18: {
        Map<String, Integer> map = new HashMap<>();
        return map.computeIfAbsent("key", key -> call(next));
      }
      case 19: {
        List<Pair<Integer>> pairs = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
          Pair<Integer> p = new Pair<>();
          p.first = random.nextInt(9);
          p.s = this;
          p.depth = i == 1 ? next : -1;
          pairs.add(p);
        }
        java.util.Collections.sort(pairs);
        return pairs.get(0).first;
      }
      case 20: return IntStream.range(0, 1).map(i -> call(next)).sum();
      case 21: {
        Integer[] numbers = {3, 1};
        boolean[] done = {false};
        Arrays.sort(numbers, (a, b) -> {
          if (!done[0]) call(next);
          done[0] = true;
          return a - b;
        });
        return numbers[0];
      }
      case 22: return random.nextInt(20) == 0 ? hot(next) : call(next);
      default: return call(next) + 1;
    }
  }

  public void run() {
    try {
      final String thread = Files.readSymbolicLink(Paths.get("/proc/thread-self")).getFileName().toString();
      out = new FileWriter(new File(folder, thread));
      for (left = count; left > 0; ) call(1 + random.nextInt(30));
      out.close();
    } catch (IOException e) {
      throw new RuntimeException(e);
    }
  }

  public static void main(String[] words) throws Exception {
    folder = words[0];
    count = Integer.parseInt(words[2]);
    trigger = words[3];
    int threads = 1;
    for (int i = 4; i < words.length; i++) {
      if (words[i].equals("wait")) {
        System.out.println("ready");
        System.in.read();
      } else {
        threads = Integer.parseInt(words[i]);
      }
    }
    Thread[] all = new Thread[threads];
    for (int i = 0; i < threads; i++) {
      all[i] = new Thread(null, new Seeded(Long.parseLong(words[1]) + i), "acu-seeded", 64 << 20);
      all[i].start();
    }
    for (Thread t : all) t.join();
    Thread.sleep(500); // debug information of code that was just compiled is read from the process
  }
}
