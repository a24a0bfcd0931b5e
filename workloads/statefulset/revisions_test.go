// SPDX-License-Identifier: Apache-2.0

package statefulset

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/internal/podplan"
	lifecyclev1alpha1 "github.com/podwright/podwright/lifecycle/v1alpha1"
)

func TestNewRevision(t *testing.T) {
	s := testSnapshot(t, "A", "A", "0A")
	s.Set.Spec.Template.Spec.Containers[0].Image = "z"
	r := NewPlan(s).Revisions.Create
	if r == nil {
		t.Fatal("no revision is created")
	}
	owner := metav1.OwnerReference{APIVersion: "apps.kruise.io/v1beta1", Kind: "StatefulSet", Name: "web", UID: "uid-web", Controller: new(true), BlockOwnerDeletion: new(true)}
	if diff := cmp.Diff([]metav1.OwnerReference{owner}, r.OwnerReferences); diff != "" {
		t.Errorf("owner (-want +got):\n%s", diff)
	}
	if !strings.HasPrefix(string(r.Data.Raw), `{"spec":{"template":{"$patch":"replace",`) || r.Revision != 2 {
		t.Errorf("revision %d with data %s", r.Revision, r.Data.Raw)
	}
}

func TestLongName(t *testing.T) {
	s := testSnapshot(t, "A", "A", "", replicas(1))
	s.Set.Name = strings.Repeat("w", 58)
	s.Revisions = nil
	plan := NewPlan(s)
	label := plan.Create[0].Pod.Labels[podplan.RevisionLabel]
	if label == "" || len(label) > 63 || !strings.HasSuffix(plan.Revisions.Create.Name, label) {
		t.Errorf("the label of revision %s is %q", plan.Revisions.Create.Name, label)
	}
}

func TestNewPod(t *testing.T) {
	s := testSnapshot(t, "A", "A", "0A 1A", claims(), replicas(3))
	s.Set.Spec.Template.Spec.Volumes = []corev1.Volume{{Name: "data"}, {Name: "tmp"}}
	s.Set.Spec.Template.Annotations = map[string]string{"note": "x"}
	s.Revisions = nil
	pod := NewPlan(s).Create[0].Pod
	want := map[string]string{
		"app": "web", "statefulset.kubernetes.io/pod-name": "web-2", "apps.kubernetes.io/pod-index": "2",
		"lifecycle.apps.kruise.io/state": "Normal", "controller-revision-hash": NewPlan(s).Revisions.Update.Name,
	}
	if diff := cmp.Diff(want, pod.Labels); diff != "" {
		t.Errorf("labels, LC-18 (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"lifecycle.apps.kruise.io/timestamp", "note"}, slices.Sorted(maps.Keys(pod.Annotations))); diff != "" {
		t.Errorf("annotations (-want +got):\n%s", diff)
	}
	if pod.Name != "web-2" || pod.Namespace != "shop" || pod.Spec.Hostname != "web-2" || pod.Spec.Subdomain != "svc" {
		t.Errorf("pod %s/%s with host %s.%s", pod.Namespace, pod.Name, pod.Spec.Hostname, pod.Spec.Subdomain)
	}
	volumes := []corev1.Volume{{Name: "tmp"}, {Name: "data", VolumeSource: corev1.VolumeSource{
		PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "data-web-2"}}}}
	if diff := cmp.Diff(volumes, pod.Spec.Volumes); diff != "" {
		t.Errorf("volumes (-want +got):\n%s", diff)
	}
	if got := pod.Spec.ReadinessGates[len(pod.Spec.ReadinessGates)-1].ConditionType; got != lifecyclev1alpha1.KruisePodReady {
		t.Errorf("last readiness gate %s", got)
	}
}
