// SPDX-License-Identifier: Apache-2.0

package inplace

import (
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/inplace/v1alpha1"
)

// Which image of a pod is one that came back, and which is the one that a mirror makes of the one given. (IP-40)
func TestPutBack(t *testing.T) {
	const mirror = "mirror.example.com/"
	for _, test := range []struct {
		name, given string
		before      []string // the one that was replaced last is the last
		has         string
		want        bool
	}{
		{"it stays", "nginx:2", []string{"nginx:1"}, "nginx:2", false},
		{"the one from before came back", "nginx:2", []string{"nginx:1"}, "nginx:1", true},
		{"a third one", "nginx:2", []string{"nginx:1"}, "nginx:3", false},
		{"that of a mirror", "nginx:2", []string{mirror + "nginx:1"}, mirror + "nginx:2", false},
		{"the mirror put the one from before back", "nginx:2", []string{mirror + "nginx:1"}, mirror + "nginx:1", true},
		{"an update is taken back, with a mirror", "nginx:1", []string{mirror + "nginx:1", mirror + "nginx:3"}, mirror + "nginx:1", false},
		{"and the mirror put that of the update back", "nginx:1", []string{mirror + "nginx:1", mirror + "nginx:3"}, mirror + "nginx:3", true},
		{"an older one came back", "nginx:1", []string{mirror + "nginx:2", mirror + "nginx:3"}, mirror + "nginx:2", true},
		{"the registry from before came back", "new.example.com/nginx:1", []string{mirror + "nginx:1"}, mirror + "nginx:1", true},
	} {
		pod := &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{appsv1.ControllerRevisionHashLabelKey: "2"}},
			Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: test.has}}},
		}
		state := &v1alpha1.State{Revision: "2", LastContainers: map[string]v1alpha1.LastContainer{"main": {Image: test.given, Images: test.before}}}
		if got := putBack(pod, state); (len(got) > 0) != test.want {
			t.Errorf("IP-40: %s: %v came back, want one: %t", test.name, got, test.want)
		}
	}
}
