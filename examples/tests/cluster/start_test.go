// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// diesOnce returns components whose processes write a last line and fail at the first start, and serve at the second.
func diesOnce(t *testing.T, lastLine string) *components {
	t.Helper()
	launcher, err := newLauncher(nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(launcher.close)
	dir := t.TempDir()
	return &components{
		log: &lockedWriter{}, launcher: launcher, processes: map[string]*process{},
		describe: func(name string) (*process, error) {
			script := `if mkdir died; then echo "$0"; exit 255; fi; mkdir serves; exec sleep 1000`
			return &process{name: name, binary: "/bin/sh", arguments: []string{"-c", script, lastLine}, dir: dir, logFile: filepath.Join(dir, "log")}, nil
		},
		ready: func(context.Context, string) error {
			_, err := os.Stat(filepath.Join(dir, "serves"))
			return err
		},
	}
}

// What ends because it could not do all in a time of its own is started again, as on a machine, and nothing else is.
func TestStartAgain(t *testing.T) {
	const tooLate = `F1122 13:49:23.968370   19447 hooks.go:203] PostStartHook "start-service-ip-repair-controllers" failed: unable to perform initial IP and Port allocation check (timeout)`
	c := diesOnce(t, tooLate)
	if err := c.start(t.Context(), APIServer); err != nil {
		t.Errorf("kube-apiserver that was too late: %v", err)
	}
	c.halt(APIServer, 0)

	for name, lastLine := range map[string]string{
		APIServer: `E1122 13:49:23.968370   19447 run.go:72] "command failed" err="listen tcp 127.0.0.1:21642: bind: address already in use"`,
		Scheduler: tooLate,
	} {
		c := diesOnce(t, lastLine)
		err := c.start(t.Context(), name)
		if err == nil || !strings.Contains(err.Error(), lastLine) {
			t.Errorf("%s that wrote %q: error %v", name, lastLine, err)
		}
		if !errors.Is(c.ready(t.Context(), name), fs.ErrNotExist) {
			t.Errorf("%s that wrote %q was started again", name, lastLine)
		}
	}
}
