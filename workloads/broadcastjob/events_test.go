// SPDX-License-Identifier: Apache-2.0

package broadcastjob

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/podwright/podwright/internal/testing/fakecluster/mutation"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

// situations are those of testdata/situations.txt: states as those of TestPlans. All nodes are of a zone and have a CPU for the pods.
func situations(t *testing.T) mutation.Planner[Snapshot] {
	all := map[string]*Snapshot{}
	datadriven.RunTest(t, "testdata/situations.txt", func(t *testing.T, d *datadriven.TestData) string {
		all[d.Cmd] = placeOf(t, d)
		return ""
	})
	for _, s := range all {
		spec := &s.Job.Spec.Template.Spec
		spec.NodeSelector = map[string]string{"zone": "a"}
		spec.Containers[0].Resources.Requests = corev1.ResourceList{"cpu": resource.MustParse("1")}
		for _, pod := range s.Pods {
			pod.Spec.NodeSelector, pod.Spec.Containers[0].Resources.Requests = spec.NodeSelector, spec.Containers[0].Resources.Requests
		}
		for _, node := range s.Nodes {
			node.Labels = map[string]string{"zone": "a"}
			node.Status.Allocatable = corev1.ResourceList{"cpu": resource.MustParse("4")}
		}
	}
	return mutation.Planner[Snapshot]{Situations: all, Describe: func(s *Snapshot) string { return describe(NewPlan(s)) }}
}

// describe is everything that a plan says, whatever object it says it about.
func describe(p *Plan) string {
	data, err := json.Marshal([]any{p.Status, p.Create, p.Nodes, p.Events, p.RequeueAfter, p.Parallelism, p.DeleteJob, p.StatusFirst})
	out := []string{fmt.Sprintf("%s %v", data, err)}
	for _, d := range p.Delete {
		out = append(out, fmt.Sprint("delete ", d.Pod.Name, d.Reason, d.Active))
	}
	for _, w := range p.Waiting {
		out = append(out, w.String())
	}
	return strings.Join(out, "\n")
}

func TestEverythingThatThePlannerReadsOfAPodMatters(t *testing.T) {
	reads := mutation.Reads{}
	// The node and what a pod tolerates change once, before it runs. Requests are resized in place within what the node has.
	// Neither changes whether the pod fits.
	can := regexp.MustCompile(mutation.Metadata + `|^\.Spec\.NodeName|^\.Status`)
	mutation.CheckLists(t, reads, situations(t), mutation.Plan[corev1.Pod]{Copy: (*corev1.Pod).DeepCopy, Can: can, Matters: mutation.Declared[corev1.Pod](podFields)},
		func(s *Snapshot) *[]*corev1.Pod { return &s.Pods })
	reads.Require(t, ".ObjectMeta.DeletionTimestamp", ".ObjectMeta.Labels["+v1alpha1.BroadcastJobNameLabel+"]", ".ObjectMeta.Labels["+v1alpha1.BroadcastJobControllerUIDLabel+"]",
		".Spec.NodeName", ".Status.Phase", ".Status.ContainerStatuses[].RestartCount", ".Status.InitContainerStatuses[].RestartCount")
}

func TestEverythingThatThePlannerReadsOfANodeMatters(t *testing.T) {
	reads := mutation.Reads{}
	for _, s := range situations(t).Situations {
		mutation.CheckNodes(t, reads, s.Nodes, nodeFields, func(nodes []*corev1.Node) string {
			with := *s
			with.Nodes = nodes
			return describe(NewPlan(&with))
		})
	}
	reads.Require(t, ".ObjectMeta.Labels[zone]", ".Spec.Unschedulable", ".Spec.Taints[].Effect", ".Status.Allocatable[cpu]")
}

func TestBroadcastJobChanges(t *testing.T) {
	mutation.CheckWorkloads(t, situations(t), (*v1alpha1.BroadcastJob).DeepCopy, func(s *Snapshot) **v1alpha1.BroadcastJob { return &s.Job })
}
