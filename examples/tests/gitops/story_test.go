// SPDX-License-Identifier: Apache-2.0

package gitops

import (
	"encoding/json"
	"slices"
	"testing"
	"time"

	"github.com/fluxcd/cli-utils/pkg/kstatus/status"
	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/podwright/podwright/inplace/rollout"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

// reading is what programs make of an object at a moment of a story. The programs are Argo CD; Flux and Helm, which ask kstatus; and
// those that ask RolloutStatus of the kind.
type reading struct {
	Moment, ArgoCD, Kstatus string
	Rollout                 rollout.Phase
}

// story is an object of which a test tells what becomes of it.
type story struct {
	*testing.T
	kind   string
	object func() any
	status func() rollout.Status
	got    []reading
}

// show reads the object.
func (s *story) show(moment string) {
	s.Helper()
	s.got = append(s.got, reading{moment, health(s.T, s.kind, s.object()), current(s.T, s.object()), s.status().Phase})
}

// expect compares what was shown with what is expected.
func (s *story) expect(want ...reading) {
	s.Helper()
	if diff := cmp.Diff(want, s.got); diff != "" {
		s.Errorf("(-want +got):\n%s", diff)
	}
}

// apply does what a plan says. The pods that are created start at once, and are ready unless they have the broken image.
func apply(p *rollout.Plan, pods *[]*corev1.Pod, revisions *[]*appsv1.ControllerRevision, now time.Time, broken string) {
	if p.Revisions.Create != nil {
		*revisions = append(*revisions, p.Revisions.Create)
	}
	for _, deletion := range p.Delete {
		*pods = slices.DeleteFunc(*pods, func(pod *corev1.Pod) bool { return pod.Name == deletion.Pod.Name })
	}
	for _, created := range p.Create {
		starts(created.Pod, now, broken)
		*pods = append(*pods, created.Pod)
	}
}

// updatedAndAvailable tells whether there are so many pods, all of a template and available.
func updatedAndAvailable(pods []*corev1.Pod, template *corev1.PodTemplateSpec, wanted int) bool {
	n := 0
	for _, pod := range pods {
		if pod.Spec.Containers[0].Image == template.Spec.Containers[0].Image && pod.Status.Conditions[2].Status == corev1.ConditionTrue {
			n++
		}
	}
	return n == len(pods) && n == wanted
}

// never fails if those who ask kstatus are told too early that the spec is reached.
func (s *story) never(reached bool) {
	s.Helper()
	if is := current(s.T, s.object()); is == "Current" && !reached {
		s.Errorf("it is shown as %s too early", is)
	}
	if s.status().Done() && !reached {
		s.Error("RolloutStatus is done too early")
	}
}

// starts has a pod run from now on.
func starts(pod *corev1.Pod, now time.Time, broken string) {
	if id := pod.Labels[v1alpha1.CloneSetInstanceIDLabel]; id != "" {
		pod.Name = pod.GenerateName + id
		metav1.SetMetaDataLabel(&pod.ObjectMeta, "lifecycle.apps.kruise.io/state", "Normal")
	}
	pod.CreationTimestamp, pod.Status.Phase = metav1.NewTime(now), corev1.PodRunning
	ready := corev1.ConditionTrue
	if pod.Spec.Containers[0].Image == broken {
		ready = corev1.ConditionFalse
	}
	pod.Status.Conditions = []corev1.PodCondition{
		{Type: "InPlaceUpdateReady", Status: corev1.ConditionTrue}, {Type: "KruisePodReady", Status: corev1.ConditionTrue},
		{Type: corev1.PodReady, Status: ready, LastTransitionTime: metav1.NewTime(now)},
	}
}

// current is what kstatus makes of an object, by which Flux, and Helm with its option to wait, go.
func current(t *testing.T, object any) string {
	t.Helper()
	raw, err := json.Marshal(object)
	if err != nil {
		t.Fatal(err)
	}
	var decoded unstructured.Unstructured
	if err := decoded.UnmarshalJSON(raw); err != nil {
		t.Fatal(err)
	}
	result, err := status.Compute(&decoded)
	if err != nil {
		t.Fatal(err)
	}
	return string(result.Status)
}
