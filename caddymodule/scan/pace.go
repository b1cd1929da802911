package scan

import (
	"errors"
	"runtime"
	"time"

	"github.com/svc-gateway/svc/internal/turns"
)

// What a body may cost. A large one is scanned in turns with all others, so that most of the
// processors stay free for requests that cost little.
const (
	// freely is how many bytes of a body are scanned without a turn, which costs about as much as
	// what a handler does anyway, and freelyAgain how many more each second: no stream of events
	// has to wait.
	freely      = 16 << 10
	freelyAgain = 64 << 10
	// stint is how many bytes are scanned before the turn is somebody else's.
	stint = 64 << 10
)

// processors are the places for scanning. They are those of the process, hence of all handlers of all
// configurations.
var processors = turns.New(runtime.GOMAXPROCS(0) - 1)

// pace is how fast a body may be scanned.
type pace struct {
	left int       // may be scanned without a turn
	at   time.Time // when left was reckoned
	turn *turns.Turn
	used int // of the stint, 0 where there is no turn
}

// enter waits until n bytes may be scanned. Where that takes too long, or the client is gone, it
// returns false, and the body is refused.
func (rep *report) enter(n int) bool {
	p := &rep.pace
	if n > p.left {
		now := time.Now()
		p.left = min(freely, p.left+int(now.Sub(p.at).Seconds()*freelyAgain))
		p.at = now
	}
	if n <= p.left {
		p.left -= n
		return true
	}
	if rep.failure() != nil {
		return false
	}
	if p.turn == nil {
		p.turn = processors.Join(rep.holder())
	}
	if p.used > 0 && p.used+n > stint {
		rep.giveWay()
	}
	if err := p.turn.Take(rep.request.Context(), rep.handler.wait()); err != nil {
		if errors.Is(err, turns.ErrBusy) {
			err = errBusy
		}
		rep.fail(err)
		return false
	}
	p.used += n
	return true
}

// giveWay ends the turn, if it is this body's.
func (rep *report) giveWay() {
	p := &rep.pace
	if p.turn == nil || p.used == 0 {
		return
	}
	p.used = 0
	if p.turn.Give() {
		runtime.Gosched()
	}
}
