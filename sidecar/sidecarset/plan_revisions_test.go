// SPDX-License-Identifier: Apache-2.0

package sidecarset

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/podwright/podwright/sidecar/v1alpha1"
)

// The revision of a spec whose bytes are known. (SCS-R1, SCS-R2)
func TestRevision(t *testing.T) {
	w := newWorld(t, `{containers: [{name: log, image: "busybox:1.0"}]}`)
	w.set.Labels = map[string]string{"team": "a", v1alpha1.SidecarSetCustomVersionLabel: "v1"}
	w.set.Annotations = map[string]string{"note": "b", v1alpha1.SidecarSetHashAnnotation: "out of date"}
	got := w.plan().Revisions.Create
	want := &appsv1.ControllerRevision{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "kruise-system", Name: "demo-5f8bd86b65",
			Labels: map[string]string{"team": "a", v1alpha1.SidecarSetCustomVersionLabel: "v1",
				"controller.kubernetes.io/hash": "5f8bd86b65", "kruise.io/sidecarset-name": "demo"},
			Annotations: map[string]string{"note": "b",
				"kruise.io/sidecarset-hash":               "v584b24czd84bc2449cvxxvc5z44587xz782bwxz2v799cz2cfbxbw62z94fw9dv",
				"kruise.io/sidecarset-hash-without-image": "4424wfff8b57d47vb7684zc4bb5478vxwwdcz7dd2xdwbf4d4446424d4w29cwd5"},
			OwnerReferences: []metav1.OwnerReference{{APIVersion: "apps.kruise.io/v1alpha1", Kind: "SidecarSet", Name: "demo", UID: "uid-of-demo",
				Controller: ptr.To(true), BlockOwnerDeletion: ptr.To(true)}},
		},
		Revision: 1,
	}
	delete(w.set.Labels, v1alpha1.SidecarSetCustomVersionLabel)
	w.set.Annotations["v1beta1-fields.podwright.github.io/x"] = `{"metadata":{"labels":{"apps.kruise.io/sidecarset-custom-version":"v0"}}}`
	if labels := w.plan().Revisions.Create.Labels; labels[v1alpha1.SidecarSetCustomVersionLabel] != "v0" {
		t.Errorf("SCS-V7: the revision of a SidecarSet that has the label in v1beta1 has the labels %v", labels)
	}
	data := string(got.Data.Raw)
	got = got.DeepCopy()
	got.Data.Raw = nil
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if begin := `{"spec":{"containers":[{"image":"busybox:1.0","imagePullPolicy":"IfNotPresent","name":"log",`; !strings.HasPrefix(data, begin) ||
		!strings.HasSuffix(data, `"initContainers":null,"patchPodMetadata":null,"volumes":null}}`) {
		t.Errorf("data %s", data)
	}
	w.set.Status.CollisionCount = ptr.To[int32](1)
	if other := w.plan().Revisions.Create.Name; other == want.Name {
		t.Errorf("after a collision it is called %s, too", other)
	}
	s := w.snapshot()
	s.RevisionNamespace = "system"
	if r := NewPlan(s).Revisions.Create; r.Namespace != "system" {
		t.Errorf("namespace %s", r.Namespace)
	}
}
