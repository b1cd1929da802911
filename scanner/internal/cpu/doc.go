// Package cpu tells tests and benchmarks of the scanner how much processor time something takes. The clock on
// the wall tells little on a busy machine.
//
//	runtime.LockOSThread()
//	began := cpu.Time()
//	…
//	took := cpu.Time() - began
//
// # Guarantees
//
// On Linux it is the time of the thread; elsewhere it is that of the wall.
//
// # Concurrency
//
// Time is safe for concurrent use. It is that of the calling thread, so a goroutine that measures stays on its thread.
package cpu
