// SPDX-License-Identifier: Apache-2.0

package certificates

import (
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"strings"
	"testing"
	"time"
)

// ofOthers is the data of a Secret as cert-manager writes it.
func ofOthers(b Bundle) map[string][]byte {
	return map[string][]byte{"ca.crt": b[CACert], "tls.crt": b[Cert], "tls.key": b[Key]}
}

// behind is a bundle whose certificate an intermediate authority has signed, which stands behind it if it is sent.
func behind(t *testing.T, sent bool) Bundle {
	t.Helper()
	made := func(template *x509.Certificate, by tls.Certificate) (certificate, key []byte, pair tls.Certificate) {
		certificate, key, err := sign(template, by, start)
		if err == nil {
			pair, err = tls.X509KeyPair(certificate, key)
		}
		if err != nil {
			t.Fatal(err)
		}
		return certificate, key, pair
	}
	authority := func(name string) *x509.Certificate {
		return &x509.Certificate{Subject: pkix.Name{CommonName: name}, IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign}
	}
	root, _, first := made(authority("root"), tls.Certificate{})
	between, _, second := made(authority("between"), first)
	leaf, key, _ := made(&x509.Certificate{DNSNames: []string{host}, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}}, second)
	if sent {
		leaf = append(leaf, between...)
	}
	return Bundle{CACert: root, Cert: leaf, Key: key}
}

// PF-5.4: what another program provides is looked at, and what it lacks is named.
func TestExternal(t *testing.T) {
	good, other := renew(t, nil, host, start), renew(t, nil, host, start)
	of := func(b Bundle, change func(map[string][]byte)) map[string][]byte {
		data := ofOthers(b)
		change(data)
		return data
	}
	nothing := func(map[string][]byte) {}
	for name, c := range map[string]struct {
		data map[string][]byte
		at   time.Duration
		want string // empty: it is good
	}{
		"PF-5.4: good":                         {of(good, nothing), 0, ""},
		"PF-5.4: it has more entries":          {of(good, func(d map[string][]byte) { d["ca.key"] = []byte("x") }), 0, ""},
		"PF-5.4: it is not renewed ahead":      {of(good, nothing), 10*year - 2*time.Hour, ""},
		"PF-5.4: an authority in between":      {of(behind(t, true), nothing), 0, ""},
		"PF-5.4: which is not sent":            {of(behind(t, false), nothing), 0, "ca.crt does not accept tls.crt: "},
		"PF-5.4: empty":                        {nil, 0, "it lacks ca.crt and tls.crt and tls.key"},
		"PF-5.4: that of OpenKruise":           {map[string][]byte{CACert: good[CACert], Cert: good[Cert], tlsCrt: good[Cert], tlsKey: good[Key]}, 0, "it lacks ca.crt"},
		"PF-5.4: an entry without a content":   {of(good, func(d map[string][]byte) { d["tls.key"] = nil }), 0, "it lacks tls.key"},
		"PF-5.4: the key of another":           {of(good, func(d map[string][]byte) { d["tls.key"] = other[Key] }), 0, "tls.crt and tls.key do not fit: "},
		"PF-5.4: no PEM":                       {of(good, func(d map[string][]byte) { d["tls.crt"] = []byte("x") }), 0, "tls.crt and tls.key do not fit: "},
		"PF-5.4: no authority":                 {of(good, func(d map[string][]byte) { d["ca.crt"] = []byte("x") }), 0, "ca.crt: "},
		"PF-5.4: another authority":            {of(good, func(d map[string][]byte) { d["ca.crt"] = other[CACert] }), 0, "ca.crt does not accept tls.crt: "},
		"PF-5.4: another name":                 {of(renew(t, nil, "hooks.example.com", start), nothing), 0, "tls.crt: the certificate does not serve " + host + ": "},
		"PF-5.4: of tomorrow":                  {of(good, nothing), -2 * time.Hour, "tls.crt: the certificate is not valid before 2026-01-15T11:00:00Z"},
		"PF-5.4: its time is over":             {of(good, nothing), 10*year + time.Hour, "tls.crt: the certificate has expired on 2036-01-13T12:00:00Z"},
		"PF-5.4: at the last moment it serves": {of(good, nothing), 10 * year, ""},
	} {
		t.Run(name, func(t *testing.T) {
			bundle, err := External(c.data, host, start.Add(c.at))
			switch {
			case err == nil && c.want != "", err != nil && (c.want == "" || !strings.HasPrefix(err.Error(), c.want)):
				t.Errorf("error %v, want %q", err, c.want)
			case err == nil && (string(bundle[CACert]) != string(c.data["ca.crt"]) || !bundle.Accepts(bundle, start.Add(c.at))):
				t.Errorf("the bundle is %v", bundle)
			}
		})
	}
}
