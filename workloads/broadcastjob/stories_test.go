// SPDX-License-Identifier: Apache-2.0

package broadcastjob

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/internal/testing/fakecluster/fixture"
)

// TestStories plays the stories in testdata: see fixture.PlayStories. "ends" says how pods end, by node: Failed, Succeeded, or never; without
// arguments all succeed. The argument "other" is for the nodes that are not named. "work" lets nodes, garbage collector and controller work for
// a while. "step" is one step of scheduler and kubelets. "outcome" shows the status of the job.
func TestStories(t *testing.T) {
	fixture.PlayStories(t, "testdata/stories", jobResource, func(f *fixture.Cluster) *fixture.Story {
		c := &cluster{Cluster: f}
		c.setUp()
		return &fixture.Story{
			New: func(int32) any { return testJob("web") }, Restart: c.restart,
			Node:  func(name string) *corev1.Node { return &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}} },
			Start: func() (*fixture.Reconciles, func()) { return c.start() },
			Further: map[string]func(...string) string{
				"ends":    func(words ...string) string { c.ends = endsAs(words); return "" },
				"work":    func(...string) string { c.settle(); return "" },
				"step":    func(...string) string { c.nodeStep(); return "" },
				"outcome": func(...string) string { return c.outcome() + "\n" },
			},
		}
	})
}

// endsAs reads how pods end, node=phase.
func endsAs(words []string) func(string) (corev1.PodPhase, bool) {
	if len(words) == 0 {
		return nil
	}
	phases := map[string]string{}
	for _, word := range words {
		node, phase, _ := strings.Cut(word, "=")
		phases[node] = phase
	}
	return func(node string) (corev1.PodPhase, bool) {
		phase, named := phases[node]
		if !named {
			phase = phases["other"]
		}
		return corev1.PodPhase(phase), phase != "never"
	}
}
