package main

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestParse(t *testing.T) {
	defaults := options{Kind: "cloneset", Patience: 2 * time.Minute}
	cases := map[string]struct {
		arguments  []string
		kubeconfig string // of the environment
		want       options
		wrong      string
	}{
		"nothing":                          {want: defaults},
		"KUBECONFIG":                       {kubeconfig: "/a", want: options{Kind: "cloneset", Kubeconfig: "/a", Patience: 2 * time.Minute}},
		"the flag wins over KUBECONFIG":    {[]string{"--kubeconfig=/b"}, "/a", options{Kind: "cloneset", Kubeconfig: "/b", Patience: 2 * time.Minute}, ""},
		"the flag can turn KUBECONFIG off": {[]string{"--kubeconfig="}, "/a", defaults, ""},
		"all flags": {[]string{"--kind=CloneSet", "--exit", "--install-crds", "--patience=5s"}, "",
			options{Kind: "cloneset", Exit: true, InstallCRDs: true, Patience: 5 * time.Second}, ""},
		"another kind":   {[]string{"--kind=statefulset"}, "", options{Kind: "statefulset", Patience: 2 * time.Minute}, ""},
		"unknown kind":   {[]string{"--kind=pod"}, "", options{}, "--kind=pod: want one of: cloneset, statefulset"},
		"empty kind":     {[]string{"--kind="}, "", options{}, "--kind=: want one of: cloneset, statefulset"},
		"no patience":    {[]string{"--patience=0s"}, "", options{}, "--patience=0s: want more than 0"},
		"more arguments": {[]string{"--exit", "now"}, "", options{}, `unexpected arguments ["now"]: want flags only`},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := parse(c.arguments, c.kubeconfig)
			if c.wrong != "" {
				if err == nil || err.Error() != c.wrong {
					t.Fatalf("got error %v, want %s", err, c.wrong)
				}
				return
			}
			if diff := cmp.Diff(c.want, got); err != nil || diff != "" {
				t.Errorf("error %v, options (-want +got):\n%s", err, diff)
			}
		})
	}
}

func TestWrongCommandLine(t *testing.T) {
	if got := run([]string{"--kind=pod"}); got != exitUsage {
		t.Errorf("got exit code %d, want %d", got, exitUsage)
	}
}
