// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/podwright/podwright/examples/tests/testbed"
	"github.com/podwright/podwright/examples/tests/testbed/podstate"
	lifecyclev1alpha1 "github.com/podwright/podwright/lifecycle/v1alpha1"
	"github.com/podwright/podwright/workloads/v1beta1"
)

// holdLabel gives pods the label that hooks ask for.
func holdLabel(set *v1beta1.StatefulSet) { set.Spec.Template.Labels[hold] = "yes" }

// A pod that its hook holds back while it is scaled away is taken back when its ordinal is wanted again.
func TestStatefulSetPreDeleteHook(t *testing.T) {
	t.Parallel()
	for _, policy := range []string{"OrderedReady", "Parallel"} {
		t.Run(policy, func(t *testing.T) {
			t.Parallel()
			s := newStatefulSetFixture(t)
			s.run(statefulSet(3, holdLabel, s.spec(`{podManagementPolicy: `+policy+`, lifecycle: {preDelete: {labelsHandler: {`+hold+`: "yes"}}}}`)))
			s.takesBack(s.spec(`{replicas: 2}`), s.spec(`{replicas: 3}`))
			s.awaitSettled("web")
			// Wanted again by way of another ordinal that is reserved: the pods that hold change places.
			s.takesBack(s.spec(`{reserveOrdinals: [2]}`), s.spec(`{reserveOrdinals: []}`))
			s.deletedOnly()
			leaving := s.awaitState("web", lifecyclev1alpha1.StatePreparingDelete)
			if leaving.Name != "web-3" {
				s.Errorf("STS-E14: expected web-3 to leave when ordinal 2 is wanted again, observed %s", leaving.Name)
			}
			s.Label(leaving.Name, hold, nil)
			s.AwaitGone(leaving, "STS-13: no longer held")
			s.awaitSettled("web")
			s.deletedOnly("web-3")
			s.created(4)
		})
	}
}

// The hook holds an update back before it and after it, and no other pod is updated meanwhile.
func TestStatefulSetInPlaceUpdateHook(t *testing.T) {
	testbed.Long(t)
	t.Parallel()
	s := newStatefulSetFixture(t)
	s.run(statefulSet(2, holdLabel, s.spec(orderedInPlace), s.spec(`{lifecycle: {inPlaceUpdate: {labelsHandler: {`+hold+`: "yes"}}}}`)))
	before, done := s.owned("web"), len(s.history.acted())
	s.expect("web", 1, 2)
	s.edit("web", mainImage("web:2"))
	for _, name := range []string{"web-1", "web-0"} {
		s.AwaitPod(name, "LC-9: prepared, and serving the old image", inState(lifecyclev1alpha1.StatePreparingUpdate, "web:1"))
		s.Label(name, hold, nil)
		s.AwaitPod(name, "LC-11: updated, and its hook not met", inState(lifecyclev1alpha1.StateUpdated, "web:2"))
		if name == "web-1" {
			s.AwaitPod("web-0", "STS-18: it waits for the pod above", inState(lifecyclev1alpha1.StateNormal, "web:1"))
		}
		s.Label(name, hold, "yes")
		s.AwaitPod(name, "LC-12: met", inState(lifecyclev1alpha1.StateNormal, "web:2"))
	}
	s.awaitSettled("web")
	s.keptBudget("web")
	s.acted("STS-17", done, "update web-1", "serve web-1", "update web-0", "serve web-0")
	s.updatedInPlace(before)
}

// inState tells what is wrong with a pod that is not in service in a lifecycle state with an image.
func inState(state lifecyclev1alpha1.StateType, image string) func(*corev1.Pod) string {
	return func(pod *corev1.Pod) string {
		if pod.Labels[lifecyclev1alpha1.StateLabel] != string(state) || pod.Spec.Containers[0].Image != image || !podstate.InService(pod) {
			return fmt.Sprintf("expected %s with %s in service, observed %s", state, image, podstate.Describe(pod, false))
		}
		return ""
	}
}
