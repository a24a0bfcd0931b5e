// SPDX-License-Identifier: Apache-2.0

package images

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
)

const digest = "sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

// TestParse shows in testdata/references.txt what references mean, and what is wrong with them.
func TestParse(t *testing.T) {
	datadriven.RunTest(t, "testdata/references.txt", func(t *testing.T, d *datadriven.TestData) string {
		var out strings.Builder
		for line := range strings.Lines(d.Input) {
			image, err := strconv.Unquote(strings.TrimSpace(line))
			if err != nil {
				out.WriteString(line)
				continue
			}
			r, err := ParseReference(image)
			if err != nil {
				fmt.Fprintln(&out, err)
				continue
			}
			fmt.Fprintln(&out, r.Name(), r.Version())
		}
		return out.String()
	})
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
