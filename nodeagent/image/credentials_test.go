// SPDX-License-Identifier: Apache-2.0

package image

import (
	"encoding/base64"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/podwright/podwright/internal/images"
)

// entriesOf returns the entries of registries, each with its key as the user.
func entriesOf(t *testing.T, registries ...string) []credential {
	t.Helper()
	entries := []string{}
	for _, registry := range registries {
		entries = append(entries, fmt.Sprintf(`%q:{"username":%q,"password":"p"}`, registry, registry))
	}
	all, err := parseDockerConfig([]byte(`{"auths":{` + strings.Join(entries, ",") + `}}`))
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func TestMatching(t *testing.T) {
	for _, test := range []struct {
		name, image string
		registries  []string
		want        []string
	}{
		{"IMG-3.3: by the host of the registry", "quay.io/team/web:1", []string{"quay.io", "gcr.io"}, []string{"quay.io"}},
		{"IMG-3.3: its port counts", "reg:5000/web:1", []string{"reg", "reg:5000", "reg:5001"}, []string{"reg:5000"}},
		{"IMG-3.3: with a scheme", "quay.io/web:1", []string{"https://quay.io", "http://quay.io/v2/"}, []string{"http://quay.io/v2/", "https://quay.io"}},
		{"IMG-3.3 difference: a path", "quay.io/team/web:1", []string{"quay.io/team", "quay.io/other", "quay.io/tea"}, []string{"quay.io/team"}},
		{"IMG-3.3 difference: the longest path is first", "quay.io/team/web:1", []string{"quay.io", "quay.io/team", "quay.io/team/web"}, []string{"quay.io/team/web", "quay.io/team", "quay.io"}},
		{"IMG-3.3: Docker Hub by its names", "nginx:1", []string{"https://index.docker.io/v1/", "docker.io", "registry-1.docker.io"}, []string{"docker.io", "https://index.docker.io/v1/", "registry-1.docker.io"}},
		{"IMG-3.3: a path of Docker Hub", "team/web:1", []string{"docker.io/team", "docker.io/library"}, []string{"docker.io/team"}},
		{"IMG-3.3 difference: Docker Hub is no fallback", "quay.io/web:1", []string{"https://index.docker.io/v1/"}, nil},
		{"IMG-3.3: a name without a registry is of Docker Hub", "web:1", []string{"web", "docker.io"}, []string{"docker.io"}},
		{"a wildcard is one label", "a.example.com/web:1", []string{"*.example.com", "*.com", "*.*.*.com"}, []string{"*.example.com"}},
		{"a pattern that is none", "quay.io/web:1", []string{"[.io"}, nil},
		{"a name that has no registry", "my_registry.local/web:1", []string{"my_registry.local"}, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			image, err := images.ParseReference(test.image)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, c := range matching(entriesOf(t, test.registries...), image) {
				got = append(got, c.auth.Username)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("credentials (-want +got):\n%s", diff)
			}
		})
	}
}

func TestSecretCredentials(t *testing.T) {
	encoded := base64.StdEncoding.EncodeToString([]byte("me:pass:word"))
	for _, test := range []struct{ name, key, data, want string }{
		{"IMG-3.3: dockerconfigjson", ".dockerconfigjson", `{"auths":{"quay.io":{"username":"me","password":"secret"}},"credsStore":"x"}`, "quay.io me secret"},
		{"IMG-3.3: dockercfg", ".dockercfg", `{"quay.io":{"username":"me","password":"secret","email":"x"}}`, "quay.io me secret"},
		{"auth in base64", ".dockercfg", `{"quay.io":{"auth":"` + encoded + `"}}`, "quay.io me pass:word"},
		{"auth without padding", ".dockercfg", `{"quay.io":{"auth":"` + strings.TrimRight(encoded, "=") + `"}}`, "quay.io me pass:word"},
		{"what is written plainly goes first", ".dockercfg", `{"quay.io":{"auth":"%","username":"me","password":"p"}}`, "quay.io me p"},
		{"a token", ".dockercfg", `{"quay.io":{"identitytoken":"t"}}`, "quay.io  "},
		{"an entry that says nothing", ".dockercfg", `{"quay.io":{}}`, ""},
		{"no entries", ".dockerconfigjson", `{}`, ""},
		{"no JSON", ".dockerconfigjson", `secret`, "error: is no configuration of Docker: want JSON with the field auths"},
		{"no entries but a list", ".dockerconfigjson", `{"auths":["secret"]}`, "error: holds no credentials: want JSON with an object per registry"},
		{"a broken auth", ".dockercfg", `{"quay.io":{"auth":"secret"}}`, `error: holds no credentials for registry "quay.io": the field auth is not what it should be: want user:password in base64`},
		{"another type", "token", `x`, `error: is of type "Opaque" and has neither .dockerconfigjson nor .dockercfg: want a secret of type kubernetes.io/dockerconfigjson`},
	} {
		t.Run(test.name, func(t *testing.T) {
			all, err := secretCredentials(&corev1.Secret{Type: corev1.SecretTypeOpaque, Data: map[string][]byte{test.key: []byte(test.data)}})
			var got []string
			for _, c := range all {
				got = append(got, c.host+" "+c.auth.Username+" "+c.auth.Password)
			}
			if err != nil {
				got = append(got, "error: "+err.Error())
			}
			if diff := cmp.Diff(test.want, strings.Join(got, "; ")); diff != "" {
				t.Errorf("credentials (-want +got):\n%s", diff)
			}
		})
	}
}

// Errors show nothing of what is secret, and nothing makes it panic.
func FuzzDockerConfig(f *testing.F) {
	f.Add([]byte(`{"auths":{"quay.io":{"auth":"bWU6cGFzcw=="}}}`))
	f.Add([]byte(`{"https://index.docker.io/v1/":{"username":"a","password":"b"}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		image := images.Reference{Domain: "quay.io", Path: "team/web", Tag: "1"}
		for _, parse := range []func([]byte) ([]credential, error){parseDockerConfig, parseDockerEntries} {
			all, err := parse(data)
			if err != nil && all != nil {
				t.Errorf("credentials beside the error %v", err)
			}
			if match := matching(all, image); len(match) > len(all) {
				t.Errorf("%d of %d credentials match", len(match), len(all))
			}
		}
	})
}
