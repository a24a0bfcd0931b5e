// SPDX-License-Identifier: Apache-2.0

package uniteddeployment_test

import (
	"sync/atomic"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/podwright/podwright/internal/testing/fakecluster"
	"github.com/podwright/podwright/internal/testing/fakecluster/fixture"
	"github.com/podwright/podwright/workloads/uniteddeployment"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

// UD-6: if the name of a new workload is another owner's, it gets another one.
func TestNameIsTaken(t *testing.T) {
	play(t, func(t *testing.T, w *world) {
		workloads := newClient(t, w.Server, fixture.TestUser)
		w.kind = uniteddeployment.CloneSet
		w.FailBefore(fixture.Fail("create controllerrevisions", fixture.ErrQuota)) // so that the UID comes before the workloads
		set, err := workloads.UnitedDeployments(fixture.Web.Namespace).Create(t.Context(), newSet(t, w.kind, "web", ""), metav1.CreateOptions{})
		w.Must(err)
		name := uniteddeployment.NewPlan(&uniteddeployment.Snapshot{Set: set}).Create[0].Object.GetName()
		theirs := &v1alpha1.CloneSet{TypeMeta: metav1.TypeMeta{APIVersion: "apps.kruise.io/v1alpha1", Kind: "CloneSet"},
			ObjectMeta: metav1.ObjectMeta{Namespace: fixture.Web.Namespace, Name: name, Labels: map[string]string{"app": "theirs"}}}
		theirs.Spec.Template.Spec = set.Spec.Template.CloneSetTemplate.Spec.Template.Spec
		_, err = workloads.CloneSets(theirs.Namespace).Create(t.Context(), theirs, metav1.CreateOptions{})
		w.Must(err)
		w.heal()
		w.Sleep("5m")
		all := workloadsOf(w.Cluster, w.kind)
		if len(all) != 3 || all[0].Name != name || len(all[0].OwnerReferences) != 0 || all[0].subset() != "" || all[1].subset() != "a" || all[2].subset() != "b" {
			t.Errorf("workloads %v, want that of somebody else as it was, and two", all)
		}
	})
}

// UD-R3: if the name of the revision is one with other data, it gets another one.
func TestRevisionIsTaken(t *testing.T) {
	set := newSet(t, uniteddeployment.CloneSet, "web", "")
	r := uniteddeployment.NewPlan(&uniteddeployment.Snapshot{Set: set}).Revisions.Create
	other := uniteddeployment.NewPlan(&uniteddeployment.Snapshot{Set: newSet(t, uniteddeployment.CloneSet, "web", "template: {cloneSetTemplate: {spec: {template: {spec: {containers: [{name: other, image: other}]}}}}}")}).Revisions.Create
	for name, labels := range map[string]map[string]string{"of nobody": {"app": "demo"}, "of somebody else": {"app": "other"}} {
		t.Run(name, func(t *testing.T) {
			play(t, func(t *testing.T, w *world) {
				_, err := w.Kube.AppsV1().ControllerRevisions(fixture.Web.Namespace).Create(t.Context(), &appsv1.ControllerRevision{
					ObjectMeta: metav1.ObjectMeta{Name: r.Name, Labels: labels}, Data: runtime.RawExtension{Raw: other.Data.Raw}, Revision: 1}, metav1.CreateOptions{})
				w.Must(err)
				sets := newClient(t, w.Server, fixture.TestUser).UnitedDeployments(fixture.Web.Namespace)
				_, err = sets.Create(t.Context(), newSet(t, uniteddeployment.CloneSet, "web", ""), metav1.CreateOptions{})
				w.Must(err)
				w.Sleep("1m")
				got, err := sets.Get(t.Context(), "web", metav1.GetOptions{})
				w.Must(err)
				if s := got.Status; s.CollisionCount == nil || *s.CollisionCount != 1 || s.UpdateStatus == nil || s.UpdateStatus.UpdatedRevision == r.Name {
					t.Errorf("status %v, want one collision and another name than %s", s, r.Name)
				}
				if n := len(workloadsOf(w.Cluster, uniteddeployment.CloneSet)); n != 2 {
					t.Errorf("%d workloads, want 2", n)
				}
			})
		})
	}
}

// UD-2.1: another controller that becomes an owner of a workload while that is adopted stays one.
func TestOwnersThatComeMeanwhile(t *testing.T) {
	play(t, func(t *testing.T, w *world) {
		w.kind = uniteddeployment.CloneSet
		sets := newClient(t, w.Server, fixture.TestUser).UnitedDeployments(fixture.Web.Namespace)
		_, err := sets.Create(t.Context(), newSet(t, w.kind, "web", ""), metav1.CreateOptions{})
		w.Must(err)
		w.Sleep("1m")
		name := workloadsOf(w.Cluster, w.kind)[0].Name
		var meanwhile atomic.Bool
		w.FailBefore(func(r fakecluster.Request) error {
			if r.User == fixture.ControllerUser && r.String() == "patch clonesets" && r.Name == name && meanwhile.CompareAndSwap(false, true) {
				patch(w.Cluster, w.kind, name, `{"metadata":{"ownerReferences":[{"apiVersion":"example.com/v1","kind":"App","name":"app","uid":"app"}]}}`)
			}
			return nil
		})
		patch(w.Cluster, w.kind, name, `{"metadata":{"ownerReferences":null}}`)
		w.Sleep("1m")
		owners := workloadsOf(w.Cluster, w.kind)[0].OwnerReferences
		if len(owners) != 2 || owners[0].Kind != "App" || owners[1].Kind != "UnitedDeployment" || !meanwhile.Load() {
			t.Errorf("owners %v, want the other one and the UnitedDeployment; it came meanwhile: %t", owners, meanwhile.Load())
		}
	})
}
