package scan

import (
	"bytes"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"testing"
)

// BenchmarkBinary takes an upload of 64 MiB that is compressed through the stage.
func BenchmarkBinary(b *testing.B) {
	content := make([]byte, 64<<20)
	random := rand.NewChaCha8([32]byte{1})
	if _, err := random.Read(content); err != nil {
		b.Fatal(err)
	}
	for _, binary := range []string{binaryShallow, binaryPass} {
		b.Run(binary, func(b *testing.B) {
			h := waiting(0, "request")
			h.Binary, h.MaxBody = binary, 1<<30
			b.SetBytes(int64(len(content)))
			for b.Loop() {
				rec := httptest.NewRecorder()
				r := httptest.NewRequest(http.MethodPost, "/", bytes.NewReader(content))
				r.ContentLength = int64(len(content))
				if err := h.ServeHTTP(rec, r, reads); err != nil || rec.Code != http.StatusOK {
					b.Fatal(err, rec.Code)
				}
			}
		})
	}
}
