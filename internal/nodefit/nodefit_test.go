// SPDX-License-Identifier: Apache-2.0

package nodefit

import (
	"cmp"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"
)

// TestFits shows in testdata/fits.txt why pods do not fit on a node, and to which node they are pinned. A lack of resources keeps no daemon
// pod off a node. If a node keeps only new pods away, a daemon pod that runs there stays. "unreachable" shows since when a node is.
// "pin" shows what becomes of a pod that is pinned to the node n, and of its template.
func TestFits(t *testing.T) {
	datadriven.RunTest(t, "testdata/fits.txt", func(t *testing.T, d *datadriven.TestData) string {
		text, of, _ := strings.Cut(d.Input, "\n")
		var pod corev1.Pod
		node := corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "here"}}
		if err := errors.Join(yaml.UnmarshalStrict([]byte(text), &pod.Spec), yaml.UnmarshalStrict([]byte(of), &node)); err != nil {
			t.Fatal(err)
		}
		fit := func(misfit Misfit) string { return cmp.Or(string(misfit), "fits") }
		switch d.Cmd {
		case "unreachable":
			since, unreachable := Unreachable(&node)
			return fmt.Sprintf("%t, since %s\n", unreachable, since.UTC().Format(time.RFC3339))
		case "daemon":
			c := NewDaemon(&pod.Spec)
			return fmt.Sprintf("%s, stays: %t\n", fit(c.Check(&node)), c.Stays(&node))
		case "pin":
			template := pod.Spec
			Pin(&pod.Spec, "n")
			of, preferred := pod.Spec.Affinity.NodeAffinity, template.Affinity.NodeAffinity.PreferredDuringSchedulingIgnoredDuringExecution
			return fmt.Sprintf("pinned to %q with %d preferences, the template to %q with %d; %s\n", PinnedTo(&pod.Spec),
				len(of.PreferredDuringSchedulingIgnoredDuringExecution), PinnedTo(&template), len(preferred), fit(New(&pod.Spec).Check(&node)))
		case "pinned":
			return fmt.Sprintf("to node %q, %s\n", NodeOf(&pod), fit(New(&pod.Spec).Check(&node)))
		}
		return fit(New(&pod.Spec).Check(&node)) + "\n"
	})
}
