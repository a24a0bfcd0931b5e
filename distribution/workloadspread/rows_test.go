// SPDX-License-Identifier: Apache-2.0

package workloadspread

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright/distribution/spread"
	"github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/inplace/rollout"
	"github.com/podwright/podwright/internal/testing/patches"
)

// row is a line of testdata/rows.
type row struct {
	// Spread is the WorkloadSpread web of the Deployment web, which wants 4 pods, and Spec its spec. Others are other ones.
	Spread   *v1alpha1.WorkloadSpread
	Spec     *v1alpha1.WorkloadSpreadSpec
	Workload *spread.Workload
	Others   []*v1alpha1.WorkloadSpread
	// Pods have a name, a subset and what they are: running, or stuck since an hour; those of NotMoved cannot be deleted. Owner controls them.
	Pods, NotMoved []string
	Owner          metav1.OwnerReference
	// HeldSince says for how long a thing, after its kind, holds up something.
	HeldSince map[string]string
}

// TestRows shows plans, what they say that holds up something, and conditions. See patches.PlayRows.
func TestRows(t *testing.T) {
	blank := func() row {
		ws := newSpread(t, "web", "subsets: [{name: a, maxReplicas: 50%}, {name: c}]")
		ws.CreationTimestamp = metav1.NewTime(at)
		return row{Spread: ws, Spec: &ws.Spec, Workload: &spread.Workload{GroupKind: spread.Deployments, Name: "web", Replicas: new(int32(4))},
			Owner: metav1.OwnerReference{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: "web-1", UID: "1", Controller: new(true)}}
	}
	patches.PlayRows(t, "testdata/rows", blank, func(_ *testing.T, _ string, r *row) string { return r.show() })
}

func (r *row) show() string {
	s := &Snapshot{Spread: r.Spread, Others: r.Others, Workload: r.Workload, Now: at.Add(time.Hour), NotMoved: map[types.UID]bool{},
		Nodes: map[string]*corev1.Node{"node-1": {ObjectMeta: metav1.ObjectMeta{Name: "node-1"}}}, HeldSince: map[rollout.Subject]time.Time{}}
	for _, text := range r.Pods {
		words := strings.Fields(text)
		pod := newPod(words[0], strings.Trim(words[1], "-"), r.Owner)
		pod.UID, pod.Spec.NodeName, pod.Status.Phase = types.UID(words[0]), "node-1", corev1.PodRunning
		if words[2] == "stuck" {
			pod.CreationTimestamp = metav1.NewTime(at)
			waiting(pod)
			pod.Status.Conditions[0].Message = "0/3 nodes have room"
		}
		s.Pods = append(s.Pods, pod)
		s.NotMoved[pod.UID] = slices.Contains(r.NotMoved, pod.Name)
	}
	for subject, ago := range r.HeldSince {
		kind, name, _ := strings.Cut(subject, " ")
		d, _ := time.ParseDuration(ago)
		s.HeldSince[rollout.Subject{Kind: kind, Name: name}] = s.Now.Add(-d)
	}
	plan := NewPlan(s)
	lines := []string{plan.String()}
	for _, h := range plan.Held {
		line := fmt.Sprintf("held is %s %s", h.Kind, h.Name)
		if h.Reason != nil {
			line += fmt.Sprintf(" by %s: %s", h.Reason.Rule, h.Reason.Message)
		}
		if !h.Since.IsZero() {
			line += fmt.Sprint(", since ", s.Now.Sub(h.Since), " ago")
		}
		lines = append(lines, line)
	}
	if plan.Status != nil {
		for _, subset := range plan.Status.SubsetStatuses {
			for _, c := range subset.Conditions {
				lines = append(lines, strings.TrimSpace(fmt.Sprint(subset.Name, " ", c.Type, "=", c.Status, " ", c.Reason, " ", c.Message)))
			}
		}
	}
	return strings.Join(lines, "\n")
}
