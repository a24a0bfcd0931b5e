// SPDX-License-Identifier: Apache-2.0

package images

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/distribution/v1alpha1"
)

// What a pod says of itself is read as it was written, and anything else is no pod that
// has an image pulled.
func FuzzPullTaskOf(f *testing.F) {
	f.Add(PullTask{Node: "n1", Image: "nginx", Tag: "1", Version: 2, Attempt: 3}.String())
	for _, value := range []string{"", "{}", "null", `{"node":"n1"}`, `{"node":"n1","attempt":0}`, `{"node":"","attempt":1}`, `{"node":1}`} {
		f.Add(value)
	}
	f.Fuzz(func(t *testing.T, value string) {
		object := &metav1.ObjectMeta{Annotations: map[string]string{v1alpha1.PullPodTaskAnnotation: value}}
		if task, ok := PullTaskOf(object); ok {
			t.Errorf("without the label: %+v", task)
		}
		object.Labels = map[string]string{v1alpha1.PullPodLabel: ""}
		task, ok := PullTaskOf(object)
		if !ok {
			return
		}
		if task.Node == "" || task.Attempt < 1 {
			t.Errorf("%q is taken for %+v", value, task)
		}
		object.Annotations[v1alpha1.PullPodTaskAnnotation] = task.String()
		if again, ok := PullTaskOf(object); !ok || again != task {
			t.Errorf("%+v is read as %+v, %t", task, again, ok)
		}
	})
}

func TestPullTaskOf(t *testing.T) {
	object := &metav1.ObjectMeta{Labels: map[string]string{v1alpha1.PullPodLabel: ""}, Annotations: map[string]string{}}
	want := PullTask{Node: "n1", Image: "nginx", Tag: "sha256:0", Version: 2, Attempt: 3}
	for value, ok := range map[string]bool{want.String(): true, "": false, "{}": false, `{"node":"n1","attempt":0}`: false, `{"node":"","attempt":1}`: false} {
		object.Annotations[v1alpha1.PullPodTaskAnnotation] = value
		if task, got := PullTaskOf(object); got != ok || ok && task != want {
			t.Errorf("%q: %+v, %t", value, task, got)
		}
	}
}
