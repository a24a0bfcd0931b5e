package cluster

import (
	"bytes"
	"strings"
	"testing"
)

func TestProgressCountsPackagesAndKeepsComplaints(t *testing.T) {
	var out bytes.Buffer
	p := newProgress(&out, "it")
	p.interval = 0
	p.total = func() int { return 0 }
	// As go build -v writes it, cut anywhere.
	for _, piece := range []string{
		"go: downloading k8s.io/api v0.37.1\nk8s.io/", "api/core/v1\nk8s.io/client-go/rest\n", "# k8s.io/client-go/rest\na.go:1: no good\n",
	} {
		if _, err := p.Write([]byte(piece)); err != nil {
			t.Fatal(err)
		}
	}
	p.finish()
	for _, want := range []string{"downloading k8s.io/api v0.37.1", "1 packages compiled", "2 packages compiled", "built it in"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the output lacks %q:\n%s", want, out.String())
		}
	}
	if got := p.complaints(); !strings.Contains(got, "a.go:1: no good") || strings.Contains(got, "core/v1") {
		t.Errorf("complaints: %q", got)
	}
}

func TestProgressIsRareWithoutTerminal(t *testing.T) {
	var out bytes.Buffer
	p := newProgress(&out, "it")
	p.total = func() int { return 0 }
	for range 1000 {
		if _, err := p.Write([]byte("k8s.io/api/core/v1\n")); err != nil {
			t.Fatal(err)
		}
	}
	if lines := strings.Count(out.String(), "\n"); lines != 1 {
		t.Errorf("%d lines for one moment:\n%s", lines, out.String())
	}
}
