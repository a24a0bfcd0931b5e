// SPDX-License-Identifier: Apache-2.0

package recreate

import (
	"net/http"
	"testing"

	"github.com/podwright/podwright/internal/testing/conformance/editing"
	"github.com/podwright/podwright/internal/testing/simulation"
	"github.com/podwright/podwright/internal/testing/simulation/invariants"
	"github.com/podwright/podwright/lifecycle/v1alpha1"
)

type spoil = simulation.Spoil[Options, Reconciler]

// onWire spoils the body of each request of a kind.
func onWire(method, resource string, spoilBody func(map[string]any)) *simulation.Subject {
	bug := simulation.OnWire[Options, Reconciler](simulation.SpoilBodies(method, resource, spoilBody))
	return simulated(&bug)
}

// TestSimulationFindsBugs plants bugs into the manager: a few seeds must find each.
func TestSimulationFindsBugs(t *testing.T) {
	requests, pods := string(resourceRequests), string(resourcePods)
	simulation.FindBugs(t, []simulation.Bug{
		{Name: "a request is not guarded", Breaks: invariants.Availability, Workload: onWire(http.MethodPatch, requests, simulation.Forget("metadata", "finalizers"))},
		{Name: "the agent is told nothing of containers", Breaks: invariants.Settled, Workload: onWire(http.MethodPatch, requests, func(body map[string]any) {
			if metadata, is := body["metadata"].(map[string]any); is {
				if annotations, is := metadata["annotations"].(map[string]any); is {
					delete(annotations, v1alpha1.ContainerRecreateRequestSyncContainerStatusesAnnotation)
				}
			}
		})},
		{Name: "pods stay in service", Breaks: invariants.Availability, Workload: onWire(http.MethodPatch, pods, simulation.Forget("status", "conditions"))},
		{Name: "any pod of the name is patched", Breaks: invariants.Ownership, Workload: onWire(http.MethodPatch, pods, simulation.Forget("metadata", "uid"))},
		{Name: "a completed request stays active", Breaks: invariants.Settled, Workload: onWire(http.MethodPatch, requests, simulation.Forget("metadata", "labels"))},
		{Name: "containers that are not back stay so", Breaks: invariants.Status, Workload: onWire(http.MethodPatch, requests, simulation.Forget("status", "containerRecreateStates"))},
	})
}

// TestUsersEditEveryField: admission refuses every edit of the spec of a request, so users make others.
func TestUsersEditEveryField(t *testing.T) {
	t.Parallel()
	editing.Check(t, editing.Subject[v1alpha1.ContainerRecreateRequest]{Create: ValidateCreate, Update: ValidateUpdate, Immutable: map[string]string{
		"podName": `{"podName":"p1"}`, "containers": `{"containers":[{"name":"other"}]}`, "strategy": `{"strategy":{"minStartedSeconds":77}}`,
		"activeDeadlineSeconds": `{"activeDeadlineSeconds":77}`, "ttlSecondsAfterFinished": `{"ttlSecondsAfterFinished":77}`,
	}}, simulated(&spoil{}))
}
