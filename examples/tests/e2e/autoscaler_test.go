// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"fmt"
	"slices"
	"testing"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	clientset "k8s.io/client-go/kubernetes"
	typedautoscalingv2 "k8s.io/client-go/kubernetes/typed/autoscaling/v2"

	"github.com/podwright/podwright/examples/tests/testbed"
	"github.com/podwright/podwright/workloads/v1alpha1"
	"github.com/podwright/podwright/workloads/v1beta1"
)

// autoscaler is a HorizontalPodAutoscaler of the workload web. KEDA makes such ones.
type autoscaler struct {
	*testbed.Scene
	scalers typedautoscalingv2.HorizontalPodAutoscalerInterface
}

// newAutoscaler has the controller manager keep the number of pods between two numbers, also without metrics.
func newAutoscaler(s *testbed.Scene, core clientset.Interface, kind schema.GroupVersionKind, least, most int32) *autoscaler {
	s.Helper()
	a := &autoscaler{s, core.AutoscalingV2().HorizontalPodAutoscalers(s.Namespace)}
	if _, err := a.scalers.Create(s.Context(), &autoscalingv2.HorizontalPodAutoscaler{
		ObjectMeta: metav1.ObjectMeta{Name: "web"}, Spec: autoscalingv2.HorizontalPodAutoscalerSpec{
			ScaleTargetRef: autoscalingv2.CrossVersionObjectReference{APIVersion: kind.GroupVersion().String(), Kind: kind.Kind, Name: "web"},
			MinReplicas:    &least, MaxReplicas: most,
		}}, metav1.CreateOptions{}); err != nil {
		s.Fatal(err)
	}
	return a
}

// bound sets other numbers.
func (a *autoscaler) bound(least, most int32) {
	a.Helper()
	if _, err := a.scalers.Patch(a.Context(), "web", types.MergePatchType,
		fmt.Appendf(nil, `{"spec":{"minReplicas":%d,"maxReplicas":%d}}`, least, most), metav1.PatchOptions{}); err != nil {
		a.Fatal(err)
	}
}

// await waits until the autoscaler sees as many pods as it wants. It also waits until the autoscaler asks for the metrics of
// the pods that the selector of the scale subresource names. These metrics are not measured here.
func (a *autoscaler) await(moment string, replicas int32) {
	a.Helper()
	asks := func(c autoscalingv2.HorizontalPodAutoscalerCondition) bool {
		return c.Type == autoscalingv2.ScalingActive && c.Reason == "FailedGetResourceMetric"
	}
	a.AwaitAsking(fmt.Sprintf("%s: the autoscaler sees %d pods", moment, replicas), func() string {
		scaler, err := a.scalers.Get(a.Context(), "web", metav1.GetOptions{})
		if err != nil {
			return err.Error()
		}
		if scaler.Status.DesiredReplicas != replicas || scaler.Status.CurrentReplicas != replicas || !slices.ContainsFunc(scaler.Status.Conditions, asks) {
			return fmt.Sprintf("%+v", scaler.Status)
		}
		return ""
	})
}

// An autoscaler scales a CloneSet up and down through the scale subresource.
func TestCloneSetIsScaledByAnAutoscaler(t *testing.T) {
	t.Parallel()
	s := newCloneSetFixture(t)
	s.run(cloneSet("web", 2))
	a := newAutoscaler(s.Scene, s.Core, v1alpha1.SchemeGroupVersion.WithKind("CloneSet"), 4, 6)
	a.await("it raises the number", 4)
	s.awaitSettled("web")
	a.bound(1, 3)
	a.await("it lowers the number", 3)
	s.awaitSettled("web")
	s.created(4)
}

// An autoscaler scales a StatefulSet up and down through the scale subresource, of either version.
func TestStatefulSetIsScaledByAnAutoscaler(t *testing.T) {
	t.Parallel()
	for _, version := range []schema.GroupVersion{v1alpha1.SchemeGroupVersion, v1beta1.SchemeGroupVersion} {
		t.Run(version.Version, func(t *testing.T) {
			t.Parallel()
			s := newStatefulSetFixture(t)
			s.run(statefulSet(1))
			a := newAutoscaler(s.Scene, s.Core, version.WithKind("StatefulSet"), 3, 6)
			a.await("it raises the number", 3)
			s.awaitSettled("web")
			a.bound(1, 2)
			a.await("it lowers the number", 2)
			s.awaitSettled("web")
			s.created(3)
		})
	}
}
