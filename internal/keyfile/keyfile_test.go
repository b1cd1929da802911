package keyfile_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/svc-gateway/svc/internal/keyfile"
)

func TestReadMakesTheKeyOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "keys", "x.key")
	var wg sync.WaitGroup
	got := make([]string, 16)
	for i := range got {
		wg.Go(func() {
			key, err := keyfile.Read(path, func() ([]byte, error) { return fmt.Appendf(nil, "key %d", i), nil })
			if err != nil {
				t.Error(err)
			}
			got[i] = string(key)
		})
	}
	wg.Wait()
	for _, key := range got {
		if key == "" || key != got[0] {
			t.Fatalf("got keys %q, want one", got)
		}
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("got %v, %v; want mode 0600", info, err)
	}
	if left, err := os.ReadDir(filepath.Dir(path)); err != nil || len(left) != 1 {
		t.Errorf("got %v, %v; want the key alone", left, err)
	}
}

func TestReadFails(t *testing.T) {
	none := errors.New("no randomness")
	path := filepath.Join(t.TempDir(), "x.key")
	if _, err := keyfile.Read(path, func() ([]byte, error) { return nil, none }); !errors.Is(err, none) {
		t.Errorf("got %v, want %v", err, none)
	}
	if err := os.Mkdir(path, 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := keyfile.Read(path, nil); err == nil {
		t.Error("a folder is read as a key")
	}
}

func TestAES(t *testing.T) {
	path := filepath.Join(t.TempDir(), "keys", "x.key")
	first, err := keyfile.AES(path)
	if err != nil {
		t.Fatal(err)
	}
	second, err := keyfile.AES(path)
	if err != nil {
		t.Fatal(err)
	}
	sealed := first.Seal(nil, nil, []byte("text"), []byte("bound to"))
	if got, err := second.Open(nil, nil, sealed, []byte("bound to")); err != nil || string(got) != "text" {
		t.Errorf("with the key of the same file: got %q, %v", got, err)
	}
	if again := first.Seal(nil, nil, []byte("text"), []byte("bound to")); string(again) == string(sealed) {
		t.Error("the same text was encrypted in the same way twice")
	}
	for name, other := range map[string]string{"of another file": filepath.Join(t.TempDir(), "y.key"), "of no file": ""} {
		aead, err := keyfile.AES(other)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := aead.Open(nil, nil, sealed, []byte("bound to")); err == nil {
			t.Errorf("the key %s decrypts it", name)
		}
	}
	for _, n := range []int{0, 16, 24, 31, 33} { // shorter keys of AES are none of ours
		path := filepath.Join(t.TempDir(), "x.key")
		if err := os.WriteFile(path, make([]byte, n), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := keyfile.AES(path); err == nil || !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), "restore it") {
			t.Errorf("%d bytes: got %v, want an error that says what to do", n, err)
		}
	}
}
