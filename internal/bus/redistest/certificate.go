package redistest

import (
	"crypto/tls"
	"crypto/x509"
	"net"
	"path/filepath"

	"github.com/svc-gateway/svc/internal/testcert"
)

// certify makes an authority, and with it a certificate for the address and one for clients.
func (s *Server) certify(ip net.IP) error {
	ca, err := testcert.NewAuthority("Test authority")
	if err != nil {
		return err
	}
	server, err := ca.Issue(&x509.Certificate{
		IPAddresses: []net.IP{ip}, DNSNames: []string{"redis.example.org"}, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	})
	if err != nil {
		return err
	}
	client, err := ca.Issue(&x509.Certificate{ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}})
	if err != nil {
		return err
	}
	s.CAFile, s.CertFile, s.KeyFile = s.file("ca.pem"), s.file("client.pem"), s.file("client.key")
	s.tls = &tls.Config{Certificates: []tls.Certificate{client}, RootCAs: ca.Pool()}
	for _, f := range []struct {
		cert      tls.Certificate
		name, key string
	}{{ca.Certificate, s.CAFile, ""}, {server, s.file("server.pem"), s.file("server.key")}, {client, s.CertFile, s.KeyFile}} {
		if err := testcert.Write(f.cert, f.name, f.key); err != nil {
			return err
		}
	}
	return nil
}

func (s *Server) file(name string) string { return filepath.Join(s.dir, name) }
