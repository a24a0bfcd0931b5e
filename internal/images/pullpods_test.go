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
	good := PullTask{Node: "n1", Image: "nginx", Tag: "sha256:0", Version: 2, Attempt: 3}
	f.Add(good.String())
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
		if value == good.String() && task != good {
			t.Errorf("%s is read as %+v, %t", value, task, ok)
		}
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
