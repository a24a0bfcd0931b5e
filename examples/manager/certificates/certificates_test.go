package certificates

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
)

const (
	host  = "kruise-webhook-service.kruise-system.svc"
	month = 30 * 24 * time.Hour
	year  = 365 * 24 * time.Hour
)

var start = time.Date(2026, 1, 15, 12, 0, 0, 0, time.UTC)

func renew(t *testing.T, old Bundle, host string, now time.Time) Bundle {
	t.Helper()
	bundle, err := Renew(old, host, now)
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
		"PF-5: key of another certificate":                  {Bundle{good.CAKey, good.CACert, other.Key, good.Cert}, host, 0, false},
		"PF-5: signed by another CA":                        {Bundle{other.CAKey, other.CACert, good.Key, good.Cert}, host, 0, false},
		"PF-5: not PEM":                                     {Bundle{good.CAKey, []byte("x"), good.Key, good.Cert}, host, 0, false},
		"PF-5: the CA key is not needed while nothing ends": {Bundle{nil, good.CACert, good.Key, good.Cert}, host, 0, true},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			if err := c.bundle.Check(c.host, start.Add(c.at)); (err == nil) != c.good {
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
		"PF-5: a CA without key cannot be reused":            {Bundle{CACert: old.CACert}, 0, false},
		"PF-5: a server certificate is not a CA":             {Bundle{CACert: old.Cert, CAKey: old.Key}, 0, false},
		"PF-5: a CA that is not valid yet is not reused":     {old, -year, false},
		"PF-5: a CA certificate with the key of another one": {Bundle{CACert: old.CACert, CAKey: old.Key}, 0, false},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			now := start.Add(c.at)
			renewed := renew(t, c.old, host, now)
			if kept := cmp.Equal(renewed.CACert, c.old.CACert); kept != c.kept {
				t.Errorf("CA kept: %v, want %v", kept, c.kept)
			}
			if err := renewed.Check(host, now); err != nil {
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
	keyless := func(b Bundle) Bundle { return Bundle{CACert: b.CACert, Key: b.Key, Cert: b.Cert} }
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
		"what stands there is no authority":           {Bundle{CACert: first.Cert}, first, 0, 1, false},
		"what stands there is no certificate":         {Bundle{CACert: encodePEM("CERTIFICATE", []byte("x"))}, first, 0, 1, false},
		"a server without certificate":                {first, Bundle{}, 0, 1, false},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			now := start.Add(c.at)
			renewed := renew(t, c.old, host, now)
			if got := count(renewed.CACert); got != c.authorities {
				t.Errorf("%d authorities, want %d", got, c.authorities)
			}
			if got := renewed.Accepts(c.other, now); got != c.acceptsOther {
				t.Errorf("accepts the other server: %v, want %v", got, c.acceptsOther)
			}
			if !renewed.Accepts(renewed, now) || (Bundle{}).Accepts(renewed, now) {
				t.Error("a bundle accepts itself, and an empty one nobody")
			}
			if err := renewed.Check(host, now); err != nil {
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
	ca, err := tls.X509KeyPair(bundle.CACert, bundle.CAKey)
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
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("PF-5: certificates (-want +got):\n%s", diff)
	}
	long := "kruise-webhook-service.a-namespace-with-a-name-of-sixty-three-characters-which-is-the-most.svc"
	if err := renew(t, bundle, long, start).Check(long, start); err != nil {
		t.Errorf("a host that does not fit into a subject: %v", err)
	}
}

func TestDataHasTheKeysOfTheSecret(t *testing.T) {
	bundle := Bundle{CAKey: []byte("a"), CACert: []byte("b"), Key: []byte("c"), Cert: []byte("d")}
	want := map[string][]byte{
		"ca-key.pem": []byte("a"), "ca-cert.pem": []byte("b"), "key.pem": []byte("c"), "cert.pem": []byte("d"),
		"tls.key": []byte("c"), "tls.crt": []byte("d"),
	}
	if diff := cmp.Diff(want, bundle.Data()); diff != "" {
		t.Errorf("PF-5: keys (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(bundle, FromData(want)); diff != "" {
		t.Errorf("read back (-want +got):\n%s", diff)
	}
}

// secretVerbs runs Ensure and returns what it asked of the API server.
func secretVerbs(t *testing.T, client *fake.Clientset, store *Secret) (Bundle, []string) {
	t.Helper()
	client.ClearActions()
	bundle, err := Ensure(t.Context(), store, host, start)
	if err != nil {
		t.Fatal(err)
	}
	var verbs []string
	for _, action := range client.Actions() {
		verbs = append(verbs, action.GetVerb())
	}
	return bundle, verbs
}

func TestEnsureSecret(t *testing.T) {
	standing := renew(t, Bundle{}, host, start)
	expired := renew(t, Bundle{}, host, start.Add(-9*year-9*month))
	secret := func(data map[string][]byte) *corev1.Secret {
		return &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "kruise-system", Name: "certs", ResourceVersion: "7"}, Data: data}
	}
	cases := map[string]struct {
		stored *corev1.Secret
		verbs  []string
		reused bool
	}{
		"PF-5: absent":          {nil, []string{"get", "create"}, false},
		"PF-5: empty":           {secret(nil), []string{"get", "patch"}, false},
		"PF-5: good":            {secret(standing.Data()), []string{"get"}, true},
		"PF-5: ends too early":  {secret(expired.Data()), []string{"get", "patch"}, false},
		"PF-5: foreign entries": {secret(map[string][]byte{"mine": []byte("x")}), []string{"get", "patch"}, false},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			client := fake.NewClientset()
			if c.stored != nil {
				client = fake.NewClientset(c.stored)
			}
			secrets := client.CoreV1().Secrets("kruise-system")
			bundle, verbs := secretVerbs(t, client, &Secret{Client: secrets, Name: "certs"})
			if diff := cmp.Diff(c.verbs, verbs); diff != "" {
				t.Errorf("requests (-want +got):\n%s", diff)
			}
			if reused := cmp.Equal(bundle, standing); reused != c.reused {
				t.Errorf("reused: %v, want %v", reused, c.reused)
			}
			stored, err := secrets.Get(t.Context(), "certs", metav1.GetOptions{})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(bundle, FromData(stored.Data)); diff != "" {
				t.Errorf("the Secret (-returned +stored):\n%s", diff)
			}
			if c.stored != nil && string(stored.Data["mine"]) != string(c.stored.Data["mine"]) {
				t.Errorf("a foreign entry is lost: %q", stored.Data)
			}
		})
	}
}

func TestEnsureSecretFromCacheAsksNothing(t *testing.T) {
	standing := renew(t, Bundle{}, host, start)
	client := fake.NewClientset()
	store := &Secret{
		Client: client.CoreV1().Secrets("kruise-system"), Name: "certs",
		Cached: func() *corev1.Secret { return &corev1.Secret{Data: standing.Data()} },
	}
	if _, verbs := secretVerbs(t, client, store); len(verbs) != 0 {
		t.Errorf("requests while nothing changes: %v", verbs)
	}
}

// The second of two replicas that start together uses what the first has saved.
func TestEnsureSecretRace(t *testing.T) {
	first := renew(t, Bundle{}, host, start)
	cases := map[string]struct {
		verb    string
		cached  *corev1.Secret
		refusal error
	}{
		"PF-5: both create": {"create", nil, apierrors.NewAlreadyExists(corev1.Resource("secrets"), "certs")},
		"PF-5: both update": {"patch", &corev1.Secret{ObjectMeta: metav1.ObjectMeta{ResourceVersion: "6"}},
			apierrors.NewConflict(corev1.Resource("secrets"), "certs", nil)},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			client := fake.NewClientset()
			client.PrependReactor(c.verb, "secrets", func(clienttesting.Action) (bool, runtime.Object, error) {
				return true, nil, c.refusal
			})
			client.PrependReactor("get", "secrets", func(clienttesting.Action) (bool, runtime.Object, error) {
				return true, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{ResourceVersion: "7"}, Data: first.Data()}, nil
			})
			store := &Secret{
				Client: client.CoreV1().Secrets("kruise-system"), Name: "certs",
				Cached: func() *corev1.Secret { return c.cached },
			}
			bundle, verbs := secretVerbs(t, client, store)
			if diff := cmp.Diff([]string{c.verb, "get"}, verbs); diff != "" {
				t.Errorf("requests (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(first, bundle); diff != "" {
				t.Errorf("the replicas disagree (-first +second):\n%s", diff)
			}
		})
	}
}

func TestEnsureFolder(t *testing.T) {
	path := filepath.Join(t.TempDir(), "made", "on", "demand")
	store := Folder{Path: path}
	first, err := Ensure(context.Background(), store, host, start)
	if err != nil {
		t.Fatal(err)
	}
	second, err := Ensure(context.Background(), store, host, start)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(first, second); diff != "" {
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
	if diff := cmp.Diff(want, names); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
	// A process died between two files.
	if err := os.Remove(filepath.Join(path, "key.pem")); err != nil {
		t.Fatal(err)
	}
	third, err := Ensure(context.Background(), store, host, start)
	if err != nil {
		t.Fatal(err)
	}
	if err := third.Check(host, start); err != nil {
		t.Errorf("a broken set is not repaired: %v", err)
	}
}

func FuzzCheck(f *testing.F) {
	f.Add([]byte("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"), []byte("-----BEGIN RSA PRIVATE KEY-----\nAAAA\n-----END RSA PRIVATE KEY-----\n"), host)
	f.Add([]byte{}, []byte{}, "")
	f.Fuzz(func(t *testing.T, cert, key []byte, host string) {
		bundle := Bundle{CAKey: key, CACert: cert, Key: key, Cert: cert}
		if bundle.Check(host, start) == nil {
			t.Errorf("random bytes pass as certificates for %q", host)
		}
	})
}
