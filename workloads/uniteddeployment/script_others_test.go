// SPDX-License-Identifier: Apache-2.0

package uniteddeployment

import (
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright/internal/testing/fakecluster/fixture"
)

// taken creates an object of others that has the name of the first workload or revision.
func (w *cluster) taken(command, label string) {
	if command == "taken-name" {
		name := NewPlan(&Snapshot{Set: setOf(w.Cluster, "web")}).Create[0].Object.GetName()
		w.Object("create", pathOf(CloneSet), fmt.Sprintf(`{"apiVersion":"apps.kruise.io/v1alpha1","kind":"CloneSet","metadata":{"name":%q,
			"labels":{"app":"theirs"}},"spec":{"template":{"spec":{"containers":[{"name":"main","image":"nginx:1"}]}}}}`, name))
		return
	}
	revision := func(lines string) *appsv1.ControllerRevision {
		return NewPlan(&Snapshot{Set: newSet(w.T, lines)}).Revisions.Create
	}
	other := revision("template: {cloneSetTemplate: {spec: {template: {spec: {containers: [{name: other, image: other}]}}}}}")
	_, err := w.Kube.AppsV1().ControllerRevisions(fixture.Web.Namespace).Create(w.T.Context(), &appsv1.ControllerRevision{Revision: 1,
		ObjectMeta: metav1.ObjectMeta{Name: revision("").Name, Labels: map[string]string{"app": label}}, Data: runtime.RawExtension{Raw: other.Data.Raw}}, metav1.CreateOptions{})
	w.Must(err)
}

// meanwhile has an app become an owner of a workload before the controller patches it.
func (w *cluster) meanwhile(c *common) {
	w.trace.Meanwhile("patch clonesets", false, 1, func() {
		const owner = `{"metadata":{"ownerReferences":[{"apiVersion":"example.com/v1","kind":"App","name":"app","uid":"app"}]}}`
		sets := newClient(w.T, w.Server, fixture.TestUser).CloneSets(c.Namespace)
		_, err := sets.Patch(w.T.Context(), c.Name, types.MergePatchType, []byte(owner), metav1.PatchOptions{})
		w.Must(err)
		w.trace.Note("the app comes")
	})
}
