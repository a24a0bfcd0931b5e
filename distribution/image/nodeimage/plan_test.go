// SPDX-License-Identifier: Apache-2.0

package nodeimage

import (
	"encoding/json"
	"reflect"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/inplace/rollout"
)

// nodeWaits is the wait of node n1, which has begun a while ago; a negative one stands for a time that is not known.
func nodeWaits(rule rollout.Rule, ago time.Duration, limit, observed int32, message string) []rollout.Wait {
	wait := rollout.Wait{Subject: rollout.Subject{Kind: "node", Name: "n1"}, Reason: &rollout.Reason{Rule: rule, Limit: limit, Observed: observed, Message: message}}
	if ago >= 0 {
		wait.Since = at(ago).Time
	}
	return []rollout.Wait{wait}
}

func TestPlanCreates(t *testing.T) {
	created := Plan{Create: &v1alpha1.NodeImage{ObjectMeta: metav1.ObjectMeta{Name: "n1", Labels: map[string]string{"zone": "one"}}}}
	edited := func(n *corev1.Node, edit func(*corev1.Node)) *corev1.Node { edit(n); return n }
	for _, test := range []struct {
		name   string
		node   *corev1.Node
		timing Timing
		want   Plan
	}{
		{"IMG-2.1: ready for 30 s", node(corev1.ConditionTrue, 30*time.Second), Timing{}, created},
		{"IMG-2.1: ready for less", node(corev1.ConditionTrue, 10*time.Second), Timing{},
			Plan{Waiting: nodeWaits(ruleCreationDelay, 10*time.Second, 30, 10, "the node has been ready for less than 30s"), RequeueAfter: 20 * time.Second}},
		{"IMG-2.1: --nodeimage-creation-delay", node(corev1.ConditionTrue, 10*time.Second), Timing{CreationDelay: 10 * time.Second}, created},
		{"no delay", node(corev1.ConditionTrue, 0), Timing{CreationDelay: -1}, created},
		{"IMG-2.1: not ready", node(corev1.ConditionFalse, time.Hour), Timing{}, Plan{Waiting: nodeWaits(ruleNodeNotReady, time.Hour, 0, 0, "the node is not ready")}},
		{"IMG-2.1: not known to be ready", node(corev1.ConditionUnknown, time.Hour), Timing{}, Plan{Waiting: nodeWaits(ruleNodeNotReady, time.Hour, 0, 0, "the node is not ready")}},
		{"a node that has reported nothing", &corev1.Node{}, Timing{}, Plan{Waiting: []rollout.Wait{{Subject: rollout.Subject{Kind: "node"}, Reason: &rollout.Reason{Rule: ruleNodeNotReady, Message: "the node is not ready"}}}}},
		{"IMG-2.1: a virtual kubelet", edited(node(corev1.ConditionTrue, time.Hour), func(n *corev1.Node) { n.Labels["type"] = "virtual-kubelet" }), Timing{},
			Plan{Waiting: nodeWaits(ruleVirtualNode, -1, 0, 0, "the node is a virtual kubelet, which pulls no images")}},
		{"IMG-2.1: a node that is being deleted", edited(node(corev1.ConditionTrue, time.Hour), func(n *corev1.Node) { n.DeletionTimestamp = ptr.To(at(0)) }), Timing{},
			Plan{Waiting: nodeWaits(ruleNodeLeaving, 0, 0, 0, "the node is being deleted")}},
		{"neither node nor NodeImage", nil, Timing{}, Plan{}},
	} {
		t.Run(test.name, func(t *testing.T) {
			plan := NewPlan(&Snapshot{Node: test.node, Timing: test.timing, Now: noon})
			if diff := cmp.Diff(&test.want, plan); diff != "" {
				t.Errorf("plan (-want +got):\n%s", diff)
			}
		})
	}
}

func TestPlanDeletes(t *testing.T) {
	leaving := node(corev1.ConditionTrue, time.Hour)
	leaving.DeletionTimestamp = ptr.To(at(0))
	const fake = `metadata: {labels: {apps.kruise.io/fake-nodeimage: ""}}`
	for _, test := range []struct {
		name, nodeImage string
		node            *corev1.Node
		want            Plan
	}{
		{"IMG-2.1: the node is gone", "", nil, Plan{Delete: true}},
		{"IMG-2.1: the node is being deleted", "", leaving, Plan{Delete: true}},
		{"IMG-2.1: a fake one may be without a node", fake, nil, Plan{}},
		{"IMG-2.1: the node is not ready any more", "", node(corev1.ConditionFalse, time.Hour), Plan{}},
		{"IMG-2.1: the node is there", "", node(corev1.ConditionTrue, 0), Plan{}},
		{"a NodeImage that is being deleted", "metadata: {deletionTimestamp: '2024-05-01T12:00:00Z'}", nil, Plan{}},
	} {
		t.Run(test.name, func(t *testing.T) {
			plan := NewPlan(&Snapshot{Node: test.node, NodeImage: nodeImage(t, test.nodeImage), Now: noon})
			if diff := cmp.Diff(&test.want, plan); diff != "" {
				t.Errorf("plan (-want +got):\n%s", diff)
			}
		})
	}
}

func TestPlanKeepsLabels(t *testing.T) {
	for _, test := range []struct {
		name, nodeImage string
		node            map[string]string
		want            map[string]string
	}{
		{"IMG-2.1: equal", "", map[string]string{"zone": "one"}, nil},
		{"IMG-2.1: foreign labels are removed", "metadata: {labels: {zone: one, foreign: x}}", map[string]string{"zone": "one"}, map[string]string{"zone": "one"}},
		{"IMG-2.1: a label of the node has changed", "", map[string]string{"zone": "two", "new": ""}, map[string]string{"zone": "two", "new": ""}},
		{"IMG-2.1: a virtual kubelet is ignored", "", map[string]string{"type": "virtual-kubelet"}, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := snapshot(nodeImage(t, test.nodeImage))
			s.Node.Labels = test.node
			plan := NewPlan(s)
			if test.want == nil {
				if plan.Change != nil {
					t.Errorf("change: %+v", plan.Change)
				}
				return
			}
			if diff := cmp.Diff(test.want, plan.Change.Labels); diff != "" {
				t.Errorf("labels (-want +got):\n%s", diff)
			}
		})
	}
}

func TestChangePatch(t *testing.T) {
	n := with(t, []v1alpha1.ImageTagSpec{task("1", owners("a")...)})
	n.Labels["foreign"] = "x"
	plan := NewPlan(snapshot(n))
	data, err := plan.Change.Patch(n)
	if err != nil {
		t.Fatal(err)
	}
	var got, want any
	if err := json.Unmarshal(data, &got); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal([]byte(`{"metadata":{"labels":{"foreign":null},"uid":"n1-uid","resourceVersion":"3"},"spec":{"images":null}}`), &want); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("labels and tasks are one patch (-want +got):\n%s", diff)
	}
}

func TestPlanIsRepeatable(t *testing.T) {
	s := snapshot(with(t, []v1alpha1.ImageTagSpec{task("1", owners("a")...), task("2", owners("b")...)}), job("b"))
	if diff := cmp.Diff(NewPlan(s), NewPlan(s)); diff != "" {
		t.Errorf("the same snapshot gives another plan:\n%s", diff)
	}
}

func TestNothingToPlanFor(t *testing.T) {
	for _, s := range []*Snapshot{nil} {
		if plan := NewPlan(s); !reflect.DeepEqual(plan, &Plan{}) {
			t.Errorf("plan %+v, want none", plan)
		}
	}
}
