// Values of Rust in all their variants.
#![allow(dead_code)]
use std::collections::HashMap;
enum Shape { Circle(f64), Rect { w: i32, h: i32 }, Empty }
struct Holder { name: String, list: Vec<u16>, maybe: Option<i32>, none: Option<i32>, boxed: Option<Box<i32>>, nobox: Option<Box<i32>>, result: Result<i32, String>, failed: Result<i32, String>, shapes: [Shape; 3], slice: &'static str, pair: (i32, String), nums: Vec<Vec<i32>>, big: Option<u64> }
#[inline(never)]
fn stop(h: &Holder, m: &HashMap<i32, i32>) { if h.list.len() == 3 && m.len() == 1 { std::process::abort(); } }
fn main() {
    let h = Holder { name: "acu".to_string(), list: vec![1, 2, 3], maybe: Some(5), none: None, boxed: Some(Box::new(7)), nobox: None, result: Ok(3), failed: Err("bad".to_string()),
        shapes: [Shape::Circle(1.5), Shape::Rect { w: 2, h: 3 }, Shape::Empty], slice: "static", pair: (1, "x".to_string()), nums: vec![vec![1], vec![2, 3]], big: Some(9) };
    let mut m = HashMap::new(); m.insert(1, 2);
    stop(&h, &m);
}
