//go:build linux

package testscript

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/url"
	"os"
	"strings"

	"github.com/svc-gateway/svc/internal/testcert"
)

// certificate NAME KIND:VALUE… writes NAME.pem, a certificate with those names followed by its
// key, signed by the script's authority, which is in ca.pem. With the value "stranger" alone
// another authority of the same name signs it.
func certificate(c *call) error {
	if len(c.args) < 2 {
		return errors.New("usage: certificate NAME cn:VALUE|dns:VALUE|email:VALUE|uri:VALUE|stranger…")
	}
	template := &x509.Certificate{ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth, x509.ExtKeyUsageServerAuth}}
	stranger := false
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
			stranger = true
		default:
			return fmt.Errorf("%q is no name for a certificate", arg)
		}
	}
	if c.authority == nil {
		var err error
		if c.authority, err = testcert.NewAuthority("authority"); err != nil {
			return err
		}
		if err := testcert.Write(c.authority.Certificate, c.ts.MkAbs("ca.pem"), ""); err != nil {
			return err
		}
	}
	signer := c.authority
	if stranger {
		var err error
		if signer, err = testcert.NewAuthority("authority"); err != nil {
			return err
		}
	}
	issued, err := signer.Issue(template)
	if err != nil {
		return err
	}
	cert, key, err := testcert.Encode(issued)
	if err != nil {
		return err
	}
	return os.WriteFile(c.ts.MkAbs(c.args[0]+".pem"), append(cert, key...), 0o600)
}

// tlsConfig is that of a client with the certificate in the file, of none when it is "none".
func (c *call) tlsConfig(file string) (*tls.Config, error) {
	if c.authority == nil {
		return nil, errors.New("http -cert comes after certificate")
	}
	config := &tls.Config{RootCAs: c.authority.Pool(), ServerName: "localhost"}
	if file != "none" {
		cert, err := tls.LoadX509KeyPair(c.ts.MkAbs(file), c.ts.MkAbs(file))
		if err != nil {
			return nil, err
		}
		config.Certificates = []tls.Certificate{cert}
	}
	return config, nil
}
