// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestCommand(t *testing.T) {
	defaults := options{Kind: "cloneset", Node: "simulated", Patience: 2 * time.Minute}
	with := func(edit func(*options)) options { o := defaults; edit(&o); return o }
	cases := map[string]struct {
		arguments  string
		kubeconfig string // of the environment
		want       options
		wrong      string
	}{
		"nothing":                          {want: defaults},
		"KUBECONFIG":                       {kubeconfig: "/a", want: with(func(o *options) { o.Kubeconfig = "/a" })},
		"the flag wins over KUBECONFIG":    {"--kubeconfig=/b", "/a", with(func(o *options) { o.Kubeconfig = "/b" }), ""},
		"the flag can turn KUBECONFIG off": {"--kubeconfig=", "/a", defaults, ""},
		"all flags": {"--kind=CloneSet --exit --install-crds --patience=5s", "",
			options{Kind: "cloneset", Node: "simulated", Exit: true, InstallCRDs: true, Patience: 5 * time.Second}, ""},
		"another kind":                 {"--kind=statefulset", "", with(func(o *options) { o.Kind = "statefulset" }), ""},
		"a pod per node on real nodes": {"--kind=daemonset --node=real", "", options{}, `--kind=daemonset: it is shown on 10 nodes, one for each pod: want --node=simulated`},
		"sidecars in a given cluster":  {"--kind=sidecarset", "/a", options{}, `--kind=sidecarset: it is shown in a cluster of its own, for it injects in all namespaces: want --kubeconfig=""`},
		"sidecars that run":            {"--kind=sidecarset --node=real", "", with(func(o *options) { o.Kind, o.Node = "sidecarset", "real" }), ""},
		"unknown kind":                 {"--kind=pod", "", options{}, "--kind=pod: want one of: budget, cloneset, daemonset, sidecarset, spread, statefulset"},
		"empty kind":                   {"--kind=", "", options{}, "--kind=: want one of: budget, cloneset, daemonset, sidecarset, spread, statefulset"},
		"real nodes":                   {"--node=real", "", with(func(o *options) { o.Node = "real" }), ""},
		"unknown nodes":                {"--node=own", "", options{}, "--node=own: want simulated or real"},
		"real nodes in a given cluster": {"--node=real", "/a", options{},
			`--node=real: want no cluster that is there already, found kubeconfig /a; start one with --kubeconfig=""`},
		"no patience":    {"--patience=0s", "", options{}, "--patience=0s: want more than 0"},
		"more arguments": {"--exit now", "", options{}, `unknown command "now" for "evaluate"`},
	}
	for name, c := range cases {
		var got options
		command := command(c.kubeconfig, func(_ context.Context, o options) error { got = o; return nil })
		command.SetArgs(strings.Fields(c.arguments))
		command.SetErr(io.Discard)
		err := command.ExecuteContext(t.Context())
		if c.wrong != "" {
			if err == nil || err.Error() != c.wrong {
				t.Errorf("%s: got error %v, want %s", name, err, c.wrong)
			}
		} else if diff := cmp.Diff(c.want, got); err != nil || diff != "" {
			t.Errorf("%s: error %v, options (-want +got):\n%s", name, err, diff)
		}
	}
}

func TestOfSignal(t *testing.T) {
	alive := t.Context()
	dead, cancel := context.WithCancel(alive)
	cancel()
	failure := errors.New("request failed")
	for name, c := range map[string]struct {
		ctx       context.Context
		err, want error
	}{
		"no error":                        {alive, nil, nil},
		"a failure":                       {alive, failure, failure},
		"what follows from Ctrl-C":        {dead, failure, errInterrupted},
		"Ctrl-C after all was well":       {dead, nil, nil},
		"Ctrl-C after a check has failed": {dead, errChecks, errChecks},
	} {
		if got := ofSignal(c.ctx, c.err); got != c.want {
			t.Errorf("%s: got %v, want %v", name, got, c.want)
		}
	}
}

// The logs outlive the directory of the cluster; its credentials do not.
func TestLogsAreKept(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	of := t.TempDir()
	failure := errors.New("it failed")
	if err := withLogs(of, failure); err != failure {
		t.Errorf("without logs: got error %v", err)
	}
	for name, text := range map[string]string{"controller.log": "why", "token.csv": "secret"} {
		if err := os.WriteFile(filepath.Join(of, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	err := withLogs(of, failure)
	_, dir, _ := strings.Cut(err.Error(), " are kept in ")
	if text, readErr := os.ReadFile(filepath.Join(dir, "controller.log")); !errors.Is(err, failure) || string(text) != "why" {
		t.Errorf("controller.log holds %q (%v); the error is %v", text, readErr, err)
	}
	if files, _ := os.ReadDir(dir); len(files) != 1 {
		t.Errorf("kept %d files, want the log only: %v", len(files), files)
	}
}
