package scan_test

import (
	"bytes"
	"compress/zlib"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"hash/crc32"
	"image"
	"image/png"
	"net/http"
	"strings"
	"testing"
)

// pdf is a document with one page, whose contents are these operators, and with a title.
func pdf(contents, filter, title string) string {
	return fmt.Sprintf("%%PDF-1.4\n%%\xe2\xe3\xcf\xd3\x00\n1 0 obj\n<</Type/Catalog/Pages 2 0 R>>\nendobj\n"+
		"2 0 obj\n<</Type/Pages/Kids[3 0 R]/Count 1>>\nendobj\n3 0 obj\n<</Type/Page/Parent 2 0 R/Contents 4 0 R>>\nendobj\n"+
		"4 0 obj\n<<%s/Length %d>>\nstream\n%s\nendstream\nendobj\n5 0 obj\n<</Title(%s)>>\nendobj\ntrailer\n<</Root 1 0 R/Info 5 0 R>>\n%%%%EOF\n",
		filter, len(contents), contents, title)
}

func deflated(s string) string {
	var b bytes.Buffer
	w := zlib.NewWriter(&b)
	_, _ = w.Write([]byte(s)) // a buffer takes everything
	_ = w.Close()
	return b.String()
}

// comment is a picture with a chunk of text.
func comment(t *testing.T, kind, content string) string {
	t.Helper()
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, 30, 30))); err != nil {
		t.Fatal(err)
	}
	const header = 8 + 25 // the signature and IHDR
	chunk := []byte(kind + content)
	full := binary.BigEndian.AppendUint32(nil, uint32(len(content)))
	full = binary.BigEndian.AppendUint32(append(full, chunk...), crc32.ChecksumIEEE(chunk))
	return b.String()[:header] + string(full) + b.String()[header:]
}

// TestDocumentsAndPictures holds what docs/caddyfile.md says of them: what is seen in a body or a part of a
// form, and that nothing is seen when the same file stands in JSON in base64.
func TestDocumentsAndPictures(t *testing.T) {
	const end = ") Tj ET"
	kerned := "BT ["
	for i := 0; i < len(attack); i += 2 {
		kerned += "(" + attack[i:min(i+2, len(attack))] + ")-12"
	}
	for _, tt := range []struct {
		name, contentType, file string
		seen                    bool
	}{
		{"a PDF with plain text", "application/pdf", pdf("BT ("+attack+end, "", "Report"), true},
		{"a PDF with text in hexadecimal", "application/pdf", pdf("BT <"+hex.EncodeToString([]byte(attack))+"> Tj ET", "", "Report"), true},
		{"a PDF whose text is compressed", "application/pdf", pdf(deflated("BT ("+attack+end), "/Filter/FlateDecode", "Report"), false},
		{"a PDF whose letters are placed", "application/pdf", pdf(kerned+"] TJ ET", "", "Report"), false},
		{"the title of a PDF", "application/pdf", pdf(deflated("BT ET"), "/Filter/FlateDecode", attack), true},
		{"the title of a PDF in UTF-16", "application/pdf", pdf(deflated("BT ET"), "/Filter/FlateDecode", "\xfe\xff"+wide(attack)), true},
		{"a picture with a comment", "image/png", comment(t, "tEXt", "Comment\x00"+attack), true},
		{"a picture with a compressed comment", "image/png", comment(t, "zTXt", "Comment\x00\x00"+deflated(attack)), false},
	} {
		for _, options := range []string{"", "binary scan", "shape openai"} {
			srv, answer, _, _ := stage(t, "action block\n"+options)
			answer.pieces = []string{"fine"}
			want := http.StatusOK
			if tt.seen {
				want = http.StatusUnprocessableEntity
			}
			formType, inForm := form(t, "assistants", tt.contentType, tt.file)
			for contentType, body := range map[string]string{tt.contentType: tt.file, "application/octet-stream": tt.file, formType: inForm} {
				r := srv.Request(http.MethodPost, "/", body, "Content-Type", contentType)
				if resp, got := srv.Send(r); resp.StatusCode != want {
					t.Errorf("%s as %s with %q: got %s %s, want %d", tt.name, contentType, options, resp.Status, got, want)
				}
			}
			for _, part := range []string{
				`{"type":"image_url","image_url":{"url":"data:%[1]s;base64,%[2]s"}}`,
				`{"type":"file","file":{"filename":"a.pdf","file_data":"data:%[1]s;base64,%[2]s"}}`,
				`{"type":"document","source":{"type":"base64","media_type":%[1]q,"data":"%[2]s"}}`,
			} {
				body := `{"model":"m","messages":[{"role":"user","content":[` +
					fmt.Sprintf(part, tt.contentType, base64.StdEncoding.EncodeToString([]byte(tt.file))) + `]}]}`
				r := srv.Request(http.MethodPost, "/v1/chat/completions", body, "Content-Type", "application/json")
				if resp, got := srv.Send(r); resp.StatusCode != http.StatusOK {
					t.Errorf("%s in JSON with %q: got %s %s", tt.name, options, resp.Status, got)
				}
			}
		}
	}
	// A text in base64 is read, whatever it is said to be.
	srv, answer, _, _ := stage(t, "action block")
	answer.pieces = []string{"fine"}
	for _, head := range []string{"", "data:text/plain;base64,", "data:image/png;base64,"} {
		body := `{"messages":[{"role":"user","content":"` + head + base64.StdEncoding.EncodeToString([]byte(strings.Repeat(attack+" ", 2))) + `"}]}`
		r := srv.Request(http.MethodPost, "/", body, "Content-Type", "application/json")
		if resp, got := srv.Send(r); resp.StatusCode != http.StatusUnprocessableEntity {
			t.Errorf("a text in base64 behind %q: got %s %s", head, resp.Status, got)
		}
	}
}
