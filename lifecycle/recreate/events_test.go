// SPDX-License-Identifier: Apache-2.0

package recreate

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/podwright/podwright/internal/controller"
	"github.com/podwright/podwright/internal/testing/fakecluster/mutation"
	"github.com/podwright/podwright/internal/testing/patches"
	"github.com/podwright/podwright/lifecycle/v1alpha1"
)

var (
	at         = time.Date(2024, 5, 1, 12, 0, 0, 0, time.UTC)
	eventWords = patches.Read("testdata/words.yaml", at)
)

// settledRequests are snapshots with nothing to do but to wait.
func settledRequests() map[string]*Snapshot {
	pod := patches.Changed(eventWords, &corev1.Pod{}, "running", "restarted")
	all := map[string]*Snapshot{}
	for name, changes := range map[string]string{
		"new": "phase=", "pending": "phase=Pending", "recreating": "phase=Recreating acquired=2024-05-01T12:00:01Z held " +
			`sync=[{"name":"main","ready":true,"restartCount":2,"containerID":"containerd://m2"}]`,
		"completed": "completed=0s inactive", "deleting": "phase= deleting",
	} {
		request := patches.Changed(eventWords, &v1alpha1.ContainerRecreateRequest{}, "new", "begun", "age=0s",
			"label=pod-uid:u", "label=active:true", "deadline=100", "ttl=7200", "unready=5")
		request.Generation = 1
		all[name] = &Snapshot{Request: patches.Changed(eventWords, request, strings.Fields(changes)...), Pod: pod.DeepCopy(), Now: at.Add(time.Minute / 2)}
	}
	return all
}

// describe tells what a plan does.
func describe(s Snapshot) string {
	p := NewPlan(&s)
	text := fmt.Sprint(p.Confirm, p.RequeueAfter)
	for _, step := range p.Steps {
		text += " " + step.Why
		if step.Change != nil {
			text += fmt.Sprint(*step.Change)
		}
	}
	return text
}

// Whatever changes the plan of a settled request enqueues it.
func TestEventsThatMatter(t *testing.T) {
	reads := mutation.Reads{}
	for name, s := range settledRequests() {
		if plan := NewPlan(s); len(plan.Steps) > 0 {
			t.Fatalf("%s is not settled: %s", name, describe(*s))
		}
		mutation.Plan[corev1.Pod]{
			What: "pod", Copy: (*corev1.Pod).DeepCopy,
			Can: regexp.MustCompile(`^\.(ObjectMeta\.(UID|DeletionTimestamp|Labels|Annotations|Finalizers)|Status)`),
			Of:  func(pod *corev1.Pod) string { c := *s; c.Pod = pod; return describe(c) },
			Matters: func(before, after *corev1.Pod) bool {
				return controller.Changed(before, after, podFields) != 0 || s.over() // then its own changes are enough
			},
		}.Check(t, reads, s.Pod)
		mutation.Plan[v1alpha1.ContainerRecreateRequest]{
			What: "request", Copy: (*v1alpha1.ContainerRecreateRequest).DeepCopy,
			Can:     regexp.MustCompile(`^\.(ObjectMeta\.(UID|DeletionTimestamp|Labels|Annotations|Finalizers|Generation)|Status)`),
			Of:      func(r *v1alpha1.ContainerRecreateRequest) string { c := *s; c.Request = r; return describe(c) },
			Matters: requestMatters,
		}.Check(t, reads, s.Request)
	}
	reads.Require(t,
		"pod.ObjectMeta.UID", "pod.ObjectMeta.DeletionTimestamp", "pod.Status.ContainerStatuses[].Name",
		"pod.Status.ContainerStatuses[].Ready", "pod.Status.ContainerStatuses[].RestartCount", "pod.Status.ContainerStatuses[].ContainerID",
		"pod.Status.ContainerStatuses[].State.Running",
		"request.ObjectMeta.DeletionTimestamp", "request.ObjectMeta.Labels["+v1alpha1.ContainerRecreateRequestPodUIDLabel+"]",
		"request.ObjectMeta.Annotations["+v1alpha1.ContainerRecreateRequestSyncContainerStatusesAnnotation+"]",
		"request.ObjectMeta.Annotations["+v1alpha1.ContainerRecreateRequestUnreadyAcquiredAnnotation+"]",
		"request.Status.Phase", "request.Status.CompletionTime")
}

// What no mutation comes up with: the label and the finalizer come back to a
// request that is over.
func TestEventsThatMatterToTheEnd(t *testing.T) {
	s := settledRequests()["completed"]
	for _, word := range []string{"label=active:true", "held"} {
		after := *s
		after.Request = patches.Changed(eventWords, s.Request, word)
		if describe(after) == describe(*s) || !requestMatters(s.Request, after.Request) {
			t.Errorf("%s does not matter, or changes no plan", word)
		}
	}
}

// What does not matter enqueues nothing.
func TestEventsThatDoNotMatter(t *testing.T) {
	s := settledRequests()["recreating"]
	for _, word := range []string{"unready", "address", "labelled", "ran-before"} {
		if controller.Changed(s.Pod, patches.Changed(eventWords, s.Pod, word), podFields) != 0 {
			t.Errorf("%s of a pod matters", word)
		}
	}
	for _, word := range []string{"state=Pending", "label=a:b", "guarded"} {
		if requestMatters(s.Request, patches.Changed(eventWords, s.Request, word)) {
			t.Errorf("%s of a request matters", word)
		}
	}
}
