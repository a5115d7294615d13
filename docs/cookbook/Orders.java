// A program in Java for docs/languages.md: prices orders for two seconds.
import java.util.ArrayList;
import java.util.List;

public class Orders {
  record Line(String article, int count) {}

  static List<Line> read(String text) {
    List<Line> lines = new ArrayList<>();
    for (String part : text.split(","))
      lines.add(new Line(part.trim(), part.length()));
    return lines;
  }

  static double price(Line line) {
    double price = line.count();
    for (int i = 0; i < 2000; i++) price = discount(price + i);
    return price;
  }

  static double discount(double price) { return price > 100 ? price * 0.97 : price; }

  static double total(List<Line> lines) {
    double sum = 0;
    for (Line line : lines) sum += price(line);
    return sum;
  }

  public static void main(String[] words) {
    double all = 0;
    for (long end = System.nanoTime() + 2000000000L; System.nanoTime() < end; )
      all += total(read("spoon, fork, knife, plate, cup, saucer"));
    System.out.println(all > 0 ? "priced" : "nothing");
  }
}
