// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"time"

	"golang.org/x/sync/errgroup"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

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
	name: "SidecarSet", manifest: sidecarSetManifest, sidecars: true,
	resource: v1alpha1.SchemeGroupVersion.WithResource("sidecarsets"),
	acts: []act{{name: "The injection", creates: true, promises: []promise{injection10}, steps: []step{
		{title: "create the SidecarSet: the API server injects by itself, no webhook", until: injects},
		{title: "create a CloneSet of 10 pods: each gets log, mesh-1 and mesh-2", creates: cloneSet, want: updated(replicas)},
	}}, update(
		inSidecars, "/spec/updateStrategy/partition", `"50%"`, append(exchange(replicas), alwaysWorks)...,
	), {name: "The hot upgrade and the way back", promises: hotUpgrade, serves: true, steps: []step{
		{title: "mesh:2: it starts in mesh-2, and only then mesh-1 is emptied", changes: []string{setImage(inMesh, mesh2)}, want: updated(replicas)},
		{title: "back to mesh:1: it starts in mesh-1, and mesh-2 is emptied", changes: []string{setImage(inMesh, mesh1)}, want: updated(replicas)},
	}}},
	controller: func(d *demo) (runner, error) {
		sets, failure1 := sidecarset.New(sidecarset.Options{Kubernetes: d.core, Sidecar: d.sidecars, Namespace: d.namespace})
		injectors, failure2 := policies.New(policies.Options{Kubernetes: d.core, Sidecar: d.sidecars, Namespace: d.namespace})
		workload, failure3 := cloneSet.controller(d)
		return runners{sets, injectors, workload}, errors.Join(failure1, failure2, failure3)
	},
	source: func(d *demo) mirror.Source {
		return mirror.From(d.sidecars.SidecarSets().List, d.sidecars.SidecarSets().Watch)
	},
	plan: func(object metav1.Object, pods []*corev1.Pod, revisions []*appsv1.ControllerRevision, _ []*corev1.Node, now time.Time) rollout.Plan {
		return sidecarset.NewPlan(&sidecarset.Snapshot{Set: object.(*v1alpha1.SidecarSet), Pods: pods, Revisions: revisions, RevisionNamespace: metav1.NamespaceDefault, Now: now}).Plan // the own cluster's namespace
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

// runners run all together, and end when one does.
type runners []runner

func (r runners) Run(ctx context.Context) error {
	running, ctx := errgroup.WithContext(ctx)
	for _, each := range r {
		running.Go(func() error { return each.Run(ctx) })
	}
	return running.Wait()
}

// injects asks the API server what it would make of a pod.
func injects(ctx context.Context, d *demo) bool {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{GenerateName: setName + "-", Labels: map[string]string{"app": "web"}},
		Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: oldImage}}}}
	pod, err := d.core.CoreV1().Pods(d.namespace).Create(ctx, pod, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
	return err == nil && len(pod.Spec.Containers) == len(allContainers)
}
