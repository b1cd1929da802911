package bytesize_test

import (
	"testing"

	"github.com/svc-gateway/svc/internal/bytesize"
)

func TestParse(t *testing.T) {
	for in, want := range map[string]int64{
		"0": 0, "4194304": 4 << 20, "512KiB": 512 << 10, "4MiB": 4 << 20, "1GiB": 1 << 30, " 4 MiB ": 4 << 20,
		"2kB": 2000, "2KB": 2000, "3MB": 3_000_000, "1GB": 1_000_000_000, "7B": 7, "9223372036854775807": 1<<63 - 1,
		"9223372036854775808": 1<<63 - 1, "9007199254740992KiB": 1<<63 - 1, "9999999999GiB": 1<<63 - 1,
	} {
		if got, err := bytesize.Parse(in); err != nil || got != want {
			t.Errorf("%q: got %d, %v; want %d", in, got, err, want)
		}
	}
	for _, in := range []string{
		"", "MiB", "lots", "-1", "+1", "1.5MiB", "1,000", "4mib", "4M", "4Ki", "1TiB", "4 MB of", "0x10",
	} {
		if got, err := bytesize.Parse(in); err == nil {
			t.Errorf("%q: got %d, want an error", in, got)
		}
	}
}
