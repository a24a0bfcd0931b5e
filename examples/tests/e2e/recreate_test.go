// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright/examples/tests/testbed/podstate"
	lifecyclev1alpha1 "github.com/podwright/podwright/lifecycle/v1alpha1"
)

// recreateRequest asks for containers of a pod to be recreated.
func recreateRequest(name, pod string, unreadySeconds *int64, containers ...string) *lifecyclev1alpha1.ContainerRecreateRequest {
	r := &lifecyclev1alpha1.ContainerRecreateRequest{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: lifecyclev1alpha1.ContainerRecreateRequestSpec{
			PodName: pod, Strategy: &lifecyclev1alpha1.ContainerRecreateRequestStrategy{UnreadyGracePeriodSeconds: unreadySeconds},
		},
	}
	for _, container := range containers {
		r.Spec.Containers = append(r.Spec.Containers, lifecyclev1alpha1.ContainerRecreateRequestContainer{Name: container})
	}
	return r
}

// ask creates a request and returns what was stored.
func (a *agent) ask(r *lifecyclev1alpha1.ContainerRecreateRequest) *lifecyclev1alpha1.ContainerRecreateRequest {
	a.Helper()
	stored, err := a.requests.Create(a.Context(), r, metav1.CreateOptions{})
	if err != nil {
		a.Fatalf("create ContainerRecreateRequest %s: expected no error, observed %v", r.Name, err)
	}
	return stored
}

// awaitEnd waits until the manager and the agent are done with a request, and returns it.
func (a *agent) awaitEnd(name string) (r *lifecyclev1alpha1.ContainerRecreateRequest) {
	a.Helper()
	a.AwaitAsking("ContainerRecreateRequest "+name+" has ended", func() string {
		var err error
		if r, err = a.requests.Get(a.Context(), name, metav1.GetOptions{}); err != nil {
			return err.Error()
		}
		if _, active := r.Labels[lifecyclev1alpha1.ContainerRecreateRequestActiveLabel]; r.Status.CompletionTime == nil || active || len(r.Finalizers) > 0 {
			return fmt.Sprintf("labels %v, finalizers %v, status %+v", r.Labels, r.Finalizers, r.Status)
		}
		return ""
	})
	return r
}

// awaitNone waits until there is no request of a name.
func (a *agent) awaitNone(name string) {
	a.Helper()
	a.AwaitAsking("ContainerRecreateRequest "+name+" is gone", func() string {
		r, err := a.requests.Get(a.Context(), name, metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			return ""
		}
		return fmt.Sprintf("%v, finalizers %v, status %+v", err, r.Finalizers, r.Status)
	})
}

// awaitRestarted waits until a pod is in service, with so many restarts of its containers main and side.
func (s *cloneSetFixture) awaitRestarted(pod string, main, side int32) {
	s.Helper()
	s.AwaitPod(pod, fmt.Sprintf("in service after %d and %d restarts", main, side), func(p *corev1.Pod) string {
		if podstate.ContainerStatus(p, "main").RestartCount != main || podstate.ContainerStatus(p, "side").RestartCount != side || !podstate.InService(p) {
			return podstate.Describe(p, false)
		}
		return ""
	})
}

// awaitOutOfService waits until a request has taken its pod out of service.
func (s *cloneSetFixture) awaitOutOfService(pod, request string) {
	s.Helper()
	want := fmt.Sprintf(`{"userAgent":"ContainerRecreateRequest","key":"%s/%s"}`, s.Namespace, request)
	s.AwaitPod(pod, "out of service for "+request, func(p *corev1.Pod) string {
		if !strings.Contains(podstate.Condition(p, lifecyclev1alpha1.KruisePodReady).Message, want) || podstate.InService(p) {
			return podstate.Describe(p, false)
		}
		return ""
	})
}

func TestContainerRecreateRequest(t *testing.T) {
	t.Parallel()
	s := newCloneSetFixture(t)
	s.run(cloneSet("web", 1))
	pod := s.owned("web")[0]
	a := s.startAgent()

	stored := a.ask(recreateRequest("first", pod.Name, new(int64(5)), "main")) // long enough to be seen
	if diff := cmp.Diff(map[string]string{
		"crr.apps.kruise.io/active": "true", "crr.apps.kruise.io/node-name": pod.Spec.NodeName, "crr.apps.kruise.io/pod-uid": string(pod.UID),
	}, stored.Labels); diff != "" {
		t.Errorf("CRR-3.3: labels (-want +got):\n%s", diff)
	}
	if c := stored.Spec.Containers[0].StatusContext; c == nil || c.ContainerID != podstate.ContainerStatus(pod, "main").ContainerID {
		t.Errorf("CRR-3.3: status context %+v of %+v", c, podstate.ContainerStatus(pod, "main"))
	}
	s.awaitOutOfService(pod.Name, "first")
	first := a.awaitEnd("first")
	if states := first.Status.ContainerRecreateStates; len(states) != 1 || states[0].Phase != lifecyclev1alpha1.ContainerRecreateRequestSucceeded || first.Status.Message != "" {
		t.Errorf("status %+v", first.Status)
	}
	s.awaitRestarted(pod.Name, 1, 0)

	second := recreateRequest("second", pod.Name, nil, "main", "side")
	second.Spec.TTLSecondsAfterFinished = new(int32(1))
	a.ask(second)
	a.awaitNone("second")
	s.awaitRestarted(pod.Name, 2, 1)
	s.deletedOnly()
}

// Two requests for one pod come one after the other.
func TestTwoContainerRecreateRequests(t *testing.T) {
	t.Parallel()
	s := newCloneSetFixture(t)
	s.run(cloneSet("web", 1))
	pod := s.owned("web")[0].Name
	a := s.startAgent()
	a.ask(recreateRequest("first", pod, new(int64(1)), "main"))
	a.ask(recreateRequest("second", pod, new(int64(1)), "side"))
	a.awaitEnd("first")
	a.awaitEnd("second")
	s.awaitRestarted(pod, 1, 1)
}

// A request ends with its pod.
func TestContainerRecreateRequestOfAPodThatGoes(t *testing.T) {
	t.Parallel()
	s := newCloneSetFixture(t)
	s.Orphan("lone", nil)
	s.awaitPodInService("lone")
	a := s.startAgent()
	a.ask(recreateRequest("restart", "lone", new(int64(3600)), "main"))
	s.DeletePod("lone")
	if r := a.awaitEnd("restart"); r.Status.Message != lifecyclev1alpha1.ContainerRecreateMessagePodGone {
		t.Errorf("CRR-M2: status %+v", r.Status)
	}
}

// A pod goes while no manager is at work, and the next manager finds nothing but the request. The manager ends the request,
// once it has asked the API server itself for the pod.
func testContainerRecreateRequestOfAPodThatIsGone(t *testing.T, b *bed) {
	s := b.cloneSetFixture(t)
	s.createPod(plainPod("lone", withGate))
	s.awaitPodInService("lone")
	a := s.startAgent()
	a.ask(recreateRequest("restart", "lone", new(int64(3600)), "main"))
	s.awaitOutOfService("lone", "restart")
	s.Manager.Kill()
	defer s.revive()
	if err := s.Core.CoreV1().Pods(s.Namespace).Delete(t.Context(), "lone", metav1.DeleteOptions{GracePeriodSeconds: new(int64(0))}); err != nil {
		t.Fatal(err)
	}
	if err := s.Manager.Start(); err != nil {
		t.Fatal(err)
	}
	if r := a.awaitEnd("restart"); r.Status.Message != lifecyclev1alpha1.ContainerRecreateMessagePodGone {
		t.Errorf("CRR-M2: status %+v", r.Status)
	}
}

// CRR-3: what the API server answers.
func TestContainerRecreateRequestIsRefused(t *testing.T) {
	t.Parallel()
	s := newCloneSetFixture(t)
	s.run(cloneSet("web", 1))
	pod := s.owned("web")[0].Name
	a := s.startAgent()
	a.ask(recreateRequest("long", pod, new(int64(3600)), "main"))
	refused := func(what string, err error, is func(error) bool, words string) {
		t.Helper()
		if err == nil || !is(err) || !strings.Contains(err.Error(), words) {
			s.Errorf("%s: observed %v", what, err)
		}
	}
	create := func(r *lifecyclev1alpha1.ContainerRecreateRequest) error {
		_, err := a.requests.Create(s.Context(), r, metav1.CreateOptions{})
		return err
	}
	patch := func(patch map[string]any) error {
		data, err := json.Marshal(patch)
		if err != nil {
			t.Fatal(err)
		}
		_, err = a.requests.Patch(s.Context(), "long", types.MergePatchType, data, metav1.PatchOptions{})
		return err
	}
	soon := recreateRequest("soon", pod, nil, "main")
	soon.Spec.ActiveDeadlineSeconds = new(int64(1))
	refused("CRR-3.2.3", create(soon), apierrors.IsBadRequest, "spec.activeDeadlineSeconds")
	refused("CRR-3.2.6", create(recreateRequest("x", "none", nil, "main")), apierrors.IsBadRequest, `there is no pod "none"`)
	refused("CRR-3.2.9", create(recreateRequest("x", pod, nil, "other")), apierrors.IsBadRequest, "spec.containers[0].name")
	refused("3.1: the spec", patch(map[string]any{"spec": map[string]any{"activeDeadlineSeconds": 60}}), apierrors.IsForbidden, "spec of ContainerRecreateRequest is immutable")
	refused("3.1: a label", patch(map[string]any{"metadata": map[string]any{"labels": map[string]any{"crr.apps.kruise.io/pod-uid": "x"}}}), apierrors.IsForbidden, "pod-uid")
	s.AwaitAsking("the unready step is made", func() string {
		r, err := a.requests.Get(s.Context(), "long", metav1.GetOptions{})
		if err != nil || r.Annotations["crr.apps.kruise.io/unready-acquired"] == "" {
			return fmt.Sprint(err, r.Annotations)
		}
		return ""
	})
	refused("3.1: the time", patch(map[string]any{"metadata": map[string]any{"annotations": map[string]any{"crr.apps.kruise.io/unready-acquired": "x"}}}),
		apierrors.IsForbidden, "immutable once set")
}

// PR-3: a pod that no workload of ours has made.
func TestReadinessGateOfAPodOnItsOwn(t *testing.T) {
	t.Parallel()
	s := newCloneSetFixture(t)
	s.createPod(plainPod("lone", withGate))
	s.awaitPodInService("lone")
}

// A manager dies while a pod is out of service, and the request is deleted: the next manager puts the pod back.
func testManagerIsKilledWhileAPodIsOutOfService(t *testing.T, b *bed) {
	s := b.cloneSetFixture(t)
	s.run(cloneSet("web", 1))
	pod := s.owned("web")[0].Name
	a := s.startAgent()
	a.ask(recreateRequest("long", pod, new(int64(3600)), "main"))
	s.awaitOutOfService(pod, "long")
	s.Manager.Kill()
	defer s.revive()
	if err := a.requests.Delete(s.Context(), "long", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := a.requests.Get(s.Context(), "long", metav1.GetOptions{}); err != nil {
		t.Errorf("CRR-4.2: the finalizer keeps the request until the pod is back: observed %v", err)
	}
	if err := s.Manager.Start(); err != nil {
		t.Fatal(err)
	}
	a.awaitNone("long")
	s.awaitRestarted(pod, 0, 0)
}
