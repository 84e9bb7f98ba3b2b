// SPDX-License-Identifier: 0BSD

// Cycles beside the times of Go's benchmarks:
// go test -bench=. cycles.go cycles_test.go
//
// A byte takes 4 cycles on most CPUs, whatever their clock does: 1 to combine
// it, 3 to multiply, and each waits for the one before.
package cycles

import "testing"

var (
	message [1000]byte
	hash    uint64
)

func BenchmarkFnv(b *testing.B) {
	defer Report(b)()
	for i := 0; i < b.N; i++ {
		h := hash
		for _, c := range message[:] {
			h = (h ^ uint64(c)) * 0x100000001b3
		}
		hash = h
	}
}

// BenchmarkCount is what a count takes: most of it is the call of C.
func BenchmarkCount(b *testing.B) {
	defer Report(b)()
	for i := 0; i < b.N; i++ {
		Count()
	}
}
