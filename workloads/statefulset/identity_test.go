// SPDX-License-Identifier: Apache-2.0

package statefulset

import (
	"fmt"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"

	"github.com/podwright/podwright/internal/testing/patches"
)

// TestLabelsThatNameAPod: STS-10. They are the pod's own, whatever the template says or takes away.
func TestLabelsThatNameAPod(t *testing.T) {
	const another = "label=apps.kubernetes.io/pod-index:7 label=statefulset.kubernetes.io/pod-name:web-7"
	for name, change := range map[string]func(*Snapshot){
		"the template names another": func(s *Snapshot) {
			s.Set = patches.Changed(words, s.Set, strings.Fields(another)...)
		},
		"the template named another": func(s *Snapshot) { s.Revisions[0].Data = testRevision(t, "A", strings.Fields(another)...).Data },
	} {
		t.Run(name, func(t *testing.T) {
			s := testSnapshot(t, "B/A 0A 1A podUpdatePolicy=InPlaceIfPossible")
			change(s)
			for i, pod := range s.Pods {
				pod.Labels[appsv1.PodIndexLabel] = fmt.Sprint(i)
			}
			plan := NewPlan(s)
			if summary(s, plan) != "UpdateInPlace 1" {
				t.Fatalf("plan %s", summary(s, plan))
			}
			pod, err := plan.Patch[0].Patch.Apply(s.Pods[1])
			if err != nil {
				t.Fatal(err)
			}
			if pod.Labels[appsv1.PodIndexLabel] != "1" || pod.Labels[appsv1.StatefulSetPodNameLabel] != "web-1" {
				t.Errorf("pod web-1 gets the labels %v", pod.Labels)
			}
		})
	}
	t.Run("a wrong index is put right", func(t *testing.T) {
		s := testSnapshot(t, "A/A 0A index=0:7")
		if got := summary(s, NewPlan(s)); got != "Identify 0" {
			t.Errorf("plan %q", got)
		}
	})
}
