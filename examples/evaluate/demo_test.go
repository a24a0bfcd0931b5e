package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/podwright/podwright/examples/evaluate/display"
	"github.com/podwright/podwright/examples/evaluate/history"
)

// One failed check fails the demo, and is shown as such.
func TestReport(t *testing.T) {
	good, bad := history.Check{OK: true, Text: "this holds"}, history.Check{Text: "this does not"}
	cases := map[string]struct {
		checks []history.Check
		want   error
	}{
		"all hold":  {[]history.Check{good, good}, nil},
		"one fails": {[]history.Check{good, bad, good}, errChecks},
	}
	for name, c := range cases {
		out, err := os.Create(filepath.Join(t.TempDir(), "out"))
		if err != nil {
			t.Fatal(err)
		}
		d := demo{screen: display.NewScreen(out)}
		if err := d.report(&outcome{acts: []checked{{"The update", c.checks}, {"The roll-back", []history.Check{good}}}}); !errors.Is(err, c.want) {
			t.Errorf("%s: got error %v, want %v", name, err, c.want)
		}
		text, err := os.ReadFile(out.Name())
		if err != nil {
			t.Fatal(err)
		}
		if got, want := strings.Contains(string(text), "FAILED  this does not"), c.want != nil; got != want {
			t.Errorf("%s: shows a failure: %t, want %t:\n%s", name, got, want, text)
		}
	}
}

func TestTimes(t *testing.T) {
	got := times([]lap{{"to update", 3250 * time.Millisecond}, {"to roll back", time.Second}})
	if want := "It took 3.2 s to update, 1.0 s to roll back."; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestOfSignal(t *testing.T) {
	alive, dead := t.Context(), cancelled(t)
	failure := errors.New("request failed")
	cases := map[string]struct {
		ctx       context.Context
		err, want error
	}{
		"no error":                        {alive, nil, nil},
		"a failure":                       {alive, failure, failure},
		"what follows from Ctrl-C":        {dead, failure, errInterrupted},
		"Ctrl-C after all was well":       {dead, nil, nil},
		"Ctrl-C after a check has failed": {dead, errChecks, errChecks},
	}
	for name, c := range cases {
		if got := ofSignal(c.ctx, c.err); got != c.want {
			t.Errorf("%s: got %v, want %v", name, got, c.want)
		}
	}
}

func cancelled(t *testing.T) context.Context {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	return ctx
}

// The logs outlive the directory of the cluster.
func TestKeepLogs(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	p := place{dir: t.TempDir()}
	if _, err := p.keepLogs(); !errors.Is(err, errNoLogs) {
		t.Errorf("without logs: got error %v, want %v", err, errNoLogs)
	}
	for name, text := range map[string]string{"manager.log": "it failed", "token.csv": "secret"} {
		if err := os.WriteFile(filepath.Join(p.dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	dir, err := p.keepLogs()
	if err != nil {
		t.Fatal(err)
	}
	if text, err := os.ReadFile(filepath.Join(dir, "manager.log")); err != nil || string(text) != "it failed" {
		t.Errorf("manager.log: got %q, error %v", text, err)
	}
	if files, _ := os.ReadDir(dir); len(files) != 1 {
		t.Errorf("kept %d files, want the log only: %v", len(files), files)
	}
}
