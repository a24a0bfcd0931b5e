// SPDX-License-Identifier: Apache-2.0

package images

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
)

const digest = "sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

// TestParse shows in testdata/references.txt what references mean, and what is wrong with them. It also shows which share one gets of so
// much, if some want more than there is.
func TestParse(t *testing.T) {
	datadriven.RunTest(t, "testdata/references.txt", func(t *testing.T, d *datadriven.TestData) string {
		var out strings.Builder
		for line := range strings.Lines(d.Input) {
			if d.Cmd == "share" {
				wants, total, text := map[string]int{}, 0, ""
				if _, err := fmt.Sscanf(line, "%d of %s", &total, &text); err != nil {
					t.Fatal(err)
				}
				if err := json.Unmarshal([]byte(text), &wants); err != nil {
					t.Fatal(err)
				}
				fmt.Fprintln(&out, Share(wants, total))
				continue
			}
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
