// SPDX-License-Identifier: Apache-2.0

package caches

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	"github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/internal/images"
)

func TestPullJobs(t *testing.T) {
	informer := cache.NewSharedIndexInformer(nil, &v1alpha1.ImagePullJob{}, 0, cache.Indexers{})
	for range 2 { // a second user of a shared informer adds nothing
		if err := AddIndexes(informer, ByTarget); err != nil {
			t.Fatal(err)
		}
	}
	add := func(namespace, name string, edit func(*v1alpha1.ImagePullJob)) {
		t.Helper()
		job := &v1alpha1.ImagePullJob{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
		edit(job)
		if err := informer.GetIndexer().Add(job); err != nil {
			t.Fatal(err)
		}
	}
	ofPods := func(job *v1alpha1.ImagePullJob) { job.Spec.PodSelector = &metav1.LabelSelector{} }
	add("a", "nodes", func(*v1alpha1.ImagePullJob) {})
	add("b", "selected", func(job *v1alpha1.ImagePullJob) { job.Spec.Selector = &v1alpha1.ImagePullJobNodeSelector{} })
	add("a", "pods", ofPods)
	add("b", "pods", ofPods)
	add("b", "over", func(job *v1alpha1.ImagePullJob) { ofPods(job); job.Status.CompletionTime = &metav1.Time{} })
	add("b", "going", func(job *v1alpha1.ImagePullJob) { job.DeletionTimestamp = &metav1.Time{} })
	names := func(jobs []*v1alpha1.ImagePullJob, err error) (names []string) {
		if err != nil {
			t.Error(err)
		}
		for _, job := range jobs {
			names = append(names, job.Namespace+"/"+job.Name)
		}
		slices.Sort(names)
		return names
	}
	reader := Reader{"imagepulljobs": informer.GetIndexer()}
	if diff := cmp.Diff([]string{"a/nodes", "b/selected"}, names(JobsOfNodes(reader, "imagepulljobs"))); diff != "" {
		t.Errorf("jobs of nodes (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"b/pods"}, names(JobsOfPods(reader, "imagepulljobs", "b"))); diff != "" {
		t.Errorf("jobs of pods in a namespace (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"a/pods", "b/pods"}, names(JobsOfPods(reader, "imagepulljobs", ""))); diff != "" {
		t.Errorf("jobs of pods (-want +got):\n%s", diff)
	}
}

func TestNodesWithTasksOf(t *testing.T) {
	informer := cache.NewSharedIndexInformer(nil, &v1alpha1.NodeImage{}, 0, cache.Indexers{})
	if err := AddIndexes(informer, ByTaskOwner); err != nil {
		t.Fatal(err)
	}
	owner := func(uid types.UID) []corev1.ObjectReference {
		return []corev1.ObjectReference{images.TaskOwner(&v1alpha1.ImagePullJob{ObjectMeta: metav1.ObjectMeta{UID: uid}})}
	}
	n := &v1alpha1.NodeImage{ObjectMeta: metav1.ObjectMeta{Name: "n"}, Spec: v1alpha1.NodeImageSpec{Images: map[string]v1alpha1.ImageSpec{
		"a": {Tags: []v1alpha1.ImageTagSpec{{Tag: "1", OwnerReferences: owner("x")}, {Tag: "2", OwnerReferences: owner("x")}}},
	}}}
	for _, object := range []*v1alpha1.NodeImage{n, {ObjectMeta: metav1.ObjectMeta{Name: "empty"}}} {
		if err := informer.GetIndexer().Add(object); err != nil {
			t.Fatal(err)
		}
	}
	for uid, want := range map[types.UID]int{"x": 1, "y": 0} {
		if nodes, err := NodesWithTasksOf(Reader{"nodeimages": informer.GetIndexer()}, "nodeimages", uid); err != nil || len(nodes) != want {
			t.Errorf("job %s: nodes %v, error %v", uid, nodes, err)
		}
	}
}

func TestPullPodsOf(t *testing.T) {
	informer := cache.NewSharedIndexInformer(nil, &corev1.Pod{}, 0, cache.Indexers{})
	if err := AddIndexes(informer, ByPullNode); err != nil {
		t.Fatal(err)
	}
	task := map[string]string{v1alpha1.PullPodTaskAnnotation: images.PullTask{Node: "n1", Attempt: 1}.String()}
	for _, pod := range []*corev1.Pod{
		{ObjectMeta: metav1.ObjectMeta{Name: "pulls", Labels: map[string]string{v1alpha1.PullPodLabel: ""}, Annotations: task}},
		{ObjectMeta: metav1.ObjectMeta{Name: "has no label", Annotations: task}},
		{ObjectMeta: metav1.ObjectMeta{Name: "another"}},
	} {
		if err := informer.GetIndexer().Add(pod); err != nil {
			t.Fatal(err)
		}
	}
	for node, want := range map[string]int{"n1": 1, "n2": 0, "": 0} {
		if pods, err := PullPodsOf(Reader{Pods: informer.GetIndexer()}, node); err != nil || len(pods) != want {
			t.Errorf("node %q: pods %v, error %v", node, pods, err)
		}
	}
}
