package testcert_test

import (
	"crypto/tls"
	"crypto/x509"
	"path/filepath"
	"testing"

	"github.com/svc-gateway/svc/internal/testcert"
)

func TestIssue(t *testing.T) {
	ca, err := testcert.NewAuthority("test ca")
	if err != nil {
		t.Fatal(err)
	}
	other, err := testcert.NewAuthority("test ca")
	if err != nil {
		t.Fatal(err)
	}
	cert, err := ca.Issue(&x509.Certificate{DNSNames: []string{"a.example"}, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}})
	if err != nil {
		t.Fatal(err)
	}
	certFile, keyFile := filepath.Join(t.TempDir(), "c.pem"), filepath.Join(t.TempDir(), "c.key")
	if err := testcert.Write(cert, certFile, keyFile); err != nil {
		t.Fatal(err)
	}
	read, err := tls.LoadX509KeyPair(certFile, keyFile)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := read.Leaf.Verify(x509.VerifyOptions{Roots: ca.Pool(), DNSName: "a.example"}); err != nil {
		t.Errorf("by its authority: %v", err)
	}
	if _, err := read.Leaf.Verify(x509.VerifyOptions{Roots: other.Pool(), DNSName: "a.example"}); err == nil {
		t.Error("by another of the same name: got no error")
	}
}
