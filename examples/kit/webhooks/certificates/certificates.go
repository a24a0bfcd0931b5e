// SPDX-License-Identifier: Apache-2.0

// Package certificates makes the certificates of the webhook server and keeps them in a Secret or a folder, in the
// format of OpenKruise 1.4. What either of the two wrote, the other uses. It is here, and not a library's, because of
// that format, and of hosts that are IP addresses. Also, a new authority stands beside the one before it, so that
// servers can change over one by one and no request fails in between.
//
// A user who wants a new authority at once removes ca-key.pem and cert.pem. One who wants the old one to be trusted no
// more removes everything.
package certificates

import (
	"cmp"
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"strconv"
	"time"

	"k8s.io/client-go/util/cert"
	"k8s.io/client-go/util/keyutil"
)

// Bundle is a certificate authority and one server certificate signed by it, all PEM: the entries of a Secret, and the
// files of a folder. A nil bundle is empty, which is not usable.
type Bundle map[string][]byte

// The entries of a bundle.
const (
	CAKey  = "ca-key.pem"
	CACert = "ca-cert.pem" // and the authority before this one behind it
	Key    = "key.pem"
	Cert   = "cert.pem"
	tlsKey = "tls.key" // the same as Key
	tlsCrt = "tls.crt" // the same as Cert
)

// Certificates are made for ten years. A server certificate is renewed some time before it ends, half a year by default. It
// is signed by the authority at hand if that lasts half a year longer than this time, and another year at least.
const (
	lifetime     = 10 * year
	serverMargin = 6 * 30 * day
	caMargin     = year

	day  = 24 * time.Hour
	year = 365 * day
)

// longestRenewBefore is the longest time before their end at which certificates may be renewed: a new one must be good for a while.
const longestRenewBefore = 9 * year

// ParseRenewBefore reads a time before the end of certificates, as OpenKruise's variable CERTS_RENEW_BEFORE has it. It is a
// number of days (d), of months of 30 days (m) or of years (y).
func ParseRenewBefore(text string) (time.Duration, error) {
	if text == "" {
		return 0, fmt.Errorf("want a number with d, m or y")
	}
	number, unit := text[:len(text)-1], map[byte]time.Duration{'d': day, 'm': 30 * day, 'y': year}[text[len(text)-1]]
	n, err := strconv.ParseInt(number, 10, 32)
	if err != nil || unit == 0 || n <= 0 || time.Duration(n) > longestRenewBefore/unit {
		return 0, fmt.Errorf("want a number with d, m or y, above 0, and 9 years at most")
	}
	return time.Duration(n) * unit, nil
}

// KeyPair returns what a TLS server presents.
func (b Bundle) KeyPair() (tls.Certificate, error) { return tls.X509KeyPair(b[Cert], b[Key]) }

// Roots returns the authorities, which are none if the bundle is damaged.
func (b Bundle) Roots() *x509.CertPool {
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(b[CACert])
	return roots
}

// Check returns nil if a server at the host may present the bundle now, and still may when the given time has passed.
// The host is a DNS name or an IP address. The time says how long before its end the bundle is renewed; 0 stands for
// half a year. Otherwise Check returns why not.
func (b Bundle) Check(host string, now time.Time, before time.Duration) error {
	pair, err := b.KeyPair()
	if err != nil {
		return fmt.Errorf("the server certificate and its key: %w", err)
	}
	for _, at := range []time.Time{now, now.Add(cmp.Or(before, serverMargin))} {
		for _, name := range []string{"localhost", host} {
			if err := b.verify(pair, name, at); err != nil {
				return fmt.Errorf("the server certificate does not serve %s on %s: %w", name, at.Format(time.DateOnly), err)
			}
		}
	}
	return nil
}

// Accepts tells whether a client that trusts this bundle accepts, at that time, a server that presents another one.
func (b Bundle) Accepts(other Bundle, now time.Time) bool { return b.Refuses(other, now) == nil }

// Refuses returns why a client that trusts this bundle does not accept, at that time, a server that presents another one; nil
// if it does.
func (b Bundle) Refuses(other Bundle, now time.Time) error {
	pair, err := other.KeyPair()
	if err != nil {
		return err
	}
	return b.verify(pair, "", now)
}

// verify returns why the authorities do not accept a server of a name, which may be empty for any.
func (b Bundle) verify(pair tls.Certificate, name string, at time.Time) error {
	between := x509.NewCertPool()
	for _, der := range pair.Certificate[1:] {
		if c, err := x509.ParseCertificate(der); err == nil {
			between.AddCert(c)
		}
	}
	_, err := pair.Leaf.Verify(x509.VerifyOptions{Roots: b.Roots(), Intermediates: between, DNSName: name, CurrentTime: at})
	return err
}

// Renew returns a new server certificate for the host and localhost. It is signed by the authority of the old bundle if that
// has a key and lasts long enough, and by a new one otherwise. Long enough is the time before the end at which it is renewed
// (0: half a year). Then the old authority stays behind the new one while it is valid. A client that trusts the bundle also
// accepts the servers that do not have the new certificate yet.
func Renew(old Bundle, host string, now time.Time, before time.Duration) (Bundle, error) {
	renewed := Bundle{CAKey: old[CAKey], CACert: old[CACert]}
	authority, err := tls.X509KeyPair(old[CACert], old[CAKey])
	if err != nil || !signs(authority.Leaf, now, max(caMargin, before+serverMargin)) {
		template := &x509.Certificate{
			Subject: pkix.Name{CommonName: "webhook-cert-ca"}, IsCA: true, BasicConstraintsValid: true,
			KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature,
		}
		if renewed[CACert], renewed[CAKey], err = sign(template, tls.Certificate{}, now); err != nil {
			return nil, fmt.Errorf("making the webhook CA: %w", err)
		}
		if authority, err = tls.X509KeyPair(renewed[CACert], renewed[CAKey]); err != nil {
			return nil, err
		}
		renewed[CACert] = append(renewed[CACert], former(old, now)...)
	}
	template := &x509.Certificate{
		Subject:     pkix.Name{CommonName: host[:min(len(host), 64)]}, // more does not fit; the host that counts is below
		KeyUsage:    x509.KeyUsageDigitalSignature | x509.KeyUsageKeyEncipherment,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		DNSNames:    []string{"localhost"},
	}
	if ip := net.ParseIP(host); ip != nil {
		template.IPAddresses = []net.IP{ip}
	} else if host != "localhost" {
		template.DNSNames = append(template.DNSNames, host)
	}
	if renewed[Cert], renewed[Key], err = sign(template, authority, now); err != nil {
		return nil, fmt.Errorf("making the webhook server certificate for %s: %w", host, err)
	}
	renewed[tlsCrt], renewed[tlsKey] = renewed[Cert], renewed[Key]
	return renewed, nil
}

// signs tells whether a certificate is that of an authority, for some time to come.
func signs(c *x509.Certificate, now time.Time, margin time.Duration) bool {
	return c.IsCA && !now.Before(c.NotBefore) && !now.Add(margin).After(c.NotAfter)
}

// former returns the authority of a bundle that has signed last, nil if there is none that is valid.
func former(b Bundle, now time.Time) []byte {
	if certs, err := cert.ParseCertsPEM(b[CACert]); err == nil && signs(certs[0], now, 0) {
		return encode(certs[0].Raw)
	}
	return nil
}

// sign makes a key and its certificate, signed by an authority, or by itself if that is empty. It is valid from an
// hour ago, for peers whose clock is behind.
func sign(template *x509.Certificate, authority tls.Certificate, now time.Time) (certPEM, keyPEM []byte, err error) {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		return nil, nil, err
	}
	parent, signer := template, crypto.PrivateKey(key)
	if authority.Leaf != nil {
		parent, signer = authority.Leaf, authority.PrivateKey
	}
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 126))
	if err != nil {
		return nil, nil, err
	}
	template.SerialNumber = serial.Add(serial, big.NewInt(1))
	template.NotBefore, template.NotAfter = now.Add(-time.Hour), now.Add(lifetime)
	der, err := x509.CreateCertificate(rand.Reader, template, parent, key.Public(), signer)
	if err != nil {
		return nil, nil, err
	}
	keyPEM, err = keyutil.MarshalPrivateKeyToPEM(key)
	return encode(der), keyPEM, err
}

func encode(der []byte) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: cert.CertificateBlockType, Bytes: der})
}
