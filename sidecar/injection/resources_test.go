// SPDX-License-Identifier: Apache-2.0

package injection_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"

	"github.com/podwright/podwright/sidecar/injection"
	"github.com/podwright/podwright/sidecar/v1alpha1"
)

// resourcesOf writes the resources of a container of a pod down.
func resourcesOf(t *testing.T, pod *corev1.Pod, name string) string {
	t.Helper()
	for _, list := range [][]corev1.Container{pod.Spec.InitContainers, pod.Spec.Containers} {
		for i := range list {
			if list[i].Name == name {
				out, err := yaml.Marshal(list[i].Resources)
				if err != nil {
					t.Fatal(err)
				}
				return strings.ReplaceAll(strings.TrimSpace(string(out)), "\n", " ")
			}
		}
	}
	t.Fatalf("no container %s", name)
	return ""
}

// two is a pod of two containers with requests and limits of cpu.
const two = `{containers: [
	{name: main, resources: {limits: {cpu: 200m}, requests: {cpu: 50m}}},
	{name: other, resources: {limits: {cpu: 400m}, requests: {cpu: 100m}}}]}`

// What a sidecar gets beside the containers of a pod. (SCI-20, SCI-24, SCI-25, SCI-27, SCI-28, SCI-29)
func TestComputedResources(t *testing.T) {
	const half = `resourcesExpr: {limits: {cpu: "max(cpu*50%, 50m)"}, requests: {cpu: "max(cpu*50%, 50m)"}}`
	for _, c := range []struct{ name, policy, pod, want string }{
		{"sum", "{targetContainersMode: sum, " + half + "}", two, "limits: cpu: 300m requests: cpu: 75m"},
		{"max", "{targetContainersMode: max, " + half + "}", two, "limits: cpu: 200m requests: cpu: 50m"},
		{"by name", "{targetContainersMode: sum, targetContainersNameRegex: the, " + half + "}", two, "limits: cpu: 200m requests: cpu: 50m"},
		{"by whole names", "{targetContainersMode: sum, targetContainersNameRegex: ^main$, " + half + "}", two, "limits: cpu: 100m requests: cpu: 50m"},
		{"one has no limit", "{targetContainersMode: sum, " + half + "}",
			`{containers: [{name: main, resources: {limits: {cpu: 200m}}}, {name: other}]}`, "requests: cpu: 50m"},
		{"a constant limit beside none", `{targetContainersMode: max, resourcesExpr: {limits: {cpu: "1"}}}`, mainOnly, "{}"},
		{"a request of nothing", `{targetContainersMode: max, resourcesExpr: {requests: {cpu: cpu, memory: memory}}}`, mainOnly,
			`requests: cpu: "0" memory: "0"`},
		{"memory", `{targetContainersMode: sum, resourcesExpr: {limits: {memory: "0.5*memory + max(0, memory-2Gi)"}}}`,
			`{containers: [{name: main, resources: {limits: {memory: 8Gi}}}]}`, "limits: memory: 10Gi"},
		{"thousandths of bytes", `{targetContainersMode: sum, resourcesExpr: {requests: {memory: "memory/3"}}}`,
			`{containers: [{name: main, resources: {requests: {memory: 1Ki}}}]}`, "requests: memory: 341333m"},
		{"a request above the limit", `{targetContainersMode: sum, resourcesExpr: {limits: {cpu: cpu}, requests: {cpu: "cpu*10"}}}`, two,
			"limits: cpu: 600m requests: cpu: 600m"},
		{"native sidecars of the pod", `{targetContainersMode: sum, resourcesExpr: {requests: {cpu: cpu}}}`,
			`{initContainers: [{name: native, restartPolicy: Always, resources: {requests: {cpu: 1}}}, {name: plain, resources: {requests: {cpu: 8}}}],
			containers: [{name: main, resources: {requests: {cpu: 2}}}]}`, `requests: cpu: "3"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			set := setOf(t, "demo", "{containers: [{name: log, resourcesPolicy: "+c.policy+"}]}")
			got := resourcesOf(t, inject(t, podOf(t, "{}", c.pod), set).Pod, "log")
			if got = strings.Join(strings.Fields(got), " "); got != c.want {
				t.Errorf("resources %s, want %s", got, c.want)
			}
		})
	}
}

const cpu = `resourcesPolicy: {targetContainersMode: sum, resourcesExpr: {requests: {cpu: cpu}}}`

// Containers of SidecarSets are no targets, not even hot ones in a second injection, and both hot ones get the same. (SCI-20, SCI-27)
func TestComputedResourcesAmongSidecars(t *testing.T) {
	hot := setOf(t, "hot", "{containers: [{name: proxy, image: a, upgradeStrategy: {upgradeType: HotUpgrade, hotUpgradeEmptyImage: e}, "+cpu+"}]}")
	cold := setOf(t, "cold", "{containers: [{name: log, resources: {requests: {cpu: 7}}}], initContainers: [{name: native, restartPolicy: Always, "+cpu+"}]}")
	pod := inject(t, podOf(t, "{}", two), hot, cold).Pod // injects twice
	for _, name := range []string{"proxy-1", "proxy-2", "native"} {
		if got := strings.Join(strings.Fields(resourcesOf(t, pod, name)), " "); got != "requests: cpu: 150m" {
			t.Errorf("container %s: %s", name, got)
		}
	}
}

// Claims stay. (SCI-20)
func TestComputedResourcesKeepClaims(t *testing.T) {
	set := setOf(t, "demo", "{containers: [{name: log, resources: {claims: [{name: gpu}]}, "+cpu+"}]}")
	if got := resourcesOf(t, inject(t, podOf(t, "{}", two), set).Pod, "log"); !strings.Contains(got, "gpu") || !strings.Contains(got, "150m") {
		t.Errorf("resources %s", got)
	}
}

// A pod for which nothing can be computed is refused, with the SidecarSet, the container and the reason. (SCI-20, SCI-23, SCI-24, SCI-27)
func TestComputedResourcesRefuse(t *testing.T) {
	for policy, want := range map[string]string{
		`{targetContainersMode: sum, targetContainersNameRegex: x, resourcesExpr: {requests: {cpu: cpu}}}`: `SidecarSet demo: resources of container log: no containers match the regex pattern "x"`,
		`{targetContainersMode: sum, resourcesExpr: {requests: {cpu: cpu-1}}}`:                             "failed to evaluate cpu requests expression",
		`{targetContainersMode: sum, resourcesExpr: {limits: {cpu: "cpu*cpu"}}}`:                           "multiplication of two quantities",
		`{targetContainersMode: sum, resourcesExpr: {limits: {cpu: "cpu+"}}}`:                              "cpu limits expression: failed to parse",
		`{targetContainersMode: sum, targetContainersNameRegex: "(", resourcesExpr: {limits: {cpu: "1"}}}`: "invalid regex pattern",
	} {
		set := setOf(t, "demo", "{containers: [{name: log, resourcesPolicy: "+policy+"}]}")
		_, err := injection.Inject(injection.Input{Pod: podOf(t, "{}", two), Namespace: namespace(), SidecarSets: []*v1alpha1.SidecarSet{set}, Now: noon})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want %q", policy, err, want)
		}
	}
}

// A policy is part of both hashes, and a SidecarSet without one keeps its hash. (SCI-15)
func TestComputedResourcesAreHashed(t *testing.T) {
	plain := setOf(t, "demo", "{containers: [{name: log, image: a}]}")
	policy := setOf(t, "demo", "{containers: [{name: log, image: a, "+cpu+"}]}")
	one, err := injection.HashesOf(plain)
	if err != nil {
		t.Fatal(err)
	}
	other, err := injection.HashesOf(policy)
	if err != nil || one.Containers == other.Containers || one.WithoutImage == other.WithoutImage {
		t.Errorf("error %v, hashes %v and %v", err, one, other)
	}
}

// Devices of the pod's own containers, each path once. (SCI-10)
func TestShareDevices(t *testing.T) {
	pod := podOf(t, "{}", `{containers: [{name: main, volumeDevices: [{name: a, devicePath: /dev/a}, {name: b, devicePath: /dev/b}]}, {name: other, volumeDevices: [{name: c, devicePath: /dev/a}]}]}`)
	for policy, want := range map[string][]corev1.VolumeDevice{
		"enabled":  {{Name: "own", DevicePath: "/dev/b"}, {Name: "a", DevicePath: "/dev/a"}},
		"disabled": {{Name: "own", DevicePath: "/dev/b"}},
	} {
		const sidecar = "volumeDevices: [{name: own, devicePath: /dev/b}], shareVolumeDevicePolicy: {type: "
		set := setOf(t, "demo", "{volumes: [{name: own}], containers: [{name: log, "+sidecar+policy+"}}], initContainers: [{name: init, "+sidecar+policy+"}}]}")
		spec := inject(t, pod, set).Pod.Spec
		for _, c := range []corev1.Container{spec.Containers[0], spec.InitContainers[0]} {
			if diff := cmp.Diff(want, c.VolumeDevices); diff != "" {
				t.Errorf("%s: container %s (-want +got):\n%s", policy, c.Name, diff)
			}
		}
	}
}
