package settings

import (
	"errors"
	"fmt"
	"time"
)

// After which answers a model is asked what to remember, for memory.capture.
const (
	CaptureCued   = "cued"
	CaptureAlways = "always"
	CaptureNever  = "never"
)

// Memory says what agents know from earlier conversations.
type Memory struct {
	// Enabled has agents told of memories, and memories written. Default: true.
	Enabled bool
	// Capture says after which answers memories are written: cued, always or never. Default: cued.
	Capture string
	// Recall is how many memories an agent is told of at most. Default: 8.
	Recall int
	// Entries is how many memories a user has at most. Default: 5000.
	Entries int
	// Bytes is what the texts of a user's memories take at most. Default: 2 MiB.
	Bytes int64
	// HalfLife is the time after which a memory that was not learned again counts half as much. Default: 2160h.
	HalfLife time.Duration
	// Keep is how long a memory is kept that was neither learned again nor recalled. Default: 8760h.
	Keep time.Duration
	// EmbeddingsURL is the address of the API of a server that turns texts into vectors. Default: none is asked.
	EmbeddingsURL string
	// EmbeddingsModel is the model's name as that server knows it. Required with EmbeddingsURL.
	EmbeddingsModel string
	// EmbeddingsKey is where the API key is. Default: none is sent.
	EmbeddingsKey Reference
	// EmbeddingsTimeout is how long one request may take. Default: 1s.
	EmbeddingsTimeout time.Duration
}

func (m Memory) check() error {
	if m.EmbeddingsURL != "" && m.EmbeddingsModel == "" {
		return About(errors.New("memory.embeddings_model is missing: the server needs the model's name as it knows it"), "memory.embeddings_url")
	}
	return nil
}

func (m Memory) checkSecrets(env func(string) (string, bool)) error {
	if m.EmbeddingsKey == "" {
		return nil
	}
	if _, err := m.EmbeddingsKey.Reveal(env); err != nil {
		return About(fmt.Errorf("memory.embeddings_key: %w", err), "memory.embeddings_key")
	}
	return nil
}

func checkCapture(mode string) error {
	switch mode {
	case CaptureCued, CaptureAlways, CaptureNever:
		return nil
	}
	return errors.New("use cued, always or never")
}
