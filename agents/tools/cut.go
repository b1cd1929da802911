package tools

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
)

// copy writes the part of src to p.
func (v *view) copy(p *page, src io.Reader) error {
	r := bufio.NewReader(src)
	switch {
	case v.part == last:
		return v.end(p, r)
	case v.part == first && v.bytes:
		_, err := io.Copy(p, io.LimitReader(r, v.count))
		return err
	case v.part == first:
		return eachLine(r, v.count, p.Write)
	case v.number || v.squash:
		return v.format(p, r)
	}
	var err error
	if v.bytes {
		_, err = io.CopyN(io.Discard, r, v.count-1)
	} else {
		err = eachLine(r, v.count-1, io.Discard.Write)
	}
	if err == nil {
		_, err = io.Copy(p, r)
	}
	if errors.Is(err, io.EOF) {
		return nil // there are not so many bytes
	}
	return err
}

// eachLine gives the next n lines to write, a long one in pieces.
func eachLine(r *bufio.Reader, n int64, write func([]byte) (int, error)) error {
	for n > 0 {
		piece, err := r.ReadSlice('\n')
		if _, err := write(piece); err != nil {
			return err
		}
		switch {
		case err == nil:
			n--
		case errors.Is(err, io.EOF):
			return nil
		case !errors.Is(err, bufio.ErrBufferFull):
			return err
		}
	}
	return nil
}

// format writes lines as cat does with -n, -b and -s, for which all files are one text.
func (v *view) format(p *page, r *bufio.Reader) error {
	return eachLine(r, mostRead, func(piece []byte) (int, error) {
		if len(piece) == 0 {
			return 0, nil
		}
		if !v.within {
			blank := piece[0] == '\n'
			if v.squash && blank && v.empty {
				return len(piece), nil
			}
			if v.empty = blank; v.number && (!blank || !v.filled) {
				v.line++
				if _, err := fmt.Fprintf(p, "%6d\t", v.line); err != nil {
					return 0, err
				}
			}
		}
		v.within = !bytes.HasSuffix(piece, []byte("\n"))
		return p.Write(piece)
	})
}

// end writes the last lines or bytes of src to p, as many as there is room for.
func (v *view) end(p *page, src io.Reader) error {
	var tail []byte // the last bytes, the room at least when there are so many
	lost := false
	for buf := make([]byte, 32<<10); ; {
		n, err := src.Read(buf)
		tail = append(tail, buf[:n]...)
		if over := len(tail) - p.room; over > p.room {
			tail, lost = append(tail[:0], tail[over:]...), true
		}
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
	}
	start := int(max(-1, int64(len(tail))-v.count-1)) // before what is shown
	if !v.bytes && v.count > 0 {
		start = len(bytes.TrimSuffix(tail, []byte("\n")))
		for n := v.count; n > 0 && start >= 0; n-- {
			start = bytes.LastIndexByte(tail[:start], '\n')
		}
	}
	lost = lost && start < 0
	if tail = tail[start+1:]; len(tail) > p.room {
		tail, lost = tail[len(tail)-p.room:], true
	}
	if lost && !v.bytes {
		tail = tail[bytes.IndexByte(tail, '\n')+1:] // a whole line at the beginning, if there is one
	}
	p.late = p.late || lost
	_, err := p.Write(tail)
	return err
}

// errFull ends the writing to a page.
var errFull = errors.New("the page is full")

// page is text with an end.
type page struct {
	text []byte
	room int  // bytes that still fit
	cut  bool // something did not fit
	late bool // something was left out at a beginning
}

// Write implements io.Writer.
func (p *page) Write(b []byte) (int, error) {
	n := min(len(b), p.room)
	p.text, p.room = append(p.text, b[:n]...), p.room-n
	if n < len(b) {
		p.cut = true
		return n, errFull
	}
	return n, nil
}

// title writes the name of the file that follows.
func (p *page) title(path string) {
	text := "==> " + path + " <==\n"
	if len(p.text) > 0 {
		text = "\n" + text
	}
	_, _ = p.Write([]byte(text)) // a full page says so itself
}
