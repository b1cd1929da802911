package settings

// Output says what is asked of the answers of agents.
type Output struct {
	// Retry asks a model once more whose answer is of no use. Default: true.
	Retry bool
	// MaxBytes is the length from which an answer is flagged; 0: none is. Default: 128 KiB.
	MaxBytes int64
}
