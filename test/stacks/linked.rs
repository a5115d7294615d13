// linked.cc in Rust, as a compiler of 2022 takes it.
use std::hint::black_box;
use std::os::raw::{c_int, c_void};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

extern "C" {
    fn call_back(function: extern "C" fn());
    fn clock() -> i64;
    fn qsort(base: *mut c_void, count: usize, size: usize, compare: extern "C" fn(*const c_void, *const c_void) -> c_int);
}

// Another number in each turn, so that no clock keeps in step with them.
static ROUNDS: AtomicU64 = AtomicU64::new(20000);

#[inline(never)]
fn spin(rounds: u64) {
    let mut x = black_box(1u64); // in a register: how fast memory is may depend on who calls
    for _ in 0..rounds {
        x = x.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
    }
    black_box(x);
}

#[inline(never)]
fn three() {
    spin(3 * ROUNDS.load(Relaxed));
    black_box(());
}

#[inline(never)]
extern "C" fn one() {
    spin(ROUNDS.load(Relaxed));
    black_box(());
}

extern "C" fn compare(_: *const c_void, _: *const c_void) -> c_int {
    one();
    black_box(0)
}

#[inline(never)]
fn in_turn() {
    let mut pair = [1i32, 2];
    three();
    unsafe {
        qsort(pair.as_mut_ptr() as *mut c_void, 2, 4, compare);
        call_back(one);
    }
    black_box(pair);
}

fn main() {
    let mut last = 1u32;
    let longest: i64 = std::env::args().nth(1).map_or(100, |word| word.parse().unwrap());
    while unsafe { clock() } < longest * 1000 {
        last = last.wrapping_mul(1664525).wrapping_add(1013904223);
        ROUNDS.store(10000 + u64::from(last >> 16) % 20000, Relaxed);
        in_turn();
    }
}
