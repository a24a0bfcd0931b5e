package main

import (
	_ "embed"

	"k8s.io/client-go/tools/cache"

	"github.com/podwright/podwright/workloads/client"
	"github.com/podwright/podwright/workloads/cloneset"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

//go:embed cloneset.yaml
var cloneSetManifest []byte

var cloneSets = kind{
	name:     "CloneSet",
	kubectl:  "cloneset",
	resource: v1alpha1.SchemeGroupVersion.WithResource("clonesets"),
	manifest: cloneSetManifest,
	creation: "10 pods",
	acts: []act{
		halves("/spec/updateStrategy/partition", "50%", "half of the pods move", "the other half moves", nil),
	},
	informer: func(workloads client.Interface, namespace string) cache.SharedIndexInformer {
		return client.NewCloneSetInformer(workloads, namespace, 0, nil)
	},
	plan: planCloneSet,
}

func planCloneSet(object any, its belongings) *state {
	set, ok := object.(*v1alpha1.CloneSet)
	if !ok {
		return nil
	}
	plan := cloneset.NewPlan(&cloneset.Snapshot{Set: set, Pods: its.pods, Revisions: its.revisions, Now: its.now})
	status := &set.Status
	s := &state{
		replicas: set.Spec.Replicas, observed: status.ObservedGeneration,
		status: counts{status.Replicas, status.AvailableReplicas, status.UpdatedReplicas, status.UpdatedReadyReplicas},
		update: plan.Revisions.Update, waiting: plan.Waiting,
		todo: todo{len(plan.Create), len(plan.Delete), len(plan.Patch)},
	}
	for _, problem := range plan.Problems {
		s.problems = append(s.problems, problem.Err)
	}
	return s
}
