// SPDX-License-Identifier: Apache-2.0

package broadcastjob

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/internal/nodefit"
	"github.com/podwright/podwright/internal/testing/fakecluster"
	"github.com/podwright/podwright/internal/testing/fakecluster/fixture"
)

// settle lets nodes and controller work for a while.
func (c *cluster) settle() {
	c.T.Helper()
	for range 10 {
		c.nodeStep()
		c.CollectGarbage()
		c.Sleep("2s")
	}
}

func nodeNames(n int) []string {
	names := make([]string, n)
	for i := range names {
		names[i] = fmt.Sprintf("node-%04d", i)
	}
	return names
}

// BJ-3, BJ-4, BJ-12: what a pod is made of, and how it gets to its node.
func TestPodOfANode(t *testing.T) {
	for _, direct := range []bool{false, true} {
		job := jobOf(t, "spec: {template: {metadata: {annotations: {a: b}, finalizers: [example.com/hold]}, spec: {affinity: {podAffinity: {}}, nodeSelector: {zone: a}}}}")
		s := place(t, job, "n1 n2")
		s.AssignDirectly = direct
		for _, node := range s.Nodes {
			node.Labels = map[string]string{"zone": "a"}
		}
		plan := NewPlan(s)
		if len(plan.Create) != 2 || plan.Create[0].Pod.Name == plan.Create[1].Pod.Name {
			t.Fatalf("created %v", plan.Create)
		}
		pod := plan.Create[0].Pod
		if !strings.HasPrefix(pod.Name, "web-") || len(pod.Name) != len("web-")+nodefit.IDLength || pod.GenerateName != "web-" {
			t.Errorf("name %q, generateName %q", pod.Name, pod.GenerateName)
		}
		want := &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{
				Namespace: "default", Name: pod.Name, GenerateName: "web-",
				Labels:      map[string]string{"app": "web", "broadcastjob-name": "web", "broadcastjob-controller-uid": "uid"},
				Annotations: map[string]string{"a": "b"}, Finalizers: []string{"example.com/hold"},
				OwnerReferences: []metav1.OwnerReference{{APIVersion: "apps.kruise.io/v1alpha1", Kind: "BroadcastJob", Name: "web", UID: "uid",
					Controller: new(true), BlockOwnerDeletion: new(true)}},
			},
			Spec: *job.Spec.Template.Spec.DeepCopy(),
		}
		if direct {
			want.Spec.NodeName = "n1"
		} else {
			want.Spec.Affinity.NodeAffinity = &corev1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{
				NodeSelectorTerms: []corev1.NodeSelectorTerm{{MatchFields: []corev1.NodeSelectorRequirement{{Key: "metadata.name", Operator: "In", Values: []string{"n1"}}}}}}}
		}
		if diff := cmp.Diff(want, pod); diff != "" {
			t.Errorf("pod (-want +got):\n%s", diff)
		}
	}
}

// BJ-12: the name of a pod that is taken by that of another node is passed over, and long
// names are cut.
func TestNamesOfPods(t *testing.T) {
	job := newJob()
	first := podOn(job, "n1")
	s := place(t, job, "n1 n2:active")
	s.Pods[0].Name = first.Name
	if pod := NewPlan(s).Create[0].Pod; pod.Name == first.Name || !strings.HasPrefix(pod.Name, "web-") {
		t.Errorf("the pod of n1 is called %s, and so is that of n2", pod.Name)
	}
	job.Name = strings.Repeat("a", 63)
	if pod := podOn(job, "n1"); len(pod.Name) != 63 {
		t.Errorf("%s has %d characters", pod.Name, len(pod.Name))
	}
}

// BJ-17: a changed template is that of pods created later.
func TestTemplateChanges(t *testing.T) {
	inCluster(t, func(t *testing.T, c *cluster) {
		c.addNodes("n1", "n2")
		c.ends = func(string) (corev1.PodPhase, bool) {
			return corev1.PodSucceeded, len(c.Pods()) == 2 || c.get().Generation > 1
		}
		_, stop := c.start()
		defer stop()
		c.Create(testJob("web"), `{"spec":{"parallelism":1}}`)
		c.settle()
		c.SetImage("busybox:2")
		c.settle()
		var images []string
		for _, pod := range c.Pods() {
			images = append(images, pod.Spec.Containers[0].Image)
		}
		slices.Sort(images)
		if fmt.Sprint(images) != "[busybox:1 busybox:2]" {
			t.Errorf("images %v", images)
		}
	})
}

// BJ-19: finished pods that users or the garbage collector delete stay counted, and their
// nodes are not run again, also after a restart.
func TestFinishedPodsStayCounted(t *testing.T) {
	inCluster(t, func(t *testing.T, c *cluster) {
		c.addNodes("n1", "n2", "n3", "n4")
		c.ends = func(node string) (corev1.PodPhase, bool) {
			return map[string]corev1.PodPhase{"n1": corev1.PodFailed, "n2": corev1.PodSucceeded, "n3": corev1.PodSucceeded}[node], node != "n4"
		}
		_, stop := c.start()
		c.Create(testJob("web"), `{"spec":{"failurePolicy":{"type":"Continue"}}}`)
		c.settle()
		for _, pod := range c.Pods() {
			if pod.Status.Phase != corev1.PodRunning {
				c.DeletePod(pod.Name)
			}
		}
		c.settle()
		stop()
		_, stop = c.start()
		defer stop()
		c.settle()
		const results = "\nn1 Failed\nn2 Succeeded\nn3 Succeeded"
		if diff := cmp.Diff("running desired=4 active=1 succeeded=2 failed=1"+results, c.outcome()); diff != "" {
			t.Errorf("status (-want +got):\n%s", diff)
		}
		if n := len(c.Pods()); n != 1 {
			t.Errorf("%d pods, want the one of n4", n)
		}
		c.ends = nil
		c.settle()
		if diff := cmp.Diff("completed desired=4 active=0 succeeded=3 failed=1\nComplete: Job completed, 3 pods succeeded, 1 pods failed"+results+"\nn4 Succeeded", c.outcome()); diff != "" {
			t.Errorf("status (-want +got):\n%s", diff)
		}
		c.addNodes("n5") // too late
		c.settle()
		if n := len(c.Pods()); n != 1 {
			t.Errorf("BJ-2: %d pods", n)
		}
	})
}

// BJ-20, BJ-23: a creation that fails is not counted, and the rest is tried later.
func TestFailedCreationsAreNotCounted(t *testing.T) {
	inCluster(t, func(t *testing.T, c *cluster) {
		c.addNodes(nodeNames(10)...)
		c.ends = func(string) (corev1.PodPhase, bool) { return "", false }
		n := 0
		c.FailBefore(func(r fakecluster.Request) error {
			if r.User == fixture.ControllerUser && r.String() == "create pods" {
				if n++; n > 3 {
					return fixture.ErrQuota
				}
			}
			return nil
		})
		c.Create(testJob("web"), `{"spec":{"parallelism":10}}`)
		requests := c.MustFailReconcile(func(err error) bool { return err != nil })
		if diff := cmp.Diff([]string{"8 create pods", "1 patch broadcastjobs/status"}, reorder(requests)); diff != "" {
			t.Errorf("BJ-23: 1, 2, 4 of which all fail, and 1 more: requests (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff("running desired=10 active=3 succeeded=0 failed=0", c.outcome()); diff != "" {
			t.Errorf("BJ-20: status (-want +got):\n%s", diff)
		}
		c.FailBefore(nil)
		c.MustReconcile()
		if diff := cmp.Diff("running desired=10 active=10 succeeded=0 failed=0", c.outcome()); diff != "" {
			t.Errorf("BJ-20: status (-want +got):\n%s", diff)
		}
		if n := c.Events.Count("FailedCreate"); n == 0 {
			t.Error("no event FailedCreate")
		}
	})
}

func reorder(requests []string) []string {
	slices.SortFunc(requests, func(a, b string) int {
		return strings.Compare(strings.SplitN(a, " ", 2)[1], strings.SplitN(b, " ", 2)[1])
	})
	return requests
}

// BJ-20: a pod that cannot be deleted is still active.
func TestPodsThatCannotBeDeletedAreActive(t *testing.T) {
	inCluster(t, func(t *testing.T, c *cluster) {
		c.addNodes("n1", "n2")
		c.ends = func(string) (corev1.PodPhase, bool) { return "", false }
		c.Create(testJob("web"), "")
		c.MustReconcile()
		c.nodeStep()
		c.cordon("n1")
		c.FailBefore(fixture.Fail("delete pods", fixture.ErrInternal))
		c.MustFailReconcile(func(err error) bool { return err != nil })
		if diff := cmp.Diff("running desired=1 active=2 succeeded=0 failed=0", c.outcome()); diff != "" {
			t.Errorf("status (-want +got):\n%s", diff)
		}
		c.FailBefore(nil)
		c.MustReconcile()
		if failed, deleted := c.Events.Count("FailedDelete"), c.Events.Count("SuccessfulDelete"); failed != 1 || deleted != 1 {
			t.Errorf("%d events FailedDelete and %d SuccessfulDelete, want one of each", failed, deleted)
		}
	})
}

// BJ-25: a pod costs its creation and a write of the status at most, and a plan that finds
// nothing to do costs nothing.
func TestRequests(t *testing.T) {
	for _, parallelism := range []int{1, 1000} {
		t.Run(fmt.Sprint(parallelism), func(t *testing.T) {
			inCluster(t, func(t *testing.T, c *cluster) {
				const pods = 20
				c.addNodes(nodeNames(pods)...)
				_, stop := c.start()
				defer stop()
				c.ForgetRequests()
				c.Create(testJob("web"), fmt.Sprintf(`{"spec":{"parallelism":%d}}`, parallelism))
				for c.get().Status.Phase != "completed" {
					c.nodeStep()
					c.Sleep("2s")
				}
				total := 0
				for _, line := range c.Sent() {
					var n int
					if _, err := fmt.Sscan(line, &n); err != nil {
						t.Fatal(err)
					}
					total += n
				}
				if limit := 2*pods + 1; total > limit { // the last write of the status has no creation
					t.Errorf("%d requests for %d pods, want at most %d: %v", total, pods, limit, c.Sent())
				}
				t.Log(c.Sent())
			})
		})
	}
}

// BJ-16, BJ-25: what heartbeats of nodes change is no event; what decides about pods is.
func TestNodeEvents(t *testing.T) {
	inCluster(t, func(t *testing.T, c *cluster) {
		c.addNodes("n1", "n2")
		c.cordon("n2")
		c.ends = func(string) (corev1.PodPhase, bool) { return "", false }
		reconciles, stop := c.start()
		defer stop()
		c.Create(testJob("web"), "")
		c.settle()
		before := reconciles.Count()
		c.ForgetRequests()
		c.patchNode("n1", `{"status":{"conditions":[{"type":"Ready","status":"True","lastHeartbeatTime":"2026-01-01T00:00:00Z"}]}}`, "status")
		c.patchNode("n1", `{"metadata":{"annotations":{"a":"b"}}}`)
		c.settle()
		if n, sent := reconciles.Count()-before, c.Sent(); n != 0 || len(sent) != 0 {
			t.Errorf("heartbeats: %d reconciles, requests %v", n, sent)
		}
		c.patchNode("n2", `{"spec":{"unschedulable":null}}`)
		c.settle()
		if n := len(c.Pods()); n != 2 {
			t.Errorf("BJ-6: %d pods after n2 is uncordoned, want 2", n)
		}
		c.patchNode("n1", `{"spec":{"taints":[{"key":"a","effect":"NoExecute"}]}}`)
		c.settle()
		if n := len(c.Pods()); n != 1 {
			t.Errorf("BJ-7: %d pods after n1 is tainted, want 1", n)
		}
		c.patchNode("n1", `{"spec":{"taints":null}}`)
		c.settle()
		if n := len(c.Pods()); n != 2 {
			t.Errorf("BJ-6: %d pods after n1 is no longer tainted, want 2", n)
		}
		c.Must(c.Kube.CoreV1().Nodes().Delete(t.Context(), "n1", metav1.DeleteOptions{}))
		c.settle()
		if diff := cmp.Diff("running desired=1 active=1 succeeded=0 failed=0", c.outcome()); diff != "" {
			t.Errorf("BJ-7: status after n1 is gone (-want +got):\n%s", diff)
		}
	})
}

// BJ-10: the deadline survives a restart, to the second.
func TestDeadlineSurvivesARestart(t *testing.T) {
	inCluster(t, func(t *testing.T, c *cluster) {
		c.addNodes("n1")
		c.ends = func(string) (corev1.PodPhase, bool) { return "", false }
		_, stop := c.start()
		c.Create(testJob("web"), `{"spec":{"completionPolicy":{"activeDeadlineSeconds":600}}}`)
		c.settle()
		stop()
		c.Sleep("5m")
		_, stop = c.start()
		defer stop()
		deadline := c.get().Status.StartTime.Add(10 * time.Minute)
		time.Sleep(time.Until(deadline) - time.Second)
		c.Sleep("0s")
		if got := string(c.get().Status.Phase); got != "running" {
			t.Errorf("a second before the deadline the phase is %s", got)
		}
		c.Sleep("2s")
		if diff := cmp.Diff("failed desired=1 active=0 succeeded=0 failed=1\nFailed: Job default/web was active longer than specified deadline\nStalled: Job default/web was active longer than specified deadline\nn1 Failed", c.outcome()); diff != "" {
			t.Errorf("status (-want +got):\n%s", diff)
		}
		c.settle()
		if n := len(c.Pods()); n != 0 {
			t.Errorf("BJ-11: %d pods are left", n)
		}
	})
}

// BJ-8, BJ-9, BJ-13: events are recorded when something begins, and once.
func TestEvents(t *testing.T) {
	inCluster(t, func(t *testing.T, c *cluster) {
		c.addNodes("n1", "n2", "n3")
		c.ends = func(node string) (corev1.PodPhase, bool) {
			if node == "n2" && c.get().Status.Phase == "running" && c.Events.Count("Continue") == 0 {
				return corev1.PodFailed, true
			}
			return corev1.PodSucceeded, true
		}
		_, stop := c.start()
		defer stop()
		c.Create(testJob("web"), `{"spec":{"parallelism":1,"failurePolicy":{"type":"Pause"}}}`)
		c.settle()
		for range 3 { // what else happens to the job changes nothing
			c.Edit(fmt.Sprintf(`{"metadata":{"annotations":{"a":"%d"}}}`, time.Now().Unix()))
			c.settle()
		}
		for _, pod := range c.Pods() {
			if pod.Status.Phase == corev1.PodFailed {
				c.DeletePod(pod.Name)
			}
		}
		c.settle()
		var events []string
		for _, event := range c.Events.All() {
			reason, _, _ := strings.Cut(event, ":")
			events = append(events, reason)
		}
		want := []string{"Normal SuccessfulCreate", "Normal SuccessfulCreate", "Warning Paused", "Normal SuccessfulCreate", "Normal Continue", "Normal SuccessfulCreate", "Normal JobComplete"}
		if diff := cmp.Diff(want, events); diff != "" {
			t.Errorf("events (-want +got):\n%s", diff)
		}
	})
}
