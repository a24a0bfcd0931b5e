// SPDX-License-Identifier: Apache-2.0

package injection_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"pgregory.net/rapid"

	"github.com/podwright/podwright/sidecar/injection"
	"github.com/podwright/podwright/sidecar/v1alpha1"
)

// Whatever is injected into whatever pod, the pod keeps what it has, and nothing stands
// in it twice. The order of the SidecarSets does not matter, and a second injection
// changes nothing. (SCI-4, SCI-7, SCI-11, SCI-16)
func TestInjectProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		pod := drawPod(t)
		sets := rapid.SliceOfN(rapid.Custom(drawSet), 0, 3).Draw(t, "sets")
		for i, set := range sets {
			set.Name = fmt.Sprint("set-", i)
		}
		in := injection.Input{Pod: pod, SidecarSets: sets, Now: noon}
		result, err := injection.Inject(in)
		if err != nil {
			t.Fatal(err)
		}
		keeps(t, pod, result)
		in.SidecarSets = slices.Clone(sets)
		slices.Reverse(in.SidecarSets)
		if reversed, err := injection.Inject(in); err != nil || !cmp.Equal(result, reversed) {
			t.Fatalf("in another order: %v\n%s", err, cmp.Diff(result, reversed))
		}
		in.Pod = result.Pod
		if again, err := injection.Inject(in); err != nil || !cmp.Equal(result.Pod, again.Pod) {
			t.Fatalf("once more: %v\n%s", err, cmp.Diff(result.Pod, again.Pod))
		}
	})
}

// keeps checks that a pod keeps its containers, in their order, and has no name twice.
func keeps(t *rapid.T, pod *corev1.Pod, result *injection.Result) {
	t.Helper()
	names := func(containers []corev1.Container) (all []string) {
		for _, c := range containers {
			all = append(all, c.Name)
		}
		return all
	}
	for _, list := range []struct{ before, after []string }{
		{names(pod.Spec.Containers), names(result.Pod.Spec.Containers)}, {names(pod.Spec.InitContainers), names(result.Pod.Spec.InitContainers)},
	} {
		var kept []string
		for _, name := range list.after {
			if slices.Contains(list.before, name) {
				kept = append(kept, name)
			}
		}
		if !slices.Equal(list.before, kept) {
			t.Fatalf("containers %v, of which %v are those of the pod, %v", list.after, kept, list.before)
		}
		if sorted := slices.Sorted(slices.Values(list.after)); len(slices.Compact(sorted)) != len(list.after) {
			t.Fatalf("containers %v", list.after)
		}
	}
	volumes := map[string]bool{}
	for _, v := range result.Pod.Spec.Volumes {
		if volumes[v.Name] {
			t.Fatalf("volume %s stands there twice", v.Name)
		}
		volumes[v.Name] = true
	}
}

var (
	anyName = rapid.SampledFrom([]string{"a", "b", "c", "d"})
	anyBool = rapid.Bool()
)

func drawContainer(t *rapid.T) corev1.Container {
	c := corev1.Container{Name: anyName.Draw(t, "container"), Image: anyName.Draw(t, "image")}
	for _, name := range rapid.SliceOfNDistinct(anyName, 0, 3, rapid.ID[string]).Draw(t, "variables") {
		c.Env = append(c.Env, corev1.EnvVar{Name: name, Value: c.Name})
	}
	for _, name := range rapid.SliceOfNDistinct(anyName, 0, 3, rapid.ID[string]).Draw(t, "mounts") {
		c.VolumeMounts = append(c.VolumeMounts, corev1.VolumeMount{Name: anyName.Draw(t, "volume"), MountPath: "/" + name, SubPathExpr: "$(" + name + ")"})
	}
	return c
}

func drawPod(t *rapid.T) *corev1.Pod {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"app": "web", "source": anyName.Draw(t, "source")}}}
	byName := func(c corev1.Container) string { return c.Name }
	pod.Spec.Containers = rapid.SliceOfNDistinct(rapid.Custom(drawContainer), 1, 3, byName).Draw(t, "containers")
	pod.Spec.InitContainers = rapid.SliceOfNDistinct(rapid.Custom(drawContainer), 0, 2, byName).Draw(t, "init containers")
	pod.Spec.Volumes = drawVolumes(t)
	return pod
}

func drawVolumes(t *rapid.T) (volumes []corev1.Volume) {
	for _, name := range rapid.SliceOfNDistinct(anyName, 0, 3, rapid.ID[string]).Draw(t, "volumes") {
		volumes = append(volumes, corev1.Volume{Name: name})
	}
	return volumes
}

func drawSet(t *rapid.T) *v1alpha1.SidecarSet {
	set := &v1alpha1.SidecarSet{Spec: v1alpha1.SidecarSetSpec{Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}}, Volumes: drawVolumes(t)}}
	set.Spec.InjectionStrategy.Paused = rapid.IntRange(0, 5).Draw(t, "paused") == 0
	byName := func(c v1alpha1.SidecarContainer) string { return c.Name }
	set.Spec.Containers = rapid.SliceOfNDistinct(rapid.Custom(drawSidecar), 0, 3, byName).Draw(t, "sidecars")
	set.Spec.InitContainers = rapid.SliceOfNDistinct(rapid.Custom(drawSidecar), 0, 2, byName).Draw(t, "init sidecars")
	set.Spec.PatchPodMetadata = []v1alpha1.SidecarSetPatchPodMetadata{{Annotations: map[string]string{anyName.Draw(t, "annotation"): `{"x":1}`},
		PatchPolicy: rapid.SampledFrom([]v1alpha1.SidecarSetPatchPolicyType{v1alpha1.SidecarSetRetainPatchPolicy, v1alpha1.SidecarSetMergePatchJSONPatchPolicy}).Draw(t, "policy")}}
	return set
}

func drawSidecar(t *rapid.T) v1alpha1.SidecarContainer {
	c := v1alpha1.SidecarContainer{Container: drawContainer(t)}
	if anyBool.Draw(t, "behind") {
		c.PodInjectPolicy = v1alpha1.AfterAppContainerType
	}
	if anyBool.Draw(t, "hot") {
		c.UpgradeStrategy = v1alpha1.SidecarContainerUpgradeStrategy{UpgradeType: v1alpha1.SidecarContainerHotUpgrade, HotUpgradeEmptyImage: "empty"}
	}
	if anyBool.Draw(t, "shares mounts") {
		c.ShareVolumePolicy.Type = v1alpha1.ShareVolumePolicyEnabled
	}
	transfer := v1alpha1.TransferEnvVar{SourceContainerName: anyName.Draw(t, "from"), EnvNames: []string{anyName.Draw(t, "transferred")}}
	if anyBool.Draw(t, "by label") {
		transfer.SourceContainerNameFrom = &v1alpha1.SourceContainerNameSource{FieldRef: &v1alpha1.PodFieldSelector{FieldPath: "metadata.labels['source']"}}
	}
	c.TransferEnv = []v1alpha1.TransferEnvVar{transfer}
	return c
}
