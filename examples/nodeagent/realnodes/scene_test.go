// SPDX-License-Identifier: Apache-2.0

package realnodes

import (
	"context"
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright/examples/tests/cluster"
	"github.com/podwright/podwright/examples/tests/cluster/registry"
	"github.com/podwright/podwright/examples/tests/testbed"
	"github.com/podwright/podwright/examples/tests/testbed/podstate"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

// What containers do when they are told to stop.
const (
	endsAtOnce = "trap 'exit 0' TERM; while :; do sleep 0.1; done"
	doesNotEnd = "trap '' TERM; while :; do sleep 0.1; done"
)

// scene is a namespace of a test's own.
type scene struct{ *testbed.Scene }

func newScene(t *testing.T) *scene {
	t.Helper()
	s := &scene{bed.NewScene(t, nil)}
	t.Cleanup(func() {
		if t.Failed() {
			for _, pod := range s.Pods.All() {
				t.Logf("%s, on %s: %+v", podstate.Describe(pod, false), pod.Spec.NodeName, pod.Status.ContainerStatuses)
			}
			for _, agent := range bed.Agents {
				t.Logf("%s:\n%s", agent.Name, agent.LogTail(s.Namespace))
			}
		}
	})
	return s
}

// image serves an image that no other test has, and returns its name and the same
// with the digest.
func (s *scene) image(tag string, image registry.Image) (name, byDigest string) {
	s.Helper()
	if image.Labels == nil {
		image.Labels = map[string]string{"for": s.Namespace, "tag": tag} // a digest of its own
	}
	name = "registry.test/" + s.Namespace + ":" + tag
	byDigest, err := bed.Control.Images().Add(name, image)
	if err != nil {
		s.Fatal(err)
	}
	return name, byDigest
}

// pod creates a pod as create does, and waits until all its containers are ready.
func (s *scene) pod(name string, containers []string, edits ...func(*corev1.Pod)) *corev1.Pod {
	s.Helper()
	s.create(name, containers, edits...)
	return s.AwaitPod(name, "all containers are ready", containersReady)
}

// create creates a pod whose containers run a shell command each, given as
// "name=command".
func (s *scene) create(name string, containers []string, edits ...func(*corev1.Pod)) {
	s.Helper()
	image, _ := s.image("shell", registry.Image{})
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec:       corev1.PodSpec{NodeName: bed.Agents[0].Node.Name, TerminationGracePeriodSeconds: new(int64(20))},
	}
	pod.Spec.Containers = shells(image, containers...)
	for _, edit := range edits {
		edit(pod)
	}
	if _, err := bed.Core.CoreV1().Pods(s.Namespace).Create(s.Context(), pod, metav1.CreateOptions{}); err != nil {
		s.Fatal(err)
	}
	s.Cleanup(func() {
		_ = bed.Core.CoreV1().Pods(s.Namespace).Delete(context.Background(), name, metav1.DeleteOptions{GracePeriodSeconds: new(int64(0))})
	})
}

// shells returns containers that run a shell command each, given as "name=command".
func shells(image string, containers ...string) (all []corev1.Container) {
	for _, container := range containers {
		name, command, _ := strings.Cut(container, "=")
		all = append(all, corev1.Container{Name: name, Image: image, Command: []string{"sh", "-c", command}})
	}
	return all
}

// containersReady says which containers are not ready.
func containersReady(pod *corev1.Pod) string {
	for _, c := range pod.Spec.Containers {
		if !podstate.ContainerStatus(pod, c.Name).Ready {
			return fmt.Sprintf("container %s of %s", c.Name, podstate.Describe(pod, false))
		}
	}
	return ""
}

// cloneSet returns a CloneSet of pods with the container main.
func cloneSet(name, image string, replicas int32) *v1alpha1.CloneSet {
	labels := map[string]string{"app": name}
	return &v1alpha1.CloneSet{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: v1alpha1.CloneSetSpec{
			Replicas: &replicas,
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: corev1.PodSpec{
				TerminationGracePeriodSeconds: new(int64(5)),
				Containers:                    []corev1.Container{{Name: "main", Image: image}},
			}},
			UpdateStrategy: v1alpha1.CloneSetUpdateStrategy{Type: v1alpha1.InPlaceIfPossibleCloneSetUpdateStrategyType},
		},
	}
}

// run creates a CloneSet and waits until its pods are ready. They go before the
// namespace does, since no simulated kubelet ends them.
func (s *scene) run(set *v1alpha1.CloneSet) []*corev1.Pod {
	s.Helper()
	if _, err := workloads.CloneSets(s.Namespace).Create(s.Context(), set, metav1.CreateOptions{}); err != nil {
		s.Fatal(err)
	}
	s.Await(fmt.Sprintf("%d pods are ready", *set.Spec.Replicas), func() string {
		pods := s.Pods.All()
		for _, pod := range pods {
			if !podstate.InService(pod) {
				return podstate.Describe(pod, false)
			}
		}
		if len(pods) != int(*set.Spec.Replicas) {
			return fmt.Sprintf("%d pods", len(pods))
		}
		return ""
	})
	return s.Pods.All()
}

// edit merges a patch into a CloneSet.
func (s *scene) edit(name, patch string) {
	s.Helper()
	if _, err := workloads.CloneSets(s.Namespace).Patch(s.Context(), name, types.MergePatchType, []byte(patch), metav1.PatchOptions{}); err != nil {
		s.Fatal(err)
	}
}

// exec runs a command in a container of a pod and returns what it prints.
func (s *scene) exec(pod *corev1.Pod, container string, command ...string) string {
	s.Helper()
	out, err := bed.Control.Exec(s.Context(), pod, container, command...)
	if err != nil {
		s.Fatal(err)
	}
	return out
}

// crash ends a container from within. The command that does so may end with it.
func (s *scene) crash(pod *corev1.Pod, container string) {
	s.Helper()
	if _, err := bed.Control.Exec(s.Context(), pod, container, "kill", "1"); err != nil {
		s.Logf("container %s is ended: %v", container, err)
	}
}

// agentOf returns the agent of the node that a pod is on.
func agentOf(pod *corev1.Pod) *testbed.Agent {
	for _, agent := range bed.Agents {
		if agent.Node.Name == pod.Spec.NodeName {
			return agent
		}
	}
	return nil
}

// node returns the real node that a pod is on.
func node(pod *corev1.Pod) *cluster.RealNode { return agentOf(pod).Node }
