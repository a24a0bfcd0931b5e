// SPDX-License-Identifier: Apache-2.0

package caches

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright"
	"github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/internal/images"
)

func TestPullJobs(t *testing.T) {
	job := func(namespace, name string, spec v1alpha1.ImagePullJobSpec) *v1alpha1.ImagePullJob {
		return &v1alpha1.ImagePullJob{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}, Spec: spec}
	}
	ofPods := v1alpha1.ImagePullJobSpec{PodSelector: &metav1.LabelSelector{}}
	over, going := job("b", "over", ofPods), job("b", "going", ofPods)
	over.Status.CompletionTime, going.DeletionTimestamp = &metav1.Time{}, &metav1.Time{}
	reader := reading(t, "imagepulljobs", []podwright.Index{ByTarget}, over, going,
		job("a", "nodes", v1alpha1.ImagePullJobSpec{}), job("b", "selected", v1alpha1.ImagePullJobSpec{Selector: &v1alpha1.ImagePullJobNodeSelector{}}),
		job("a", "pods-a", ofPods), job("b", "pods-b", ofPods))
	jobs, err := JobsOfNodes(reader, "imagepulljobs")
	if got := names(t, jobs, err); got != "nodes selected" {
		t.Errorf("jobs of nodes: %s", got)
	}
	for namespace, want := range map[string]string{"b": "pods-b", "": "pods-a pods-b"} {
		jobs, err := JobsOfPods(reader, "imagepulljobs", namespace)
		if got := names(t, jobs, err); got != want {
			t.Errorf("jobs of pods in %q: %s, want %s", namespace, got, want)
		}
	}
}

func TestNodesWithTasksOf(t *testing.T) {
	owner := []corev1.ObjectReference{images.TaskOwner(&v1alpha1.ImagePullJob{ObjectMeta: metav1.ObjectMeta{UID: "x"}})}
	reader := reading(t, "nodeimages", []podwright.Index{ByTaskOwner}, &v1alpha1.NodeImage{ObjectMeta: metav1.ObjectMeta{Name: "empty"}},
		&v1alpha1.NodeImage{ObjectMeta: metav1.ObjectMeta{Name: "n"}, Spec: v1alpha1.NodeImageSpec{Images: map[string]v1alpha1.ImageSpec{
			"a": {Tags: []v1alpha1.ImageTagSpec{{Tag: "1", OwnerReferences: owner}, {Tag: "2", OwnerReferences: owner}}},
		}}})
	for uid, want := range map[types.UID]string{"x": "n", "y": ""} {
		nodes, err := NodesWithTasksOf(reader, "nodeimages", uid)
		if got := names(t, nodes, err); got != want {
			t.Errorf("job %s: nodes %s, want %s", uid, got, want)
		}
	}
}

func TestPullPodsOf(t *testing.T) {
	task := map[string]string{v1alpha1.PullPodTaskAnnotation: images.PullTask{Node: "n1", Attempt: 1}.String()}
	reader := reading(t, Pods, []podwright.Index{ByPullNode},
		&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "pulls", Labels: map[string]string{v1alpha1.PullPodLabel: ""}, Annotations: task}},
		&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "has no label", Annotations: task}},
		&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "another"}})
	for node, want := range map[string]string{"n1": "pulls", "n2": "", "": ""} {
		pods, err := PullPodsOf(reader, node)
		if got := names(t, pods, err); got != want {
			t.Errorf("node %q: pods %s, want %s", node, got, want)
		}
	}
}
