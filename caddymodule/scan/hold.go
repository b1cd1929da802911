package scan

import (
	"errors"
	"net/http"

	"go.uber.org/zap"

	"github.com/svc-gateway/svc/internal/media"
)

// gather keeps a copy of what passes, and scans it in windows when it gets long.
func (w *writer) gather(p []byte) error {
	switch {
	case w.windows != nil:
		return w.windows.write(p, alreadySent)
	case int64(len(w.buf)+len(p)) > w.handler.MaxScan:
		return w.slide(p, alreadySent)
	}
	w.buf = append(w.buf, p...)
	return nil
}

// alreadySent is for windows that have passed already.
func alreadySent([]byte) error { return nil }

// hold keeps p until all was scanned. More than max_scan goes on in windows.
func (w *writer) hold(p []byte) error {
	if int64(len(w.buf)+len(p)) <= w.handler.MaxScan {
		w.buf = append(w.buf, p...)
		if w.turnsOutLines() {
			return w.recordHeld()
		}
		return nil
	}
	if w.handler.Beyond == beyondRefuse || w.media.Coding != "" {
		w.mode = w.refuse("upstream_unscanned", "it is longer than what is scanned here (option max_scan of svc_scan)")
		return errEnded
	}
	w.mode = windowing
	return w.slide(p, w.release)
}

// turnsOutLines reports whether what is held is a JSON document a line and may go on as such.
func (w *writer) turnsOutLines() (is bool) {
	switch {
	case w.looked, w.media.Coding != "", w.Header().Get("Content-Length") != "": // whose end is near
		return false
	case w.media.Kind == media.Form, w.media.Kind == media.Multipart:
		return false
	}
	is, told := media.Lines(w.buf)
	w.looked = told || len(w.buf) > maxRecord
	return is
}

// recordHeld goes on line by line.
func (w *writer) recordHeld() error {
	w.records = newRecords(media.JSONLines, w.report, w.handler.fields, true)
	held := w.buf
	w.buf = nil
	began := w.report.begin(len(held))
	out, err := w.records.sift(held)
	w.report.end(began)
	if err != nil && len(out) == 0 {
		return w.block(err)
	}
	w.ResponseWriter.WriteHeader(w.status)
	w.mode, w.status = recording, 0
	return w.pass(out, err)
}

// flow scans a piece of what has no records that are understood, and passes it on.
func (w *writer) flow(p []byte) error {
	w.frames.scan(p)
	err := w.report.blocked()
	if err == nil || !w.strict && !errors.Is(err, errFrames) {
		_, err = w.ResponseWriter.Write(p)
		return err
	}
	return w.block(err)
}

// slide begins to scan in windows: what was kept, and p. pass gets each of them.
func (w *writer) slide(p []byte, pass func([]byte) error) error {
	w.windows = newWindows(w.report, w.media, w.handler.partsOf(w.media, w.Header()))
	kept := w.buf
	w.buf = nil
	if err := w.windows.write(kept, pass); err != nil {
		return err
	}
	return w.windows.write(p, pass)
}

// release writes what was scanned, or ends the response. The header goes out with the first piece that
// may pass.
func (w *writer) release(p []byte) error {
	if err := w.report.blocked(); err != nil {
		return w.block(err)
	}
	if w.status > 0 {
		w.report.annotate(w.Header())
		w.ResponseWriter.WriteHeader(w.status)
		w.status = 0
	}
	_, err := w.ResponseWriter.Write(p)
	return err
}

// block ends the response: with a problem if nothing was sent, else by breaking it off.
func (w *writer) block(err error) error {
	if w.sent() {
		w.torn = true
	} else {
		w.answer(problemOf(err))
	}
	w.mode = ended
	return errEnded
}

// record scans what p completes and passes it on; after a finding that is to be blocked the
// stream ends with an error event.
func (w *writer) record(p []byte) error {
	defer w.report.publish(w.request)
	began := w.report.begin(len(p))
	if !w.strict {
		w.records.observe(p)
		w.report.end(began)
		_, err := w.ResponseWriter.Write(p)
		return err
	}
	out, err := w.records.sift(p)
	w.report.end(began)
	return w.pass(out, err)
}

// pass writes what may pass of a stream, and ends it if there is an error.
func (w *writer) pass(out []byte, ending error) error {
	if len(out) > 0 {
		if _, err := w.ResponseWriter.Write(out); err != nil {
			return err
		}
	}
	if ending == nil {
		return nil
	}
	w.mode = ended
	if _, err := w.ResponseWriter.Write(w.records.farewell(ending)); err == nil {
		_ = http.NewResponseController(w.ResponseWriter).Flush() // there is nothing to do about a client that is gone
	}
	return errEnded
}

// close scans what is left of what waits for that, and sends it.
func (w *writer) close() error {
	if rest := w.head.Bytes(); len(rest) > 0 { // so few that they did not tell
		if err := w.begin(rest); err != nil {
			return err
		}
	}
	switch {
	case w.mode == recording && w.strict:
		return w.closeRecords()
	case w.mode == windowing:
		return w.windows.close(w.release)
	case w.mode == holding:
		return w.closeHeld()
	}
	return nil
}

// scanSent scans what is left of what has passed, also of a response that was broken off: somebody has
// got it.
func (w *writer) scanSent() {
	switch {
	case w.mode == recording && !w.strict:
		_, _ = w.records.rest() // nothing is blocked
	case w.mode == gathering && w.windows != nil:
		_ = w.windows.close(alreadySent)
	case w.mode == gathering:
		w.handler.scanContent(w.media, w.Header(), w.report, w.buf)
	}
	if err := w.report.failure(); err != nil && !w.strict {
		w.handler.logger.Error("response passed and was not scanned to its end", zap.Error(err))
	}
}

func (w *writer) closeRecords() error {
	rest, err := w.records.rest()
	if err != nil {
		w.mode = ended
		rest = append(rest, w.records.farewell(err)...)
	}
	if len(rest) > 0 {
		_, err = w.ResponseWriter.Write(rest)
		return err
	}
	return nil
}

func (w *writer) closeHeld() error {
	if w.media.Coding == "" || len(w.buf) == 0 {
		w.handler.scanContent(w.media, w.Header(), w.report, w.buf)
	} else if err := w.handler.scanWhole(w.media, w.Header(), w.report, w.buf); err != nil {
		w.refuseFor(err)
		return nil
	}
	if err := w.release(w.buf); err != nil && !errors.Is(err, errEnded) {
		return err
	}
	return nil
}
