// SPDX-License-Identifier: Apache-2.0

package explain

import (
	"cmp"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/kubectl/pkg/util/podutils"

	"github.com/podwright/podwright/internal/heldup"
)

// pods finds out why pods are not ready, or do not go.
func pods(s *Situation) []Blocker {
	var all []Blocker
	sorted := slices.Clone(s.Plan.Pods)
	slices.SortFunc(sorted, func(a, b *corev1.Pod) int { return cmp.Compare(s.Plan.NameOf(a), s.Plan.NameOf(b)) })
	for _, pod := range sorted {
		b := trouble(s, pod)
		if b == nil {
			continue
		}
		same := slices.IndexFunc(all, func(other Blocker) bool { return other.Code == b.Code && other.Why == b.Why })
		if same < 0 {
			all, same = append(all, *b), len(all)
		}
		all[same].Pods = append(all[same].Pods, s.Plan.NameOf(pod))
	}
	return all
}

// trouble returns what is wrong with a pod, in the words of the condition HeldUp; nil if nothing is.
func trouble(s *Situation, pod *corev1.Pod) *Blocker {
	if pod.DeletionTimestamp == nil && podutils.IsPodReady(pod) {
		return nil
	}
	if b := lostNode(s, pod); b != nil {
		return b
	}
	t := heldup.OfPod(pod)
	return &Blocker{Code: string(t.Rule), Why: t.Why, Ends: t.Ends}
}

// lostNode finds a node that is gone or does not report.
func lostNode(s *Situation, pod *corev1.Pod) *Blocker {
	if s.Nodes == nil || pod.Spec.NodeName == "" {
		return nil
	}
	why := "does not exist"
	if node := s.Nodes[pod.Spec.NodeName]; node != nil {
		why = ""
		for _, c := range node.Status.Conditions {
			if c.Type == corev1.NodeReady && c.Status != corev1.ConditionTrue {
				why = "is not ready: " + cmp.Or(c.Message, c.Reason)
			}
		}
	}
	if why == "" {
		return nil
	}
	return &Blocker{Code: "Node", Why: fmt.Sprintf("node %s %s", pod.Spec.NodeName, why), Ends: "the node is ready again, or is deleted"}
}
