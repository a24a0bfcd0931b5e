// SPDX-License-Identifier: Apache-2.0

package statefulset

import (
	"strings"
	"testing"

	"github.com/podwright/podwright/internal/testing/patches"
	"github.com/podwright/podwright/internal/testing/scenario"
)

// TestScripts plays the rollouts in testdata: see scenario.RunScripts. A StatefulSet has two commands of its own. "foreign pod"
// gives a pod to another controller. "serve pod" has another manager put it into service. Keys of spec are words of StatefulSets, which
// testdata/words.yaml explains. Of several values, as of claims=(data,logs), each is one.
func TestScripts(t *testing.T) {
	scenario.RunScripts(t, "testdata/scripts", func(t *testing.T) (*scenario.Cluster, scenario.Player) {
		w := newScenario(t)
		return w.Cluster, w
	})
}

// Spec changes fields of the spec, each given as key=value, in one write.
func (w *setScenario) Spec(changes ...string) {
	scenario.ChangeSpec(w.set, changes, func(key, values string) {
		for value := range strings.SplitSeq(values, ",") {
			*w.set = *patches.Changed(words, w.set, key+"="+value)
		}
	})
}
