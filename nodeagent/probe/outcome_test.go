// SPDX-License-Identifier: Apache-2.0

package probe

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"

	"github.com/podwright/podwright/internal/testing/patches"
	"github.com/podwright/podwright/lifecycle/v1alpha1"
)

// outcome is an outcome by its name in testdata/words.yaml, of the container c1 or of that which stands in front, created an hour before now.
func outcome(word string) *probeOutcome {
	container, what, found := strings.Cut(word, ":")
	if !found {
		container, what = "c1", word
	}
	return patches.Changed(words, &probeOutcome{ContainerID: container, CreatedAt: now.Add(-time.Hour)}, what)
}

// TestAfter shows in testdata/after.txt what is known after some runs, which are a minute apart. Arguments are the thresholds of the probe, and what
// was known before, as words of testdata/words.yaml. Runs are outcomes. (PPM-4.3, PPM-4.5, PPM-4.6, PPM-4.8)
func TestAfter(t *testing.T) {
	datadriven.RunTest(t, "testdata/after.txt", func(t *testing.T, d *datadriven.TestData) string {
		p, spec := Probe{ID: ID{Container: "main"}}, &v1alpha1.ContainerProbe{}
		for _, arg := range d.CmdArgs {
			if arg.Key == "was" {
				p = *patches.Changed(words, &p, arg.String())
			} else {
				spec = patches.Changed(words, spec, arg.String())
			}
		}
		for i, word := range strings.Fields(d.Input) {
			o := outcome(word)
			o.At = now.Add(time.Duration(i+1) * time.Minute)
			p = p.after(o, &spec.Probe)
		}
		out := string(p.State)
		if p.Message != "" {
			out += " (" + p.Message + ")"
		}
		if !p.Since.IsZero() {
			out += fmt.Sprint(" since ", p.Since.Sub(now))
		}
		if !p.Retry.IsZero() {
			out += fmt.Sprint(", again in ", p.Retry.Sub(now))
		}
		return out + "\n"
	})
}
