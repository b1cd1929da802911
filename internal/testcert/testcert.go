// Package testcert makes certificates for programs that tests start.
//
//	ca, err := testcert.NewAuthority("test ca")
//	cert, err := ca.Issue(&x509.Certificate{IPAddresses: []net.IP{ip}, ExtKeyUsage: …})
//	err = testcert.Write(cert, "server.pem", "server.key")
//
// They are valid for a day. An Authority is safe for concurrent use.
package testcert

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"os"
	"time"
)

// Authority signs certificates. Make it with [NewAuthority].
type Authority struct {
	Certificate tls.Certificate // its own; Leaf is set
}

// NewAuthority makes an authority with a new key.
func NewAuthority(name string) (*Authority, error) {
	cert, err := issue(&x509.Certificate{
		Subject: pkix.Name{CommonName: name}, IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}, nil)
	return &Authority{cert}, err
}

// Issue completes the template with a serial number, a span of life and its use for signatures, and
// signs a certificate of it for a new key. Leaf of the result is set.
func (a *Authority) Issue(template *x509.Certificate) (tls.Certificate, error) {
	template.KeyUsage |= x509.KeyUsageDigitalSignature
	return issue(template, &a.Certificate)
}

// Pool returns a pool with the authority alone.
func (a *Authority) Pool() *x509.CertPool {
	pool := x509.NewCertPool()
	pool.AddCert(a.Certificate.Leaf)
	return pool
}

// issue signs a certificate, with its own key if there is no signer.
func issue(template *x509.Certificate, signer *tls.Certificate) (tls.Certificate, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return tls.Certificate{}, fmt.Errorf("making a key: %w", err)
	}
	template.SerialNumber = big.NewInt(time.Now().UnixNano())
	template.NotBefore, template.NotAfter = time.Now().Add(-time.Hour), time.Now().Add(24*time.Hour)
	parent, by := template, any(key)
	if signer != nil {
		parent, by = signer.Leaf, signer.PrivateKey
	}
	der, err := x509.CreateCertificate(rand.Reader, template, parent, key.Public(), by)
	if err != nil {
		return tls.Certificate{}, fmt.Errorf("signing a certificate: %w", err)
	}
	leaf, err := x509.ParseCertificate(der)
	if err != nil {
		return tls.Certificate{}, fmt.Errorf("reading a certificate: %w", err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key, Leaf: leaf}, nil
}

// Encode returns the certificate and its key as PEM.
func Encode(c tls.Certificate) (cert, key []byte, err error) {
	der, err := x509.MarshalPKCS8PrivateKey(c.PrivateKey)
	if err != nil {
		return nil, nil, fmt.Errorf("encoding a key: %w", err)
	}
	cert = pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: c.Certificate[0]})
	return cert, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}), nil
}

// Write writes the certificate and its key to PEM files with mode 0600. With an empty name the key is
// not written.
func Write(c tls.Certificate, certFile, keyFile string) error {
	cert, key, err := Encode(c)
	if err != nil {
		return err
	}
	if err := os.WriteFile(certFile, cert, 0o600); err != nil || keyFile == "" {
		return err
	}
	return os.WriteFile(keyFile, key, 0o600)
}
