// SPDX-License-Identifier: 0BSD

// Package cycles counts cycles for Go's benchmarks: see cycles_test.go.
package cycles

// #cgo LDFLAGS: -lcpucycles
// #include <cpucycles.h>
import "C"
import (
	"runtime"
	"testing"
)

// Count is the number of cycles so far. Only counts of the same thread may be
// subtracted, and the scheduler moves goroutines: see runtime.LockOSThread.
func Count() int64 { return int64(C.cpucycles_count()) }

// Kind says what is counted: "core" and "calibrated" are cycles of the core.
func Kind() string { return C.GoString(C.cpucycles_kind()) }

// Report makes a benchmark report cycles/op beside ns/op: its first line is
//
//	defer cycles.Report(b)()
//
// It includes what runs while the timer is stopped, and may leave out the other
// goroutines of b.RunParallel: use Count there.
func Report(b *testing.B) func() {
	runtime.LockOSThread()
	start := Count()
	return func() {
		count := Count() - start
		runtime.UnlockOSThread()
		b.ReportMetric(float64(count)/float64(b.N), "cycles/op")
	}
}
