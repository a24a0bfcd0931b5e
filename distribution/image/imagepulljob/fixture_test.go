// SPDX-License-Identifier: Apache-2.0

package imagepulljob

import (
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/yaml"

	"github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/internal/images"
)

// noon is when all plans are made, unless a case says otherwise.
var noon = time.Date(2024, 5, 1, 12, 0, 0, 0, time.UTC)

func at(after time.Duration) *metav1.Time { return ptr.To(metav1.NewTime(noon.Add(after))) }

// newJob returns the job pull of nginx:1, with a spec in YAML beside the image.
func newJob(t testing.TB, spec string) *v1alpha1.ImagePullJob {
	t.Helper()
	job := &v1alpha1.ImagePullJob{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "pull", UID: "job-uid", ResourceVersion: "7"},
		Spec:       v1alpha1.ImagePullJobSpec{Image: "nginx:1"},
	}
	if err := yaml.UnmarshalStrict([]byte(spec), &job.Spec); err != nil {
		t.Fatal(err)
	}
	return job
}

// nodeImage returns the NodeImage of a node, with all that is given.
func nodeImage(name string, with ...func(*v1alpha1.NodeImage)) *v1alpha1.NodeImage {
	n := &v1alpha1.NodeImage{ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID(name + "-uid"), ResourceVersion: "3"}}
	for _, w := range with {
		w(n)
	}
	return n
}

// task gives a node version 1 of a task, of the owners.
func task(name, tag string, owners ...corev1.ObjectReference) func(*v1alpha1.NodeImage) {
	return func(n *v1alpha1.NodeImage) {
		if n.Spec.Images == nil {
			n.Spec.Images = map[string]v1alpha1.ImageSpec{}
		}
		image := n.Spec.Images[name]
		image.Tags = append(image.Tags, v1alpha1.ImageTagSpec{
			Tag: tag, Version: 1, CreatedAt: at(-time.Minute), OwnerReferences: owners,
			PullPolicy: &v1alpha1.ImageTagPullPolicy{TTLSecondsAfterFinished: ptr.To[int32](60)},
		})
		n.Spec.Images[name] = image
	}
}

// reports has a node report a phase of a version of a tag.
func reports(name, tag string, version int64, phase v1alpha1.ImagePullPhase) func(*v1alpha1.NodeImage) {
	return func(n *v1alpha1.NodeImage) {
		if n.Status.ImageStatuses == nil {
			n.Status.ImageStatuses = map[string]v1alpha1.ImageStatus{}
		}
		image := n.Status.ImageStatuses[name]
		image.Tags = append(image.Tags, v1alpha1.ImageTagStatus{Tag: tag, Version: version, Phase: phase})
		n.Status.ImageStatuses[name] = image
	}
}

var mine = images.TaskOwner(&v1alpha1.ImagePullJob{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "pull", UID: "job-uid"}})

// given has the task of the job, and phase reported of it if that is not empty.
func given(phase v1alpha1.ImagePullPhase) func(*v1alpha1.NodeImage) {
	return func(n *v1alpha1.NodeImage) {
		task("nginx", "1", mine)(n)
		if phase != "" {
			reports("nginx", "1", 1, phase)(n)
		}
	}
}

func snapshot(job *v1alpha1.ImagePullJob, nodes ...*v1alpha1.NodeImage) *Snapshot {
	s := &Snapshot{Job: job, NodeImages: map[string]*v1alpha1.NodeImage{}, Now: noon}
	for _, n := range nodes {
		s.NodeImages[n.Name] = n
	}
	return s
}

// fresh returns n nodes without tasks: n0, n1 and so on.
func fresh(n int) (nodes []*v1alpha1.NodeImage) {
	for i := range n {
		nodes = append(nodes, nodeImage(fmt.Sprint("n", i)))
	}
	return nodes
}

func pod(name, node string, labels map[string]string) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name, Labels: labels},
		Spec:       corev1.PodSpec{NodeName: node}, Status: corev1.PodStatus{Phase: corev1.PodRunning},
	}
}

func percent(s string) *intstr.IntOrString { return ptr.To(intstr.FromString(s)) }
