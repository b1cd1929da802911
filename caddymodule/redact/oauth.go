package redact

import (
	"encoding/json"
	"net/http"

	"github.com/svc-gateway/svc/internal/media"
	"github.com/svc-gateway/svc/scanner/redact"
)

// maxTokenAnswer is how much of an answer is kept to know whether it is one of a token endpoint.
const maxTokenAnswer = 64 << 10

// tokenFields are the credentials in such an answer (RFC 6749, section 5.1; OpenID Connect Core,
// section 3.1.3.3).
var tokenFields = []string{"access_token", "refresh_token", "id_token"}

// mayIssue reports whether a response may be the answer of a token endpoint.
func mayIssue(r *http.Request, code int, b media.Body) bool {
	return r.Method == http.MethodPost && code == http.StatusOK && b.Kind == media.JSON
}

// isTokenAnswer reports whether the document is one.
func isTokenAnswer(doc []byte) bool {
	var answer struct {
		AccessToken string `json:"access_token"`
		TokenType   string `json:"token_type"`
	}
	return json.Unmarshal(doc, &answer) == nil && answer.AccessToken != "" && answer.TokenType != ""
}

// tokens redacts a document, in which the credentials stay if it is the answer of a token endpoint.
type tokens struct {
	known   func(*redact.Allowed) *redact.Secrets
	allowed *redact.Allowed
	kept    []byte
	body    redact.Stream // once it is too long to be one
}

// Append implements redact.Stream.
func (t *tokens) Append(dst, src []byte) []byte {
	if t.body != nil {
		return t.body.Append(dst, src)
	}
	if t.kept = append(t.kept, src...); len(t.kept) <= maxTokenAnswer {
		return dst
	}
	t.body = t.known(t.allowed).JSONStream()
	return t.body.Append(dst, t.kept)
}

// Close implements redact.Stream.
func (t *tokens) Close(dst []byte) []byte {
	if t.body == nil {
		allowed := *t.allowed
		if isTokenAnswer(t.kept) {
			allowed.Fields = append(tokenFields[:len(tokenFields):len(tokenFields)], allowed.Fields...)
		}
		t.body = t.known(&allowed).JSONStream()
		dst = t.body.Append(dst, t.kept)
	}
	return t.body.Close(dst)
}
