package health

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"net/http"
	"syscall"
)

// Why a server that is asked over the network does not do its work, in words that stay.
const (
	Unreachable    = "unreachable"    // no connection: address, network, or the server is down
	Timeout        = "timeout"        // no answer in time
	Certificate    = "certificate"    // its certificate is not trusted, or of another name
	NotTLS         = "tls"            // TLS was spoken to a port without it, or the other way round
	Authentication = "authentication" // it does not take what this service proves itself with
	Refused        = "refused"        // it answers with another error
)

// Reason returns the word for an error of the network; [Refused] for any other.
func Reason(err error) string {
	timeout, isNet := errors.AsType[net.Error](err)
	switch {
	case errors.Is(err, context.DeadlineExceeded) || isNet && timeout.Timeout():
		return Timeout
	case is[*tls.CertificateVerificationError](err), is[x509.UnknownAuthorityError](err), is[x509.HostnameError](err), is[x509.CertificateInvalidError](err):
		return Certificate
	case Severed(err):
		return NotTLS
	case isNet, is[*net.OpError](err), is[*net.DNSError](err):
		return Unreachable
	}
	return Refused
}

// Severed reports whether the other side ended a connection that it had taken, or spoke another
// protocol: so servers answer TLS where they do not speak it, and what is not TLS where they do.
func Severed(err error) bool {
	return is[tls.RecordHeaderError](err) || errors.Is(err, http.ErrSchemeMismatch) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, syscall.ECONNRESET)
}

func is[E error](err error) bool {
	_, ok := errors.AsType[E](err)
	return ok
}
