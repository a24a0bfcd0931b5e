// SPDX-License-Identifier: Apache-2.0

package broadcastjob

import (
	"encoding/json"
	"fmt"
	"maps"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/podwright/podwright/workloads/v1alpha1"
)

// fleet is a job that goes on after failures, on nodes of which every seventh has failed and all others but the first have succeeded.
func fleet(t *testing.T, size int) *Snapshot {
	t.Helper()
	s := &Snapshot{Job: newJob(), Now: noon}
	s.Job.Spec.FailurePolicy.Type = v1alpha1.FailurePolicyTypeContinue
	for i := range size {
		node := newNode(fmt.Sprintf("ip-10-%d-%d-%d.eu-central-1.compute.internal", i/65536, i/256%256, i%256))
		s.Nodes = append(s.Nodes, node)
		pod := podOn(s.Job, node.Name)
		pod.Spec.NodeName = node.Name
		switch {
		case i == 0:
			pod.Status.Phase = corev1.PodRunning
		case i%7 == 0:
			pod.Status.Phase = corev1.PodFailed
		default:
			pod.Status.Phase = corev1.PodSucceeded
		}
		s.Pods = append(s.Pods, pod)
	}
	return s
}

func size(t *testing.T, of any) int {
	t.Helper()
	data, err := json.Marshal(of)
	if err != nil {
		t.Fatal(err)
	}
	return len(data)
}

// BJ-29: the status of many nodes is bounded, names what failed, and one more result costs little.
func TestStatusOfManyNodes(t *testing.T) {
	for nodes, most := range map[int]int{1000: 65_000, 5000: 135_000, 25_000: 400_000} {
		s := fleet(t, nodes)
		status := NewPlan(s).Status
		total := size(t, status)
		t.Logf("%d nodes: %d bytes", nodes, total)
		if total > most || len(status.NodeResults) > mostNamed {
			t.Errorf("%d nodes: a status of %d bytes, which names %d", nodes, total, len(status.NodeResults))
		}
		failed := 0
		for _, result := range status.NodeResults {
			if result == v1alpha1.NodeFailed {
				failed++
			}
		}
		if want := min((nodes-1)/7, mostNamed); failed != want {
			t.Errorf("%d nodes: %d failed ones are named, want %d", nodes, failed, want)
		}
		s.Job.Status = *status
		s.Pods[0].Status.Phase = corev1.PodSucceeded
		after := NewPlan(s).Status
		changed := map[string]string{}
		for key, value := range after.MoreNodeResults {
			if status.MoreNodeResults[key] != value {
				changed[key] = value
			}
		}
		for name := range after.NodeResults {
			if status.NodeResults[name] == "" {
				changed[name] = "Succeeded"
			}
		}
		if n := size(t, changed); n > 3000 {
			t.Errorf("%d nodes: one more result writes %d bytes", nodes, n)
		}
	}
}

// BJ-29, BJ-19: a node that is done is not run again once its pod is gone, whether the status names the node or not. It still
// counts when it is gone itself. The same holds for one that the status of a former release names.
func TestResultsOfManyNodes(t *testing.T) {
	const nodes, failed = 5000, 714
	s := fleet(t, nodes)
	all := map[string]v1alpha1.BroadcastJobNodeResult{}
	for i, pod := range s.Pods[1:] {
		all[s.Nodes[i+1].Name] = v1alpha1.BroadcastJobNodeResult(pod.Status.Phase)
	}
	now := NewPlan(s).Status
	former := now.DeepCopy()
	former.NodeResults, former.MoreNodeResults = all, nil
	for name, status := range map[string]*v1alpha1.BroadcastJobStatus{"of this release": now, "of a former release": former} {
		s.Job.Status, s.Pods = *status.DeepCopy(), nil
		plan := NewPlan(s)
		if len(plan.Create) != 1 || plan.Create[0].Pod.Name == "" {
			t.Fatalf("%s: %d pods are created, want that of the first node", name, len(plan.Create))
		}
		written := plan.Status
		if written == nil {
			written = status
		}
		if written.Succeeded != nodes-1-failed || written.Failed != failed || written.Desired != nodes {
			t.Errorf("%s: status %d desired, %d succeeded, %d failed", name, written.Desired, written.Succeeded, written.Failed)
		}
		if diff := cmp.Diff(now.MoreNodeResults, written.MoreNodeResults); diff != "" || !maps.Equal(now.NodeResults, written.NodeResults) {
			t.Errorf("%s: %s", name, diff)
		}
		s := &Snapshot{Job: s.Job, Now: noon, Nodes: s.Nodes[:10]}
		for policy, left := range map[v1alpha1.FailurePolicyType]int32{v1alpha1.FailurePolicyTypeContinue: failed, v1alpha1.FailurePolicyTypePause: 0} {
			s.Job.Spec.FailurePolicy.Type = policy
			if status := NewPlan(s).Status; status != nil && (status.Succeeded != nodes-1-failed || status.Failed != left) {
				t.Errorf("%s, nodes are gone, %s: %d succeeded, %d failed", name, policy, status.Succeeded, status.Failed)
			}
		}
		s.Job.Spec.CompletionPolicy.Type = v1alpha1.Never
		s.Job.Spec.FailurePolicy.Type = v1alpha1.FailurePolicyTypeContinue
		if status := NewPlan(s).Status; status == nil || status.Succeeded != 8 || status.Failed != 1 || len(status.MoreNodeResults) > 0 {
			t.Errorf("%s, Never, and nodes have left: %+v", name, status)
		}
		s.Job.Spec.CompletionPolicy.Type = ""
	}
}

// BJ-29: nodes that are gone and have no name any more stay counted when they alone are left.
func TestUnnamedFailures(t *testing.T) {
	status := &v1alpha1.BroadcastJobStatus{}
	named := map[string]v1alpha1.BroadcastJobNodeResult{}
	for i := range 3000 {
		named[fmt.Sprint("n", i)] = v1alpha1.NodeFailed
	}
	writeResults(status, "job", named, nil)
	read := readResults("job", status)
	for name := range named {
		if read.of(name) != v1alpha1.NodeFailed {
			t.Fatalf("node %s has %q", name, read.of(name))
		}
	}
	if read.of("another") != "" || readResults("another", status).of("n2999") != "" {
		t.Error("a node has the result of another one")
	}
	others := read.without([]node{{name: "n2999"}})
	if len(others) != 1999 {
		t.Errorf("%d unnamed nodes are left", len(others))
	}
	again := &v1alpha1.BroadcastJobStatus{}
	writeResults(again, "job", status.NodeResults, others)
	if len(again.NodeResults) != mostNamed || len(readResults("job", again).byHash) != 1999 {
		t.Errorf("%d named, %d others", len(again.NodeResults), len(readResults("job", again).byHash))
	}
}
