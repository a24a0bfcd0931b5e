// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"fmt"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/podwright/podwright/examples/tests/testbed"
	"github.com/podwright/podwright/inplace/revision"
	"github.com/podwright/podwright/workloads/uniteddeployment"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

// An autoscaler scales a UnitedDeployment through the scale subresource, although its subsets have numbers of pods of
// their own. It finds the selector of the pods there.
func TestUnitedDeploymentIsScaledByAnAutoscaler(t *testing.T) {
	testbed.Long(t)
	t.Parallel()
	s := newUnitedFixture(t, unitedCloneSets)
	united := s.united(2, "zone-a", "zone-b")
	for i := range united.Spec.Topology.Subsets {
		united.Spec.Topology.Subsets[i].Replicas = new(intstr.FromInt32(1))
	}
	s.create(united)
	const a, b = "zone-a node-0 web:1", "zone-b node-1 web:1"
	s.awaitPods("UD-3.1", a, b)
	scaler := newAutoscaler(s.Scene, s.Core, v1alpha1.SchemeGroupVersion.WithKind("UnitedDeployment"), 4, 6)
	s.awaitPods("UD-3.2, UD-15.3", a, a, b, b)
	scaler.await("UD-12.2", 4)
	scale, err := s.Dynamic.Resource(v1alpha1.SchemeGroupVersion.WithResource("uniteddeployments")).Namespace(s.Namespace).
		Get(t.Context(), "web", metav1.GetOptions{}, "scale")
	if err != nil {
		t.Fatal(err)
	}
	if status, _, _ := unstructured.NestedMap(scale.Object, "status"); status["selector"] != "app=web" || status["replicas"] != int64(4) {
		t.Errorf("UD-12.2: the status of the scale subresource: %v", status)
	}
}

// A StatefulSet of Kubernetes waits for a pod that cannot start, also if another template would replace it.
func TestUnitedDeploymentReplacesWhatAStatefulSetWaitsFor(t *testing.T) {
	t.Parallel()
	s := newUnitedFixture(t, unitedStatefulSets)
	s.create(s.united(1, "zone-a"))
	s.awaitPods("UD-1", "zone-a node-0 web:1")
	s.edit("web", s.image("web:bad"))
	s.Await("UD-11: the pod cannot start", func() string {
		for _, pod := range s.Pods.All() {
			if n := len(pod.Status.ContainerStatuses); n > 0 && pod.Status.ContainerStatuses[0].State.Waiting != nil && pod.Status.ContainerStatuses[0].Image == "web:bad" {
				return ""
			}
		}
		return fmt.Sprint(len(s.Pods.All()), " pods")
	})
	s.edit("web", s.image("web:2"))
	s.awaitPods("UD-11", "zone-a node-0 web:2")
}

// The name of the revision is that of another owner's revision.
func TestUnitedDeploymentWithoutTheNameOfItsRevision(t *testing.T) {
	t.Parallel()
	s := newUnitedFixture(t, unitedCloneSets)
	stored, err := s.client.Create(t.Context(), s.united(1), metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
	if err != nil {
		t.Fatal(err)
	}
	data, err := uniteddeployment.RevisionData(&stored.Spec.Template)
	if err != nil {
		t.Fatal(err)
	}
	others := &appsv1.ControllerRevision{ObjectMeta: metav1.ObjectMeta{Name: revision.Name("web", revision.Hash(data, nil))}, Data: runtime.RawExtension{Raw: []byte(`{"of":"another"}`)}}
	if _, err := s.Core.AppsV1().ControllerRevisions(s.Namespace).Create(t.Context(), others, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	s.create(s.united(1))
	s.awaitStatus("web", "UD-R3: the revision has another name", func(set *v1alpha1.UnitedDeployment) string {
		if st := &set.Status; st.CollisionCount == nil || *st.CollisionCount != 1 || st.CurrentRevision == "" || st.CurrentRevision == others.Name {
			return fmt.Sprintf("%+v", *st)
		}
		return ""
	})
}
