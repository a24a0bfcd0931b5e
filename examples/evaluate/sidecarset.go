// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/podwright/podwright/examples/cluster/registry"
	"github.com/podwright/podwright/examples/testbed/mirror"
	"github.com/podwright/podwright/inplace/rollout"
	"github.com/podwright/podwright/sidecar/injection"
	"github.com/podwright/podwright/sidecar/policies"
	"github.com/podwright/podwright/sidecar/sidecarset"
	"github.com/podwright/podwright/sidecar/v1alpha1"
)

// The images of the hot container: two versions, and the one that does nothing.
const mesh1, mesh2, meshEmpty = "docker.io/library/mesh:1", "docker.io/library/mesh:2", "docker.io/library/mesh:empty"

// images are what real nodes can pull.
var images = map[string]registry.Image{
	oldImage: {Labels: map[string]string{"name": oldImage}}, newImage: {Labels: map[string]string{"name": newImage}},
	mesh1: serving("1"), mesh2: serving("2"), meshEmpty: {},
}

// serving answers with its version, on a port of its own.
func serving(version string) registry.Image {
	port := "808" + version
	return registry.Image{Files: map[string]string{"/www/index.html": version}, Env: []string{"PORT=" + port}, Cmd: []string{"/bin/httpd", "-f", "-p", port, "-h", "/www"}}
}

var sidecarSet = &kind{
	name: "SidecarSet", manifest: manifest("sidecarset"), sidecars: true, own: "it injects in all namespaces", image: inSidecars,
	next: "Scale out: new pods are injected.\n  KUBECTL scale clonesets.apps.kruise.io " + setName + " --replicas=12", beside: []schema.GroupVersionResource{cloneSet.resource},
	resource: v1alpha1.SchemeGroupVersion.WithResource("sidecarsets"),
	acts: []act{{name: "The injection", creates: true, pods: replicas, promises: []promise{injection10}, steps: []step{
		{title: "create the SidecarSet: the API server injects by itself, no webhook", do: create, until: injects},
		{title: "create a CloneSet of 10 pods: each gets log, mesh-1 and mesh-2", do: cloneSet.create, want: updated(replicas, replicas)},
	}}, update(
		inSidecars, "/spec/updateStrategy/partition", `"50%"`, append(exchange(replicas), alwaysWorks)...,
	), {name: "The hot upgrade and the way back", promises: hotUpgrade, pods: replicas, missing: maxUnavailable, asks: meshes, answers: []string{"1", "2"}, steps: []step{
		{title: "mesh:2: it starts in mesh-2, and only then mesh-1 is emptied", do: change(setImage(inMesh, mesh2)), want: updated(replicas, replicas)},
		{title: "back to mesh:1: it starts in mesh-1, and mesh-2 is emptied", do: change(setImage(inMesh, mesh1)), want: updated(replicas, replicas)},
	}}},
	controller: func(d *demo) (runner, error) {
		sets, failure1 := sidecarset.New(sidecarset.Options{Kubernetes: d.Kubernetes, Sidecar: d.Sidecar, Namespace: d.namespace})
		injectors, failure2 := policies.New(policies.Options{Kubernetes: d.Kubernetes, Sidecar: d.Sidecar, Namespace: d.namespace})
		workload, failure3 := cloneSet.controller(d)
		return runners{sets, injectors, workload}, errors.Join(failure1, failure2, failure3)
	},
	source: func(d *demo) mirror.Source {
		return mirror.From(d.Sidecar.SidecarSets().List, d.Sidecar.SidecarSets().Watch)
	},
	plan: func(o *observed) rollout.Plan {
		return sidecarset.NewPlan(&sidecarset.Snapshot{Set: o.set.(*v1alpha1.SidecarSet), Pods: o.pods, Revisions: o.revisions, RevisionNamespace: metav1.NamespaceDefault, Now: o.now}).Plan // the own cluster's namespace
	},
	status: func(object metav1.Object) status {
		s := &object.(*v1alpha1.SidecarSet).Status
		return status{s.ObservedGeneration, int64(s.MatchedPods), int64(s.ReadyPods), int64(s.UpdatedPods), int64(s.UpdatedReadyPods)}
	},
	revision: injectedRevision,
}

// injectedRevision is that of the sidecars of a pod.
func injectedRevision(pod *corev1.Pod) string {
	records, _ := injection.Records(pod, v1alpha1.SidecarSetHashAnnotation)
	return records[setName].SidecarSetControllerRevision
}

// meshes are the two of each pod. They share its network, so each version has a port.
func meshes(d *demo) (clients []func() []string) {
	for _, pod := range d.observer.pods.All() {
		clients = append(clients, func() []string {
			return []string{"http://" + pod.Status.PodIP + ":8081", "http://" + pod.Status.PodIP + ":8082"}
		})
	}
	return clients
}

// injects asks the API server what it would make of a pod.
func injects(ctx context.Context, d *demo) bool {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{GenerateName: setName + "-", Labels: map[string]string{"app": "web"}},
		Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: oldImage}}}}
	pod, err := d.Kubernetes.CoreV1().Pods(d.namespace).Create(ctx, pod, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
	return err == nil && len(pod.Spec.Containers) == len(allContainers)
}
