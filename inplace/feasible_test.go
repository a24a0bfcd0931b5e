package inplace_test

import (
	"testing"

	"github.com/podwright/podwright/inplace"
	"github.com/podwright/podwright/inplace/v1alpha1"
)

func TestCheckBegin(t *testing.T) {
	update := &inplace.Update{Revision: "web-2", Images: map[string]string{"": "nginx:2"}}
	for _, test := range []struct {
		name string
		edit func(p map[string]string)
		u    *inplace.Update
		ok   bool
	}{
		{"rule 11: a pod without records", nil, update, true},
		{"rule 28: a record that is not readable", func(a map[string]string) { a[v1alpha1.StateAnnotation] = "{" }, update, false},
		{"rule 23: a grace period", func(a map[string]string) { a[v1alpha1.GraceAnnotation] = "{}" }, update, false},
		{"rule 5: a container that is missing", nil, &inplace.Update{Revision: "web-2", Images: map[string]string{"other": "nginx:2"}}, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			pod := running(template())
			pod.Annotations = map[string]string{}
			if test.edit != nil {
				test.edit(pod.Annotations)
			}
			before := pod.DeepCopy()
			if err := inplace.CheckBegin(pod, test.u); (err == nil) != test.ok {
				t.Errorf("error %v", err)
			}
			if before.String() != pod.String() {
				t.Error("the pod was changed")
			}
		})
	}
}
