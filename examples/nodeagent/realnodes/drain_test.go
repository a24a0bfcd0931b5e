// SPDX-License-Identifier: Apache-2.0

package realnodes

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/podwright/podwright/availability/client"
	"github.com/podwright/podwright/availability/v1alpha1"
	"github.com/podwright/podwright/examples/tests/cluster/registry"
	"github.com/podwright/podwright/examples/tests/testbed"
	"github.com/podwright/podwright/examples/tests/testbed/drains"
	"github.com/podwright/podwright/examples/tests/testbed/podhistory"
	"github.com/podwright/podwright/examples/tests/testbed/podstate"
	"github.com/podwright/podwright/examples/tests/testbed/requests"
	workloadsv1alpha1 "github.com/podwright/podwright/workloads/v1alpha1"
)

// The code of kubectl drains the node of the only pod of a CloneSet. There is no moment without a pod that serves: the
// eviction is denied until another pod serves. An HTTP client that asks all the time is always answered. Not parallel:
// no other test may need the node. (PUB-28, PUB-31, CS-10)
func TestDrainOfTheOnlyPod(t *testing.T) {
	history := &podhistory.History{}
	s := &scene{bed.NewScene(t, history.Observe)}
	s.budget("web")
	old := s.run(s.server("web"))[0]
	s.AwaitPod(old.Name, "the budget protects it", func(pod *corev1.Pod) string {
		if pod.Annotations[v1alpha1.RelatedPubAnnotation] != "web" {
			return fmt.Sprint(pod.Annotations)
		}
		return ""
	})
	since := len(history.Changes())
	asking := s.ask()
	denied, err := drains.Node(s.Context(), bed.Config(), old.Spec.NodeName, "app=web", testbed.Patience)
	if err != nil || denied == 0 {
		t.Errorf("drain: error %v, %d evictions were denied, want some", err, denied)
	}
	s.Await("one other pod is left", func() string {
		pods := s.Pods.All()
		if len(pods) == 1 && podstate.InService(pods[0]) && pods[0].UID != old.UID && pods[0].Spec.NodeName != old.Spec.NodeName {
			return ""
		}
		return fmt.Sprintf("%d pods: %v", len(pods), testbed.Names(pods))
	})
	ok, text := asking.End("here")
	t.Logf("%s; %d evictions were denied", text, denied)
	if !ok {
		t.Error(text)
	}
	if podhistory.Least(history.Changes(), since, podstate.InService) == 0 {
		t.Errorf("there was a moment in which no pod served: %v", history.Changes()[since:])
	}
}

// budget creates one that keeps all pods of a CloneSet available.
func (s *scene) budget(set string) {
	s.Helper()
	budgets, err := client.NewForConfig(bed.Config())
	if err != nil {
		s.Fatal(err)
	}
	b := &v1alpha1.PodUnavailableBudget{ObjectMeta: metav1.ObjectMeta{Name: set}, Spec: v1alpha1.PodUnavailableBudgetSpec{
		TargetReference: &v1alpha1.TargetReference{APIVersion: workloadsv1alpha1.SchemeGroupVersion.String(), Kind: "CloneSet", Name: set},
		MaxUnavailable:  new(intstr.FromInt32(0)),
	}}
	if _, err := budgets.PodUnavailableBudgets(s.Namespace).Create(s.Context(), b, metav1.CreateOptions{}); err != nil {
		s.Fatal(err)
	}
}

// server is a CloneSet of one pod that serves HTTP to the end of its grace period, beside which there may be another one.
func (s *scene) server(name string) *workloadsv1alpha1.CloneSet {
	s.Helper()
	image, _ := s.image("serving", registry.Image{Files: map[string]string{"/www/index.html": "here"}, Cmd: []string{"/bin/httpd", "-f", "-p", "8080", "-h", "/www"}})
	set := cloneSet(name, image, 1)
	set.Spec.UpdateStrategy.MaxSurge = new(intstr.FromInt32(1))
	pod := &set.Spec.Template.Spec
	pod.TerminationGracePeriodSeconds = new(int64(2))
	pod.Containers[0].ReadinessProbe = &corev1.Probe{PeriodSeconds: 1, ProbeHandler: corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{Path: "/", Port: intstr.FromInt32(8080)}}}
	return set
}

// ask has an HTTP client ask a pod that is in service all the time, as one of a Service does.
func (s *scene) ask() *requests.Requests {
	return requests.Start(s.Context(), func() (urls []string) {
		for _, pod := range s.Pods.All() {
			if podstate.InService(pod) {
				urls = []string{"http://" + pod.Status.PodIP + ":8080"}
			}
		}
		return urls
	})
}
