package redistest

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"time"
)

// certify makes an authority, and with it a certificate for the address and one for clients.
func (s *Server) certify(ip net.IP) error {
	now := time.Now()
	ca := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "Test authority"},
		NotBefore: now.Add(-time.Hour), NotAfter: now.Add(24 * time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	caKey, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	if err := s.sign("ca", ca, ca, caKey, caKey); err != nil {
		return err
	}
	for name, usage := range map[string]x509.ExtKeyUsage{"server": x509.ExtKeyUsageServerAuth, "client": x509.ExtKeyUsageClientAuth} {
		key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
		if err != nil {
			return err
		}
		template := &x509.Certificate{
			SerialNumber: big.NewInt(int64(usage) + 2), Subject: pkix.Name{CommonName: name},
			NotBefore: ca.NotBefore, NotAfter: ca.NotAfter, KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{usage},
		}
		if usage == x509.ExtKeyUsageServerAuth {
			template.IPAddresses, template.DNSNames = []net.IP{ip}, []string{"redis.example.org"}
		}
		if err := s.sign(name, template, ca, key, caKey); err != nil {
			return err
		}
	}
	s.CAFile, s.CertFile, s.KeyFile = s.file("ca.pem"), s.file("client.pem"), s.file("client.key")
	pair, err := tls.LoadX509KeyPair(s.CertFile, s.KeyFile)
	if err != nil {
		return err
	}
	authority, err := os.ReadFile(s.CAFile)
	if err != nil {
		return err
	}
	s.tls = &tls.Config{Certificates: []tls.Certificate{pair}, RootCAs: x509.NewCertPool()}
	s.tls.RootCAs.AppendCertsFromPEM(authority)
	return nil
}

func (s *Server) file(name string) string { return filepath.Join(s.dir, name) }

// sign writes a certificate and its key to files of that name.
func (s *Server) sign(name string, template, parent *x509.Certificate, key, by *ecdsa.PrivateKey) error {
	der, err := x509.CreateCertificate(rand.Reader, template, parent, key.Public(), by)
	if err != nil {
		return err
	}
	keyDER, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return err
	}
	if err := os.WriteFile(s.file(name+".pem"), pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), 0o600); err != nil {
		return err
	}
	return os.WriteFile(s.file(name+".key"), pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: keyDER}), 0o600)
}
