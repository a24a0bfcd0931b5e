// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/cache"

	"github.com/podwright/podwright/availability/podunavailablebudget"
	availabilityv1alpha1 "github.com/podwright/podwright/availability/v1alpha1"
	"github.com/podwright/podwright/examples/testbed/drains"
	"github.com/podwright/podwright/examples/testbed/podhistory"
	"github.com/podwright/podwright/examples/testbed/podstate"
	"github.com/podwright/podwright/examples/testbed/serve"
	"github.com/podwright/podwright/lifecycle/readiness"
	workloadsclient "github.com/podwright/podwright/workloads/client"
)

var budget = &kind{
	name: cloneSet.name, resource: cloneSet.resource, manifest: manifest("budget"), shows: "nodes are drained, and no pod is missed", own: "the API server asks this process about evictions", image: inTemplate,
	next:   "Drain a node: at most one of ten pods is away at any moment.\n  KUBECTL drain node-2 --ignore-daemonsets",
	beside: []schema.GroupVersionResource{availabilityv1alpha1.SchemeGroupVersion.WithResource("podunavailablebudgets")},
	acts: []act{
		{steps: []step{{title: "create a budget and a CloneSet of 1 pod, with maxSurge 1", do: create, want: updated(1, 1), until: denies}}},
		drain("The drain of the node of the only pod", "kubectl drain: denied (429), until another pod serves", 1, 0),
		{steps: []step{{title: "scale out to 10 pods", do: change(set("/spec/replicas", "10")), want: updated(replicas, replicas)}}},
		drain("The drain of a node of ten pods", "kubectl drain: one pod of ten may be away at a time", replicas, 1),
	},
	controller: func(d *demo) (runner, error) {
		workload, err := cloneSet.controller(d)
		sets := workloadsclient.NewCloneSetInformer(d.Workloads, d.namespace, 0, cache.Indexers{})
		return runners{workload, informer{sets}, &serve.Budgets{Options: podunavailablebudget.Options{
			Kubernetes: d.Kubernetes, Availability: d.Availability, Namespace: d.namespace, CloneSets: sets,
		}}}, err
	},
	source: cloneSet.source, plan: cloneSet.plan,
}

// informer runs one.
type informer struct{ cache.SharedIndexInformer }

func (i informer) Run(ctx context.Context) error { i.RunWithContext(ctx); return nil }

// denies tells whether the API server denies the eviction of the pod, asked by a dry run.
func denies(ctx context.Context, d *demo) bool {
	eviction := &policyv1.Eviction{ObjectMeta: metav1.ObjectMeta{Name: d.observer.pods.All()[0].Name, Namespace: d.namespace},
		DeleteOptions: &metav1.DeleteOptions{DryRun: []string{metav1.DryRunAll}}}
	err := d.Kubernetes.PolicyV1().RESTClient().Post().AbsPath("/api/v1").Namespace(d.namespace).Resource("pods").Name(eviction.Name).
		SubResource("eviction").MaxRetries(0).Body(eviction).Do(ctx).Error()
	return apierrors.IsTooManyRequests(err)
}

// drain drains the node of one of so many pods.
func drain(name, title string, pods, missing int) act {
	node, denied, took := "", 0, time.Duration(0)
	return act{
		name: name, pods: pods, missing: missing, moves: true, promises: evictions(&node, pods), asks: aService, answers: []string{"1"},
		also: func() check {
			return check{denied > 0, fmt.Sprintf("%d evictions were denied with the code 429, and kubectl tried again: the drain took %.1f s", denied, took.Seconds())}
		},
		steps: []step{{title: title, want: updated(int64(pods), int64(pods)), do: func(ctx context.Context, d *demo) (err error) {
			all := slices.SortedFunc(slices.Values(d.observer.pods.All()), func(a, b *corev1.Pod) int { return cmp.Compare(a.Name, b.Name) })
			node = all[0].Spec.NodeName
			begin := time.Now()
			denied, err = drains.Node(ctx, d.config, node, "", d.Patience)
			took = time.Since(begin)
			return err
		}}},
	}
}

// evictions are promised where a node is drained, of so many pods.
func evictions(node *string, pods int) []promise {
	evicted := func(t *podhistory.Track) (holds, wrong bool) {
		there := !t.Created && t.States[0].Spec.NodeName == *node
		gone := t.Gone && podstate.Evicted(t.States[len(t.States)-1])
		return there && gone, there && !gone
	}
	return []promise{{some, "%d of %d pods were on the node, and were evicted", evicted}, {pods, "%d of %d pods are Ready", isReady}}
}

// isReady: it is, in the end. It may be one that has gone.
func isReady(t *podhistory.Track) (holds, wrong bool) {
	holds = !t.Gone && readiness.Ready(t.States[len(t.States)-1])
	return holds, !holds && !t.Gone
}

// aService is a client that asks any pod that serves and goes on to, as one of a Service does.
func aService(d *demo) []func() []string {
	return []func() []string{func() (urls []string) {
		for _, pod := range d.observer.pods.All() {
			if serving := available(slices.Values([]*corev1.Pod{pod})) == 1; serving {
				urls = append(urls, "http://"+pod.Status.PodIP+":8081")
			}
		}
		rand.Shuffle(len(urls), func(i, j int) { urls[i], urls[j] = urls[j], urls[i] })
		return urls[:min(1, len(urls))]
	}}
}
