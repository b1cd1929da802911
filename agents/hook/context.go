package hook

import "context"

type contextKey struct{}

// NewContext returns a context from which [Fire] fires with h.
func NewContext(ctx context.Context, h *Hooks) context.Context {
	return context.WithValue(ctx, contextKey{}, h)
}

// Fire is [Hooks.Fire] with the hooks of the context, which the body of a tool is given. Without any the
// error is ErrNoHooks.
func Fire(ctx context.Context, event string, kv ...string) error {
	h, ok := ctx.Value(contextKey{}).(*Hooks)
	if !ok {
		return ErrNoHooks
	}
	return h.Fire(event, kv...)
}
