// SPDX-License-Identifier: Apache-2.0

package nodeimage

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/internal/images"
)

const (
	pulling   = v1alpha1.ImagePhasePulling
	succeeded = v1alpha1.ImagePhaseSucceeded
	failed    = v1alpha1.ImagePhaseFailed
)

func TestPlanKeepsSecretsAndSandbox(t *testing.T) {
	n := with(t, []v1alpha1.ImageTagSpec{task("1", owners("a")...), task("2")})
	image := n.Spec.Images["nginx"]
	image.PullSecrets = []v1alpha1.ReferenceObject{{Namespace: "default", Name: "s"}}
	image.SandboxConfig = &v1alpha1.SandboxConfig{Labels: map[string]string{"a": "b"}}
	n.Spec.Images["nginx"] = image
	got := NewPlan(snapshot(n)).Change.Spec.Images["nginx"]
	if len(got.Tags) != 1 || got.PullSecrets == nil || got.SandboxConfig == nil {
		t.Errorf("IMG-2.3: secrets and sandbox live as long as the image: %+v", got)
	}
}

func TestPlanRemovesImagesWithoutTasks(t *testing.T) {
	if plan := NewPlan(snapshot(with(t, nil))); plan.Change == nil || len(plan.Change.Spec.Images) > 0 {
		t.Errorf("IMG-2.3: an image without tasks is removed: %+v", plan.Change)
	}
}

// IMG-2.3: references to secrets go with the jobs that named them.
func TestPlanDropsReferencesOfJobsThatAreGone(t *testing.T) {
	ref := func(namespace, name string) v1alpha1.ReferenceObject {
		copied, _ := images.CopyName(types.NamespacedName{Namespace: namespace, Name: name})
		return v1alpha1.ReferenceObject{Namespace: v1alpha1.DaemonConfigNamespace, Name: copied}
	}
	hand := v1alpha1.ReferenceObject{Namespace: "kube-system", Name: "by-hand"}
	left := job("a", func(j *v1alpha1.ImagePullJob) { j.Spec.PullSecrets = []string{"s"} })
	elsewhere := owners("b")
	elsewhere[0].Namespace, elsewhere[0].UID = "other", "other-b"
	n := with(t, []v1alpha1.ImageTagSpec{task("1", append(append(owners("a"), owners("gone")...), elsewhere...)...)})
	image := n.Spec.Images["nginx"]
	batch := func(ref v1alpha1.ReferenceObject) v1alpha1.ReferenceObject {
		ref.Mode = v1alpha1.PullSecretModeBatch
		return ref
	}
	image.PullSecrets = []v1alpha1.ReferenceObject{batch(ref("default", "s")), ref("default", "old"), batch(ref("default", "older")), ref("other", "s"), {Namespace: "other", Name: "s"}, hand}
	n.Spec.Images["nginx"] = image
	plan := NewPlan(snapshot(n, left))
	if plan.Change == nil {
		t.Fatal("nothing changes")
	}
	if diff := cmp.Diff([]v1alpha1.ReferenceObject{batch(ref("default", "s")), batch(ref("default", "older")), hand}, plan.Change.Spec.Images["nginx"].PullSecrets); diff != "" {
		t.Errorf("IMG-1.16: modes are kept, and batch keeps a reference; references (-want +got):\n%s", diff)
	}
}

// IMG-2.3: a job that goes on, and is given one secret after the other, leaves no references behind.
func TestPlanDropsReferencesThatJobsNameNoMore(t *testing.T) {
	ref := func(name string) v1alpha1.ReferenceObject {
		copied, _ := images.CopyName(types.NamespacedName{Namespace: "default", Name: name})
		return v1alpha1.ReferenceObject{Namespace: v1alpha1.DaemonConfigNamespace, Name: copied}
	}
	hand := v1alpha1.ReferenceObject{Namespace: "kube-system", Name: "by-hand"}
	stranger := corev1.ObjectReference{APIVersion: "example.com/v1", Kind: "Warmer", Namespace: "default", Name: "w", UID: "w-uid"}
	all := []v1alpha1.ReferenceObject{ref("may"), ref("june"), {Namespace: "default", Name: "april"}, hand}
	for _, test := range []struct {
		name  string
		tasks []v1alpha1.ImageTagSpec
		want  []v1alpha1.ReferenceObject
	}{
		{"all tags are of jobs", []v1alpha1.ImageTagSpec{task("1", owners("a")...)}, []v1alpha1.ReferenceObject{ref("june"), hand}},
		{"one tag has no owner", []v1alpha1.ImageTagSpec{task("1", owners("a")...), task("2")}, all},
		{"one tag is of what is no job", []v1alpha1.ImageTagSpec{task("1", owners("a")...), task("2", stranger)}, all},
	} {
		t.Run(test.name, func(t *testing.T) {
			n := with(t, test.tasks)
			image := n.Spec.Images["nginx"]
			image.PullSecrets = all
			n.Spec.Images["nginx"] = image
			got := all
			if plan := NewPlan(snapshot(n, job("a", func(j *v1alpha1.ImagePullJob) { j.Spec.PullSecrets = []string{"june"} }))); plan.Change != nil {
				got = plan.Change.Spec.Images["nginx"].PullSecrets
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("references (-want +got):\n%s", diff)
			}
		})
	}
}
