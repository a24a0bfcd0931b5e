// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/tools/cache"

	distributionclient "github.com/podwright/podwright/distribution/client"
	distributionv1alpha1 "github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/distribution/workloadspread"
	"github.com/podwright/podwright/examples/faults/invariants"
	"github.com/podwright/podwright/examples/testbed/podhistory"
	workloadsclient "github.com/podwright/podwright/workloads/client"
	"github.com/podwright/podwright/workloads/cloneset"
)

// What the manifest says of nodes.
const onOwn = 4

var own, rented = []string{"node-0", "node-1"}, []string{"node-2", "node-3"}

var spread = &kind{
	name: cloneSet.name, resource: cloneSet.resource, manifest: manifest("spread"), nodes: onOwn, image: inTemplate,
	shows: "pods are spread over one's own nodes and rented ones", own: "it tells nodes by their names",
	next:   "Let pods onto the nodes of one's own again, and scale out.\n  KUBECTL uncordon node-0 node-1; KUBECTL scale OBJECT --replicas=10",
	beside: []schema.GroupVersionResource{distributionv1alpha1.SchemeGroupVersion.WithResource("workloadspreads")},
	acts: []act{
		{name: "The spread", creates: true, pods: replicas, steps: []step{
			{title: "create a WorkloadSpread, and a CloneSet without pods", do: create, until: spreads},
			{title: "scale out to 10 pods: the CloneSet places them, no webhook", do: change(set("/spec/replicas", "10")), want: updated(replicas, replicas)},
		}, promises: []promise{{onOwn, "%d of %d pods run on the nodes of one's own, as maxReplicas says", runs(own)}, {replicas - onOwn, "%d of %d pods run on rented ones", runs(rented)}}},
		{name: "The scale-in", moves: true, pods: onOwn, steps: []step{
			{title: "scale in to 4 pods: the rented nodes are free first", do: change(set("/spec/replicas", "4")), want: updated(onOwn, onOwn)},
		}, promises: []promise{{onOwn, "%d of %d pods stayed on the nodes of one's own", runs(own)}, {0, "%d of %d pods are left on rented ones", runs(rented)}}},
		{name: "The full nodes", moves: true, pods: onOwn, missing: 1, steps: []step{
			{title: "cordon one's own nodes, delete a pod: after 5 s it is on a rented one", do: loseOne, want: updated(onOwn, onOwn), until: lostOne},
		}, promises: []promise{{onOwn - 1, "%d of %d pods stayed on the nodes of one's own", runs(own)}, {1, "%d of %d pods runs on a rented one", runs(rented)}}},
	},
	controller: func(d *demo) (runner, error) {
		pods := informers.NewSharedInformerFactoryWithOptions(d.Kubernetes, 0, informers.WithNamespace(d.namespace)).Core().V1().Pods().Informer()
		sets := workloadsclient.NewCloneSetInformer(d.Workloads, d.namespace, 0, cache.Indexers{})
		spreads := distributionclient.NewWorkloadSpreadInformer(d.Distribution, d.namespace, 0, cache.Indexers{})
		o := workloadspread.Options{Kubernetes: d.Kubernetes, Distribution: d.Distribution, Namespace: d.namespace, Spreads: spreads, Pods: pods, CloneSets: sets}
		placer, failure1 := workloadspread.NewPlacer(o)
		status, failure2 := workloadspread.New(o)
		workload, failure3 := cloneset.New(cloneset.Options{Kubernetes: d.Kubernetes, Workloads: d.Workloads, Namespace: d.namespace, CloneSets: sets, Pods: pods, Placement: placer})
		return runners{workload, status, placer, informer{sets}, informer{pods}, informer{spreads}}, errors.Join(failure1, failure2, failure3)
	},
	source: cloneSet.source, plan: cloneSet.plan,
}

// spreads tells whether the WorkloadSpread is known.
func spreads(ctx context.Context, d *demo) bool {
	s, err := d.Distribution.WorkloadSpreads(d.namespace).Get(ctx, setName, metav1.GetOptions{})
	return err == nil && s.Status.ObservedGeneration == s.Generation
}

// loseOne cordons the nodes of one's own, and deletes a pod that is on one.
func loseOne(ctx context.Context, d *demo) error {
	for _, node := range own {
		if _, err := d.Kubernetes.CoreV1().Nodes().Patch(ctx, node, types.MergePatchType, []byte(`{"spec":{"unschedulable":true}}`), metav1.PatchOptions{}); err != nil {
			return err
		}
	}
	return d.Kubernetes.CoreV1().Pods(d.namespace).Delete(ctx, d.observer.pods.All()[0].Name, metav1.DeleteOptions{
		GracePeriodSeconds: new(int64(invariants.UserGracePeriod))}) // by which users are known
}

// lostOne tells whether a pod runs on a rented node.
func lostOne(_ context.Context, d *demo) bool {
	return slices.ContainsFunc(d.observer.pods.All(), func(pod *corev1.Pod) bool { return slices.Contains(rented, pod.Spec.NodeName) })
}

// runs: it does, in the end, on one of these nodes.
func runs(nodes []string) func(*podhistory.Track) (holds, wrong bool) {
	return func(t *podhistory.Track) (holds, wrong bool) {
		return !t.Gone && slices.Contains(nodes, t.States[len(t.States)-1].Spec.NodeName), false
	}
}
