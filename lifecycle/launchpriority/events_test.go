// SPDX-License-Identifier: Apache-2.0

package launchpriority

import (
	"reflect"
	"regexp"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/podwright/podwright/internal/testing/fakecluster/mutation"
)

// The filter of events against the planner itself: whatever changes about a pod,
// if that changes a plan, the pod is enqueued.
func TestEventsThatMatter(t *testing.T) {
	configMaps := map[string]*corev1.ConfigMap{"none": nil, "empty": configMapOf("uid"), "full": configMapOf("uid", "p_5", "p_3", "p_0")}
	found := 0
	for _, containers := range []string{
		"main=0:waiting a=5:waiting b=3:waiting", "main=0:waiting a=5:ready b=3:waiting", "main=0:ready a=5:ready b=3:running",
		"main=0:ready a=5:ready b=3:ready", "main=0:refused a=5:refused side:waiting", "main=0 a=5", "main=0:waiting a=5:ok",
	} {
		before := podOf(t, containers, func(pod *corev1.Pod) { pod.Spec.RestartPolicy = corev1.RestartPolicyOnFailure })
		for _, m := range mutation.Of(before) {
			if fixed.MatchString(m.Path) {
				continue
			}
			after := before.DeepCopy()
			m.Apply(after)
			for name, configMap := range configMaps {
				was, is := NewPlan(&Snapshot{Pod: before, ConfigMap: configMap}), NewPlan(&Snapshot{Pod: after, ConfigMap: configMap})
				looksAgain := describe(is) + " again in " + lookAgainLater.String() // which finds nothing left to do
				if describe(was) == describe(is) || describe(was) == looksAgain || describe(is) == "nothing" {
					continue
				}
				if found++; !(Features{}).mayChangePlan(before, after) {
					t.Errorf("%s, with the ConfigMap %s: a change of %s makes %q of %q, and the pod is not enqueued", containers, name, m.Path, describe(is), describe(was))
				}
			}
		}
	}
	if found < 10 {
		t.Errorf("only %d changes matter", found)
	}
}

// fixed is what cannot be changed. Another name or namespace makes another pod.
var fixed = regexp.MustCompile(`^\.(ObjectMeta\.Name|Spec\.)`)

// Whatever the kubelet and a user's hands leave behind, a plan never writes more than the
// keys of one turn. It writes none to what is not the pod's.
func FuzzPlan(f *testing.F) {
	f.Add("p_5", "p_0", "web-barrier", "uid", "Running", "CreateContainerConfigError", false, true)
	f.Add("p_", "q", "", "former", "", "", true, false)
	f.Add("p_-1", "p_--1", "web-barrier", "", "Failed", "x", false, false)
	f.Fuzz(func(t *testing.T, first, second, configMap, owner, phase, reason string, ready, standing bool) {
		pod := podOf(t, "a:waiting b:waiting")
		for i, key := range []string{first, second} {
			pod.Spec.Containers[i].Env = []corev1.EnvVar{waits(configMap, key)}
			pod.Status.ContainerStatuses[i].State.Waiting.Reason = reason
		}
		pod.Status.ContainerStatuses[0].Ready = ready
		pod.Status.Phase = corev1.PodPhase(phase)
		s := &Snapshot{Pod: pod}
		if standing {
			s.ConfigMap = configMapOf("x", first)
			s.ConfigMap.OwnerReferences[0].UID = "x"
			if owner == "uid" {
				s.ConfigMap.OwnerReferences[0].UID = "uid"
			}
		}
		plan := NewPlan(s)
		if plan.Create != nil && (s.ConfigMap != nil || len(plan.Add) > 0 || len(plan.Create.Data) == 0) {
			t.Fatalf("created in vain: %+v", plan)
		}
		if len(plan.Add) > 0 && (owner != "uid" || s.ConfigMap == nil) {
			t.Fatalf("added to what is not the pod's: %+v", plan)
		}
		if !reflect.DeepEqual(plan, NewPlan(s)) {
			t.Fatal("the same snapshot gives two plans")
		}
	})
}
