/* SPDX-License-Identifier: 0BSD */
/* Times a function: rustc -O time-a-function.rs && ./time-a-function
 * In the edition of 2024, write unsafe before the line of extern. */
use std::ffi::CStr;
use std::os::raw::c_char;

#[link(name = "cpucycles")]
extern "C" {
    fn cpucycles_count() -> i64;
    fn cpucycles_interruptions() -> i64;
    fn cpucycles_implementation() -> *const c_char;
    fn cpucycles_kind() -> *const c_char;
}

const CALLS: usize = 50; /* in a row: many steps of the counter */
const TIMINGS: usize = 1001;

fn cpucycles() -> i64 {
    unsafe { cpucycles_count() }
}

/* The same as cpucycles_fence() in the C header. For other architectures,
 * compile fence.c and call its function. */
fn fence() {
    #[cfg(target_arch = "x86_64")]
    unsafe { core::arch::x86_64::_mm_lfence() };
    #[cfg(target_arch = "aarch64")]
    unsafe { core::arch::asm!("isb") };
}

/* The same as std::hint::black_box(), which Rust has had since 1.66. */
fn opaque<T: Copy>(value: T) -> T {
    unsafe { std::ptr::read_volatile(&value) }
}

/* As in time-a-function.c. Not the array itself is opaque but where it lies, or
 * each call would copy it. */
fn function() {
    let mut hash = 0xcbf29ce484222325u64;
    for byte in opaque(&[0u8; 50]) {
        hash = (hash ^ u64::from(*byte)).wrapping_mul(0x100000001b3);
    }
    opaque(hash);
}

/* Cycles per call, median, of timings that nothing interrupted. */
fn cycles(timed: fn(), dropped: &mut usize) -> f64 {
    let mut row = Vec::with_capacity(TIMINGS);
    for _ in 0..TIMINGS {
        let before = unsafe { cpucycles_interruptions() };
        let start = cpucycles();
        for _ in 0..CALLS {
            fence();
            opaque(timed)();
            fence();
        }
        row.push(cpucycles() - start);
        if unsafe { cpucycles_interruptions() } != before {
            row.pop();
            *dropped += 1;
        }
    }
    row.sort_unstable();
    row[row.len() / 2] as f64 / CALLS as f64
}

fn main() {
    cpucycles(); /* the first call selects the counter */
    let (mut lost, all) = (0, 2 * TIMINGS);
    let net = cycles(function, &mut lost) - cycles(|| (), &mut lost);
    let text = |name| unsafe { CStr::from_ptr(name) }.to_str().unwrap();
    let counter = text(unsafe { cpucycles_implementation() });
    let kind = text(unsafe { cpucycles_kind() });
    println!("{net:.1} cycles ({counter}, {kind}), {lost} of {all} dropped");
}
