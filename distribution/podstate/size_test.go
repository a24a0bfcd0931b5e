// SPDX-License-Identifier: Apache-2.0

package podstate_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/podwright/podwright/distribution/podstate"
	"github.com/podwright/podwright/distribution/v1alpha1"
)

// noted is what the API server notes of the fields of a value for their writer.
func noted(value any) any {
	object, ok := value.(map[string]any)
	if !ok {
		return map[string]any{}
	}
	fields := map[string]any{".": map[string]any{}}
	for key, inner := range object {
		fields["f:"+key] = noted(inner)
	}
	return fields
}

// stored is how many bytes an object takes, with what the API server notes of the states of its pods.
func stored(t *testing.T, s *v1alpha1.PersistentPodState) int {
	t.Helper()
	object, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	var all map[string]any
	if err := json.Unmarshal(object, &all); err != nil {
		t.Fatal(err)
	}
	fields, err := json.Marshal(noted(all["status"]))
	if err != nil {
		t.Fatal(err)
	}
	return len(object) + len(fields)
}

// manyPods are pods each of which runs on a node of its own.
func manyPods(count int, nodeName string) ([]*corev1.Pod, *podstate.Nodes) {
	var nodes []*corev1.Node
	pods := podsOf(count, func(i int) string { return fmt.Sprintf(nodeName, i) })
	for _, pod := range pods {
		nodes = append(nodes, newNode(pod.Spec.NodeName))
	}
	return pods, podstate.NewNodes(nodes)
}

// PPS-10: 5,000 pods, whose states fit or not. What is kept stays, and nothing is written twice.
func TestSize(t *testing.T) {
	const long = "ip-10-0-255-%d.eu-central-1.compute.internal"
	for _, test := range []struct {
		name, nodes string
		keys        []string
		all         bool
	}{
		{"short names", "node-%d", []string{host}, true},
		{"long names", long, []string{host}, false},
		{"two keys", "node-%d", []string{host, zone}, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			const count = 5000
			pods, nodes := manyPods(count, test.nodes)
			s := newState(requires(test.keys...))
			in := podstate.Input{State: s, Workload: newWorkload(count), Pods: pods, Nodes: nodes, Now: start}
			r := podstate.Compute(in)
			s.Status = r.Status
			size, kept := stored(t, s), len(s.Status.PodStates)
			t.Logf("%d of %d are kept, in %d bytes", kept, count, size)
			if size > podstate.MaxSize {
				t.Errorf("PPS-10: %d bytes", size)
			}
			condition := meta.FindStatusCondition(s.Status.Conditions, v1alpha1.StateTooLargeCondition)
			if test.all {
				if kept != count || condition.Status != "False" || len(r.Refused) > 0 {
					t.Errorf("PPS-10: %d are kept, %v", kept, condition)
				}
				return
			}
			want := fmt.Sprintf("the state of all pods would exceed 1048576 bytes: that of %d pods (", count-kept)
			if kept+len(r.Refused) != count || size < podstate.MaxSize*9/10 || condition.Status != "True" || !strings.HasPrefix(condition.Message, want) {
				t.Errorf("PPS-10: %d are kept, %d refused, in %d bytes: %+v", kept, len(r.Refused), size, condition)
			}
			for i := range kept {
				if _, found := s.Status.PodStates[fmt.Sprintf("web-%d", i)]; !found {
					t.Fatalf("PPS-10: web-%d is not kept, which is of the lowest ordinals", i)
				}
			}
			again := podstate.Compute(in)
			if !podstate.Equal(&again.Status, &s.Status) {
				t.Error("PPS-9: what is settled is another status")
			}
			// The lowest of all comes late, and takes no other pod's place.
			late := newState(requires(test.keys...))
			in.State, in.Pods = late, pods[1:]
			late.Status = podstate.Compute(in).Status
			in.Pods = pods
			if r := podstate.Compute(in); len(r.Dropped) > 0 || r.Status.PodStates["web-0"].NodeName != "" {
				t.Errorf("PPS-10: %v are dropped for one that came later", r.Dropped)
			}
		})
	}
}

// PPS-10: what users write into the object counts, and strings that JSON makes longer.
func TestSizeOfOthers(t *testing.T) {
	const count = 1000
	pods, nodes := manyPods(count, "node-%d")
	for _, pod := range pods {
		pod.Annotations = map[string]string{"data": strings.Repeat("<\"\n\x00é\u2028", 20)}
	}
	s := newState(requires(host), func(s *v1alpha1.PersistentPodState) {
		s.Annotations = map[string]string{"notes": strings.Repeat("x", 200<<10)}
		s.Spec.PersistentPodAnnotations = []v1alpha1.PersistentPodAnnotation{{Key: "data"}}
	})
	s.Status = podstate.Compute(podstate.Input{State: s, Workload: newWorkload(count), Pods: pods, Nodes: nodes, Now: start}).Status
	if size := stored(t, s); size > podstate.MaxSize {
		t.Errorf("PPS-10: %d bytes", size)
	}
	if n := len(s.Status.PodStates); n == 0 || n == count {
		t.Errorf("PPS-10: %d of %d are kept", n, count)
	}
	data, err := json.Marshal(s.Status.PodStates["web-0"])
	if err != nil || !bytes.Contains(data, []byte(`\u003c`)) {
		t.Errorf("%s: %v", data, err)
	}
	// An object that is too large by itself keeps nothing, and no arithmetic fails.
	s = newState(requires(host), func(s *v1alpha1.PersistentPodState) {
		s.Annotations = map[string]string{"notes": strings.Repeat("x", 2<<20)}
	})
	if r := podstate.Compute(podstate.Input{State: s, Workload: newWorkload(5000), Pods: pods, Nodes: nodes, Now: start}); len(r.Refused) > 0 && len(r.Status.PodStates) > 0 {
		t.Errorf("PPS-10: %d are kept", len(r.Status.PodStates))
	}
}
