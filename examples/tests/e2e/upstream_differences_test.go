// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	corev1 "k8s.io/api/core/v1"

	lifecyclev1alpha1 "github.com/podwright/podwright/lifecycle/v1alpha1"
)

// difference is one in what there is on our side, at a settled moment.
type difference struct {
	// reason says why it is right. Manifests and clusters of OpenKruise 1.4 are to work unchanged: if that does it
	// differently from Kubernetes, so do we.
	reason string
	// undo takes the difference away and tells whether it was there.
	undo func(*outcome) bool
	seen atomic.Bool
}

// differences are all that there may be. Whatever else differs is a defect of ours.
var differences = []*difference{
	{
		reason: "the readiness gate KruisePodReady lets several writers take a pod out of service",
		undo: func(o *outcome) (found bool) {
			for i := range o.Pods {
				gates := &o.Pods[i].Spec.ReadinessGates
				n := len(*gates)
				*gates = slices.DeleteFunc(*gates, func(gate corev1.PodReadinessGate) bool { return gate.ConditionType == lifecyclev1alpha1.KruisePodReady })
				found = found || len(*gates) < n
			}
			return found
		},
	},
	{
		reason: "pods say where they stand with their lifecycle hooks, and since when",
		undo: func(o *outcome) (found bool) {
			for i := range o.Pods {
				pod := &o.Pods[i]
				found = found || pod.Labels[lifecyclev1alpha1.StateLabel] != ""
				delete(pod.Labels, lifecyclev1alpha1.StateLabel)
				delete(pod.Annotations, lifecyclev1alpha1.TimestampAnnotation)
			}
			return found
		},
	},
	{
		reason: "imagePullPolicy is Always where a template says nothing, whatever the tag",
		undo: func(o *outcome) (found bool) {
			// No manifest here says Always.
			undo := func(containers []corev1.Container) {
				for i := range containers {
					if container := &containers[i]; strings.Contains(container.Image, ":") && container.ImagePullPolicy == corev1.PullAlways {
						container.ImagePullPolicy, found = corev1.PullIfNotPresent, true
					}
				}
			}
			for i := range o.Pods {
				undo(o.Pods[i].Spec.InitContainers)
				undo(o.Pods[i].Spec.Containers)
			}
			for i := range o.Revisions {
				undo(o.Revisions[i].Template.Spec.InitContainers)
				undo(o.Revisions[i].Template.Spec.Containers)
			}
			return found
		},
	},
	{
		reason: "a claim that goes with its pod or set is owned by it, but not controlled",
		undo: func(o *outcome) (found bool) {
			for i := range o.Claims {
				for j, owner := range o.Claims[i].Owners {
					if !strings.Contains(owner, ",") {
						o.Claims[i].Owners[j] = owner + ", controller, blocks its deletion"
						found = true
					}
				}
			}
			return found
		},
	},
	{
		reason: "a claim has the labels of the selector, and those of its template only in Kubernetes",
		undo: func(o *outcome) (found bool) {
			for i := range o.Claims {
				if labels := o.Claims[i].Labels; labels["app"] == "web" && labels["tier"] == "" {
					labels["tier"], found = "store", true
				}
			}
			return found
		},
	},
}

// undoDifferences takes the differences that there may be away from what there is on our side.
func undoDifferences(o *outcome) {
	for _, d := range differences {
		if d.undo(o) {
			d.seen.Store(true)
		}
	}
}

// everyDifferenceIsSeen fails if a difference that there may be is nowhere.
func everyDifferenceIsSeen(t *testing.T) {
	for _, d := range differences {
		if !d.seen.Load() {
			t.Errorf("nothing differs in that %s: take it off the list", d.reason)
		}
	}
}
