// SPDX-License-Identifier: Apache-2.0

package recreate_test

import (
	"context"
	"fmt"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/podwright/podwright"
	"github.com/podwright/podwright/internal/caches"
	"github.com/podwright/podwright/internal/heldup"
	"github.com/podwright/podwright/internal/testing/fakecluster/fixture"
	"github.com/podwright/podwright/internal/testing/fakecri"
	"github.com/podwright/podwright/internal/testing/patches"
	"github.com/podwright/podwright/lifecycle/client"
	"github.com/podwright/podwright/lifecycle/recreate"
	"github.com/podwright/podwright/lifecycle/v1alpha1"
)

// story is a cluster with one node. Its tests start and stop managers; what the
// node does, it does one step per call.
type story struct {
	*fixture.Cluster
	requests   client.ContainerRecreateRequestInterface
	node       *node
	reconciles fixture.Reconciles
	counted    int           // when a story began to count
	skew       time.Duration // by which the clock of managers is ahead
	happened   string        // just before a write
}

func newStory(c *fixture.Cluster) *story {
	s := &story{Cluster: c}
	s.requests = s.lifecycle(fixture.TestUser).ContainerRecreateRequests(fixture.Web.Namespace)
	s.node = &node{story: s, NodeKubelet: fakecri.NodeKubelet{Kubelet: fakecri.Kubelet{Client: c.Kube, Runtime: fakecri.New(nil)}}}
	return s
}

func (s *story) lifecycle(user string) client.Interface {
	s.T.Helper()
	return fixture.Connect(s.T, s.Server, user, client.NewForConfig)
}

// manager starts a manager with caches of its own. The function it returns
// stops it, as a crash does.
func (s *story) manager() (stop func()) {
	s.T.Helper()
	kubernetes, lifecycle := s.Client(fixture.ControllerUser), s.lifecycle(fixture.ControllerUser)
	pods := caches.NewInformers(kubernetes, "").Pods()
	requests := client.NewContainerRecreateRequestInformer(lifecycle, "", 0, cache.Indexers{})
	s.Guard(pods)
	s.Guard(requests)
	controller, err := recreate.New(recreate.Options{Kubernetes: kubernetes, Lifecycle: lifecycle, Requests: requests, Pods: pods,
		ControllerOptions: podwright.ControllerOptions{Clock: fakecri.Skewed{By: s.skew}, Metrics: &s.reconciles}})
	s.Must(err)
	var stops []func()
	for _, run := range []func(context.Context) error{controller.Run, fixture.Informing(pods), fixture.Informing(requests)} {
		stops = append(stops, s.Start(run))
	}
	return func() {
		for _, stop := range stops {
			stop()
		}
	}
}

// pod creates a pod, changed by words, and has the node run it for a minute.
func (s *story) pod(name string, changes ...string) {
	s.T.Helper()
	pod := runningPod(changes...)
	pod.ObjectMeta = metav1.ObjectMeta{Name: name}
	s.CreatePod(pod)
	s.node.kubelet()
	s.node.kubelet() // its readiness, now that the gate is open
	s.Sleep("1m")
}

// create creates a request as a user does, and a webhook fills it in.
func (s *story) create(name, pod string, changes ...string) {
	s.T.Helper()
	r := newRequest(changes...)
	r.Namespace, r.Name, r.Spec.PodName = fixture.Web.Namespace, name, pod
	of := s.getPod(pod)
	if errs := append(recreate.ValidateCreate(r), recreate.ValidatePod(r, of)...); len(errs) > 0 {
		s.T.Fatal(errs.ToAggregate())
	}
	recreate.Default(r, of)
	_, err := s.requests.Create(s.T.Context(), r, metav1.CreateOptions{})
	s.Must(err)
	synctest.Wait()
}

// work has the node work for a time, a step after each pause; the kubelet alone if there is no agent.
func (s *story) work(length, pause string, agent func()) {
	s.T.Helper()
	for end := time.Now().Add(patches.Duration(s.T, length)); time.Now().Before(end); s.Sleep(pause) {
		s.node.kubelet()
		agent()
	}
}

// get returns a request, nil if there is none.
func (s *story) get(name string) *v1alpha1.ContainerRecreateRequest {
	s.T.Helper()
	r, err := s.requests.Get(s.T.Context(), name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil
	}
	s.Must(err)
	return r
}

func (s *story) getPod(name string) *corev1.Pod {
	s.T.Helper()
	pod, err := s.Kube.CoreV1().Pods(fixture.Web.Namespace).Get(s.T.Context(), name, metav1.GetOptions{})
	s.Must(err)
	return pod
}

// deleteRequest deletes a request as a user does.
func (s *story) deleteRequest(name string) {
	s.T.Helper()
	s.Must(s.requests.Delete(s.T.Context(), name, metav1.DeleteOptions{}))
	synctest.Wait()
}

// state describes a request in a line; "gone" if there is none.
func (s *story) state(name string) string {
	s.T.Helper()
	r := s.get(name)
	if r == nil {
		return "gone"
	}
	text := string(r.Status.Phase)
	for _, c := range r.Status.ContainerRecreateStates {
		text += fmt.Sprintf(", %s %s", c.Name, c.Phase)
	}
	if r.Status.Message != "" && heldup.OfText(r.Status.Message) == nil { // see "held"
		text += ": " + r.Status.Message
	}
	if _, active := r.Labels[v1alpha1.ContainerRecreateRequestActiveLabel]; active {
		text += ", active"
	}
	if len(r.Finalizers) > 0 {
		text += ", held"
	}
	return text
}
