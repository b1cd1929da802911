package tools

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/svc-gateway/svc/scanner/redact"
)

// Secrets were redacted in what a tool returns, so whoever asked for the part of a file
// that begins after the word "password", or after the first line of a key, got the secret:
// "tail -c 15 env.txt", "tail -n +2 key.pem", "cat -n key.pem" (numbers between the lines of
// the key), read_file with an offset. Parts are cut from the redacted text instead.
func TestRedactionOfParts(t *testing.T) {
	root, w := project(t)
	body := strings.Repeat("MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQDHunter2hunter\n", 20)
	files := map[string]string{
		"key.pem":  "-----BEGIN PRIVATE KEY-----\n" + body + "-----END PRIVATE KEY-----\nlast\n",
		"env.txt":  "USER=ann\nPASSWORD=hunter2-hunter2-hunter2\n",
		"conf.yml": "db:\n  password:\n    \"hunter2-hunter2-hunter2\"\n",
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(root, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		tell := func(way, got string, err error) {
			if strings.Contains(strings.ToLower(got+fmt.Sprint(err)), "unter2") {
				t.Errorf("%s of %s shows the secret: %q, %v", way, name, got, err)
			}
		}
		for n := range 40 {
			for _, flag := range []string{"head -n %d", "head -c %d", "tail -n %d", "tail -n +%d", "tail -c %d", "tail -c +%d"} {
				way := fmt.Sprintf(flag, n)
				got, err := run(t, w, way+" "+name)
				tell(way, got, err)
			}
			if n > 0 {
				got, err := read(t, w, map[string]any{"path": name, "offset": float64(n), "limit": 1.0})
				tell(fmt.Sprint("read_file from line ", n), got.Text, err)
			}
		}
		for _, way := range []string{"cat", "cat -n", "cat -b", "cat -s"} {
			got, err := run(t, w, way+" "+name)
			tell(way, got, err)
			if !strings.Contains(got, redact.Mark) {
				t.Errorf("%s of %s: got %q, want it redacted", way, name, got)
			}
		}
	}
	if got, err := run(t, w, "tail -n 1 key.pem"); err != nil || got != "last\n" {
		t.Errorf("after the key: got %q, %v", got, err)
	}
}

// The parts are those that the programs of the same names print.
func TestShowAsPrograms(t *testing.T) {
	root, w := project(t)
	for name, text := range map[string]string{
		"plain":  "one\ntwo\n\n\n\nsix\nseven\n",
		"noend":  "one\n\ntwo",
		"blank":  "\n\n\n",
		"twelve": strings.Repeat("line\n", 12),
		"long":   strings.Repeat("x", 9000) + "\n" + strings.Repeat("y", 5000) + "\nz\n",
	} {
		if err := os.WriteFile(filepath.Join(root, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, command := range []string{
		"cat", "cat -n", "cat -b", "cat -s", "cat -sn", "cat -nb", "cat --number", "head", "head -1", "head -n 0", "head -n 3", "head -c 0", "head -c 5", "head -v -n 2", "head --lines=2", "head --bytes 7",
		"tail", "tail -2", "tail -n 0", "tail -n 3", "tail -n -3", "tail -n +0", "tail -n +1", "tail -n +2", "tail -n +99", "tail -c 0", "tail -c 5", "tail -c +0", "tail -c +3", "tail -c +99999", "tail -c 99999", "tail -v -n 1", "tail --lines=+2", "tail -q -n 1",
	} {
		for _, files := range []string{"plain", "noend", "blank", "twelve", "long", "empty", "plain noend twelve"} {
			argv := strings.Fields(command + " " + files)
			if _, err := lookUp(argv[0]); err != nil {
				t.Skip(err)
			}
			cmd := exec.CommandContext(t.Context(), argv[0], argv[1:]...)
			cmd.Dir = root
			want, err := cmd.Output()
			if several := len(strings.Fields(files)) > 1; several && (command == "tail -2" || command == "tail -n 0" || command == "tail -c 0") {
				continue // the first is for one file only, the others leave out the titles
			}
			if err != nil {
				t.Fatal(err)
			}
			if len(want) == 0 {
				want = []byte("[no output]\n")
			}
			if got, err := run(t, w, command+" "+files); err != nil || got != string(want) {
				t.Errorf("%s %s: got %q, %v; want %q", command, files, got, err, want)
			}
		}
	}
}

func TestShowIsBounded(t *testing.T) {
	root, w := project(t)
	var many strings.Builder
	for i := range 40_000 {
		fmt.Fprintf(&many, "line %d\n", i+1)
	}
	if err := os.WriteFile(filepath.Join(root, "many"), []byte(many.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(root, "huge"), []byte("first\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(filepath.Join(root, "huge"), mostRead+1); err != nil {
		t.Fatal(err)
	}
	for line, want := range map[string]string{
		"cat many":             "line 1\n…[cut: the first 65536 bytes are shown; read_file reads on from any line]\n",
		"cat -n many":          "     1\tline 1\n…[cut: the first 65536 bytes",
		"cat many many":        "line 1\n…[cut: the first 65536 bytes",
		"head -n 30000 many":   "line 1\n…[cut: the first 65536 bytes",
		"head -n 2 many":       "line 1\nline 2\n",
		"tail -n +39999 many":  "line 39999\nline 40000\n",
		"tail -n 2 many":       "line 39999\nline 40000\n",
		"tail -n 30000 many":   "line 3…line 40000\n[cut: only the end is shown, 655",
		"tail -c 300000 many":  "…line 40000\n[cut: only the end is shown, 65536 bytes]\n",
		"head -n 1 huge":       "first\n",
		"tail -n 1 -q many -v": "==> many <==\nline 40000\n",
	} {
		got, err := run(t, w, line)
		begin, rest, split := strings.Cut(want, "…")
		if err != nil || !strings.HasPrefix(got, begin) || !strings.Contains(got, rest) || !split && got != want || len(got) > 66<<10 {
			t.Errorf("%s: got %.60q … %q, %v; want %q", line, got, got[max(0, len(got)-120):], err, want)
		}
	}
	if got, err := run(t, w, "tail -n 1 huge"); !errors.Is(err, errTooLong) || !strings.Contains(err.Error(), "head and read_file show its beginning") {
		t.Errorf("tail of a huge file: got %q, %v", got, err)
	}
}

func TestRedact(t *testing.T) {
	text := "user=ann password=hunter2 " + strings.Repeat("x", 100) + " password=hunter2"
	for most := range len(text) + 2 {
		got, err := io.ReadAll(newRedacted(t.Context(), iotest.OneByteReader(strings.NewReader(text)), most))
		if short := most < len(text); short != errors.Is(err, errTooLong) || !short && err != nil {
			t.Errorf("of %d bytes at most %d: got %v", len(text), most, err)
		}
		if bytes.Contains(got, []byte("hunt")) || !strings.HasPrefix(redact.Text(text), string(got)) {
			t.Errorf("at most %d bytes: got %q", most, got)
		}
	}
	broken := errors.New("broken")
	if _, err := io.ReadAll(newRedacted(t.Context(), iotest.ErrReader(broken), 10)); !errors.Is(err, broken) {
		t.Errorf("got %v, want the reader's error", err)
	}
}
