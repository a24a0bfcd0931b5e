package certificates

import (
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
	"time"
)

// Renew makes a new server certificate for the host (a DNS name or an IP
// address) and localhost. It is signed by the authority of the old bundle where
// that has a key and lasts another year, and by a new one otherwise. Then the
// old authority stays in CACert behind the new one while it is valid: who trusts
// the bundle also accepts the servers that do not have the new certificate yet.
func Renew(old Bundle, host string, now time.Time) (Bundle, error) {
	authority, err := parseAuthority(old, now)
	if err != nil {
		if authority, err = newAuthority(now); err != nil {
			return Bundle{}, fmt.Errorf("making the webhook CA: %w", err)
		}
		authority.certPEM = append(authority.certPEM, former(old, now)...)
	}
	bundle, err := authority.issue(host, now)
	if err != nil {
		return Bundle{}, fmt.Errorf("making the webhook server certificate for %s: %w", host, err)
	}
	return bundle, nil
}

// authority is a certificate authority that can sign.
type authority struct {
	keyPEM, certPEM []byte
	key             crypto.Signer
	cert            *x509.Certificate
}

// parseAuthority returns the authority of a bundle if it can sign for another year.
func parseAuthority(b Bundle, now time.Time) (*authority, error) {
	pair, err := tls.X509KeyPair(b.CACert, b.CAKey)
	if err != nil {
		return nil, err
	}
	signer, ok := pair.PrivateKey.(crypto.Signer)
	if !ok {
		return nil, fmt.Errorf("a %T cannot sign", pair.PrivateKey)
	}
	if !pair.Leaf.IsCA || now.Before(pair.Leaf.NotBefore) || now.Add(caMargin).After(pair.Leaf.NotAfter) {
		return nil, fmt.Errorf("the CA certificate cannot sign for another year")
	}
	return &authority{keyPEM: b.CAKey, certPEM: b.CACert, key: signer, cert: pair.Leaf}, nil
}

// former returns the certificate of the authority that has signed last, as PEM;
// nil where there is none that is valid.
func former(b Bundle, now time.Time) []byte {
	block, _ := pem.Decode(b.CACert)
	if block == nil {
		return nil
	}
	cert, err := x509.ParseCertificate(block.Bytes)
	if err != nil || !cert.IsCA || now.Before(cert.NotBefore) || now.After(cert.NotAfter) {
		return nil
	}
	return encodePEM("CERTIFICATE", cert.Raw)
}

func newAuthority(now time.Time) (*authority, error) {
	template, err := newTemplate("webhook-cert-ca", now)
	if err != nil {
		return nil, err
	}
	template.IsCA, template.BasicConstraintsValid = true, true
	template.KeyUsage = x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		return nil, err
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return nil, err
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		return nil, err
	}
	return &authority{keyPEM: encodeKey(key), certPEM: encodePEM("CERTIFICATE", der), key: key, cert: cert}, nil
}

// issue makes a server certificate and returns it with its authority.
func (a *authority) issue(host string, now time.Time) (Bundle, error) {
	template, err := newTemplate(host, now)
	if err != nil {
		return Bundle{}, err
	}
	template.KeyUsage = x509.KeyUsageDigitalSignature | x509.KeyUsageKeyEncipherment
	template.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}
	template.DNSNames = []string{"localhost"}
	if ip := net.ParseIP(host); ip != nil {
		template.IPAddresses = []net.IP{ip}
	} else if host != "localhost" {
		template.DNSNames = append(template.DNSNames, host)
	}
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		return Bundle{}, err
	}
	der, err := x509.CreateCertificate(rand.Reader, template, a.cert, key.Public(), a.key)
	if err != nil {
		return Bundle{}, err
	}
	return Bundle{CAKey: a.keyPEM, CACert: a.certPEM, Key: encodeKey(key), Cert: encodePEM("CERTIFICATE", der)}, nil
}

// newTemplate returns what all certificates have in common. They are valid from
// an hour ago, for peers whose clock is behind. A subject holds at most 64
// characters of a name; the host that counts stands in the SANs.
func newTemplate(name string, now time.Time) (*x509.Certificate, error) {
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 126))
	if err != nil {
		return nil, err
	}
	return &x509.Certificate{
		SerialNumber: serial.Add(serial, big.NewInt(1)),
		Subject:      pkix.Name{CommonName: name[:min(len(name), 64)]},
		NotBefore:    now.Add(-time.Hour),
		NotAfter:     now.Add(lifetime),
	}, nil
}

func encodeKey(key *rsa.PrivateKey) []byte {
	return encodePEM("RSA PRIVATE KEY", x509.MarshalPKCS1PrivateKey(key))
}
