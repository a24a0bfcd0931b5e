// SPDX-License-Identifier: Apache-2.0

package realnodes

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/examples/tests/cluster/registry"
	"github.com/podwright/podwright/examples/tests/testbed/podstate"
	"github.com/podwright/podwright/inplace"
	inplacev1alpha1 "github.com/podwright/podwright/inplace/v1alpha1"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

// cpuLimit reads in a container how much of a cpu it may use, of either version of cgroups.
const cpuLimit = "cat /sys/fs/cgroup/cpu.max 2>/dev/null || cat /sys/fs/cgroup/cpu/cpu.cfs_quota_us"

// IP-35 to IP-38: a CloneSet changes cpu of pods in place. A kubelet gives it to the same container, which does not restart
// and stays in service. Another container restarts for its memory, in the same pod. What a node can never give recreates
// the pod.
func TestResize(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	image, _ := s.image("v1", registry.Image{})
	set := cloneSet("web", image, 1)
	containers := shells(image, "main="+endsAtOnce, "side="+endsAtOnce)
	for i := range containers {
		containers[i].ImagePullPolicy = corev1.PullIfNotPresent
		containers[i].Resources = corev1.ResourceRequirements{Requests: amounts("10m", "32Mi"), Limits: amounts("100m", "64Mi")}
	}
	containers[1].ResizePolicy = []corev1.ContainerResizePolicy{{ResourceName: corev1.ResourceMemory, RestartPolicy: corev1.RestartContainer}}
	set.Spec.Template.Spec.Containers = containers
	before := s.run(set)[0]
	if got := s.exec(before, "main", "sh", "-c", cpuLimit); !strings.HasPrefix(got, "10000") {
		t.Fatalf("the limit of 100m is %q", got)
	}

	after := s.resize(set, before, 0, amounts("20m", "32Mi"), amounts("200m", "64Mi"))
	if got := s.exec(after, "main", "sh", "-c", cpuLimit); !strings.HasPrefix(got, "20000") {
		t.Errorf("IP-35: the limit of 200m is %q", got)
	}
	for _, was := range before.Status.ContainerStatuses {
		if is := podstate.ContainerStatus(after, was.Name); is.ContainerID != was.ContainerID || is.RestartCount != was.RestartCount {
			t.Errorf("IP-36: container %s is another one: %+v", was.Name, is)
		}
	}
	if was, is := readySince(before), readySince(after); !was.Equal(&is) {
		t.Errorf("IP-36: the pod was ready since %s, and is since %s", was, is)
	}

	restarted := s.resize(set, before, 1, amounts("10m", "48Mi"), amounts("100m", "96Mi"))
	if main, side := podstate.ContainerStatus(restarted, "main"), podstate.ContainerStatus(restarted, "side"); main.RestartCount != 0 || side.RestartCount != 1 {
		t.Errorf("IP-36: restarts %d and %d, want 0 and 1", main.RestartCount, side.RestartCount)
	}

	set.Spec.Template.Spec.Containers[0].Resources = corev1.ResourceRequirements{Requests: amounts("9000", "32Mi"), Limits: amounts("9000", "64Mi")}
	s.setContainers(set)
	s.Await("IP-39: a pod that no node has room for is recreated", func() string {
		for _, pod := range s.Pods.All() {
			if pod.UID == before.UID && pod.DeletionTimestamp == nil {
				return podstate.Describe(pod, false)
			}
		}
		return ""
	})
}

func amounts(cpu, memory string) corev1.ResourceList {
	return corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(cpu), corev1.ResourceMemory: resource.MustParse(memory)}
}

// resize gives a container of the template other resources, and waits until the pod has them, the same one, and serves.
func (s *scene) resize(set *v1alpha1.CloneSet, pod *corev1.Pod, container int, requests, limits corev1.ResourceList) (resized *corev1.Pod) {
	s.Helper()
	c := &set.Spec.Template.Spec.Containers[container]
	c.Resources = corev1.ResourceRequirements{Requests: requests, Limits: limits}
	s.setContainers(set)
	s.Await("the pod has its new resources", func() string {
		resized = nil
		for _, is := range s.Pods.All() {
			switch status := podstate.ContainerStatus(is, c.Name); {
			case is.UID != pod.UID:
				return "another pod: " + podstate.Describe(is, false)
			case status.Resources == nil || !equality.Semantic.DeepEqual(*status.Resources, c.Resources):
				return fmt.Sprintf("%s: container %s has %v, conditions %+v", podstate.Describe(is, false), c.Name, status.Resources, is.Status.Conditions)
			case !podstate.InService(is), inplace.BeingResized(is):
				return podstate.Describe(is, false) + ": " + is.Annotations[inplacev1alpha1.StateAnnotation]
			}
			resized = is
		}
		if resized == nil {
			return "there is no pod"
		}
		return ""
	})
	return resized
}

// setContainers writes the containers of a template.
func (s *scene) setContainers(set *v1alpha1.CloneSet) {
	s.Helper()
	data, err := json.Marshal(set.Spec.Template.Spec.Containers)
	if err != nil {
		s.Fatal(err)
	}
	s.edit(set.Name, `{"spec":{"template":{"spec":{"containers":`+string(data)+`}}}}`)
}

func readySince(pod *corev1.Pod) metav1.Time {
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.PodReady {
			return c.LastTransitionTime
		}
	}
	return metav1.Time{}
}
