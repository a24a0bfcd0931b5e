package main

import (
	_ "embed"
	"fmt"

	"k8s.io/client-go/tools/cache"

	"github.com/podwright/podwright/workloads/client"
	"github.com/podwright/podwright/workloads/statefulset"
	"github.com/podwright/podwright/workloads/v1beta1"
)

//go:embed statefulset.yaml
var statefulSetManifest []byte

var statefulSets = kind{
	name:     "StatefulSet",
	kubectl:  "statefulset.apps.kruise.io", // without the group it is that of Kubernetes
	resource: v1beta1.SchemeGroupVersion.WithResource("statefulsets"),
	manifest: statefulSetManifest,
	creation: "10 pods, all at once",
	acts: []act{
		halves("/spec/updateStrategy/rollingUpdate/partition", replicas/2, "web-9 down to web-5", "web-4 down to web-0", downwards()),
		mistake(downwards()),
	},
	more: []hint{{
		"Reserve an ordinal: web-3 goes for good, and a pod with the next free ordinal comes.",
		change{"add", "/spec/reserveOrdinals", []int{3}},
	}},
	informer: func(workloads client.Interface, namespace string) cache.SharedIndexInformer {
		return client.NewStatefulSetInformer(workloads, namespace, 0, nil)
	},
	plan: planStatefulSet,
}

// downwards names the pods in the order in which a rollout moves them.
func downwards() []string {
	var out []string
	for ordinal := replicas - 1; ordinal >= 0; ordinal-- {
		out = append(out, fmt.Sprint(setName, "-", ordinal))
	}
	return out
}

func planStatefulSet(object any, its belongings) *state {
	set, ok := object.(*v1beta1.StatefulSet)
	if !ok {
		return nil
	}
	plan := statefulset.NewPlan(&statefulset.Snapshot{Set: set, Pods: its.pods, Revisions: its.revisions, Now: its.now})
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
