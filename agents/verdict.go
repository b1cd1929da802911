package agents

// verdict is what the gate says to a call: one of admitted, waiting and refused.
type verdict interface{ isVerdict() }

type (
	// admitted is a call that may start: its intent is recorded.
	admitted struct {
		intent   *intent
		analysis *analysis
		leave    Leave // zero: none was needed
	}
	// waiting is a call that needs leave from outside and does not have it yet.
	waiting struct {
		leave Leave
		where string
		input string   // the arguments, if they are not as the model wrote them
		fatal *Failure // the run cannot go on
	}
	// refused is a call that does not start.
	refused struct {
		outcome
		leave Leave // zero: it was not asked for
	}
)

func (admitted) isVerdict() {}
func (waiting) isVerdict()  {}
func (refused) isVerdict()  {}
