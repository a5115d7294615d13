<?php
// A page of a shop: the orders of a customer, the newest first. The table has no index on the customer. orders.php fill makes the database.
function database() {
  $db = new PDO("sqlite:" . getenv("ORDERS"));
  $db->setAttribute(PDO::ATTR_ERRMODE, PDO::ERRMODE_EXCEPTION);
  return $db;
}
function fill($db) {
  $db->exec("CREATE TABLE orders (id INTEGER PRIMARY KEY, customer INTEGER, day TEXT, total REAL)");
  $db->beginTransaction();
  $add = $db->prepare("INSERT INTO orders (customer, day, total) VALUES (?, ?, ?)");
  for ($i = 0; $i < 200000; $i++) $add->execute([$i * 7919 % 20000, date("Y-m-d", $i * 3600), $i % 977 / 10]);
  $db->commit();
}
class Orders {
  function __construct(private $db) {}
  function of($customer) {
    $find = $this->db->prepare("SELECT day, total FROM orders WHERE customer = ? ORDER BY day DESC");
    $find->execute([$customer]);
    return $find->fetchAll();
  }
}
function table_of($rows) {
  $out = "";
  foreach ($rows as $row) $out .= "<tr><td>" . htmlspecialchars($row["day"]) . "</td><td>" . number_format($row["total"], 2) . "</td></tr>";
  return "<table>$out</table>";
}
if (PHP_SAPI === "cli") return fill(database());
echo table_of((new Orders(database()))->of(random_int(0, 19999)));
