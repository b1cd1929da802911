package scan

import (
	"errors"
	"net/http"
)

// gather keeps a copy of what passes, and scans it in windows when it gets long.
func (w *writer) gather(p []byte) {
	if w.windows == nil && int64(len(w.buf)+len(p)) <= w.handler.MaxScan {
		w.buf = append(w.buf, p...)
		return
	}
	if w.windows == nil {
		w.windows = &windows{decode: decoderOf(w.media.Kind), report: w.report}
		p, w.buf = append(w.buf, p...), nil
	}
	for len(p) > 0 {
		n := copy(w.windows.room(), p)
		w.windows.scan(n)
		p = p[n:]
	}
}

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
	w.windows = &windows{decode: decoderOf(w.media.Kind), report: w.report}
	held := append(w.buf, p...)
	w.mode, w.buf = windowing, nil
	return w.slide(held)
}

// slide scans p window by window. The header goes out with the first one that may pass.
func (w *writer) slide(p []byte) error {
	w.buf = append(w.buf, p...)
	for len(w.buf) >= window {
		n := copy(w.windows.room(), w.buf)
		rest := append([]byte(nil), w.buf[n:]...)
		if err := w.release(w.windows.scan(n)); err != nil {
			return err
		}
		w.buf = rest
	}
	return nil
}

// release writes what was scanned, or ends the response.
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
		w.Instead(w.request, b.problem())
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

// close scans what is left and sends what was held.
func (w *writer) close() error {
	if rest := w.head.Bytes(); len(rest) > 0 { // so few that they did not tell
		if err := w.begin(rest); err != nil {
			return err
		}
	}
	switch w.mode {
	case recording:
		return w.closeRecords()
	case gathering:
		if w.windows == nil {
			w.report.scanBody(w.buf, w.handler.fields, decoderOf(w.media.Kind))
		}
	case windowing:
		n := copy(w.windows.room(), w.buf)
		rest := w.buf[n:]
		if err := w.release(w.windows.scan(n)); err != nil || len(rest) == 0 {
			return err
		}
		n = copy(w.windows.room(), rest)
		return w.release(w.windows.scan(n))
	case holding:
		return w.closeHeld()
	}
	return nil
}

func (w *writer) closeRecords() error {
	rest, err := w.records.rest()
	if err != nil {
		w.mode = ended
		rest = append(rest, w.records.farewell(err)...)
	}
	if w.strict && len(rest) > 0 {
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
