// SPDX-License-Identifier: Apache-2.0

package inplace_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/podwright/podwright/inplace"
)

// quantities reads pairs such as cpu 1, memory 1Gi.
func quantities(pairs ...string) corev1.ResourceList {
	list := corev1.ResourceList{}
	for i := 0; i < len(pairs); i += 2 {
		list[corev1.ResourceName(pairs[i])] = resource.MustParse(pairs[i+1])
	}
	return list
}

func requests(i int, pairs ...string) change {
	return func(t *corev1.PodTemplateSpec) { t.Spec.Containers[i].Resources.Requests = quantities(pairs...) }
}

func limits(i int, pairs ...string) change {
	return func(t *corev1.PodTemplateSpec) { t.Spec.Containers[i].Resources.Limits = quantities(pairs...) }
}

// restartFor gives container i a resize policy that restarts it.
func restartFor(i int, name corev1.ResourceName) change {
	return func(t *corev1.PodTemplateSpec) {
		t.Spec.Containers[i].ResizePolicy = []corev1.ContainerResizePolicy{{ResourceName: name, RestartPolicy: corev1.RestartContainer}}
	}
}

const resizable = "of a running container only the image, cpu and memory can be changed"

func TestCompareResources(t *testing.T) {
	podResources := func(t *corev1.PodTemplateSpec) {
		t.Spec.Resources = &corev1.ResourceRequirements{Requests: quantities("cpu", "4")}
	}
	windows := func(t *corev1.PodTemplateSpec) { t.Spec.OS = &corev1.PodOS{Name: corev1.Windows} }
	initContainer := func(cpu string) change {
		return func(t *corev1.PodTemplateSpec) {
			t.Spec.InitContainers = []corev1.Container{{Name: "i", Image: "i:1", Resources: corev1.ResourceRequirements{Requests: quantities("cpu", cpu)}}}
		}
	}
	for _, tt := range []struct {
		name     string
		from, to *corev1.PodTemplateSpec
		want     string
	}{
		{"IP-35: a request", template(requests(0, "cpu", "1")), template(requests(0, "cpu", "2")),
			"the pod stays, no container restarts:\n  container \"c1\": requests.cpu 1 becomes 2, without a restart"},
		{"IP-35: requests and limits, cpu and memory, two containers",
			template(requests(0, "cpu", "1", "memory", "1Gi"), limits(0, "cpu", "2"), requests(2, "memory", "1Gi")),
			template(requests(0, "cpu", "2", "memory", "2Gi"), limits(0, "cpu", "3"), requests(2, "memory", "512Mi")),
			"the pod stays, no container restarts:\n" +
				"  container \"c1\": limits.cpu 2 becomes 3, requests.cpu 1 becomes 2, requests.memory 1Gi becomes 2Gi, without a restart\n" +
				"  container \"c3\": requests.memory 1Gi becomes 512Mi, without a restart"},
		{"IP-35: one that is new", template(requests(0, "cpu", "1")), template(requests(0, "cpu", "1"), limits(0, "cpu", "2")),
			"the pod stays, no container restarts:\n  container \"c1\": limits.cpu is set to 2, without a restart"},
		{"IP-35: a limit is a request that is missing", template(limits(0, "cpu", "1")), template(limits(0, "cpu", "2")),
			"the pod stays, no container restarts:\n  container \"c1\": limits.cpu 1 becomes 2, requests.cpu 1 becomes 2, without a restart"},
		{"IP-35: a request that becomes that of the limit is not removed", template(requests(0, "cpu", "1"), limits(0, "cpu", "2")), template(limits(0, "cpu", "2")),
			"the pod stays, no container restarts:\n  container \"c1\": requests.cpu 1 becomes 2, without a restart"},
		{"IP-35: the same quantity in another notation", template(requests(0, "memory", "1Gi")), template(requests(0, "memory", "1024Mi")), "nothing changes in the pod"},
		{"IP-36: a resize policy restarts, for its resource only",
			template(requests(0, "cpu", "1"), restartFor(0, "cpu"), requests(1, "cpu", "1"), restartFor(1, "memory")),
			template(requests(0, "cpu", "2"), restartFor(0, "cpu"), requests(1, "cpu", "2"), restartFor(1, "memory")),
			"the pod stays, containers restart:\n  container \"c1\": its resizePolicy asks for a restart\n" +
				"  container \"c1\": requests.cpu 1 becomes 2, with a restart\n  container \"c2\": requests.cpu 1 becomes 2, without a restart"},
		{"IP-35: with an image and metadata", template(requests(1, "cpu", "1")), template(requests(1, "cpu", "2"), image(0, "c1:2"), label("z", "1")),
			"the pod stays, containers restart:\n  container \"c1\": image c1:1 becomes c1:2\n" +
				"  container \"c2\": requests.cpu 1 becomes 2, without a restart\n  metadata changes without a restart: label z"},

		{"IP-35: what is removed", template(requests(0, "cpu", "1", "memory", "1Gi"), limits(0, "cpu", "2")), template(requests(0, "cpu", "1")),
			"the pod is recreated:\n  remove /spec/containers/0/resources/limits/cpu (container \"c1\"): a request or limit cannot be taken from a running container\n" +
				"  remove /spec/containers/0/resources/requests/memory (container \"c1\"): a request or limit cannot be taken from a running container"},
		{"IP-35: another resource", template(requests(0, "cpu", "1")), template(requests(0, "cpu", "2", "ephemeral-storage", "1Gi")),
			"the pod is recreated:\n  add /spec/containers/0/resources/requests/ephemeral-storage (container \"c1\"): " + resizable},
		{"IP-35: another resource that changes", template(limits(1, "cpu", "1", "example.com/gpu", "1")), template(limits(1, "cpu", "1", "example.com/gpu", "2")),
			"the pod is recreated:\n  replace /spec/containers/1/resources/limits/example.com~1gpu (container \"c2\"): " + resizable},
		{"IP-35: claims", template(), template(func(t *corev1.PodTemplateSpec) {
			t.Spec.Containers[0].Resources.Claims = []corev1.ResourceClaim{{Name: "gpu"}}
		}), "the pod is recreated:\n  add /spec/containers/0/resources/claims (container \"c1\"): " + resizable},
		{"IP-35: the policy itself", template(requests(0, "cpu", "1")), template(requests(0, "cpu", "2"), restartFor(0, "cpu")),
			"the pod is recreated:\n  add /spec/containers/0/resizePolicy (container \"c1\"): " + resizable},
		{"IP-35: an init container", template(initContainer("1")), template(initContainer("2")),
			"the pod is recreated:\n  replace /spec/initContainers/0/resources/requests/cpu: init containers run before the others, when the pod is created"},
		{"IP-35: BestEffort cannot become Burstable", template(), template(requests(0, "cpu", "1")),
			"the pod is recreated:\n  replace /spec/containers/0/resources: the QoS class of the pod would change from BestEffort to Burstable, which that of a running pod cannot"},
		{"IP-35: Guaranteed cannot become Burstable",
			template(limits(0, "cpu", "1", "memory", "1"), limits(1, "cpu", "1", "memory", "1"), limits(2, "cpu", "1", "memory", "1")),
			template(limits(0, "cpu", "1", "memory", "1"), limits(1, "cpu", "1", "memory", "1"), limits(2, "cpu", "1", "memory", "1"), requests(2, "cpu", "500m")),
			"the pod is recreated:\n  replace /spec/containers/2/resources: the QoS class of the pod would change from Guaranteed to Burstable, which that of a running pod cannot"},
		{"IP-35: Guaranteed stays",
			template(limits(0, "cpu", "1", "memory", "1"), limits(1, "cpu", "1", "memory", "1"), limits(2, "cpu", "1", "memory", "1")),
			template(limits(0, "cpu", "1", "memory", "1"), limits(1, "cpu", "2", "memory", "1"), limits(2, "cpu", "1", "memory", "1")),
			"the pod stays, no container restarts:\n  container \"c2\": limits.cpu 1 becomes 2, requests.cpu 1 becomes 2, without a restart"},
		{"IP-35: the pod's own resources", template(podResources, requests(0, "cpu", "1")), template(podResources, requests(0, "cpu", "2")),
			"the pod is recreated:\n  replace /spec/containers/0/resources: the resources of containers cannot be changed if the pod has some of its own, spec.resources"},
		{"IP-35: Windows", template(windows, requests(0, "cpu", "1")), template(windows, requests(0, "cpu", "2")),
			"the pod is recreated:\n  replace /spec/containers/0/resources: pods of Windows cannot be resized"},
		{"IP-35: a container of another name", template(requests(0, "cpu", "1")), template(requests(0, "cpu", "2"), func(t *corev1.PodTemplateSpec) { t.Spec.Containers[0].Name = "x" }),
			"the pod is recreated:\n  replace /spec/containers/0/name (container \"c1\"): containers of a running pod cannot be renamed or reordered\n" +
				"  replace /spec/containers/0/resources/requests/cpu (container \"c1\"): " + resizable},
	} {
		t.Run(tt.name, func(t *testing.T) {
			from, to := tt.from.DeepCopy(), tt.to.DeepCopy()
			v, err := inplace.Compare(tt.from, tt.to, inplace.CalculateOptions{Resize: true})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, v.String()); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
			if diff := cmp.Diff([]any{from, to}, []any{tt.from, tt.to}); diff != "" {
				t.Errorf("the templates have changed (-want +got):\n%s", diff)
			}
			v, err = inplace.Compare(tt.from, tt.to, inplace.CalculateOptions{})
			if same := tt.want == "nothing changes in the pod"; err != nil || v.InPlace() != same || v.InPlace() && len(v.Update.Resources) > 0 {
				t.Errorf("IP-35: without the option: in place %t, error %v", v.InPlace(), err)
			}
		})
	}
}
