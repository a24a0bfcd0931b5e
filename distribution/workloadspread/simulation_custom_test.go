// SPDX-License-Identifier: Apache-2.0

package workloadspread

import (
	"fmt"
	"math/rand/v2"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/podwright/podwright"
	"github.com/podwright/podwright/distribution/spread"
	"github.com/podwright/podwright/internal/testing/fakecluster"
	"github.com/podwright/podwright/internal/testing/simulation"
	"github.com/podwright/podwright/internal/testing/simulation/invariants"
)

// customKinds are what the white list has of it.
func customKinds(p *simulation.Process) []CustomKind {
	return []CustomKind{{Kind: rollouts, Resource: "rollouts", Informer: p.Informer("rollouts")}}
}

const customRead = podwright.Resource("rollouts.argoproj.io")

// TestSimulationOfCustomKinds is TestSimulation with workloads of a kind of the white list, between which and their pods ReplicaSets stand. (WS-35)
func TestSimulationOfCustomKinds(t *testing.T) {
	alone, together := simulated(&bug{of: ofRollout}), simulated(&bug{of: ofRollout, together: true})
	alone.Webhooks = 1 // nothing is put right later, as the pods of a Deployment are (WS-19)
	simulation.Check(t, alone, together)
}

// TestSimulationFindsBugsOfCustomKinds plants bugs, each of which a few seeds must find.
func TestSimulationFindsBugsOfCustomKinds(t *testing.T) {
	plant := simulation.Plant(t, spreading(ofRollout))
	plant("pods get costs", invariants.Order, 0, inPlan(costOfCustom))
	plant("the owners of owners are not looked at", invariants.Status, 0, bug{hides: replicaSet})
	plant("new pods are placed without what stands between", invariants.Placement, 0, bug{placerHides: replicaSet})
	plant("what is wanted is not read", invariants.Status, 0, inWorkload(func(w *spread.Workload) { w.Replicas = new(*w.Replicas + 1) }))
	plant("pods that are misplaced are deleted", invariants.Needless, 0, inPlan(deleteOfCustom))
}

// costOfCustom has pods of a kind of the white list cost something.
func costOfCustom(_ *Snapshot, p *Plan) {
	for i := range p.Patches {
		if p.Patches[i].Annotations == nil {
			p.Patches[i].Annotations = map[string]*string{}
		}
		p.Patches[i].Annotations[corev1.PodDeletionCost] = new("100")
	}
}

// deleteOfCustom deletes a pod that waits for a node.
func deleteOfCustom(s *Snapshot, p *Plan) {
	for _, pod := range s.Pods {
		if p.Computed != nil && pod.Spec.NodeName == "" && pod.DeletionTimestamp == nil && len(p.Deletions) == 0 {
			p.Deletions, p.MayDelete = append(p.Deletions, spread.Deletion{Pod: pod, Why: spread.Misplaced}), 1
		}
	}
}

// customBeside is what a simulation needs to know of such a workload, whose controller is that of Deployments under another name.
func customBeside(bug *bug) *simulation.Subject {
	w := deploymentBeside(bug)
	w.Resource = fakecluster.CustomResource(rollouts, "rollouts")
	w.Empty = func() simulation.Object {
		object := &unstructured.Unstructured{}
		object.SetGroupVersionKind(rollouts)
		return object
	}
	w.Create = func(r *rand.Rand) simulation.Object {
		content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(anyDeployment(r))
		if err != nil {
			panic(err)
		}
		object := &unstructured.Unstructured{Object: content}
		object.SetGroupVersionKind(rollouts)
		return object
	}
	w.Start = func(p *simulation.Process) (simulation.Controller, error) {
		return startDeployments(p, "rollouts", rollouts)
	}
	return w
}

// asDeployment reads a Deployment, or what looks like one.
func asDeployment(object simulation.Object) (*appsv1.Deployment, error) {
	switch object := object.(type) {
	case *appsv1.Deployment:
		return object, nil
	case *unstructured.Unstructured:
		of := &appsv1.Deployment{}
		return of, runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, of)
	}
	return nil, fmt.Errorf("%T is no Deployment", object)
}
