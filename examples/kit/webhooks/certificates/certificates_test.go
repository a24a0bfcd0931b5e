// SPDX-License-Identifier: Apache-2.0

package certificates

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"maps"
	"net"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
)

const (
	host  = "kruise-webhook-service.kruise-system.svc"
	month = 30 * 24 * time.Hour
)

var start = time.Date(2026, 1, 15, 12, 0, 0, 0, time.UTC)

// bundle takes each of its entries from another one.
func bundle(caKey, caCert, key, cert Bundle) Bundle {
	return Bundle{CAKey: caKey[CAKey], CACert: caCert[CACert], Key: key[Key], Cert: cert[Cert]}
}

func renew(t *testing.T, old Bundle, host string, now time.Time) Bundle {
	t.Helper()
	bundle, err := Renew(old, host, now, 0)
	if err != nil {
		t.Fatal(err)
	}
	return bundle
}

func TestCheck(t *testing.T) {
	good := renew(t, Bundle{}, host, start)
	other := renew(t, Bundle{}, host, start)
	address := renew(t, Bundle{}, "192.0.2.7", start)
	cases := map[string]struct {
		bundle Bundle
		host   string
		at     time.Duration
		good   bool
	}{
		"PF-5: fresh": {good, host, 0, true},
		"PF-5: the clock of a replica is a bit behind":      {good, host, -30 * time.Minute, true},
		"PF-5: nothing there":                               {Bundle{}, host, 0, false},
		"PF-5: more than 6 months left":                     {good, host, 10*year - 6*month - time.Hour, true},
		"PF-5: less than 6 months left":                     {good, host, 10*year - 6*month + time.Hour, false},
		"PF-5: another DNS name":                            {good, "hooks.example.com", 0, false},
		"PF-5: the address it is made for":                  {address, "192.0.2.7", 0, true},
		"PF-5: another address":                             {address, "192.0.2.8", 0, false},
		"PF-5: localhost for the readiness check":           {address, "localhost", 0, true},
		"PF-5: key of another certificate":                  {bundle(good, good, other, good), host, 0, false},
		"PF-5: signed by another CA":                        {bundle(other, other, good, good), host, 0, false},
		"PF-5: not PEM":                                     {Bundle{CAKey: good[CAKey], CACert: []byte("x"), Key: good[Key], Cert: good[Cert]}, host, 0, false},
		"PF-5: the CA key is not needed while nothing ends": {Bundle{CACert: good[CACert], Key: good[Key], Cert: good[Cert]}, host, 0, true},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			if err := c.bundle.Check(c.host, start.Add(c.at), 0); (err == nil) != c.good {
				t.Errorf("Check gives %v, want good: %v", err, c.good)
			}
		})
	}
}

func TestRenewKeepsTheAuthority(t *testing.T) {
	old := renew(t, Bundle{}, host, start)
	cases := map[string]struct {
		old  Bundle
		at   time.Duration
		kept bool
	}{
		"PF-5: an existing CA is reused":                     {old, 0, true},
		"PF-5: a CA with more than a year left is reused":    {old, 9*year - time.Hour, true},
		"PF-5: a CA with less than a year left is not":       {old, 9*year + time.Hour, false},
		"PF-5: a CA without key cannot be reused":            {Bundle{CACert: old[CACert]}, 0, false},
		"PF-5: a server certificate is not a CA":             {Bundle{CACert: old[Cert], CAKey: old[Key]}, 0, false},
		"PF-5: a CA that is not valid yet is not reused":     {old, -year, false},
		"PF-5: a CA certificate with the key of another one": {Bundle{CACert: old[CACert], CAKey: old[Key]}, 0, false},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			now := start.Add(c.at)
			renewed := renew(t, c.old, host, now)
			if kept := gocmp.Equal(renewed[CACert], c.old[CACert]); kept != c.kept {
				t.Errorf("CA kept: %v, want %v", kept, c.kept)
			}
			if err := renewed.Check(host, now, 0); err != nil {
				t.Errorf("the renewed bundle is not good: %v", err)
			}
		})
	}
}

// count returns how many certificates a PEM text holds.
func count(text []byte) (n int) {
	for block, rest := pem.Decode(text); block != nil; block, rest = pem.Decode(rest) {
		n++
	}
	return n
}

// Servers change over to a new authority one by one.
func TestRenewKeepsTheFormerAuthorityBesideTheNewOne(t *testing.T) {
	first := renew(t, Bundle{}, host, start)
	keyless := func(b Bundle) Bundle { return Bundle{CACert: b[CACert], Key: b[Key], Cert: b[Cert]} }
	second := renew(t, keyless(first), host, start)
	cases := map[string]struct {
		old, other   Bundle
		at           time.Duration
		authorities  int
		acceptsOther bool
	}{
		"a new authority besides the old one":         {keyless(first), first, 0, 2, true},
		"the old one ends within a year":              {first, first, 9*year + time.Hour, 2, true},
		"the old one has ended":                       {first, first, 10*year + time.Hour, 1, false},
		"the old one is not valid yet":                {first, first, -year, 1, false},
		"an authority that is reused keeps the other": {second, first, 0, 2, true},
		"the one before the last is forgotten":        {keyless(second), first, 0, 2, false},
		"the last is not":                             {keyless(second), second, 0, 2, true},
		"everything was removed":                      {Bundle{}, first, 0, 1, false},
		"what stands there is no authority":           {Bundle{CACert: first[Cert]}, first, 0, 1, false},
		"what stands there is no certificate":         {Bundle{CACert: encode([]byte("x"))}, first, 0, 1, false},
		"a server without certificate":                {first, Bundle{}, 0, 1, false},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			now := start.Add(c.at)
			renewed := renew(t, c.old, host, now)
			if got := count(renewed[CACert]); got != c.authorities {
				t.Errorf("%d authorities, want %d", got, c.authorities)
			}
			if got := renewed.Accepts(c.other, now); got != c.acceptsOther {
				t.Errorf("accepts the other server: %v, want %v", got, c.acceptsOther)
			}
			if !renewed.Accepts(renewed, now) || (Bundle{}).Accepts(renewed, now) {
				t.Error("a bundle accepts itself, and an empty one no server")
			}
			if err := renewed.Check(host, now, 0); err != nil {
				t.Errorf("the renewed bundle is not good: %v", err)
			}
		})
	}
}

func TestRenewContents(t *testing.T) {
	bundle := renew(t, Bundle{}, "192.0.2.7", start)
	server, err := bundle.KeyPair()
	if err != nil {
		t.Fatal(err)
	}
	ca, err := tls.X509KeyPair(bundle[CACert], bundle[CAKey])
	if err != nil {
		t.Fatal(err)
	}
	type facts struct {
		CAName             string
		IsCA               bool
		DNS                []string
		Addresses          []net.IP
		ServerEnds, CAEnds time.Time
		Algorithm          x509.PublicKeyAlgorithm
	}
	want := facts{
		CAName: "webhook-cert-ca", IsCA: true, DNS: []string{"localhost"}, Addresses: []net.IP{net.IPv4(192, 0, 2, 7).To4()},
		ServerEnds: start.Add(10 * year), CAEnds: start.Add(10 * year), Algorithm: x509.RSA,
	}
	got := facts{
		CAName: ca.Leaf.Subject.CommonName, IsCA: ca.Leaf.IsCA, DNS: server.Leaf.DNSNames, Addresses: server.Leaf.IPAddresses,
		ServerEnds: server.Leaf.NotAfter, CAEnds: ca.Leaf.NotAfter, Algorithm: server.Leaf.PublicKeyAlgorithm,
	}
	if diff := gocmp.Diff(want, got); diff != "" {
		t.Errorf("PF-5: certificates (-want +got):\n%s", diff)
	}
	long := "kruise-webhook-service.a-namespace-with-a-name-of-sixty-three-characters-which-is-the-most.svc"
	if err := renew(t, bundle, long, start).Check(long, start, 0); err != nil {
		t.Errorf("a host that does not fit into a subject: %v", err)
	}
}

// ensure runs Ensure with a Secret, which may be missing, and returns what it wrote.
func ensure(t *testing.T, stored *corev1.Secret, refusal error) (client.Client, Bundle, []string, error) {
	t.Helper()
	var verbs []string
	note := func(verb string) error { verbs = append(verbs, verb); return refusal }
	objects := []client.Object{}
	if stored != nil {
		objects = append(objects, stored)
	}
	api := fake.NewClientBuilder().WithObjects(objects...).WithInterceptorFuncs(interceptor.Funcs{
		Create: func(ctx context.Context, c client.WithWatch, object client.Object, options ...client.CreateOption) error {
			return cmp.Or(note("create"), c.Create(ctx, object, options...))
		},
		Patch: func(ctx context.Context, c client.WithWatch, object client.Object, patch client.Patch, options ...client.PatchOption) error {
			return cmp.Or(note("patch"), c.Patch(ctx, object, patch, options...))
		},
	}).Build()
	key := client.ObjectKey{Namespace: "kruise-system", Name: "certs"}
	got, err := Ensure(t.Context(), &Secret{ObjectKey: key, Reader: api, Writer: api}, host, start, 0)
	return api, got, verbs, err
}

func secret(data Bundle) *corev1.Secret {
	return &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "kruise-system", Name: "certs"}, Data: data}
}

func TestEnsureSecret(t *testing.T) {
	standing := renew(t, nil, host, start)
	expired := renew(t, nil, host, start.Add(-9*year-9*month))
	cases := map[string]struct {
		stored *corev1.Secret
		verbs  []string
		reused bool
	}{
		"PF-5: absent":          {nil, []string{"create"}, false},
		"PF-5: empty":           {secret(nil), []string{"patch"}, false},
		"PF-5: good":            {secret(standing), nil, true},
		"PF-5: ends too early":  {secret(expired), []string{"patch"}, false},
		"PF-5: foreign entries": {secret(Bundle{"mine": []byte("x")}), []string{"patch"}, false},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			api, got, verbs, err := ensure(t, c.stored, nil)
			if diff := gocmp.Diff(c.verbs, verbs); err != nil || diff != "" {
				t.Errorf("error %v, writes (-want +got):\n%s", err, diff)
			}
			if reused := gocmp.Equal(got, standing); reused != c.reused {
				t.Errorf("reused: %v, want %v", reused, c.reused)
			}
			stored := &corev1.Secret{}
			if err := api.Get(t.Context(), client.ObjectKey{Namespace: "kruise-system", Name: "certs"}, stored); err != nil {
				t.Fatal(err)
			}
			want := Bundle(maps.Clone(got))
			if c.stored != nil && c.stored.Data["mine"] != nil {
				want["mine"] = c.stored.Data["mine"]
			}
			if diff := gocmp.Diff(want, Bundle(stored.Data)); diff != "" {
				t.Errorf("the Secret (-want +got):\n%s", diff)
			}
			if names := slices.Sorted(maps.Keys(got)); !slices.Equal(names, []string{"ca-cert.pem", "ca-key.pem", "cert.pem", "key.pem", "tls.crt", "tls.key"}) {
				t.Errorf("PF-5: entries %v", names)
			}
			if string(stored.Data["tls.crt"]) != string(stored.Data["cert.pem"]) || string(stored.Data["tls.key"]) != string(stored.Data["key.pem"]) {
				t.Error("PF-5: the entries of a TLS Secret are others")
			}
		})
	}
}

// The second of two replicas that start together uses what the first has saved: it writes nothing over it.
func TestEnsureSecretRace(t *testing.T) {
	refusals := map[string]struct {
		stored  *corev1.Secret
		refusal error
	}{
		"PF-5: both create": {nil, apierrors.NewAlreadyExists(corev1.Resource("secrets"), "certs")},
		"PF-5: both update": {secret(nil), apierrors.NewConflict(corev1.Resource("secrets"), "certs", nil)},
	}
	for name, c := range refusals {
		t.Run(name, func(t *testing.T) {
			if _, got, _, err := ensure(t, c.stored, c.refusal); got != nil || !errors.Is(err, c.refusal) {
				t.Errorf("bundle %v, error %v, want the refusal", got, err)
			}
		})
	}
	first := renew(t, nil, host, start)
	api, _, _, err := ensure(t, secret(first), nil)
	if err != nil {
		t.Fatal(err)
	}
	behind := fake.NewClientBuilder().WithObjects(secret(nil)).Build() // a cache that has not seen it
	store := &Secret{ObjectKey: client.ObjectKey{Namespace: "kruise-system", Name: "certs"}, Reader: behind, Writer: api}
	touched := &corev1.Secret{}
	if err := api.Get(t.Context(), store.ObjectKey, touched); err != nil {
		t.Fatal(err)
	}
	touched.Labels = map[string]string{"touched": "yes"}
	if err := api.Update(t.Context(), touched); err != nil {
		t.Fatal(err)
	}
	if _, err := Ensure(t.Context(), store, host, start, 0); !apierrors.IsConflict(err) {
		t.Errorf("PF-5: building on an old state gives %v, want a conflict", err)
	}
}

func TestEnsureFolder(t *testing.T) {
	path := filepath.Join(t.TempDir(), "made", "on", "demand")
	store := Folder(path)
	first, err := Ensure(context.Background(), store, host, start, 0)
	if err != nil {
		t.Fatal(err)
	}
	second, err := Ensure(context.Background(), store, host, start, 0)
	if err != nil {
		t.Fatal(err)
	}
	if diff := gocmp.Diff(first, second); diff != "" {
		t.Errorf("the folder is not reused (-first +second):\n%s", diff)
	}
	entries, err := os.ReadDir(path)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, entry := range entries {
		names = append(names, entry.Name())
		if info, err := entry.Info(); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: mode %v (%v), want 0600", entry.Name(), info.Mode(), err)
		}
	}
	want := []string{"ca-cert.pem", "ca-key.pem", "cert.pem", "key.pem", "tls.crt", "tls.key"}
	if diff := gocmp.Diff(want, names); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
	// A process died between two files.
	if err := os.Remove(filepath.Join(path, "key.pem")); err != nil {
		t.Fatal(err)
	}
	third, err := Ensure(context.Background(), store, host, start, 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := third.Check(host, start, 0); err != nil {
		t.Errorf("a broken set is not repaired: %v", err)
	}
}

func FuzzCheck(f *testing.F) {
	f.Add([]byte("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"), []byte("-----BEGIN RSA PRIVATE KEY-----\nAAAA\n-----END RSA PRIVATE KEY-----\n"), host)
	f.Add([]byte{}, []byte{}, "")
	f.Fuzz(func(t *testing.T, cert, key []byte, host string) {
		bundle := Bundle{CAKey: key, CACert: cert, Key: key, Cert: cert}
		if bundle.Check(host, start, 0) == nil {
			t.Errorf("random bytes pass as certificates for %q", host)
		}
	})
}

// PF-5: a renewed bundle lasts longer than the time before its end at which it is renewed, whatever authority there was. So it is not
// renewed again.
func TestRenewBefore(t *testing.T) {
	first := renew(t, nil, host, start)
	for _, at := range []time.Duration{0, 5 * year, 9*year + 30*month} {
		now := start.Add(at)
		for _, before := range []time.Duration{0, 3 * year, longestRenewBefore} {
			renewed, err := Renew(first, host, now, before)
			if err != nil {
				t.Fatal(err)
			}
			for _, later := range []time.Duration{0, 3 * month} {
				if err := renewed.Check(host, now.Add(later), before); err != nil {
					t.Errorf("PF-5: %s after the first, renewed %s ahead, %s later: %v", at, before, later, err)
				}
			}
		}
	}
	if first.Check(host, start.Add(8*year), year) != nil || first.Check(host, start.Add(8*year), 3*year) == nil {
		t.Error("PF-5: a certificate with two years left is good for one, and not for three")
	}
}
