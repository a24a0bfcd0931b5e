// SPDX-License-Identifier: Apache-2.0

package nodeimage

import (
	"testing"
	"time"

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

func TestPlanDrops(t *testing.T) {
	stranger := corev1.ObjectReference{APIVersion: "example.com/v1", Kind: "Warmer", Name: "w", UID: "w-uid"}
	other := corev1.ObjectReference{APIVersion: "batch/v1", Kind: "ImagePullJob", Name: "w", UID: "w-uid"}
	edited := func(task v1alpha1.ImageTagSpec, edit func(*v1alpha1.ImageTagSpec)) v1alpha1.ImageTagSpec {
		edit(&task)
		return task
	}
	over := func(j *v1alpha1.ImagePullJob) { j.Status.CompletionTime = new(at(time.Hour)) }
	never := func(j *v1alpha1.ImagePullJob) { j.Spec.CompletionPolicy.Type = v1alpha1.Never }
	moved := func(j *v1alpha1.ImagePullJob) { j.Spec.Image = "nginx:2" }
	leaving := func(j *v1alpha1.ImagePullJob) { j.DeletionTimestamp = new(at(0)) }
	for _, test := range []struct {
		name   string
		task   v1alpha1.ImageTagSpec
		status []v1alpha1.ImageTagStatus
		jobs   []*v1alpha1.ImagePullJob
		want   string // why it goes; empty: it stays
		after  time.Duration
	}{
		{"IMG-2.3: no createdAt", edited(task("1"), func(t *v1alpha1.ImageTagSpec) { t.CreatedAt = nil }), nil, nil,
			"it does not say when it was given (createdAt)", 0},
		{"IMG-2.3: all owners are gone", task("1", owners("a", "b")...), nil, nil,
			"the jobs that asked for it are gone: default/a, default/b", 0},
		{"IMG-2.3: an owner with another UID is gone", task("1", owners("a")...), nil, []*v1alpha1.ImagePullJob{job("b")},
			"the jobs that asked for it are gone: default/a", 0},
		{"IMG-2.3: owners of other kinds are kept", task("1", stranger), nil, nil, "", 40 * time.Second},
		{"IMG-2.3: a kind of the same name in another group", task("1", other), nil, nil, "", 40 * time.Second},
		{"IMG-2.3: a job of a later version", task("1", corev1.ObjectReference{APIVersion: "apps.kruise.io/v1beta1", Kind: "ImagePullJob", Namespace: "x", Name: "a", UID: "z"}), nil, nil,
			"the jobs that asked for it are gone: x/a", 0},
		{"IMG-2.3: a task without owners is kept", task("1"), nil, nil, "", 40 * time.Second},
		{"IMG-2.3: an owner that is being deleted is there", task("1", owners("a")...), nil, []*v1alpha1.ImagePullJob{job("a", leaving)}, "", 40 * time.Second},
		{"IMG-2.3: the TTL is over", task("1"), []v1alpha1.ImageTagStatus{finished("1", succeeded, time.Minute)}, nil,
			"it finished more than 60 s ago (ttlSecondsAfterFinished)", 0},
		{"IMG-2.3: the TTL is over, also after a failure", task("1"), []v1alpha1.ImageTagStatus{finished("1", failed, time.Minute)}, nil,
			"it finished more than 60 s ago (ttlSecondsAfterFinished)", 0},
		{"IMG-2.3: the TTL is not over", task("1"), []v1alpha1.ImageTagStatus{finished("1", succeeded, 40*time.Second)}, nil, "", 20 * time.Second},
		{"IMG-2.3: another version has finished", edited(task("1"), func(t *v1alpha1.ImageTagSpec) { t.Version = 2 }),
			[]v1alpha1.ImageTagStatus{finished("1", succeeded, time.Hour)}, nil, "", 40 * time.Second},
		{"IMG-2.3: another tag has finished", task("1"), []v1alpha1.ImageTagStatus{finished("2", succeeded, time.Hour)}, nil, "", 40 * time.Second},
		{"IMG-2.3: no TTL", edited(task("1"), func(t *v1alpha1.ImageTagSpec) { t.PullPolicy = nil }),
			[]v1alpha1.ImageTagStatus{finished("1", succeeded, time.Hour)}, nil, "", 0},
		{"IMG-2.3: the TTL is over, and so is the job", task("1", owners("a")...), []v1alpha1.ImageTagStatus{finished("1", succeeded, time.Hour)},
			[]*v1alpha1.ImagePullJob{job("a", over)}, "it finished more than 60 s ago (ttlSecondsAfterFinished)", 0},
		{"IMG-2.3 difference: the job goes on and counts the node", task("1", owners("a")...), []v1alpha1.ImageTagStatus{finished("1", succeeded, time.Hour)},
			[]*v1alpha1.ImagePullJob{job("a")}, "", 0},
		{"IMG-2.3: the job goes on for ever", task("1", owners("a")...), []v1alpha1.ImageTagStatus{finished("1", succeeded, time.Hour)},
			[]*v1alpha1.ImagePullJob{job("a", never)}, "it finished more than 60 s ago (ttlSecondsAfterFinished)", 0},
		{"IMG-1.1: the job has another image by now", task("1", owners("a")...), []v1alpha1.ImageTagStatus{finished("1", succeeded, time.Hour)},
			[]*v1alpha1.ImagePullJob{job("a", moved)}, "it finished more than 60 s ago (ttlSecondsAfterFinished)", 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			n := with(t, []v1alpha1.ImageTagSpec{test.task}, test.status...)
			before := n.DeepCopy()
			plan := NewPlan(snapshot(n, test.jobs...))
			var want []Dropped
			if test.want != "" {
				want = []Dropped{{"nginx", "1", test.want}}
			}
			if diff := cmp.Diff(want, plan.Dropped); diff != "" {
				t.Errorf("dropped (-want +got):\n%s", diff)
			}
			if (plan.Change != nil) != (test.want != "") {
				t.Errorf("change: %+v", plan.Change)
			}
			if plan.Change != nil && len(plan.Change.Spec.Images) > 0 {
				t.Errorf("IMG-2.3: an image without tasks stays: %+v", plan.Change.Spec)
			}
			if plan.RequeueAfter != test.after {
				t.Errorf("requeue after %v, want %v", plan.RequeueAfter, test.after)
			}
			if diff := cmp.Diff(before, n); diff != "" {
				t.Errorf("the plan has changed what it was given (-before +after):\n%s", diff)
			}
		})
	}
}

func TestPlanTrimsOwners(t *testing.T) {
	n := with(t, []v1alpha1.ImageTagSpec{task("1", owners("a", "b", "c")...), task("2", owners("a")...)})
	n.Spec.Images["redis"] = v1alpha1.ImageSpec{Tags: []v1alpha1.ImageTagSpec{task("7", owners("a")...)}, SandboxConfig: &v1alpha1.SandboxConfig{}}
	plan := NewPlan(snapshot(n, job("b"), job("c")))
	want := &Change{Labels: n.Labels, Spec: v1alpha1.NodeImageSpec{Images: map[string]v1alpha1.ImageSpec{
		"nginx": {Tags: []v1alpha1.ImageTagSpec{task("1", owners("b", "c")...)}},
	}}}
	if diff := cmp.Diff(want, plan.Change); diff != "" {
		t.Errorf("IMG-2.3: owner lists are trimmed; the image without tasks goes with its sandbox (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(owners("a"), plan.Gone); diff != "" {
		t.Errorf("gone (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"2", "7"}, []string{plan.Dropped[0].Tag, plan.Dropped[1].Tag}); diff != "" || len(plan.Dropped) != 2 {
		t.Errorf("dropped: %+v", plan.Dropped)
	}
}

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
