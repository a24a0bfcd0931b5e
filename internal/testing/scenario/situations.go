// SPDX-License-Identifier: Apache-2.0

package scenario

import (
	"os"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
)

// Situations plays the lines of a file, each in a cluster of its own, and hands over what they lead to. A line is a name, and behind a colon the commands
// of a script, between semicolons. Before them the workload is changed by the word "situation". Lines that begin with # say something to the reader.
func Situations[P Player](t *testing.T, file string, start func(TB) (*Cluster, P), found func(name string, player P)) {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(data)) {
		name, commands, is := strings.Cut(strings.TrimSpace(line), ": ")
		if !is || strings.HasPrefix(line, "#") {
			continue
		}
		w, player := start(t)
		player.Spec("situation")
		for command := range strings.SplitSeq(commands, "; ") {
			d := &datadriven.TestData{Pos: name}
			if d.Cmd, d.CmdArgs, err = datadriven.ParseLine(command); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			w.command(d, player, &strings.Builder{})
		}
		found(name, player)
	}
}
