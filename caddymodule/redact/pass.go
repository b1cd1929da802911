package redact

import (
	"fmt"
	"strings"

	"github.com/svc-gateway/svc/internal/media"
)

// passes reports whether a body passes untouched: it is no text, or the configuration says so.
func (h *Handler) passes(b media.Body) bool {
	if b.Ambiguous {
		return false
	}
	for _, p := range h.Pass {
		if p == b.Type || strings.HasSuffix(p, "/*") && strings.HasPrefix(b.Type, p[:len(p)-1]) {
			return true
		}
	}
	return b.Kind == media.Binary || b.Kind == media.GRPC // whose frames say how long they are
}

func checkMedia(media string) error {
	major, minor, ok := strings.Cut(media, "/")
	switch {
	case !ok || major == "" || minor == "" || strings.ContainsAny(media, "; \t"):
		return fmt.Errorf("%q is not a media type such as application/x-protobuf or model/*", media)
	case major == "*":
		return fmt.Errorf("%q would pass everything: leave svc_redact out instead", media)
	case strings.ToLower(media) != media:
		return fmt.Errorf("%q has to be written in lower case", media)
	}
	return nil
}
