// SPDX-License-Identifier: Apache-2.0

package caches_test

import (
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	"github.com/podwright/podwright"
	"github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/internal/caches"
	"github.com/podwright/podwright/internal/testing/patches"
)

// row is a line of testdata/rows: what there is, and what is looked for.
type row struct {
	Pods       []*corev1.Pod
	Jobs       []*v1alpha1.ImagePullJob
	NodeImages []*v1alpha1.NodeImage

	UID, Namespace, Parent, Node string
	Label                        string // such as app=web
	Selector                     *metav1.LabelSelector
}

// TestRows plays the tables of what indexes find, see patches.PlayRows. They show the names of what is found:
//
//	owned, controlled, orphaned   pods that are owned by a UID, controlled by it, or that or orphans of a selector
//	members, labelled             pods that are named after a parent, or have a label
//	jobs-of-nodes, jobs-of-pods   ImagePullJobs that select nodes, or pods in a namespace
//	tasks, pulls                  NodeImages with tasks of a job, and pods that pull for a node
func TestRows(t *testing.T) {
	blank := func() row { return row{Namespace: "x"} }
	patches.PlayRows(t, "testdata/rows", blank, func(t *testing.T, command string, r *row) string {
		owner, label := types.UID(r.UID), strings.Split(r.Label+"=", "=")
		indexes := []podwright.Index{caches.ByOwner, caches.ByMember, caches.ByPullNode, caches.ByLabel("app"), caches.ByLabel("tier")}
		pods := reading(t, caches.Pods, indexes, r.Pods...)
		jobs := reading(t, "imagepulljobs", []podwright.Index{caches.ByTarget}, r.Jobs...)
		switch command {
		case "owned":
			return names[*corev1.Pod](t)(caches.OwnedBy[*corev1.Pod](pods, caches.Pods, r.Namespace, owner))
		case "controlled":
			return names[*corev1.Pod](t)(caches.ControlledBy[*corev1.Pod](pods, caches.Pods, r.Namespace, owner))
		case "orphaned":
			return r.orphaned(t, pods)
		case "members":
			return names[*corev1.Pod](t)(caches.Members[*corev1.Pod](pods, caches.Pods, r.Namespace, r.Parent))
		case "labelled":
			return names[*corev1.Pod](t)(caches.Labelled[*corev1.Pod](pods, caches.Pods, r.Namespace, caches.ByLabel(label[0]), label[1]))
		case "pulls":
			return names[*corev1.Pod](t)(caches.PullPodsOf(pods, r.Node))
		case "jobs-of-nodes":
			return names[*v1alpha1.ImagePullJob](t)(caches.JobsOfNodes(jobs, "imagepulljobs"))
		case "jobs-of-pods":
			return names[*v1alpha1.ImagePullJob](t)(caches.JobsOfPods(jobs, "imagepulljobs", r.Namespace))
		}
		images := reading(t, "nodeimages", []podwright.Index{caches.ByTaskOwner}, r.NodeImages...)
		return names[*v1alpha1.NodeImage](t)(caches.NodesWithTasksOf(images, "nodeimages", owner))
	})
}

// orphaned finds what each of the pods says of itself, too.
func (r *row) orphaned(t *testing.T, pods caches.Reader) string {
	t.Helper()
	selector, err := metav1.LabelSelectorAsSelector(r.Selector)
	if err != nil {
		t.Fatal(err)
	}
	found, err := caches.ControlledOrOrphaned[*corev1.Pod](pods, caches.Pods, r.Namespace, types.UID(r.UID), selector)
	for _, pod := range r.Pods {
		if pod.Namespace == r.Namespace && caches.IsControlledOrOrphaned(pod, types.UID(r.UID), selector) != slices.Contains(found, pod) {
			t.Errorf("whether %s is found and whether it says so differ", pod.Name)
		}
	}
	return names[*corev1.Pod](t)(found, err)
}

// reading is a Reader of an informer with indexes, which a second user of the informer has added too.
func reading[T runtime.Object](t *testing.T, resource podwright.Resource, indexes []podwright.Index, objects ...T) caches.Reader {
	t.Helper()
	var example T
	informer := cache.NewSharedIndexInformer(nil, example, 0, cache.Indexers{})
	for range 2 {
		if err := caches.AddIndexes(informer, indexes...); err != nil {
			t.Fatal(err)
		}
	}
	for _, object := range objects {
		if err := informer.GetIndexer().Add(object); err != nil {
			t.Fatal(err)
		}
	}
	return caches.Reader{resource: informer.GetIndexer()}
}

// names lists what was found, sorted.
func names[T metav1.Object](t *testing.T) func([]T, error) string {
	return func(found []T, err error) string {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, object := range found {
			names = append(names, object.GetName())
		}
		slices.Sort(names)
		return strings.Join(names, " ")
	}
}

func TestIndexErrors(t *testing.T) {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "web-0", Namespace: "x", Labels: map[string]string{"app": "web"}}}
	pod.OwnerReferences = []metav1.OwnerReference{{UID: "1"}}
	in := reading(t, caches.Pods, []podwright.Index{caches.ByOwner, caches.ByMember, caches.ByLabel("app")}, pod)
	_, owned := caches.OwnedBy[*corev1.Node](in, caches.Pods, "x", "1")
	_, members := caches.Members[*corev1.Node](in, caches.Pods, "x", "web")
	_, labelled := caches.Labelled[*corev1.Node](in, caches.Pods, "x", caches.ByLabel("app"), "web")
	if owned == nil || members == nil || labelled == nil {
		t.Errorf("a cache of pods gives nodes: errors %v, %v, %v", owned, members, labelled)
	}
	bare := caches.Reader{caches.Pods: cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{})}
	if _, err := caches.ControlledOrOrphaned[*corev1.Pod](bare, caches.Pods, "x", "1", labels.Everything()); err == nil {
		t.Error("no error without an index")
	}
	for _, index := range []podwright.Index{caches.ByOwner, caches.ByMember, caches.ByLabel("app")} {
		if _, err := index.Keys("text"); err == nil {
			t.Error("no error for what is no object")
		}
	}
}
