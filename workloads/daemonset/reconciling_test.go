// SPDX-License-Identifier: Apache-2.0

package daemonset

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/podwright/podwright/workloads/v1alpha1"
)

// forConsumers shows the conditions by which consumers wait.
func forConsumers(s *v1alpha1.DaemonSetStatus) string {
	out := ""
	for _, c := range s.Conditions {
		if c.Type == v1alpha1.DaemonSetConditionReconciling || c.Type == v1alpha1.DaemonSetConditionStalled {
			out += string(c.Type) + " " + string(c.Status) + " " + c.Reason
		}
	}
	return out
}

// TestReconciling: who waits for the spec to be reached waits until it is, and for nothing that users hold back. (DS-20)
func TestReconciling(t *testing.T) {
	const missing, outdated, held = "Reconciling True PodsMissing", "Reconciling True PodsOutdated", "Reconciling True UpdatePaused"
	const surplus, down = "Reconciling True PodsSurplus", "Reconciling True PodsUnavailable"
	onlyN2 := rolling + "selector: {matchLabels: {name: n2}}}}}"
	progressive := func(partition string) string {
		return "metadata: {annotations: {daemonset.kruise.io/progressive-create-pod: 'true'}}\n" + rolling + "partition: " + partition + "}}}"
	}
	for _, test := range []struct{ name, set, nodes, want string }{
		{"every node has its pod", "{}", "n1:v2 n2:v2", ""},
		{"there are no nodes", "{}", "", ""},
		{"no pod is there", "{}", "n1 n2", missing},
		{"a pod is missing", "{}", "n1:v2 n2", missing},
		{"a pod is missing, and others are to be updated", "{}", "n1:v1 n2", missing},
		{"somebody else's pod is on the node", "{}", "n1:v2+stranger", missing},
		{"a pod is not adopted yet", "{}", "n1:v2+orphan", missing},
		{"a pod is terminating", "{}", "n1:v2+leaving", down},
		{"a pod is not ready", "{}", "n1:v2+down n2:v2", down},
		{"a pod is not ready for long enough", ready10(two), "n1:v2+back", down},
		{"a pod has ended", "{}", "n1:v2+Failed", down},
		{"a pod waits for its hook", hook, "n1:v2+hook+preparing", down},
		{"a pod is on a node that fits no more", zoned, "n1:v2 other:v2", surplus},
		{"it is terminating there", zoned, "n1:v2 other:v2+leaving", surplus},
		{"it may stay there: the node only takes no new pods", "{}", "n1:v2 tainted:v1", ""},
		{"a pod is on another node, and one is not available", zoned, "n1:v2+down other:v2", surplus},

		{"pods are to be updated", "{}", "n1:v1 n2:v1", outdated},
		{"the last one is to be updated", "{}", "n1:v1 n2:v2", outdated},
		{"an updated pod is not ready", "{}", "n1:v2 n2:v2+never", down},
		{"the template does not match the selector", "spec: {template: {metadata: {labels: {app: db}}}}", "n1:v1 n2:v1", outdated},
		{"surging: the new pod is not ready", surge, "n1:v1 n1:v2+never", outdated},
		{"surging: the old pod is there yet", surge, "n1:v1 n1:v2", outdated},
		{"surging: the old pod leaves", surge, "n1:v1+leaving n1:v2", ""},

		{"the partition holds all back", rolling + "partition: 2}}}", "n1:v1 n2:v1", ""},
		{"it holds more back than there are", rolling + "partition: 7}}}", "n1:v1 n2:v1", ""},
		{"it holds one back, and the other is updated", rolling + "partition: 1}}}", "n1:v1 n2:v2", ""},
		{"whichever that is", rolling + "partition: 1}}}", "n1:v2 n2:v1", ""},
		{"the other is not updated", rolling + "partition: 1}}}", "n1:v1 n2:v1", outdated},
		{"a pod that is held back is not available", rolling + "partition: 1}}}", "n1:v1+down n2:v2", down},
		{"a percentage holds half of them back", rolling + "partition: 50%}}}", "n1:v1 n2:v2", ""},
		{"more are to be updated", rolling + "partition: 50%}}}", "n1:v1 n2:v1", outdated},
		{"the selector leaves the others out", onlyN2, "n1:v1 n2:v2", ""},
		{"it does not leave this one out", onlyN2, "n1:v1 n2:v1", outdated},
		{"it leaves out a node that lacks its pod", onlyN2, "n1 n2:v2", missing},
		{"the partition waits with the first pods of nodes", progressive("1"), "n1 n2:v2", ""},
		{"it does not wait with all of them", progressive("1"), "n1 n2", missing},
		{"one of these is not available", progressive("1"), "n1 n2:v2+never", down},
		{"it waits, and another one has to be updated", progressive("1"), "n1 n2:v1", missing},
		{"nodes lack their pods, which it holds back only where it says so", rolling + "partition: 1}}}", "n1 n2:v2", missing},

		{"paused, and nothing to be updated", paused, "n1:v2 n2:v2", ""},
		{"paused in the middle", paused, "n1:v1 n2:v2", held},
		{"paused, and the partition holds the others back", rolling + "paused: true, partition: 1}}}", "n1:v1 n2:v2", ""},
		{"paused, and a pod is missing", paused, "n1:v1 n2", missing},
		{"OnDelete: nobody waits for those who delete pods", onDelete, "n1:v1 n2:v1", ""},
		{"OnDelete, and a pod is not available", onDelete, "n1:v1+down n2:v1", down},

		{"the spec cannot be read", rolling + "maxUnavailable: x}}}", "n1:v2", "Stalled True InvalidSpec"},
		{"it selects everything", "{}", "n1:v2", "Stalled True InvalidSpec"},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := place(t, setOf(t, test.set), test.nodes)
			if strings.Contains(test.name, "selects everything") {
				s.Set.Spec.Selector.MatchLabels = nil
			}
			s.Set.Status = *NewPlan(s).Status
			if got := forConsumers(&s.Set.Status); got != test.want {
				t.Errorf("%q, want %q; %s", got, test.want, showStatus(&s.Set.Status))
			}
			if again := NewPlan(s).Status; again != nil {
				t.Errorf("written again: %+v", again)
			}
		})
	}
}

// It is over with what it was about, and a condition that reports a problem stands before it. (DS-17, DS-20)
func TestReconcilingEnds(t *testing.T) {
	s := place(t, newSet(), "n1:v1")
	s.Set.Spec.Template.Labels = map[string]string{"app": "db"}
	s.Set.Status = *NewPlan(s).Status
	if c := s.Set.Status.Conditions; len(c) != 2 || c[0].Type != v1alpha1.DaemonSetConditionFailedUpdatePod || c[1].Type != v1alpha1.DaemonSetConditionReconciling || c[1].Status != corev1.ConditionTrue {
		t.Errorf("conditions %+v", c)
	}
	s.Set.Spec.Template.Labels = map[string]string{"app": "web"}
	s.Set.Spec.Template.Spec.Containers[0].Image, s.Set.Generation = "v1", 2
	if c := NewPlan(s).Status.Conditions; len(c) > 0 {
		t.Errorf("conditions %+v", c)
	}
}
