package ldaptest

import (
	"crypto/x509"
	"net"
	"path/filepath"

	"github.com/svc-gateway/svc/internal/testcert"
)

// certify makes an authority and a certificate for the address, in dir, and returns the
// authority's file.
func certify(dir string, ip net.IP) (caFile string, err error) {
	ca, err := testcert.NewAuthority("Test authority")
	if err != nil {
		return "", err
	}
	server, err := ca.Issue(&x509.Certificate{IPAddresses: []net.IP{ip}, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}})
	if err != nil {
		return "", err
	}
	caFile = filepath.Join(dir, "ca.pem")
	if err := testcert.Write(ca.Certificate, caFile, ""); err != nil {
		return "", err
	}
	return caFile, testcert.Write(server, filepath.Join(dir, "server.pem"), filepath.Join(dir, "server.key"))
}
