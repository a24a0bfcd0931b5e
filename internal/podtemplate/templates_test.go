// SPDX-License-Identifier: Apache-2.0

package podtemplate_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/internal/podtemplate"
	"github.com/podwright/podwright/internal/testing/patches"
)

func claim(name string) corev1.PersistentVolumeClaim {
	return corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Name: name}}
}

func image(image string) *corev1.PodTemplateSpec {
	return &corev1.PodTemplateSpec{Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: image}}}}
}

// TestDefaultOfTemplates shows in testdata/templates.txt whether templates, of an image and a claim, are others than those stored, and
// which of them get defaults. Those stored get none.
func TestDefaultOfTemplates(t *testing.T) {
	type of struct{ Image, Claim string }
	templates := func(of *of) (made podtemplate.Templates) {
		if of != nil {
			made = podtemplate.Templates{Pod: image(of.Image), Claims: []corev1.PersistentVolumeClaim{claim(of.Claim)}}
		}
		return made
	}
	patches.PlayRows(t, "testdata/templates.txt", nil, func(t *testing.T, _ string, r *struct{ New, Stored *of }) string {
		made, stored := templates(r.New), templates(r.Stored)
		changed := !made.Equal(stored)
		made.Default(stored)
		if diff := cmp.Diff(templates(r.Stored), stored); diff != "" {
			t.Errorf("the stored templates got defaults:\n%s", diff)
		}
		ofPod, ofClaim := made.Pod.Spec.RestartPolicy != "", made.Claims[0].Spec.VolumeMode != nil
		return fmt.Sprintf("changed %t, defaults of the pod %t, of the claim %t", changed, ofPod, ofClaim)
	})
}

func TestEqualOfTemplates(t *testing.T) {
	empty := image("a:1")
	empty.Spec.Volumes, empty.Labels = []corev1.Volume{}, map[string]string{}
	if !(podtemplate.Templates{Pod: empty, Claims: []corev1.PersistentVolumeClaim{}}).Equal(podtemplate.Templates{Pod: image("a:1")}) {
		t.Error("empty lists and none are different, want equal")
	}
}

func TestWithClaims(t *testing.T) {
	pod := image("a:1")
	pod.Spec.Volumes = []corev1.Volume{{Name: "scratch"}, {Name: "data"}}
	before := pod.DeepCopy()
	got, claims := podtemplate.Templates{Pod: pod, Claims: []corev1.PersistentVolumeClaim{claim("data"), claim("logs")}}.WithClaims()

	mounted := func(name string) corev1.Volume {
		return corev1.Volume{Name: name, VolumeSource: corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: name}}}
	}
	want := before.DeepCopy()
	want.Spec.Volumes = []corev1.Volume{{Name: "scratch"}, mounted("data"), mounted("logs")}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("template (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(map[int]int{1: 0, 2: 1}, claims); diff != "" {
		t.Errorf("volumes that are claims (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(before, pod); diff != "" {
		t.Errorf("WithClaims changed the template (-before +after):\n%s", diff)
	}
}
