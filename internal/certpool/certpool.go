// Package certpool reads the files that say whose certificates a client trusts.
package certpool

import (
	"crypto/x509"
	"fmt"
	"os"
)

// Read returns the certificates of a file in PEM form. Without a file the pool is nil, which stands for
// the system's in a [crypto/tls.Config]. The error names the file, not the setting.
func Read(file string) (*x509.CertPool, error) {
	if file == "" {
		return nil, nil
	}
	pem, err := os.ReadFile(file)
	if err != nil {
		return nil, err // it names the file
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(pem) {
		return nil, fmt.Errorf("there is no certificate in %s: it must be in PEM form", file)
	}
	return pool, nil
}
