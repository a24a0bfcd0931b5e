// SPDX-License-Identifier: Apache-2.0

package statefulset

import (
	"fmt"
	"testing"

	appsv1 "k8s.io/api/apps/v1"

	"github.com/podwright/podwright/inplace/revision"
	"github.com/podwright/podwright/workloads/v1beta1"
)

// TestLabelsThatNameAPod: STS-10. They are the pod's own, whatever the template says or takes away.
func TestLabelsThatNameAPod(t *testing.T) {
	named := func(labels map[string]string) {
		labels[appsv1.PodIndexLabel], labels[appsv1.StatefulSetPodNameLabel] = "7", "web-7"
	}
	for name, change := range map[string]edit{
		"the template names another": func(s *Snapshot) { named(s.Set.Spec.Template.Labels) },
		"the template named another": func(s *Snapshot) {
			former := testTemplate("A")
			named(former.Labels)
			r, err := revision.New(s.Set, v1beta1.SchemeGroupVersion.WithKind("StatefulSet"), &former, 1, nil)
			if err != nil {
				t.Fatal(err)
			}
			s.Revisions[0].Data = r.Data
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := testSnapshot(t, "B", "A", "0A 1A", inPlace(v1beta1.InPlaceIfPossiblePodUpdateStrategyType), change)
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
		s := testSnapshot(t, "A", "A", "0A", func(s *Snapshot) { s.Pods[0].Labels[appsv1.PodIndexLabel] = "7" })
		if got := summary(s, NewPlan(s)); got != "Identify 0" {
			t.Errorf("plan %q", got)
		}
	})
}
