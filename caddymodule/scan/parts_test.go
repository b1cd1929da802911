package scan

import (
	"net/http"
	"testing"

	"github.com/svc-gateway/svc/internal/media"
)

// FuzzParts holds that however a body is cut into windows, each of its bytes is scanned, and as text
// where it is text in the body as a whole.
func FuzzParts(f *testing.F) {
	for _, body := range []string{
		"--b\r\nContent-Disposition: form-data; name=x\r\n\r\nhello\r\n--b\r\nContent-Type: image/png\r\n\r\n\x00\x01\x02\r\n--b--\r\n",
		"--b\nContent-Type: image/png\n\n\x00\x00--b\n\ntext--b", "--b\r\nContent-Type: image/png\r\nno end of the header", "text only", "--b--b--b\n\n--b",
	} {
		f.Add([]byte(body), uint8(40), uint8(8))
	}
	f.Fuzz(func(t *testing.T, body []byte, size, keep uint8) {
		if size < 4 {
			return
		}
		header := http.Header{"Content-Type": {"multipart/form-data; boundary=b"}}
		whole := kindsOf(t, partsOf(header), body, len(body)+1, 0)
		cut := kindsOf(t, partsOf(header), body, int(size)+int(keep)+4, int(keep)+4)
		for i := range body {
			if whole[i].seen && !cut[i].seen || whole[i].text && !cut[i].text {
				t.Fatalf("byte %d of %q: as a whole %+v, in windows of %d %+v", i, body, whole[i], size, cut[i])
			}
		}
	})
}

// visited is how a byte was scanned.
type visited struct{ seen, text bool }

// kindsOf scans a body in windows and tells of each byte how it was scanned. Delimiters are scanned by
// nobody.
func kindsOf(t *testing.T, ps *parts, body []byte, size, keep int) []visited {
	t.Helper()
	all := make([]visited, len(body))
	for at, end := 0, 0; end < len(body); {
		next := min(max(at+size, end+1), len(body)) // a header that is not complete makes a window longer
		p := body[at:next:next]
		from := ps.scan(p, keep, func(piece []byte, k media.Kind) {
			offset := at + len(p) - cap(piece)
			for i := range piece {
				all[offset+i].seen = true
				all[offset+i].text = all[offset+i].text || k.Textual()
			}
		}, func(error) {})
		if from < 0 || from > len(p) {
			t.Fatalf("to be scanned once more from %d of %d", from, len(p))
		}
		at, end = at+from, next
	}
	return all
}
