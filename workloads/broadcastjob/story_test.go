// SPDX-License-Identifier: Apache-2.0

package broadcastjob

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/internal/nodefit"
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
