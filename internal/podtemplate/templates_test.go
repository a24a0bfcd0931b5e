// SPDX-License-Identifier: Apache-2.0

package podtemplate_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/internal/podtemplate"
)

func claim(name string) corev1.PersistentVolumeClaim {
	return corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Name: name}}
}

func image(image string) *corev1.PodTemplateSpec {
	return &corev1.PodTemplateSpec{Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: image}}}}
}

func TestDefaultOfTemplates(t *testing.T) {
	type claims = []corev1.PersistentVolumeClaim
	for _, tt := range []struct {
		name             string
		templates        podtemplate.Templates
		stored           podtemplate.Templates
		wantPod, wantPVC bool
	}{
		{"new", podtemplate.Templates{Pod: image("a:1"), Claims: claims{claim("data")}}, podtemplate.Templates{}, true, true},
		{"unchanged", podtemplate.Templates{Pod: image("a:1"), Claims: claims{claim("data")}}, podtemplate.Templates{Pod: image("a:1"), Claims: claims{claim("data")}}, false, false},
		{"another image", podtemplate.Templates{Pod: image("a:2"), Claims: claims{claim("data")}}, podtemplate.Templates{Pod: image("a:1"), Claims: claims{claim("data")}}, true, false},
		{"another claim", podtemplate.Templates{Pod: image("a:1"), Claims: claims{claim("logs")}}, podtemplate.Templates{Pod: image("a:1"), Claims: claims{claim("data")}}, false, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			changed := !tt.templates.Equal(tt.stored)
			if want := tt.wantPod || tt.wantPVC; changed != want {
				t.Errorf("changed: %t, want %t", changed, want)
			}
			tt.templates.Default(tt.stored)
			if got := tt.templates.Pod.Spec.RestartPolicy != ""; got != tt.wantPod {
				t.Errorf("the pod template got defaults: %t, want %t", got, tt.wantPod)
			}
			if stored := tt.stored.Pod; stored != nil && (stored.Spec.RestartPolicy != "" || tt.stored.Claims[0].Spec.VolumeMode != nil) {
				t.Error("the stored templates got defaults")
			}
			if got := tt.templates.Claims[0].Spec.VolumeMode != nil; got != tt.wantPVC {
				t.Errorf("the claim templates got defaults: %t, want %t", got, tt.wantPVC)
			}
		})
	}
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
