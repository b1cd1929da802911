//go:build linux

package testscript

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"net/url"
	"os"
	"strings"
	"time"
)

// certificate NAME KIND:VALUE… writes NAME.pem, a certificate with those names followed by its
// key, signed by the script's authority, which is in ca.pem. With the value "stranger" alone
// another authority of the same name signs it.
func certificate(c *call) error {
	if len(c.args) < 2 {
		return errors.New("usage: certificate NAME cn:VALUE|dns:VALUE|email:VALUE|uri:VALUE|stranger…")
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()), NotBefore: time.Now().Add(-time.Minute), NotAfter: time.Now().Add(time.Hour),
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth, x509.ExtKeyUsageServerAuth},
	}
	signer := &c.authority
	for _, arg := range c.args[1:] {
		kind, value, _ := strings.Cut(arg, ":")
		switch kind {
		case "cn":
			template.Subject.CommonName = value
		case "dns":
			template.DNSNames = append(template.DNSNames, value)
		case "email":
			template.EmailAddresses = append(template.EmailAddresses, value)
		case "uri":
			u, err := url.Parse(value)
			if err != nil {
				return err
			}
			template.URIs = append(template.URIs, u)
		case "stranger":
			signer = new(tls.Certificate)
		default:
			return fmt.Errorf("%q is no name for a certificate", arg)
		}
	}
	if signer.Leaf == nil {
		if err := newAuthority(signer); err != nil {
			return err
		}
	}
	if signer == &c.authority {
		ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: signer.Certificate[0]})
		if err := os.WriteFile(c.ts.MkAbs("ca.pem"), ca, 0o600); err != nil {
			return err
		}
	}
	der, key, err := issue(template, signer)
	if err != nil {
		return err
	}
	encoded, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return err
	}
	var file bytes.Buffer
	for _, b := range []*pem.Block{{Type: "CERTIFICATE", Bytes: der}, {Type: "PRIVATE KEY", Bytes: encoded}} {
		if err := pem.Encode(&file, b); err != nil {
			return err
		}
	}
	return os.WriteFile(c.ts.MkAbs(c.args[0]+".pem"), file.Bytes(), 0o600)
}

func newAuthority(a *tls.Certificate) error {
	der, key, err := issue(&x509.Certificate{
		SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Minute), NotAfter: time.Now().Add(time.Hour),
		Subject: pkix.Name{CommonName: "authority"}, IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}, nil)
	if err != nil {
		return err
	}
	a.Certificate, a.PrivateKey = [][]byte{der}, key
	a.Leaf, err = x509.ParseCertificate(der)
	return err
}

// issue signs a certificate, by itself without a signer.
func issue(template *x509.Certificate, signer *tls.Certificate) ([]byte, *ecdsa.PrivateKey, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, nil, err
	}
	parent, by := template, any(key)
	if signer != nil {
		parent, by = signer.Leaf, signer.PrivateKey
	}
	der, err := x509.CreateCertificate(rand.Reader, template, parent, &key.PublicKey, by)
	return der, key, err
}

// tlsConfig is that of a client with the certificate in the file, of none when it is "none".
func (c *call) tlsConfig(file string) (*tls.Config, error) {
	if c.authority.Leaf == nil {
		return nil, errors.New("http -cert comes after certificate")
	}
	config := &tls.Config{RootCAs: x509.NewCertPool(), ServerName: "localhost"}
	config.RootCAs.AddCert(c.authority.Leaf)
	if file != "none" {
		cert, err := tls.LoadX509KeyPair(c.ts.MkAbs(file), c.ts.MkAbs(file))
		if err != nil {
			return nil, err
		}
		config.Certificates = []tls.Certificate{cert}
	}
	return config, nil
}
