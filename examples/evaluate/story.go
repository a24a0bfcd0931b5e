// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"cmp"
	"context"
	"embed"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/yaml"

	"github.com/podwright/podwright"
	"github.com/podwright/podwright/availability/podunavailablebudget"
	"github.com/podwright/podwright/distribution/workloadspread"
	"github.com/podwright/podwright/examples/tests/cluster/registry"
	"github.com/podwright/podwright/examples/tests/faults/invariants"
	"github.com/podwright/podwright/examples/tests/testbed/drains"
	"github.com/podwright/podwright/examples/tests/testbed/mirror"
	"github.com/podwright/podwright/examples/tests/testbed/serve"
	"github.com/podwright/podwright/inplace/rollout"
	"github.com/podwright/podwright/sidecar/policies"
	"github.com/podwright/podwright/sidecar/sidecarset"
	sidecarv1alpha1 "github.com/podwright/podwright/sidecar/v1alpha1"
	"github.com/podwright/podwright/workloads/cloneset"
	"github.com/podwright/podwright/workloads/daemonset"
	"github.com/podwright/podwright/workloads/statefulset"
	"github.com/podwright/podwright/workloads/v1alpha1"
	"github.com/podwright/podwright/workloads/v1beta1"
)

// kind is a demo as stories.yaml tells it, which also says what its words mean.
type kind struct {
	Resources []string // that are needed, with their controllers; the last one is that of the workload
	Shows     string   // what becomes of the pods; empty: they are updated in place
	Alone     string   // why it needs a cluster of its own; empty: it does not
	Nodes     int      // how many simulated ones there have to be; 0: any, also real ones
	Next      string   // what to try then, in KUBECTL and OBJECT
	Acts      []act

	resources []schema.GroupVersionResource
	resource  schema.GroupVersionResource
	*workload
}

// act is a part of a story. It is checked whether its promises are kept.
type act struct {
	Name           string // says what is checked in the end; empty: nothing is
	Pods, Missing  int
	Creates, Moves bool
	Promises       []promise
	Steps          []step
	Asks           string   // names the clients that ask all the time, if containers run; empty: none
	Answers        []string // have to come
}

// step is one change, and what follows from it.
type step struct {
	Title  string
	Create string         // the manifest of what is created
	Set    map[string]any // fields of the workload, by their paths
	Do     string         // an action
	Want   counts         // of the workload, once it has settled
	Until  string         // the condition for which it takes more than that; empty: none
}

// counts are those of the status of a workload: of all pods, of those available, and of those of the update revision.
type counts [3]int64

// workload is a kind of objects that have pods.
type workload struct {
	name   string    // in manifests, such as "CloneSet"
	image  string    // the field that changes
	counts [3]string // the fields of the status that are its counts
	source func(*demo) mirror.Source
}

const inTemplate = "/spec/template/spec/containers/0/image"

// sets are the workloads that there are demos of, by their resources.
var sets = map[string]*workload{
	"clonesets": {"CloneSet", inTemplate, [3]string{"replicas", "availableReplicas", "updatedReplicas"},
		func(d *demo) mirror.Source { return mirror.Of(d.Workloads.CloneSets(d.namespace)) }},
	"statefulsets": {"StatefulSet", inTemplate, [3]string{"replicas", "availableReplicas", "updatedReplicas"},
		func(d *demo) mirror.Source { return mirror.Of(d.Workloads.StatefulSets(d.namespace)) }},
	"daemonsets": {"DaemonSet", inTemplate, [3]string{"currentNumberScheduled", "numberAvailable", "updatedNumberScheduled"},
		func(d *demo) mirror.Source { return mirror.Of(d.Workloads.DaemonSets(d.namespace)) }},
	"sidecarsets": {"SidecarSet", "/spec/containers/0/image", [3]string{"matchedPods", "readyPods", "updatedPods"},
		func(d *demo) mirror.Source { return mirror.Of(d.Sidecar.SidecarSets()) }},
}

// state is a workload at one moment, and what the plan says that follows from it.
type state struct {
	*workload
	set       metav1.Object
	pods      []*corev1.Pod
	revisions []*appsv1.ControllerRevision
	nodes     []*corev1.Node
	rollout.Plan
}

// plan asks the library for the plan, at a time.
func (s *state) plan(now time.Time) {
	switch set := s.set.(type) {
	case *v1alpha1.CloneSet:
		s.Plan = cloneset.NewPlan(&cloneset.Snapshot{Set: set, Pods: s.pods, Revisions: s.revisions, Now: now}).Plan
	case *v1beta1.StatefulSet:
		s.Plan = statefulset.NewPlan(&statefulset.Snapshot{Set: set, Pods: s.pods, Revisions: s.revisions, Now: now}).Plan
	case *v1alpha1.DaemonSet:
		s.Plan = daemonset.NewPlan(&daemonset.Snapshot{Set: set, Pods: s.pods, Revisions: s.revisions, Nodes: s.nodes, Now: now}).Plan
	case *sidecarv1alpha1.SidecarSet: // of a cluster of the demo's own, with its namespace
		s.Plan = sidecarset.NewPlan(&sidecarset.Snapshot{Set: set, Pods: s.pods, Revisions: s.revisions, RevisionNamespace: metav1.NamespaceDefault, Now: now}).Plan
	}
}

// runner is a controller of the library.
type runner interface{ Run(context.Context) error }

// control makes the controllers of a resource, and has them run.
func (d *demo) control(resource schema.GroupVersionResource, run func(runner, error)) {
	switch resource.Resource {
	case "clonesets":
		run(cloneset.New(cloneset.Options{Kubernetes: d.Kubernetes, Workloads: d.Workloads, ControllerOptions: podwright.ControllerOptions{Namespace: d.namespace}, Placement: d.placement}))
	case "statefulsets":
		run(statefulset.New(statefulset.Options{Kubernetes: d.Kubernetes, Workloads: d.Workloads, ControllerOptions: podwright.ControllerOptions{Namespace: d.namespace}}))
	case "daemonsets":
		run(daemonset.New(daemonset.Options{Kubernetes: d.Kubernetes, Workloads: d.Workloads, ControllerOptions: podwright.ControllerOptions{Namespace: d.namespace}}))
	case "sidecarsets":
		run(sidecarset.New(sidecarset.Options{Kubernetes: d.Kubernetes, Sidecar: d.Sidecar, ManagerNamespace: d.namespace}))
		run(policies.New(policies.Options{Kubernetes: d.Kubernetes, Sidecar: d.Sidecar, ManagerNamespace: d.namespace}))
	case "podunavailablebudgets":
		o := podunavailablebudget.Options{Kubernetes: d.Kubernetes, Availability: d.Availability, Workloads: d.Workloads, ControllerOptions: podwright.ControllerOptions{Namespace: d.namespace}}
		run(&serve.Budgets{Options: o}, nil)
	case "workloadspreads":
		o := workloadspread.Options{Kubernetes: d.Kubernetes, Distribution: d.Distribution, Workloads: d.Workloads, ControllerOptions: podwright.ControllerOptions{Namespace: d.namespace}}
		placer, err := workloadspread.NewPlacer(o)
		d.placement = placer // of the CloneSets whose controller comes later
		run(placer, err)
		run(workloadspread.New(o))
	}
}

// What the manifests say.
const (
	setName   = "web"
	oldImage  = "docker.io/library/busybox:1.36"
	newImage  = "docker.io/library/busybox:1.37"
	badImage  = "docker.io/library/busybox:bad"
	meshEmpty = "docker.io/library/mesh:empty" // does nothing
)

var own, rented = []string{"node-0", "node-1"}, []string{"node-2", "node-3"}

// images are what real nodes can pull; the bad one does not exist.
var images = map[string]registry.Image{
	oldImage: {Labels: map[string]string{"name": oldImage}}, newImage: {Labels: map[string]string{"name": newImage}},
	"docker.io/library/mesh:1": serving("1"), "docker.io/library/mesh:2": serving("2"), meshEmpty: {},
}

// serving answers with its version, on a port of its own.
func serving(version string) registry.Image {
	port := "808" + version
	return registry.Image{Files: map[string]string{"/www/index.html": version}, Env: []string{"PORT=" + port}, Cmd: []string{"/bin/httpd", "-f", "-p", port, "-h", "/www"}}
}

//go:embed *.yaml
var files embed.FS

// documents returns those of a file.
func documents(name string) [][]byte {
	data, err := files.ReadFile(name + ".yaml")
	if err != nil {
		panic(err) // it is not there
	}
	return bytes.Split(data, []byte("\n---\n"))
}

// kinds are the demos, as the command line calls them.
var kinds = func() (all map[string]*kind) {
	if err := yaml.UnmarshalStrict(documents("stories")[0], &all); err != nil {
		panic(err)
	}
	for _, k := range all {
		for _, name := range k.Resources {
			resource, _ := schema.ParseResourceArg(name)
			k.resource, k.workload = *resource, sets[resource.Resource]
			k.resources = append(k.resources, *resource)
		}
	}
	return all
}()

// do makes the change of a step, as a person with kubectl would.
func (d *demo) do(ctx context.Context, s step) error {
	if s.Do != "" {
		return actions[s.Do](ctx, d)
	}
	if s.Set != nil {
		var operations []map[string]any
		for field, value := range s.Set {
			operations = append(operations, map[string]any{"op": "add", "path": field, "value": value})
		}
		patch, _ := json.Marshal(operations) // what came as JSON
		object, err := d.untyped.Resource(d.resource).Namespace(d.namespaceOf(d.resource)).Patch(ctx, setName, types.JSONPatchType, patch, metav1.PatchOptions{})
		if err != nil {
			return fmt.Errorf("writing the %s %s: %w", d.name, setName, err)
		}
		d.generation = object.GetGeneration()
		return nil
	}
	for _, document := range documents(s.Create) {
		object := &unstructured.Unstructured{}
		if err := yaml.Unmarshal(document, object); err != nil {
			return fmt.Errorf("manifest %s: %w", s.Create, err)
		}
		resource, _ := meta.UnsafeGuessKindToResource(object.GroupVersionKind())
		_, err := d.untyped.Resource(resource).Namespace(d.namespaceOf(resource)).Create(ctx, object, metav1.CreateOptions{FieldValidation: metav1.FieldValidationStrict})
		if err != nil {
			return fmt.Errorf("creating the %s %s: %w", object.GetKind(), object.GetName(), err)
		}
	}
	return nil
}

// namespaceOf is that of the objects of a resource; empty if they are in none.
func (d *demo) namespaceOf(resource schema.GroupVersionResource) string {
	if resource.Resource == "sidecarsets" {
		return ""
	}
	return d.namespace
}

// actions are what steps do.
var actions = map[string]func(context.Context, *demo) error{
	// drain drains the node of a pod.
	"drain": func(ctx context.Context, d *demo) error {
		d.drained = slices.MinFunc(d.pods.All(), byName).Spec.NodeName
		begin := time.Now()
		denied, err := drains.Node(ctx, d.config, d.drained, "", d.Patience)
		d.noted = append(d.noted, check{denied > 0, fmt.Sprintf("%d evictions were denied with the code 429, and kubectl tried again: the drain took %.1f s", denied, time.Since(begin).Seconds())})
		return err
	},
	// lose cordons the nodes of one's own, and deletes a pod that is on one.
	"lose": func(ctx context.Context, d *demo) error {
		for _, node := range own {
			if _, err := d.Kubernetes.CoreV1().Nodes().Patch(ctx, node, types.MergePatchType, []byte(`{"spec":{"unschedulable":true}}`), metav1.PatchOptions{}); err != nil {
				return err
			}
		}
		return d.Kubernetes.CoreV1().Pods(d.namespace).Delete(ctx, d.pods.All()[0].Name, metav1.DeleteOptions{
			GracePeriodSeconds: new(int64(invariants.UserGracePeriod))}) // by which users are known
	},
}

func byName(a, b *corev1.Pod) int { return cmp.Compare(a.Name, b.Name) }

// dryRun asks the API server what it would do.
var dryRun = []string{metav1.DryRunAll}

// conditions are what steps wait for.
var conditions = map[string]func(context.Context, *demo) bool{
	"": func(context.Context, *demo) bool { return true },
	"denies": func(ctx context.Context, d *demo) bool { // the eviction of a pod
		return apierrors.IsTooManyRequests(drains.Evict(ctx, d.Kubernetes, d.namespace, d.pods.All()[0].Name, &metav1.DeleteOptions{DryRun: dryRun}))
	},
	"injects": func(ctx context.Context, d *demo) bool { // into new pods
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{GenerateName: setName + "-", Labels: map[string]string{"app": "web"}},
			Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: oldImage}}}}
		pod, err := d.Kubernetes.CoreV1().Pods(d.namespace).Create(ctx, pod, metav1.CreateOptions{DryRun: dryRun})
		return err == nil && len(pod.Spec.Containers) == len(allContainers)
	},
	"spreads": func(ctx context.Context, d *demo) bool { // the WorkloadSpread, which is known
		s, err := d.Distribution.WorkloadSpreads(d.namespace).Get(ctx, setName, metav1.GetOptions{})
		return err == nil && s.Status.ObservedGeneration == s.Generation
	},
	"rented": func(_ context.Context, d *demo) bool { // is the node of a pod
		return slices.ContainsFunc(d.pods.All(), func(pod *corev1.Pod) bool { return slices.Contains(rented, pod.Spec.NodeName) })
	},
}

// clients are those that ask: each has the URLs to choose from.
var clients = map[string]func(*demo) []func() []string{
	// meshes are asked by one for each pod. The two of a pod share its network, so each version has a port.
	"meshes": func(d *demo) (all []func() []string) {
		for _, pod := range d.pods.All() {
			all = append(all, func() []string {
				return []string{"http://" + pod.Status.PodIP + ":8081", "http://" + pod.Status.PodIP + ":8082"}
			})
		}
		return all
	},
	// service is one that asks any pod that serves and goes on to, as one of a Service does.
	"service": func(d *demo) []func() []string {
		return []func() []string{func() (urls []string) {
			for _, pod := range d.pods.All() {
				if available(pod) {
					urls = []string{"http://" + pod.Status.PodIP + ":8081"}
				}
			}
			return urls
		}}
	},
}
