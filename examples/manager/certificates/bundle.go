// Package certificates makes the certificates of the webhook server and keeps
// them in a Secret or a folder, in the format of OpenKruise 1.4: what either of
// the two wrote, the other uses.
//
// A new authority stands beside the one before it, so that servers can change
// over one by one. Who wants one at once removes ca-key.pem and cert.pem; who
// wants the old one to be trusted no more removes everything.
//
// What is good and what has to be renewed is decided by pure functions on a
// Bundle and a time; the stores carry bytes.
package certificates

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"time"
)

// Bundle is a certificate authority and one server certificate signed by it,
// all PEM. The zero value is an empty bundle, which is not usable.
type Bundle struct {
	// CACert may hold the authority before this one too, behind it.
	CAKey, CACert []byte
	Key, Cert     []byte
}

// Certificates are made for ten years. A server certificate
// is renewed half a year before it ends, and signed by the authority at hand if
// that lasts another year.
const (
	lifetime     = 10 * 365 * 24 * time.Hour
	serverMargin = 6 * 30 * 24 * time.Hour
	caMargin     = 365 * 24 * time.Hour
)

// Check returns nil when a server at the host (a DNS name or an IP address)
// may present the bundle now and for six more months, and why not otherwise.
func (b Bundle) Check(host string, now time.Time) error {
	if len(b.Cert) == 0 && len(b.CACert) == 0 {
		return errors.New("there are no certificates yet")
	}
	pair, err := tls.X509KeyPair(b.Cert, b.Key)
	if err != nil {
		return fmt.Errorf("the server certificate and its key: %w", err)
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(b.CACert) {
		return errors.New("the CA certificate is not PEM")
	}
	for _, at := range []time.Time{now, now.Add(serverMargin)} {
		for _, name := range []string{"localhost", host} {
			options := x509.VerifyOptions{Roots: roots, DNSName: name, CurrentTime: at}
			if _, err := pair.Leaf.Verify(options); err != nil {
				return fmt.Errorf("the server certificate does not serve %s on %s: %w", name, at.Format(time.DateOnly), err)
			}
		}
	}
	return nil
}

// Accepts tells whether a client that trusts this bundle accepts, at that time, a
// server that presents another one.
func (b Bundle) Accepts(other Bundle, now time.Time) bool {
	pair, err := other.KeyPair()
	roots := x509.NewCertPool()
	if err != nil || !roots.AppendCertsFromPEM(b.CACert) {
		return false
	}
	_, err = pair.Leaf.Verify(x509.VerifyOptions{Roots: roots, CurrentTime: now})
	return err == nil
}

// KeyPair returns what a TLS server presents.
func (b Bundle) KeyPair() (tls.Certificate, error) { return tls.X509KeyPair(b.Cert, b.Key) }

// The keys of a Secret, and the names of files in a folder.
const (
	keyCAKey  = "ca-key.pem"
	keyCACert = "ca-cert.pem"
	keyKey    = "key.pem"
	keyCert   = "cert.pem"
	keyTLSKey = "tls.key" // the same as keyKey
	keyTLS    = "tls.crt" // the same as keyCert
)

// Data returns the bundle as the entries of a Secret.
func (b Bundle) Data() map[string][]byte {
	return map[string][]byte{
		keyCAKey: b.CAKey, keyCACert: b.CACert,
		keyKey: b.Key, keyCert: b.Cert,
		keyTLSKey: b.Key, keyTLS: b.Cert,
	}
}

// FromData reads the entries of a Secret. Missing ones are empty.
func FromData(data map[string][]byte) Bundle {
	return Bundle{CAKey: data[keyCAKey], CACert: data[keyCACert], Key: data[keyKey], Cert: data[keyCert]}
}

func encodePEM(kind string, der []byte) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der})
}
