// SPDX-License-Identifier: Apache-2.0

package uniteddeployment_test

import (
	"sync/atomic"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/podwright/podwright/internal/testing/fakecluster"
	"github.com/podwright/podwright/internal/testing/fakecluster/fixture"
	"github.com/podwright/podwright/workloads/uniteddeployment"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

// taken creates an object of others that has the name of the first workload or revision.
func (w *world) taken(command, label string) {
	if command == "taken-name" {
		workloads := newClient(w.T, w.Server, fixture.TestUser)
		set, err := workloads.UnitedDeployments(fixture.Web.Namespace).Get(w.T.Context(), "web", metav1.GetOptions{})
		w.Must(err)
		name := uniteddeployment.NewPlan(&uniteddeployment.Snapshot{Set: set}).Create[0].Object.GetName()
		theirs := &v1alpha1.CloneSet{TypeMeta: metav1.TypeMeta{APIVersion: "apps.kruise.io/v1alpha1", Kind: "CloneSet"},
			ObjectMeta: metav1.ObjectMeta{Namespace: fixture.Web.Namespace, Name: name, Labels: map[string]string{"app": "theirs"}}}
		theirs.Spec.Template.Spec = set.Spec.Template.CloneSetTemplate.Spec.Template.Spec
		_, err = workloads.CloneSets(theirs.Namespace).Create(w.T.Context(), theirs, metav1.CreateOptions{})
		w.Must(err)
		return
	}
	revision := func(lines string) *appsv1.ControllerRevision {
		set := newSet(w.T, uniteddeployment.CloneSet, "web", lines)
		return uniteddeployment.NewPlan(&uniteddeployment.Snapshot{Set: set}).Revisions.Create
	}
	other := revision("template: {cloneSetTemplate: {spec: {template: {spec: {containers: [{name: other, image: other}]}}}}}")
	_, err := w.Kube.AppsV1().ControllerRevisions(fixture.Web.Namespace).Create(w.T.Context(), &appsv1.ControllerRevision{Revision: 1,
		ObjectMeta: metav1.ObjectMeta{Name: revision("").Name, Labels: map[string]string{"app": label}}, Data: runtime.RawExtension{Raw: other.Data.Raw}}, metav1.CreateOptions{})
	w.Must(err)
}

// meanwhile has an app become an owner of a workload before the controller patches it.
func (w *world) meanwhile(c *workload) {
	var came atomic.Bool
	w.FailBefore(func(r fakecluster.Request) error {
		if r.User == fixture.ControllerUser && r.String() == "patch clonesets" && r.Name == c.Name && came.CompareAndSwap(false, true) {
			patch(w.Cluster, w.kind, c.Name, `{"metadata":{"ownerReferences":[{"apiVersion":"example.com/v1","kind":"App","name":"app","uid":"app"}]}}`)
			w.trace.Note("the app comes")
		}
		return nil
	})
}
