// SPDX-License-Identifier: Apache-2.0

package inplace_test

import (
	"regexp"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/inplace"
	"github.com/podwright/podwright/inplace/podpatch"
	"github.com/podwright/podwright/inplace/revision"
	"github.com/podwright/podwright/inplace/v1alpha1"
	"github.com/podwright/podwright/internal/testing/patches"
)

func raw(name string, data []byte) *appsv1.ControllerRevision {
	r := &appsv1.ControllerRevision{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}}
	r.Data.Raw = data
	return r
}

// Two arbitrary revisions: the verdict is an update or obstacles, never both. A revision has no difference to itself. What can be
// done in place leads to the images and labels of the new template.
func FuzzCalculate(f *testing.F) {
	envK := "env-c1=K:metadata.labels['k']"
	f.Add(rev(f, "a", template()).Data.Raw, rev(f, "b", template("c1=c1:2", "label=k:w")).Data.Raw)
	f.Add(rev(f, "a", template(envK)).Data.Raw, rev(f, "b", template(envK, "label=k:w", "no-annotations")).Data.Raw)
	f.Add([]byte(`{"spec":{"template":{}}}`), []byte(`{`))
	// k8s.io/apimachinery writes such quantities out in full before it compares them.
	endless := regexp.MustCompile(`[eE][+-]?[0-9]{4}`)
	f.Fuzz(func(t *testing.T, a, b []byte) {
		if endless.Match(a) || endless.Match(b) {
			return
		}
		from, to := raw("a", a), raw("b", b)
		o := inplace.CalculateOptions{}
		if same, obstacles, err := inplace.Calculate(from, from, o); err == nil {
			if diff := cmp.Diff(&inplace.Update{Revision: "a", Images: map[string]string{}}, same); diff != "" {
				t.Fatalf("IP-4: a template differs from itself: %s\n%v", diff, obstacles)
			}
		}
		u, obstacles, err := inplace.Calculate(from, to, o)
		if err != nil {
			return
		}
		if (u == nil) != (len(obstacles) > 0) {
			t.Fatalf("update %v, obstacles %v", u, obstacles)
		}
		if u != nil {
			updateLeadsTo(t, a, b, u)
		}
	})
}

// updateLeadsTo checks that a pod of the old template has the images and the
// labels of the new one after the update.
func updateLeadsTo(t *testing.T, a, b []byte, u *inplace.Update) {
	old, errOld := revision.Template(a)
	wanted, errWanted := revision.Template(b)
	if errOld != nil || errWanted != nil {
		t.Fatal(errOld, errWanted)
	}
	if names := map[string]bool{}; !uniqueNames(old, names) {
		return // No pod can be made of such a template.
	}
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Labels: old.Labels},
		Spec:       corev1.PodSpec{Containers: old.Spec.Containers},
	}
	var p podpatch.Patch
	if err := inplace.Begin(&p, pod, u, inplace.BeginOptions{Now: start()}); err != nil {
		t.Fatal(err)
	}
	after, err := p.Apply(pod)
	if err != nil {
		t.Fatal(err)
	}
	for i := range after.Spec.Containers {
		got := after.Spec.Containers[i].Image
		if got != wanted.Spec.Containers[i].Image && len(state(t, after).NextContainerImages) == 0 {
			t.Fatalf("container %d: image %s, want %s", i, got, wanted.Spec.Containers[i].Image)
		}
	}
}

func uniqueNames(t *corev1.PodTemplateSpec, names map[string]bool) bool {
	for _, c := range t.Spec.Containers {
		if names[c.Name] {
			return false
		}
		names[c.Name] = true
	}
	return true
}

// Whatever stands in the records, Refresh fails or leads somewhere: its
// patches can be written, and it comes to rest.
func FuzzRefresh(f *testing.F) {
	pod := begin(f, patches.Changed(words, running(template()), "priority-c1=2", "priority-c2=1"), &inplace.Update{
		Revision: "demo-new", Images: map[string]string{"c1": "c1:2", "c2": "c2:2"},
	}, 0)
	agent(f, pod)
	grace := begin(f, running(template()), &inplace.Update{
		Revision: "demo-old", Images: map[string]string{"c1": "c1:2"}, MetadataPatch: []byte(`{"metadata":{"labels":{"k":null}}}`),
	}, 30)
	f.Add(pod.Annotations[v1alpha1.StateAnnotation], "", pod.Annotations[v1alpha1.RuntimeContainersMetaAnnotation], int64(40))
	f.Add(grace.Annotations[v1alpha1.StateAnnotation], grace.Annotations[v1alpha1.GraceAnnotation], "", int64(40))
	f.Add(`{"nextContainerRefMetadata":{"c1":{"labels":{"k":"w"},"creationTimestamp":null}}}`, "", "", int64(0))
	f.Add(`null`, `null`, `null`, int64(-1))
	f.Fuzz(func(t *testing.T, state, grace, meta string, seconds int64) {
		pod := running(template())
		pod.Status.Conditions[2].Status = "False"
		for key, value := range map[string]string{
			v1alpha1.StateAnnotation: state, v1alpha1.GraceAnnotation: grace, v1alpha1.RuntimeContainersMetaAnnotation: meta,
		} {
			if value != "" {
				pod.Annotations[key] = value
			}
		}
		now := after(int(seconds % 1e6))
		for range 10 {
			var p podpatch.Patch
			progress, err := inplace.Refresh(&p, pod, now)
			if err != nil {
				return
			}
			if progress.Complete == (progress.Waiting != "") || progress.RequeueAfter < 0 {
				t.Fatalf("complete %t, waiting %q, again after %s", progress.Complete, progress.Waiting, progress.RequeueAfter)
			}
			if cmp.Equal(podpatch.Patch{}, p) {
				return
			}
			next, err := p.Apply(pod)
			if err != nil {
				return // A metadata patch that another writer has made, and that is none.
			}
			pod = next
			kubelet(pod)
		}
		t.Fatalf("still something to write after ten calls: %v", pod.Annotations)
	})
}
