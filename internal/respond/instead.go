package respond

import (
	"net/http"
	"strings"
)

// Instead has answer write in place of the handler's response, of which nothing may have been sent. Of its
// header only what is not the response's own stays.
func (w *Writer) Instead(answer func(http.ResponseWriter)) {
	w.begun = true
	h := w.Header()
	for name := range h {
		if !kept(name) {
			delete(h, name)
		}
	}
	answer(w.ResponseWriter)
}

// kept reports whether a field was not the refused response's own.
func kept(name string) bool {
	switch name {
	case "Alt-Svc", "Date", "Server", "Vary", "Via", "X-Request-Id":
		return true
	}
	return strings.HasPrefix(name, "Access-Control-")
}

// Forgive takes what a handler panicked with after its stage had answered or ended the response. That
// its writes failed then concerns nobody, be it told by an error or, as reverse_proxy does, by
// http.ErrAbortHandler. Any other panic goes on.
//
//	defer func() {
//		if w.refused {
//			respond.Forgive(recover())
//			err = nil
//		}
//	}()
func Forgive(p any) {
	if p != nil && p != http.ErrAbortHandler { //nolint:errorlint // the sentinel itself is thrown
		panic(p)
	}
}
