package model

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// BenchmarkScan is how fast texts of several kinds are judged.
func BenchmarkScan(b *testing.B) {
	source, err := os.ReadFile(filepath.Join("stream.go"))
	if err != nil {
		b.Fatal(err)
	}
	for _, of := range []struct{ name, text string }{
		{"prose", strings.Repeat("The root file system of this host is 42 % full, and /var/log grows by about 120 MB a day. Nothing needs to be done now. ", 80)},
		{"code", string(source)},
		{"json", strings.Repeat(`{"id": 4711, "name": "eth0", "state": "up", "speed": 1000, "errors": [0, 12]}, `, 120)},
		{"russian", strings.Repeat("Погода сегодня хорошая, и птицы поют в саду. ", 120)},
		{"chinese", strings.Repeat("今天天气很好，鸟儿在花园里唱歌。", 200)},
		{"base64", strings.Repeat("VGhlIHdlYXRoZXIgaXMgZmluZSwgYW5kIHRoZSBiaXJkcyBzaW5nLg", 200)},
	} {
		b.Run(of.name, func(b *testing.B) {
			b.SetBytes(int64(len(of.text)))
			b.ReportAllocs()
			for b.Loop() {
				Scan(of.text)
			}
		})
	}
}
