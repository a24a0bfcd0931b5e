// SPDX-License-Identifier: Apache-2.0

package image

import (
	"maps"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	criv1 "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/podwright/podwright/distribution/v1alpha1"
)

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// What others have written to the status and the agent does not know stays.
func TestPlanKeepsFirstSyncStatus(t *testing.T) {
	n := newNodeImage(wants("nginx", "1"))
	n.Status.FirstSyncStatus = &v1alpha1.SyncStatus{SyncAt: ago(0)}
	plan := NewPlan(&Snapshot{NodeImage: n, Images: []*criv1.Image{}, Concurrency: 1, Now: now})
	if plan.Status.FirstSyncStatus == nil {
		t.Error("IMG-2.5 difference: firstSyncStatus is gone")
	}
	if n.Status.Desired != 0 || n.Status.ImageStatuses != nil {
		t.Errorf("the snapshot was changed: %+v", n.Status)
	}
}

// The secrets and the sandbox of an image go with every attempt, and its owners
// with the end.
func TestPlanHandsOver(t *testing.T) {
	n := newNodeImage(wants("nginx", "1"))
	image := n.Spec.Images["nginx"]
	image.PullSecrets = []v1alpha1.ReferenceObject{{Namespace: "default", Name: "registry"}}
	image.SandboxConfig = &v1alpha1.SandboxConfig{Labels: map[string]string{"a": "b"}}
	n.Spec.Images["nginx"] = image
	plan := NewPlan(&Snapshot{NodeImage: n, Images: []*criv1.Image{}, Concurrency: 1, Now: now})
	want := Start{Task: Task{"nginx", "1"}, Version: 1, Reference: "nginx:1", Timeout: 10 * time.Minute, Secrets: image.PullSecrets, Sandbox: image.SandboxConfig}
	if diff := cmp.Diff([]Start{want}, plan.Start); diff != "" {
		t.Errorf("start (-want +got):\n%s", diff)
	}
	if got := plan.Status.ImageStatuses["nginx"].Tags[0].StartTime; !got.Equal(&metav1.Time{Time: now}) {
		t.Errorf("IMG-2.5: startTime %v", got)
	}
}

func TestNothingToPlanFor(t *testing.T) {
	for _, s := range []*Snapshot{nil} {
		if plan := NewPlan(s); !reflect.DeepEqual(plan, &Plan{}) {
			t.Errorf("plan %+v, want none", plan)
		}
	}
}
