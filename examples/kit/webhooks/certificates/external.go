// SPDX-License-Identifier: Apache-2.0

package certificates

import (
	"fmt"
	"strings"
	"time"

	"k8s.io/client-go/util/cert"
)

// caCrt is the entry of the authority in a Secret that another program writes.
const caCrt = "ca.crt"

// External returns the bundle in a Secret that another program writes, such as cert-manager. It has the entries ca.crt,
// tls.crt, which may hold intermediate authorities behind the certificate, and tls.key. An error says why a server at the
// host (a DNS name or an IP address) may not present it at that time. It says what the Secret lacks. Nothing is renewed.
// (PF-5.4)
func External(data map[string][]byte, host string, now time.Time) (Bundle, error) {
	var missing []string
	for _, entry := range []string{caCrt, tlsCrt, tlsKey} {
		if len(data[entry]) == 0 {
			missing = append(missing, entry)
		}
	}
	if len(missing) > 0 {
		return nil, fmt.Errorf("it lacks %s", strings.Join(missing, " and "))
	}
	bundle := Bundle{CACert: data[caCrt], Cert: data[tlsCrt], Key: data[tlsKey]}
	pair, err := bundle.KeyPair()
	if err != nil {
		return nil, fmt.Errorf("%s and %s do not fit: %w", tlsCrt, tlsKey, err)
	}
	if _, err := cert.ParseCertsPEM(bundle[CACert]); err != nil {
		return nil, fmt.Errorf("%s: %w", caCrt, err)
	}
	leaf := pair.Leaf
	switch {
	case now.Before(leaf.NotBefore):
		return nil, fmt.Errorf("%s: the certificate is not valid before %s", tlsCrt, leaf.NotBefore.UTC().Format(time.RFC3339))
	case now.After(leaf.NotAfter):
		return nil, fmt.Errorf("%s: the certificate has expired on %s", tlsCrt, leaf.NotAfter.UTC().Format(time.RFC3339))
	}
	if err := leaf.VerifyHostname(host); err != nil {
		return nil, fmt.Errorf("%s: the certificate does not serve %s: %w", tlsCrt, host, err)
	}
	if err := bundle.verify(pair, host, now); err != nil {
		return nil, fmt.Errorf("%s does not accept %s: %w", caCrt, tlsCrt, err)
	}
	return bundle, nil
}
