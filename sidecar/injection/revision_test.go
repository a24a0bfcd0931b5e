// SPDX-License-Identifier: Apache-2.0

package injection_test

import (
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/podwright/podwright/sidecar/injection"
	"github.com/podwright/podwright/sidecar/v1alpha1"
)

// TestWantedOfItsOwn: SCI-3. A SidecarSet that was deleted, and left its revisions behind, had more of them than the present one of
// its name.
func TestWantedOfItsOwn(t *testing.T) {
	set := &v1alpha1.SidecarSet{ObjectMeta: metav1.ObjectMeta{Name: "web", UID: "uid-of-web"}}
	set.Spec.InjectionStrategy.Revision = &v1alpha1.SidecarSetInjectRevision{CustomVersion: ptr.To("v1")}
	revision := func(name string, number int64, controlled bool) *appsv1.ControllerRevision {
		r := &appsv1.ControllerRevision{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{
			v1alpha1.SidecarSetNameLabel: "web", v1alpha1.SidecarSetCustomVersionLabel: "v1"}}, Revision: number}
		if controlled {
			r.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(set, v1alpha1.SchemeGroupVersion.WithKind("SidecarSet"))}
		}
		return r
	}
	left, older, own := revision("left", 7, false), revision("older", 1, true), revision("own", 2, true)
	for _, test := range []struct {
		name      string
		revisions []*appsv1.ControllerRevision
		want      string
	}{
		{"left behind comes first", []*appsv1.ControllerRevision{left, older, own}, "own"},
		{"left behind comes last", []*appsv1.ControllerRevision{own, older, left}, "own"},
		{"all are left behind", []*appsv1.ControllerRevision{revision("first", 1, false), left}, "left"},
	} {
		if got, err := injection.Wanted(set, test.revisions); err != nil || got.Name != test.want {
			t.Errorf("%s: %v, error %v, want %s", test.name, got, err, test.want)
		}
	}
}
