// SPDX-License-Identifier: Apache-2.0

package broadcastjob

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright/internal/testing/fakecluster/scheduler"
	"github.com/podwright/podwright/internal/testing/planbench"
)

// large is a job of n nodes, with requests, which are tainted and tolerated.
func large(n int) *Snapshot {
	s := &Snapshot{Job: newJob(), Now: noon}
	s.Job.Spec.Template.Spec.Tolerations = []corev1.Toleration{{Key: "pool", Operator: corev1.TolerationOpExists}}
	s.Job.Spec.Template.Spec.Containers[0].Resources.Requests = corev1.ResourceList{"cpu": resource.MustParse("100m")}
	s.Job.Spec.FailurePolicy.Type = "Continue"
	for i := range n {
		node := newNode(fmt.Sprintf("node-%04d", i))
		node.Labels = map[string]string{"zone": "a", "kubernetes.io/os": "linux"}
		node.Spec.Taints = []corev1.Taint{{Key: "pool", Value: "x", Effect: corev1.TaintEffectNoSchedule}}
		node.Status.Allocatable = corev1.ResourceList{"cpu": resource.MustParse("4")}
		s.Nodes = append(s.Nodes, node)
	}
	return s
}

// goOn does what is planned: pods that are created run, and each other one has ended.
func goOn(s *Snapshot) {
	plan := NewPlan(s)
	s.Job.Status = *plan.Status
	for i, c := range plan.Create {
		pod := c.Pod.DeepCopy()
		pod.UID, pod.Spec.NodeName, pod.Status.Phase = types.UID(pod.Name), scheduler.NodeOf(pod), corev1.PodRunning
		if i%2 == 0 {
			pod.Status.Phase = corev1.PodSucceeded
		}
		s.Pods = append(s.Pods, pod)
	}
}

// BenchmarkPlan plans for n nodes: for the first time, after pods have run, and if nothing is to be done.
func BenchmarkPlan(b *testing.B) {
	for times, name := range []string{"begin", "under-way", "settled"} {
		planbench.Run(b, name, func(b *testing.B, n int) func() error {
			s := large(n)
			for range times {
				goOn(s)
			}
			return func() error {
				if p := NewPlan(s); len(p.Problems) > 0 {
					return fmt.Errorf("%v", p.Problems)
				}
				return nil
			}
		})
	}
}
