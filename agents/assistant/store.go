package assistant

import (
	"context"
	"iter"
)

// Store keeps the assistants that users made. Implementations are safe for concurrent use by several
// processes. What a method has returned without error is there after a crash of the process. Errors of
// the storage itself match [agents.ErrUnavailable].
type Store interface {
	// CreateAssistant keeps a new assistant as its version 1. The error is ErrExists when there is one with
	// its id, and ErrFull when its owner has as many as allowed.
	CreateAssistant(ctx context.Context, a Assistant, most int) error
	Assistant(ctx context.Context, id string) (Assistant, error)
	// Assistants yields those of an owner, everybody's when it is empty, in the order of their ids.
	Assistants(ctx context.Context, owner string) iter.Seq2[Assistant, error]
	// AddVersion keeps an assistant as its newest version, which becomes the present one, if the present one
	// is still a.Version; else nothing happens and changed is false. It returns the assistant with its new
	// version. The error is ErrFull when there are as many versions as allowed.
	AddVersion(ctx context.Context, a Assistant, most int) (kept Assistant, changed bool, err error)
	// AssistantVersions are all versions of an assistant, the newest first.
	AssistantVersions(ctx context.Context, id string) ([]Assistant, error)
	// SetVersion makes a version the present one; the error is ErrVersionNotFound.
	SetVersion(ctx context.Context, id string, version int) (Assistant, error)
	// DeleteAssistant removes an assistant with its versions. That there is none is no error.
	DeleteAssistant(ctx context.Context, id string) error
}
