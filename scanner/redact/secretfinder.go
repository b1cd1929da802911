package redact

import "github.com/svc-gateway/svc/scanner/redact/literal"

// secretFinder finds known secrets in a stream. What it keeps goes on to the rules.
type secretFinder struct {
	from  *Secrets
	forms *literal.Forms // of the stream
	begun bool
	buf   []byte // the beginning of what may be a secret
	sent  int    // bytes of buf that went on already
	rest  string // of a long form, which is being dropped
}

// active reports whether there are secrets to look for in this stream.
func (k *secretFinder) active() bool {
	if !k.begun {
		k.begun = true
		k.forms = k.from.load()
	}
	return k.forms != nil
}

// step takes the next piece of the input; at eof everything is decided.
func (k *secretFinder) step(s sink, src []byte, eof bool) {
	data, pos, sent := src, 0, k.sent
	if len(k.buf) > 0 {
		k.buf = append(k.buf, src...)
		data = k.buf
	}
	for {
		if k.rest != "" {
			n := 0
			for n < len(k.rest) && pos+n < len(data) && data[pos+n] == k.rest[n] {
				n++
			}
			s.drop(n)
			if pos += n; pos < len(data) {
				k.rest = ""
			} else {
				k.rest = k.rest[n:]
			}
		}
		at, form := k.forms.Find(data[pos:], eof)
		if pos+at > sent {
			s.keep(data[max(pos, sent) : pos+at])
		}
		pos += at
		if form == "" {
			break
		}
		n := min(len(form), literal.MaxForm)
		s.drop(n - max(sent-pos, 0))
		s.mark()
		k.from.watcher().note(KnownSecret)
		pos += n
		k.rest = form[n:]
	}
	k.buf, k.sent = append(k.buf[:0], data[pos:]...), max(sent-pos, 0)
	if eof {
		k.reset()
	}
}

// held is what did not go on yet.
func (k *secretFinder) held() []byte { return k.buf[k.sent:] }

// spare lets what is held go on. If it turns out to begin a secret, the rest of that goes.
func (k *secretFinder) spare(s sink) {
	if held := k.held(); len(held) > 0 {
		s.keep(held)
		k.sent = len(k.buf)
	}
}

// reset makes it ready for a new stream.
func (k *secretFinder) reset() { *k = secretFinder{from: k.from, buf: k.buf[:0]} }
