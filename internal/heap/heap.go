// Package heap keeps the garbage collector from running all the time in a busy service that holds
// little.
//
//	heap.KeepFloor() // once the service has started
//
// By default Go collects when the heap has doubled since the last collection. A service that holds
// 15 MiB and makes 150 MiB of garbage a second collects ten times a second, and a tenth of its work
// is that. With a floor the heap may grow to [Floor] first, or to nine times of what is held when that
// is less. Once the service holds half of Floor, nothing differs from the default, though one collection
// may come late by that factor where much is added all at once. Whoever sets GOGC or GOMEMLIMIT has
// decided otherwise and is left alone.
//
// The setting is the process's, and safe to ask for from any goroutine, again and again.
package heap

import (
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync"
)

// Floor is the size, in bytes, to which the heap may grow while a ninth of it to a half is held.
const Floor = 128 << 20

// The percentage that Go uses by default, and the highest that is set. Go multiplies its smallest
// heap, 4 MiB, by it as well.
const (
	usual = 100
	most  = 800
)

var once sync.Once

// KeepFloor has the percentage of the garbage collector follow each collection. What the start of the service left
// goes back to the system, once.
func KeepFloor() {
	once.Do(func() {
		if !decided() {
			follow(usual)
		}
		go debug.FreeOSMemory()
	})
}

// decided reports whether the environment says what is to be done.
func decided() bool { return os.Getenv("GOGC") != "" || os.Getenv("GOMEMLIMIT") != "" }

// follow sets the percentage, which is current, after each collection from now on: an object that
// nobody holds is found in the next one.
func follow(current int) {
	current = adjust(current)
	runtime.AddCleanup(new([64]byte), follow, current)
}

// adjust sets the percentage where it is off by a tenth, and returns which one is set then. A change
// stops the world for a moment.
func adjust(current int) int {
	s := []metrics.Sample{{Name: "/gc/heap/live:bytes"}, {Name: "/gc/scan/stack:bytes"}, {Name: "/gc/scan/globals:bytes"}}
	metrics.Read(s)
	p := percent(s[0].Value.Uint64(), s[1].Value.Uint64()+s[2].Value.Uint64())
	if p >= current-current/10 && p <= current+current/10 {
		return current
	}
	debug.SetGCPercent(p)
	return p
}

// percent is the percentage with which the heap reaches Floor before the next collection, within
// bounds. Go adds it of all that was scanned, roots included, to what is live.
func percent(live, roots uint64) int {
	if live == 0 || live >= Floor {
		return usual
	}
	return min(most, max(usual, int(100*(Floor-live)/(live+roots))))
}
