// SPDX-License-Identifier: Apache-2.0

package terminator

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright/internal/controller"
	"github.com/podwright/podwright/internal/testing/fakecluster/mutation"
	lifecyclev1alpha1 "github.com/podwright/podwright/lifecycle/v1alpha1"
)

// The filter of events against the planner itself. A change of a pod or its request
// enqueues the pod if it changes a plan that writes something. (ST-4)
func TestEventsThatMatter(t *testing.T) {
	reads := mutation.Reads{}
	for _, line := range []string{
		"OnFailure main:running a=r:running", "OnFailure main:0 a=r:running b=I:running", "OnFailure main:0 a=r:running@1 b=I:running",
		"OnFailure main:0 a=r:0", "Never main:1 a=r:running", "OnFailure main:1 a=r:CrashLoopBackOff", "Never main:0 other:running a=i:running",
		"OnFailure main:0 b=I:ContainerCreating", "Never main:0 a=r:running b=r:running; given=10s", "Never main:0 a=r:running; given=10s learned",
	} {
		for _, requested := range []string{"", " request=1s", " request=1h"} {
			if !strings.Contains(line, ";") {
				requested = ";" + requested
			}
			s := snapshotOf(t, line+requested)
			pod, request := s.Pod, s.Request
			pod.Generation = 1
			of := func(pod *corev1.Pod, request *lifecyclev1alpha1.ContainerRecreateRequest) string {
				plan := NewPlan(&Snapshot{Pod: pod, Node: nodes[pod.Spec.NodeName], Request: request, Now: at})
				return fmt.Sprint(describe(plan), " again after ", plan.RequeueAfter)
			}
			mutation.Plan[corev1.Pod]{
				What: "pod", Copy: (*corev1.Pod).DeepCopy,
				Can: regexp.MustCompile(`^\.(ObjectMeta\.(DeletionTimestamp|Labels|Annotations|Finalizers|OwnerReferences)|Spec\.Containers\[\]\.Image$|Status)`),
				Of:  func(pod *corev1.Pod) string { return of(pod, request) },
				Matters: func(before, after *corev1.Pod) bool {
					enqueued := controller.Changed(before, after, podFields) != 0 && mayChangePlan(before, after)
					return enqueued || of(after, request) == "nothing again after 0s" // what is left undone needs no reconcile
				},
			}.Check(t, reads, pod)
			if request != nil {
				mutation.Plan[lifecyclev1alpha1.ContainerRecreateRequest]{
					What: "request", Copy: (*lifecyclev1alpha1.ContainerRecreateRequest).DeepCopy,
					Can:     regexp.MustCompile(`^\.(ObjectMeta\.(DeletionTimestamp|Labels|Annotations|Finalizers)|Status)`),
					Of:      func(r *lifecyclev1alpha1.ContainerRecreateRequest) string { return of(pod, r) },
					Matters: mutation.Concerned("web", controller.Status, requestChanged),
				}.Check(t, reads, request)
			}
		}
	}
	reads.Require(t, "pod.Status.Phase", "pod.Status.ContainerStatuses[].State.Running", "pod.Status.ContainerStatuses[].State.Terminated.ExitCode",
		"pod.Status.ContainerStatuses[].State.Waiting.Reason", "pod.Status.ContainerStatuses[].ContainerID", "pod.Spec.Containers[].Image", "request.Status.CompletionTime",
		"pod.Status.Conditions[].Status", "pod.Status.Conditions[].Reason", "pod.Status.Conditions[].LastTransitionTime")
}

// A cluster has many pods that are of no concern here, and they change often.
func TestPodsOfOthersCostNothing(t *testing.T) {
	for _, text := range []string{"Always main:running a=r:running", "OnFailure main:running a:running", "Never main:0 a:running"} {
		before, after := podOf(t, text), podOf(t, text)
		if n := testing.AllocsPerRun(100, func() { podChanged(before, after, func(types.NamespacedName) { t.Error("enqueued") }) }); n > 0 {
			t.Errorf("%s: %v allocations", text, n)
		}
	}
}

func BenchmarkNewPlan(b *testing.B) {
	for _, text := range []string{"OnFailure main:running a=r:running", "OnFailure main:0 a=r:running", "Never main:0 a=r:running b=i:running"} {
		b.Run(text, func(b *testing.B) {
			s := &Snapshot{Pod: podOf(b, text), Node: nodes["real"], Now: at}
			b.ReportAllocs()
			for b.Loop() {
				NewPlan(s)
			}
		})
	}
}

// Requests that come and go concern their pod, and those of others concern none.
func TestRequestsThatComeAndGo(t *testing.T) {
	pod := podOf(t, "OnFailure main:0 a=r:running")
	ours, other, foreign := requestOf(pod, time.Second, "a"), requestOf(pod, time.Second, "a"), requestOf(pod, time.Second, "a")
	other.Name = "restart"
	foreign.OwnerReferences[0].Kind = "CloneSet"
	another := ours.DeepCopy()
	another.UID = "another"
	on, none, web := mutation.On[*lifecyclev1alpha1.ContainerRecreateRequest], (*lifecyclev1alpha1.ContainerRecreateRequest)(nil), "default/web"
	mutation.CheckEvents(t, requestChanged,
		on("it is created", none, ours, web),
		on("it is deleted", ours, none, web),
		on("it is replaced", ours, another, web),
		on("it is completed", ours, completed(ours.DeepCopy()), web),
		on("it stays", ours, ours, ""),
		on("one of another name", none, other, ""),
		on("one of another owner", none, foreign, ""),
		on("one without an owner", none, &lifecyclev1alpha1.ContainerRecreateRequest{}, ""))
}

// Pods are enqueued when their sidecars are due, when they have ended, and while a request waits for their kubelet. (ST-4, ST-15.1, ST-17)
func TestPodsThatMatter(t *testing.T) {
	pod := func(line string) *corev1.Pod { return snapshotOf(t, line).Pod }
	on, none, web := mutation.On[*corev1.Pod], (*corev1.Pod)(nil), "default/web"
	mutation.CheckEvents(t, podChanged,
		on("a new one that is due", none, pod("OnFailure main:0 a=r:running"), web),
		on("a new one that is not", none, pod("OnFailure main:running a=r:running"), ""),
		on("it becomes due", pod("OnFailure main:running a=r:running"), pod("OnFailure main:0 a=r:running"), web),
		on("it starts", pod("OnFailure main:ContainerCreating a=r:ContainerCreating"), pod("OnFailure main:running a=r:running"), ""),
		on("it ends", pod("OnFailure main:0 a=r:0"), pod("OnFailure main:0 a=r:0; {status: {phase: Succeeded}}"), web),
		on("it had ended", none, pod("OnFailure main:0 a=r:0; {status: {phase: Succeeded}}"), ""),
		on("ST-15.1: its phase was given by a controller before this one", none, pod("Never main:0 a=r:running; given=0s"), web),
		on("ST-15.1: its kubelet shows that it knows", pod("Never main:0 a=r:running; given=0s"), pod("Never main:0 a=r:running; given=0s learned"), web),
		on("ST-9: its sidecar ends then", pod("Never main:0 a=r:running; given=0s"), pod("Never main:0 a=r:143; given=0s"), ""),
		on("ST-15: the failure of its sidecar does not count", none, pod("OnFailure main:0 a=r:running; given=0s"), ""),
		on("it goes", pod("OnFailure main:running a=r:running"), none, web),
		on("one without sidecars", none, pod("OnFailure main:0 a:running"), ""),
		on("one without sidecars goes", pod("OnFailure main:0 a:running"), none, ""))
}
