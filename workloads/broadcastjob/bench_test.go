// SPDX-License-Identifier: Apache-2.0

package broadcastjob

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/podwright/podwright/internal/testing/fakecluster/scheduler"
	"github.com/podwright/podwright/internal/testing/planbench"
)

// largeScenario is a job of n nodes, with requests, which are tainted and tolerated.
func largeScenario(b *testing.B, n int) *jobScenario {
	w := newScenario(b)
	w.job.Spec.Template.Spec.Tolerations = []corev1.Toleration{{Key: "pool", Operator: corev1.TolerationOpExists}}
	w.job.Spec.Template.Spec.Containers[0].Resources.Requests = corev1.ResourceList{"cpu": resource.MustParse("100m")}
	w.job.Spec.FailurePolicy.Type = "Continue"
	for _, name := range nodeNames(n) {
		w.addNodeUnseen(name)
	}
	return w
}

func (w *jobScenario) addNodeUnseen(name string) {
	node := newNode(name)
	node.Labels = map[string]string{"zone": "a", "kubernetes.io/os": "linux"}
	node.Spec.Taints = []corev1.Taint{{Key: "pool", Value: "x", Effect: corev1.TaintEffectNoSchedule}}
	node.Status.Allocatable = corev1.ResourceList{"cpu": resource.MustParse("4")}
	w.nodes = append(w.nodes, node)
}

// underWay is a job whose pods run, if there are any; each other one has ended.
func (w *jobScenario) underWay() {
	for i, pod := range w.pods {
		pod.Spec.NodeName, pod.Status.Phase = scheduler.NodeOf(pod), corev1.PodRunning
		if i%2 == 0 {
			pod.Status.Phase = corev1.PodSucceeded
		}
	}
}

// BenchmarkPlan plans for n nodes.
func BenchmarkPlan(b *testing.B) {
	for _, test := range []struct {
		name  string
		setUp func(w *jobScenario)
	}{
		{"begin", func(*jobScenario) {}},
		{"under-way", func(w *jobScenario) {
			w.apply(NewPlan(w.snapshot()))
			w.underWay()
		}},
		{"settled", func(w *jobScenario) {
			w.apply(NewPlan(w.snapshot()))
			w.underWay()
			w.apply(NewPlan(w.snapshot()))
		}},
	} {
		planbench.Run(b, test.name, func(b *testing.B, n int) func() error {
			w := largeScenario(b, n)
			test.setUp(w)
			s := w.snapshot()
			return func() error {
				if p := NewPlan(s); len(p.Problems) > 0 {
					return fmt.Errorf("%v", p.Problems)
				}
				return nil
			}
		})
	}
}
