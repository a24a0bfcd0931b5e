// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"embed"
	"fmt"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/podwright/podwright/examples/testbed/mirror"
	"github.com/podwright/podwright/inplace/rollout"
	"github.com/podwright/podwright/workloads/cloneset"
	"github.com/podwright/podwright/workloads/daemonset"
	"github.com/podwright/podwright/workloads/statefulset"
	"github.com/podwright/podwright/workloads/v1alpha1"
	"github.com/podwright/podwright/workloads/v1beta1"
)

// kind is a kind of workload, and the demo of it.
type kind struct {
	name     string // in manifests, such as "CloneSet"
	shows    string // what becomes of its pods; empty: they are updated in place
	resource schema.GroupVersionResource
	// manifest holds the objects to create, in YAML.
	manifest []byte
	// acts are what happens to the workload.
	acts []act
	// next is what to try then, in KUBECTL and OBJECT; image is where the image is that is changed then.
	next, image string

	// controller makes what manages such objects in the namespace of a demo, source lists and watches them.
	controller func(*demo) (runner, error)
	source     func(*demo) mirror.Source
	// plan says what the plan for such an object says.
	plan func(*observed) rollout.Plan

	// own is why the demo needs a cluster of its own; empty: it does not.
	own string
	// nodes is how many simulated nodes there have to be; 0: any, also real ones.
	nodes int
	// beside are other resources that are needed.
	beside []schema.GroupVersionResource
	// sidecars says that it is in no namespace, and injects into the pods of another workload.
	sidecars bool
	// status is the status of an object. Nil: it has the fields of status.
	status func(metav1.Object) status
	// revision is the name or hash of that of a pod. Nil: the value of the label.
	revision func(*corev1.Pod) string
}

// observed is what a plan follows from: an object, the pods and revisions that it controls, and all nodes.
type observed struct {
	set       metav1.Object
	pods      []*corev1.Pod
	revisions []*appsv1.ControllerRevision
	nodes     []*corev1.Node
	now       time.Time
}

type runner interface{ Run(context.Context) error }

// runners run all together, and end when one does.
type runners []runner

func (r runners) Run(ctx context.Context) error {
	running, ctx := errgroup.WithContext(ctx)
	for _, each := range r {
		running.Go(func() error { return each.Run(ctx) })
	}
	return running.Wait()
}

//go:embed *.yaml
var manifests embed.FS

// manifest returns the objects that a demo creates.
func manifest(name string) []byte {
	data, err := manifests.ReadFile(name + ".yaml")
	if err != nil {
		panic(err) // it is not there
	}
	return data
}

// kinds are the kinds of workloads that there is a demo of, as the command line calls them. A new kind is one more entry here.
var kinds = map[string]*kind{
	"budget":   budget,
	"cloneset": cloneSet,
	"daemonset": {
		name: "DaemonSet", manifest: manifest("daemonset"), nodes: replicas, own: "it has a pod on each of its nodes", image: inTemplate,
		next:     "Delete a pod: it comes back on its node.\n  KUBECTL delete pod --field-selector=spec.nodeName=node-0",
		resource: v1alpha1.SchemeGroupVersion.WithResource("daemonsets"),
		acts:     []act{creation, update(inTemplate, "/spec/updateStrategy/rollingUpdate/partition", "5", inPlace(replicas)...), mistake},
		controller: func(d *demo) (runner, error) {
			return daemonset.New(daemonset.Options{Kubernetes: d.Kubernetes, Workloads: d.Workloads, Namespace: d.namespace})
		},
		source: func(d *demo) mirror.Source {
			return mirror.From(d.Workloads.DaemonSets(d.namespace).List, d.Workloads.DaemonSets(d.namespace).Watch)
		},
		plan: func(o *observed) rollout.Plan {
			return daemonset.NewPlan(&daemonset.Snapshot{Set: o.set.(*v1alpha1.DaemonSet), Pods: o.pods, Revisions: o.revisions, Nodes: o.nodes, Now: o.now}).Plan
		},
		status: func(object metav1.Object) status {
			s := &object.(*v1alpha1.DaemonSet).Status
			ready := max(0, s.UpdatedNumberScheduled-s.NumberUnavailable)
			return status{s.ObservedGeneration, int64(s.CurrentNumberScheduled), int64(s.NumberAvailable), int64(s.UpdatedNumberScheduled), int64(ready)}
		},
	},
	"sidecarset": sidecarSet,
	"spread":     spread,
	"statefulset": {
		name: "StatefulSet", manifest: manifest("statefulset"), next: scaleOut, image: inTemplate,
		resource: v1beta1.SchemeGroupVersion.WithResource("statefulsets"),
		acts:     []act{creation, update(inTemplate, "/spec/updateStrategy/rollingUpdate/partition", "5", inPlace(replicas)...), mistake},
		controller: func(d *demo) (runner, error) {
			return statefulset.New(statefulset.Options{Kubernetes: d.Kubernetes, Workloads: d.Workloads, Namespace: d.namespace})
		},
		source: func(d *demo) mirror.Source {
			return mirror.From(d.Workloads.StatefulSets(d.namespace).List, d.Workloads.StatefulSets(d.namespace).Watch)
		},
		plan: func(o *observed) rollout.Plan {
			return statefulset.NewPlan(&statefulset.Snapshot{Set: o.set.(*v1beta1.StatefulSet), Pods: o.pods, Revisions: o.revisions, Now: o.now}).Plan
		},
	},
}

var cloneSet = &kind{
	name: "CloneSet", manifest: manifest("cloneset"), next: scaleOut, image: inTemplate,
	resource: v1alpha1.SchemeGroupVersion.WithResource("clonesets"),
	acts:     []act{creation, update(inTemplate, "/spec/updateStrategy/partition", `"50%"`, inPlace(replicas)...)},
	controller: func(d *demo) (runner, error) {
		return cloneset.New(cloneset.Options{Kubernetes: d.Kubernetes, Workloads: d.Workloads, Namespace: d.namespace})
	},
	source: func(d *demo) mirror.Source {
		return mirror.From(d.Workloads.CloneSets(d.namespace).List, d.Workloads.CloneSets(d.namespace).Watch)
	},
	plan: func(o *observed) rollout.Plan {
		return cloneset.NewPlan(&cloneset.Snapshot{Set: o.set.(*v1alpha1.CloneSet), Pods: o.pods, Revisions: o.revisions, Now: o.now}).Plan
	},
}

// What every manifest says, and what the demo makes of it.
const (
	setName        = "web"
	replicas       = 10
	maxUnavailable = 2
	oldImage       = "docker.io/library/busybox:1.36"
	newImage       = "docker.io/library/busybox:1.37"
	badImage       = "docker.io/library/busybox:bad"
)

// act is a part of the demo that keeps one promise.
type act struct {
	// name says what is checked in the end, such as "The update"; empty: nothing is.
	name          string
	promises      []promise
	pods, missing int  // how many there shall be, and of them unavailable at most
	creates       bool // its pods are created in it
	moves         bool // its pods come and go
	// asks says whom HTTP clients ask all the time, where containers run; answers are those that have to come.
	asks    func(*demo) []func() []string
	answers []string
	also    func() check // nil: nothing
	steps   []step
}

// step is one change, and what follows from it.
type step struct {
	title string
	do    func(context.Context, *demo) error
	want  status // at which the workload settles
	// until tells, once it has settled, whether the step is done. Nil: it is.
	until func(context.Context, *demo) bool
}

// The fields with the images that change.
const inTemplate, inSidecars, inMesh = "/spec/template/spec/containers/0/image", "/spec/containers/0/image", "/spec/containers/1/image"

// set is the operation of a JSON patch that sets a field to a value in JSON.
func set(field, value string) string {
	return fmt.Sprintf(`{"op":"add","path":"%s","value":%s}`, field, value)
}

func setImage(field, image string) string { return set(field, `"`+image+`"`) }

// updated is the status of a workload that serves, with so many pods, and so many of them at the update revision.
func updated(pods, n int64) status { return status{0, pods, pods, n, n} }

var creation = act{steps: []step{{title: "create " + setName + ": 10 pods, all at once", do: create, want: updated(replicas, replicas)}}}

// update updates half of the pods, and then the others, that a partition holds: a field whose name and value differ between kinds.
func update(image, partition, half string, promises ...promise) act {
	return act{name: "The update", promises: promises, pods: replicas, missing: maxUnavailable, steps: []step{{
		title: path.Base(newImage) + ", partition " + strings.Trim(half, `"`) + ": half of the pods are updated, no more",
		do:    change(setImage(image, newImage), set(partition, half)), want: updated(replicas, replicas/2),
	}, {
		title: "partition 0: the other half is updated", do: change(set(partition, "0")), want: updated(replicas, replicas),
	}}}
}

// mistake rolls an image out that cannot be pulled, and rolls it back.
var mistake = act{name: "The bad image and its roll-back", promises: inPlace(maxUnavailable), pods: replicas, missing: maxUnavailable, steps: []step{{
	title: path.Base(badImage) + ": 2 pods break, maxUnavailable keeps the others safe",
	do:    change(setImage(inTemplate, badImage)), want: status{0, replicas, replicas - maxUnavailable, maxUnavailable, 0},
}, {
	title: "roll back to " + path.Base(newImage) + ": only the broken pods are updated",
	do:    change(setImage(inTemplate, newImage)), want: updated(replicas, replicas),
}}}

// scaleOut is what to try next with most kinds.
const scaleOut = "Scale out.\n  KUBECTL scale OBJECT --replicas=12"

// suggestions says what to try when all has been shown.
func (d *demo) suggestions() string {
	kubectl, remark := "kubectl", ""
	if _, err := exec.LookPath(kubectl); err != nil {
		kubectl, remark = "go tool kubectl", ", in examples/ (the first one builds kubectl)"
	}
	object := d.kind.resource.GroupResource().String() + " " + setName // without the group it may be a kind of Kubernetes'
	return strings.NewReplacer("KUBECTL", kubectl+" -n "+d.namespace, "OBJECT", object, "BAD", setImage(d.kind.image, badImage), "NEW", setImage(d.kind.image, newImage),
		"FILE", strings.ReplaceAll(d.Kubeconfig, "'", `'\''`), "LOGS", filepath.Join(d.dir, "*.log"), "REMARK", remark).Replace(strings.ReplaceAll(`
Everything stays up until Ctrl-C. The logs are LOGS
Commands to try in another terminalREMARK; what they do is shown here:

  export KUBECONFIG='FILE'
1. Roll out an image that does not exist: two pods break, the others are safe.
  KUBECTL patch OBJECT --type=json -p '[BAD]'
2. Roll back: only the two broken pods are changed.
  KUBECTL patch OBJECT --type=json -p '[NEW]'
3. NEXT
`, "NEXT", d.kind.next))
}
