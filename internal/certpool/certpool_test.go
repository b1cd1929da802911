package certpool_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/svc-gateway/svc/internal/certpool"
	"github.com/svc-gateway/svc/internal/testcert"
)

func TestRead(t *testing.T) {
	ca, err := testcert.NewAuthority("test ca")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	whole, empty := filepath.Join(dir, "ca.pem"), filepath.Join(dir, "empty.pem")
	if err := testcert.Write(ca.Certificate, whole, filepath.Join(dir, "ca.key")); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(empty, []byte("-----BEGIN CERTIFICATE-----\nno\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if pool, err := certpool.Read(whole); err != nil || !pool.Equal(ca.Pool()) {
		t.Errorf("Read(%s) = %v, %v, want the authority", whole, pool, err)
	}
	if pool, err := certpool.Read(""); pool != nil || err != nil {
		t.Errorf(`Read("") = %v, %v, want the system's`, pool, err)
	}
	for file, want := range map[string]string{
		empty:                          "there is no certificate in " + empty + ": it must be in PEM form",
		filepath.Join(dir, "none.pem"): "none.pem: no such file",
	} {
		if _, err := certpool.Read(file); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Read(%s): %v, want it to say %q", file, err, want)
		}
	}
}
