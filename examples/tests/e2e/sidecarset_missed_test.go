// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/examples/tests/testbed/podstate"
	"github.com/podwright/podwright/sidecar/sidecarset"
	"github.com/podwright/podwright/sidecar/v1alpha1"
)

// A pod is created while no manager answers the webhook, which is registered to be ignored then. A condition and an event report the
// pod. They also do if policies inject, for a SidecarSet that no policy can inject. It is among TestFaults: the managers are others
// meanwhile. (SCS-22, SCS-23, SCS-25)
func testPodsAreMissed(t *testing.T, b *bed) {
	for _, test := range []struct {
		name  string
		flags []string
	}{{"ByTheWebhook", nil}, {"ByPolicies", withPolicies}} {
		t.Run(test.name, func(t *testing.T) {
			s := newSidecarFixture(t, b)
			s.Manager.Kill()
			s.Cleanup(b.cloneSetFixture(t).revive)
			front := s.controllersAndFront(test.name, test.flags)
			log, many := s.run(s.sidecarSet("log")), s.sidecarSet("many")
			many.Spec.Containers = manyContainers()
			many = s.run(many)
			failed := v1alpha1.SidecarSetConditionType("")
			if test.flags != nil {
				s.awaitPolicy(log.Name, true)
				failed = v1alpha1.SidecarSetFailedPolicy
			}
			s.awaitConditions(many.Name, failed)
			s.awaitSelected(many.Name)
			front.Kill()

			pod, err := s.Core.CoreV1().Pods(s.Namespace).Create(s.Context(), plainPod("missed", webPod), metav1.CreateOptions{})
			if err != nil {
				t.Fatal(err)
			}
			created := time.Now()
			if injected := podstate.Image(pod, "log") != ""; injected != (test.flags != nil) || podstate.Image(pod, "many-0") != "" {
				t.Errorf("created with %v", containersOf(pod))
			}
			missed := []string{many.Name}
			if test.flags == nil {
				missed = append(missed, log.Name)
			}
			for _, name := range missed {
				s.awaitMissed(name, pod.Name)
			}
			t.Logf("reported within %v", time.Since(created).Round(time.Millisecond))
			if test.flags != nil {
				s.awaitConditions(log.Name, "")
			}
		})
	}
}

// manyContainers are more than a policy can inject.
func manyContainers() (all []v1alpha1.SidecarContainer) {
	for i := range 65 {
		all = append(all, v1alpha1.SidecarContainer{Container: corev1.Container{Name: fmt.Sprint("many-", i), Image: "many:1"}})
	}
	return all
}

// controllersAndFront replaces the shared manager by two. The first has the controllers. The second, which is returned, serves
// the webhooks: these are to be ignored if it does not answer.
func (s *sidecarFixture) controllersAndFront(name string, flags []string) (front interface{ Kill() }) {
	s.Helper()
	controllers, err := s.NewManager("controllers-"+name, append(slices.Clone(flags), "--leader-elect", "--enable-webhooks=false")...)
	if err != nil {
		s.Fatal(err)
	}
	if err := controllers.Start(); err != nil {
		s.Fatal(err)
	}
	s.Cleanup(controllers.Kill)
	s.AwaitAsking("it leads", func() string {
		if !leads(controllers) {
			return "it does not"
		}
		return ""
	})
	manager := s.Manager.With(append(slices.Clone(flags), "--leader-elect", "--pod-webhook-failure-policy=Ignore")...)
	if err := manager.Start(); err != nil {
		s.Fatal(err)
	}
	s.Cleanup(manager.Kill)
	ctx, cancel := context.WithTimeout(s.Context(), time.Minute)
	defer cancel()
	if err := s.webhooksAreCalled(ctx); err != nil {
		s.Fatal(err)
	}
	return manager
}

// awaitSelected waits until a pod that is created has been selected for long enough to be missed.
func (s *sidecarFixture) awaitSelected(name string) {
	s.Helper()
	s.AwaitAsking("the second is over since which pods are selected", func() string {
		set, err := s.sets.Get(s.Context(), name, metav1.GetOptions{})
		if err != nil {
			return err.Error()
		}
		if selection := set.Status.Selection; selection == nil || time.Since(selection.Since.Time) < 2*time.Second {
			return fmt.Sprintf("selected since %+v", selection)
		}
		return ""
	})
}

// awaitConditions waits until the status has observed the spec and has this condition alone, or none.
func (s *sidecarFixture) awaitConditions(name string, want v1alpha1.SidecarSetConditionType) {
	s.Helper()
	s.AwaitAsking(fmt.Sprintf("SidecarSet %s has the condition %q", name, want), func() string {
		set, err := s.sets.Get(s.Context(), name, metav1.GetOptions{})
		if err != nil {
			return err.Error()
		}
		var got v1alpha1.SidecarSetConditionType
		for _, c := range set.Status.Conditions {
			got += c.Type
		}
		if got != want || set.Status.ObservedGeneration != set.Generation {
			return fmt.Sprintf("%+v", set.Status)
		}
		return ""
	})
}

// awaitMissed waits until a SidecarSet tells of one pod that was missed, by a condition and an event.
func (s *sidecarFixture) awaitMissed(name, pod string) {
	s.Helper()
	message := fmt.Sprintf("1 pod without the sidecars: %s/%s (it was created without the sidecars: recreate it once injection works)", s.Namespace, pod)
	s.AwaitAsking(fmt.Sprintf("SidecarSet %s tells of pod %s", name, pod), func() string {
		set, err := s.sets.Get(s.Context(), name, metav1.GetOptions{})
		if err != nil {
			return err.Error()
		}
		if !slices.ContainsFunc(set.Status.Conditions, func(c v1alpha1.SidecarSetCondition) bool {
			return c.Type == v1alpha1.SidecarSetInjected && c.Status == corev1.ConditionFalse && c.Message == message
		}) {
			return fmt.Sprintf("%+v", set.Status)
		}
		events, err := s.Core.CoreV1().Events(metav1.NamespaceDefault).List(s.Context(), metav1.ListOptions{
			FieldSelector: "involvedObject.name=" + name + ",reason=" + sidecarset.EventNotInjected})
		if err != nil {
			return err.Error()
		}
		if len(events.Items) != 1 || events.Items[0].Message != message {
			return fmt.Sprintf("events %+v", events.Items)
		}
		return ""
	})
}
