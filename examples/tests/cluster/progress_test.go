// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"bytes"
	"strings"
	"testing"
	"time"
)

// Progress is told at first and then rarely, and complaints are kept.
func TestProgress(t *testing.T) {
	var out bytes.Buffer
	p := newProgress(&out, "it")
	write := func(pieces ...string) {
		for _, piece := range pieces { // as go build -v writes it, cut anywhere
			if _, err := p.Write([]byte(piece)); err != nil {
				t.Fatal(err)
			}
		}
	}
	write("go: downloading k8s.io/api v0.37.1\nk8s.io/", "api/core/v1\nk8s.io/client-go/rest\n")
	if got, want := out.String(), "building it; this takes some minutes, but only once, 0s\n"; got != want {
		t.Errorf("%q for one moment, want %q", got, want)
	}
	p.shown = time.Now().Add(-p.interval)
	write("# k8s.io/client-go/rest\na.go:1: no good\n")
	if !strings.Contains(out.String(), "building it: 5 packages downloaded or compiled") {
		t.Errorf("no progress after a while:\n%s", out.String())
	}
	if got, want := p.complaints(), "# k8s.io/client-go/rest\na.go:1: no good\n"; got != want {
		t.Errorf("complaints: %q, want %q", got, want)
	}
}
