package scan

import (
	"errors"
	"net/http"
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
		return nil
	}
	if w.handler.Beyond == beyondRefuse || w.media.Coding != "" {
		w.mode = w.refuse("upstream_unscanned", "it is longer than what is scanned here (option max_scan of svc_scan)")
		return errEnded
	}
	w.mode = windowing
	return w.slide(p, w.release)
}

// slide begins to scan in windows: what was kept, and p. pass gets each of them.
func (w *writer) slide(p []byte, pass func([]byte) error) error {
	w.windows = &windows{decode: decoderOf(w.media.Kind), report: w.report}
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
	var b *blockedError
	if w.sent() || !errors.As(err, &b) {
		w.torn = true
	} else {
		w.answer(b.problem())
	}
	w.mode = ended
	return errEnded
}

// record scans what p completes and passes it on; after a finding that is to be blocked the
// stream ends with an error event.
func (w *writer) record(p []byte) error {
	defer w.report.publish(w.request)
	if !w.strict {
		w.records.observe(p)
		_, err := w.ResponseWriter.Write(p)
		return err
	}
	out, err := w.records.sift(p)
	if len(out) > 0 {
		if _, err := w.ResponseWriter.Write(out); err != nil {
			return err
		}
	}
	if err == nil {
		return nil
	}
	w.mode = ended
	if _, err := w.ResponseWriter.Write(w.records.farewell(err)); err == nil {
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
		w.report.scanBody(w.buf, w.handler.fields, decoderOf(w.media.Kind))
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
		w.report.scanBody(w.buf, w.handler.fields, decoderOf(w.media.Kind))
	} else if err := w.handler.scanWhole(w.request, w.media, w.report, w.buf); err != nil {
		w.refuseFor(err)
		return nil
	}
	if err := w.release(w.buf); err != nil && !errors.Is(err, errEnded) {
		return err
	}
	return nil
}
