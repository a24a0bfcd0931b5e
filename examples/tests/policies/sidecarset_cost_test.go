// SPDX-License-Identifier: Apache-2.0

package policies

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	celconfig "k8s.io/apiserver/pkg/apis/cel"

	"github.com/podwright/podwright/sidecar/injection"
	"github.com/podwright/podwright/sidecar/injection/policy"
	"github.com/podwright/podwright/sidecar/v1alpha1"
)

// largePod is a pod whose containers have so many variables and mounts each.
func largePod(t testing.TB, containers, each int) *corev1.Pod {
	pod := webPod(t, "{}", "{}")
	for c := range containers {
		container := corev1.Container{Name: fmt.Sprint("main-", c), Image: "app:1"}
		for i := range each {
			container.Env = append(container.Env, corev1.EnvVar{Name: fmt.Sprintf("VARIABLE_%d", i), Value: "a value of some length"})
			container.VolumeMounts = append(container.VolumeMounts, corev1.VolumeMount{Name: fmt.Sprint("volume-", i), MountPath: fmt.Sprintf("/mnt/%d/%d", c, i), SubPathExpr: fmt.Sprintf("$(VARIABLE_%d)", i)})
		}
		pod.Spec.Containers = append(pod.Spec.Containers, container)
	}
	return pod
}

// largeSet is a SidecarSet with all that there is.
func largeSet(t testing.TB, i, containers, each int) *v1alpha1.SidecarSet {
	set := sidecarSet(t, fmt.Sprintf("set-%03d", i), "{patchPodMetadata: [{annotations: {a: b}}], imagePullSecrets: [{name: x}]}")
	for c := range containers {
		s := v1alpha1.SidecarContainer{Container: corev1.Container{Name: fmt.Sprintf("sidecar-%d-%d", i, c), Image: "registry.example.com/sidecars/proxy:1.2.3"}}
		s.ShareVolumePolicy.Type = v1alpha1.ShareVolumePolicyEnabled
		s.LivenessProbe = &corev1.Probe{ProbeHandler: corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{Path: "/healthz", Port: intstr.FromInt32(8080)}}}
		if c%2 == 1 {
			s.PodInjectPolicy = v1alpha1.AfterAppContainerType
			s.UpgradeStrategy = v1alpha1.SidecarContainerUpgradeStrategy{UpgradeType: v1alpha1.SidecarContainerHotUpgrade, HotUpgradeEmptyImage: "empty:1"}
		}
		transfer := v1alpha1.TransferEnvVar{SourceContainerName: "main-0"}
		for v := range each {
			s.Env = append(s.Env, corev1.EnvVar{Name: fmt.Sprintf("OWN_%d", v), Value: "a value of some length"})
			transfer.EnvNames = append(transfer.EnvNames, fmt.Sprintf("VARIABLE_%d", v))
		}
		s.TransferEnv = []v1alpha1.TransferEnvVar{transfer}
		set.Spec.Containers = append(set.Spec.Containers, s)
	}
	return set
}

// A SidecarSet of five containers with all that there is costs a fraction of what the API server
// allows. That is ten million in all and one million for each expression. The largest that are
// compiled cost what SCP-8 says.
func TestSidecarSetPolicyCost(t *testing.T) {
	for _, test := range []struct {
		sidecars, each int // of the SidecarSet
		containers, of int // of the pod
		most           int64
	}{
		{1, 0, 1, 5, 10_000},
		{5, 10, 3, 20, 300_000},
		{5, 30, 5, 30, celconfig.RuntimeCELCostBudget / 10},
		{42, 30, 5, 30, celconfig.RuntimeCELCostBudget / 2}, // 63 containers, of which 42 are of hot ones
		{1, 200, 1, 200, celconfig.RuntimeCELCostBudget / 2},
		{5, 10, 5, 100, celconfig.RuntimeCELCostBudget / 2},
	} {
		t.Run(fmt.Sprintf("%d sidecars with %d variables, %d containers with %d", test.sidecars, test.each, test.containers, test.of), func(t *testing.T) {
			set, pod := largeSet(t, 0, test.sidecars, test.each), largePod(t, test.containers, test.of)
			all, err := mutators(injection.Features{}, set)
			if err != nil {
				t.Fatal(err)
			}
			if cost := all[0].cost(t, pod, shop); cost > test.most {
				t.Errorf("costs %d, more than %d", cost, test.most)
			} else {
				t.Logf("costs %d", cost)
			}
			if err := compare(injection.Features{}, pod, []*v1alpha1.SidecarSet{set}, all, true); err != nil {
				t.Error(err)
			}
		})
	}
}

// Beside a webhook, a policy leaves pods alone that might cost too much, and no others have it fail. (SCP-11)
func TestSidecarSetPolicyLeavesLargePods(t *testing.T) {
	for _, test := range []struct {
		sidecars, each int // of the SidecarSet
		containers, of int // of the pod
		left           bool
	}{
		{1, 0, 1, 5, false}, {5, 30, 5, 30, false}, {42, 30, 5, 30, false}, {1, 200, 1, 200, false}, {1, 0, 10, 30, false}, {5, 30, 5, 60, false},
		{1, 0, 5, 100, false}, {1, 200, 5, 60, false}, {1, 0, 1, 300, true}, {5, 200, 1, 300, true}, {42, 30, 5, 100, true},
	} {
		t.Run(fmt.Sprint(test), func(t *testing.T) {
			set, pod := largeSet(t, 0, test.sidecars, test.each), largePod(t, test.containers, test.of)
			compiled, err := policy.Compile(policy.Input{SidecarSet: set, Created: noon, LeaveLarge: true})
			if err != nil {
				t.Fatal(err)
			}
			m, err := newMutator(compiled.Policy)
			if err != nil {
				t.Fatal(err)
			}
			changed, err := m.mutate(pod, shop, true)
			if err != nil {
				t.Fatal(err)
			}
			if left := len(changed.Spec.Containers) == len(pod.Spec.Containers); left != test.left {
				t.Errorf("left alone: %t, want %t", left, test.left)
			}
			if _, listed := changed.Annotations[v1alpha1.SidecarSetInjectedListAnnotation]; listed == test.left {
				t.Errorf("the webhook is not asked: %t, want %t", listed, !test.left)
			}
		})
	}
}

func BenchmarkSidecarSetPolicy(b *testing.B) {
	for _, size := range []struct{ sidecars, each, containers, of int }{{1, 0, 1, 5}, {5, 10, 3, 20}} {
		b.Run(fmt.Sprint(size), func(b *testing.B) {
			all, err := mutators(injection.Features{}, largeSet(b, 0, size.sidecars, size.each))
			if err != nil {
				b.Fatal(err)
			}
			pod := largePod(b, size.containers, size.of)
			for b.Loop() {
				if _, err := all[0].mutate(pod, shop, false); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
