// SPDX-License-Identifier: Apache-2.0

package images

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const digest = "sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

func TestParse(t *testing.T) {
	for _, test := range []struct {
		name, image, wantName, wantVersion string
	}{
		{"IMG-1.2: the tag latest is meant", "nginx", "nginx", "latest"},
		{"IMG-1.2: a tag", "nginx:1.27", "nginx", "1.27"},
		{"IMG-1.2: familiar, without registry and library", "docker.io/library/nginx:1", "nginx", "1"},
		{"IMG-1.2: the former name of the registry", "index.docker.io/library/nginx", "nginx", "latest"},
		{"IMG-1.2: library alone is dropped", "library/nginx", "nginx", "latest"},
		{"IMG-1.2: no official image", "docker.io/grafana/grafana:9", "grafana/grafana", "9"},
		{"IMG-1.2: library with a deeper name stays", "library/a/b", "library/a/b", "latest"},
		{"IMG-1.2: another registry", "quay.io/team/web:v1", "quay.io/team/web", "v1"},
		{"IMG-1.2: a registry without a namespace", "quay.io/web", "quay.io/web", "latest"},
		{"IMG-1.2: a port is no tag", "registry:5000/web", "registry:5000/web", "latest"},
		{"IMG-1.2: a port and a tag", "registry:5000/web:2", "registry:5000/web", "2"},
		{"IMG-1.2: localhost is a registry", "localhost/web", "localhost/web", "latest"},
		{"IMG-1.2: an upper-case registry", "HOST/web", "HOST/web", "latest"},
		{"IMG-1.2: an address", "[fd00::1]:5000/web:2", "[fd00::1]:5000/web", "2"},
		{"a registry that is no host name", "my_registry.local/web", "my_registry.local/web", "latest"},
		{"IMG-1.2: the digest takes the place of the tag", "nginx@" + digest, "nginx", digest},
		{"IMG-1.2: a tag beside a digest is dropped", "quay.io/team/web:v1@" + digest, "quay.io/team/web", digest},
		{"separators", "a.b/c__d/e-f--g.h_i:A_b.c-d", "a.b/c__d/e-f--g.h_i", "A_b.c-d"},
		{"a tag as long as it may be", "a:" + strings.Repeat("x", 128), "a", strings.Repeat("x", 128)},
	} {
		t.Run(test.name, func(t *testing.T) {
			r, err := ParseReference(test.image)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff([]string{test.wantName, test.wantVersion}, []string{r.Name(), r.Version()}); diff != "" {
				t.Errorf("name and version (-want +got):\n%s", diff)
			}
		})
	}
}

func TestParseRefuses(t *testing.T) {
	for _, test := range []struct{ name, image, want string }{
		{"IMG-1.1: empty", "", "image: is empty"},
		{"an image ID", digest[len("sha256:"):], "is the ID of an image"},
		{"upper case", "Nginx", `the name is "library/Nginx"`},
		{"upper case behind a registry", "quay.io/Web", `the name is "Web"`},
		{"blanks", "nginx 1", `the name is "library/nginx 1"`},
		{"no name", ":1", `the name is "library/"`},
		{"an empty part", "quay.io//web", `the name is "/web"`},
		{"a slash at the end", "quay.io/web/", `the name is "web/"`},
		{"an empty tag", "nginx:", `the tag is ""`},
		{"a long tag", "nginx:" + strings.Repeat("x", 129), "the tag is"},
		{"two digests", "nginx@" + digest + "@" + digest, "the digest is"},
		{"a short digest", "nginx@sha256:0123", `the digest is "sha256:0123"`},
		{"an unknown digest", "nginx@md5:0123456789abcdef0123456789abcdef", "the digest is"},
		{"an upper-case digest", "nginx@" + strings.ToUpper(digest), "the digest is"},
		{"a registry with a dash at its end", "a-.b/web", `the registry is "a-.b"`},
		{"a long name", strings.Repeat("x", 248), "256 characters, want at most 255"},
		{"separators beyond one", "a..b", `the name is "library/a..b"`},
	} {
		t.Run(test.name, func(t *testing.T) {
			if _, err := ParseReference(test.image); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error %v, want %q in it", err, test.want)
			}
		})
	}
}

// The short form means what the reference meant.
func FuzzParse(f *testing.F) {
	for _, image := range []string{"nginx", "docker.io/library/nginx:1", "registry:5000/a/b@" + digest, "A/b", "localhost/x:y", "[::1]/x", "a:b@c"} {
		f.Add(image)
	}
	f.Fuzz(func(t *testing.T, image string) {
		r, err := ParseReference(image)
		if err != nil {
			return
		}
		again, err := ParseReference(r.String())
		if err != nil || again != r {
			t.Errorf("%q is %+v; its short form %q is %+v, error %v", image, r, r.String(), again, err)
		}
		if r.Name() == "" || r.Version() == "" || strings.ContainsAny(r.Name(), "@ ") {
			t.Errorf("%q has the name %q and the version %q", image, r.Name(), r.Version())
		}
	})
}
