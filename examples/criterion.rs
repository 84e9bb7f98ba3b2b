/* SPDX-License-Identifier: 0BSD */
/* Cycles in place of Criterion's times. This is benches/criterion.rs of a
 * package with these lines in Cargo.toml; cargo bench runs it.
 *
 *     [dev-dependencies]
 *     criterion = "*"
 *     [[bench]]
 *     name = "criterion"
 *     harness = false
 *
 * A byte takes 4 cycles on most CPUs, whatever their clock does: 1 to combine
 * it, 3 to multiply, and each waits for the one before. */
use criterion::measurement::{Measurement, ValueFormatter};
use criterion::{criterion_group, criterion_main, Criterion, Throughput};

/* In the edition of 2024, write unsafe before the line of extern. */
#[link(name = "cpucycles")]
extern "C" {
    fn cpucycles_count() -> i64;
}

struct Cycles;

impl Measurement for Cycles {
    type Intermediate = i64;
    type Value = i64;

    fn start(&self) -> i64 {
        unsafe { cpucycles_count() }
    }
    fn end(&self, start: i64) -> i64 {
        self.start() - start
    }
    fn add(&self, a: &i64, b: &i64) -> i64 {
        a + b
    }
    fn zero(&self) -> i64 {
        0
    }
    fn to_f64(&self, count: &i64) -> f64 {
        *count as f64
    }
    fn formatter(&self) -> &dyn ValueFormatter {
        self
    }
}

impl ValueFormatter for Cycles {
    fn scale_values(&self, _: f64, _: &mut [f64]) -> &'static str {
        "cycles"
    }
    fn scale_throughputs(&self, _: f64, each: &Throughput, counts: &mut [f64]) -> &'static str {
        if let Throughput::Bytes(n) = each {
            counts.iter_mut().for_each(|count| *count /= *n as f64);
            return "cycles/byte";
        }
        "cycles"
    }
    fn scale_for_machines(&self, _: &mut [f64]) -> &'static str {
        "cycles"
    }
}

fn fnv(criterion: &mut Criterion<Cycles>) {
    let message = [0u8; 1000];
    let mut hash = 0xcbf29ce484222325u64;
    let mut group = criterion.benchmark_group("cpucycles");

    group.throughput(Throughput::Bytes(message.len() as u64));
    group.bench_function("fnv", |bencher| {
        bencher.iter(|| {
            for byte in criterion::black_box(&message) {
                hash = (hash ^ u64::from(*byte)).wrapping_mul(0x100000001b3);
            }
            hash
        })
    });
}

criterion_group! {
    name = benches;
    config = Criterion::default().with_measurement(Cycles);
    targets = fnv
}
criterion_main!(benches);
