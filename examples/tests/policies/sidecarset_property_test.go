// SPDX-License-Identifier: Apache-2.0

package policies

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"pgregory.net/rapid"

	"github.com/podwright/podwright/sidecar/injection"
	"github.com/podwright/podwright/sidecar/v1alpha1"
)

// For any pod and up to three SidecarSets, the policies in any order make what Inject makes. When
// they run once more, they change nothing, and Inject then changes nothing either. (SCP-1, SCP-3 to
// SCP-7, SCP-9, SCI-16)
func TestSidecarSetPoliciesProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		pod := drawPod(t)
		var sets []*v1alpha1.SidecarSet
		for i := range rapid.IntRange(1, 3).Draw(t, "SidecarSets") {
			sets = append(sets, drawSet(t, i))
		}
		all, err := mutators(injection.Features{}, sets...)
		if err != nil {
			t.Fatal(err)
		}
		if err := compare(injection.Features{}, pod, sets, rapid.Permutation(all).Draw(t, "order"), anyBool.Draw(t, "schemaless")); err != nil {
			t.Fatal(err)
		}
	})
}

var (
	anyName = rapid.SampledFrom([]string{"a", "b", "c", "d"})
	anyBool = rapid.Bool()
)

func names(most int) *rapid.Generator[[]string] {
	return rapid.SliceOfNDistinct(anyName, 0, most, rapid.ID[string])
}

func drawContainer(t *rapid.T, name string) corev1.Container {
	c := corev1.Container{Name: name, Image: anyName.Draw(t, "image")}
	for _, name := range rapid.SliceOfN(anyName, 0, 3).Draw(t, "variables") {
		v := corev1.EnvVar{Name: name, Value: c.Name}
		if anyBool.Draw(t, "from a field") {
			v = corev1.EnvVar{Name: name, ValueFrom: &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{APIVersion: "v1", FieldPath: "metadata.name"}}}
		}
		c.Env = append(c.Env, v)
	}
	for _, name := range rapid.SliceOfN(anyName, 0, 3).Draw(t, "mounts") {
		c.VolumeMounts = append(c.VolumeMounts, corev1.VolumeMount{Name: anyName.Draw(t, "volume"), MountPath: "/" + name,
			SubPathExpr: rapid.SampledFrom([]string{"", "$(a)/$$(b)", "$(b)$(c)$(", "$$$(d)"}).Draw(t, "expression")})
	}
	return c
}

// drawMarked draws a container of a pod, perhaps with the mark of those that were injected: a template may be a copy of a pod.
func drawMarked(t *rapid.T, name string) corev1.Container {
	c := drawContainer(t, name)
	if rapid.IntRange(0, 3).Draw(t, "marked") == 0 {
		c.Env = append(c.Env, corev1.EnvVar{Name: v1alpha1.SidecarInjectedEnv, Value: rapid.SampledFrom([]string{"true", "true", "false"}).Draw(t, "mark")})
	}
	return c
}

// drawPod draws a pod. What names of its own containers and of SidecarSets are in common is
// for drawSet to say.
func drawPod(t *rapid.T) *corev1.Pod {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web-0", Labels: map[string]string{"app": "web", "source": anyName.Draw(t, "source")}}}
	for _, key := range names(2).Draw(t, "annotations") {
		metav1.SetMetaDataAnnotation(&pod.ObjectMeta, key, anyName.Draw(t, "value"))
	}
	if rapid.IntRange(0, 9).Draw(t, "default container") == 0 {
		metav1.SetMetaDataAnnotation(&pod.ObjectMeta, injection.DefaultContainerAnnotation, rapid.SampledFrom([]string{"", "main"}).Draw(t, "name"))
	}
	if rapid.IntRange(0, 9).Draw(t, "of a static one") == 0 {
		metav1.SetMetaDataAnnotation(&pod.ObjectMeta, corev1.MirrorPodAnnotationKey, "hash-of-the-file")
	}
	if anyBool.Draw(t, "injected list") {
		metav1.SetMetaDataAnnotation(&pod.ObjectMeta, v1alpha1.SidecarSetInjectedListAnnotation, rapid.SampledFrom([]string{"", "z,old", "set-0", "old,,old"}).Draw(t, "list"))
	}
	if anyBool.Draw(t, "records") {
		metav1.SetMetaDataAnnotation(&pod.ObjectMeta, v1alpha1.SidecarSetHashAnnotation, rapid.SampledFrom([]string{"", "{}",
			`{"set-0":{"updateTimestamp":null,"hash":"h","sidecarSetName":"set-0"},"z":{"updateTimestamp":"2020-01-01T00:00:00Z","hash":"","sidecarSetName":"z","sidecarList":["x","y"],"controllerRevision":"r"}}`}).Draw(t, "text"))
	}
	if anyBool.Draw(t, "working") {
		metav1.SetMetaDataAnnotation(&pod.ObjectMeta, v1alpha1.SidecarSetWorkingHotUpgradeContainerAnnotation, rapid.SampledFrom([]string{"", "{}", `{"s0-0":"s0-0-2","z":"z-1"}`, `{"s0-0":""}`}).Draw(t, "text"))
	}
	for _, name := range append(names(2).Draw(t, "containers"), "main") {
		pod.Spec.Containers = append(pod.Spec.Containers, drawMarked(t, name))
	}
	for _, name := range names(2).Draw(t, "init containers") {
		pod.Spec.InitContainers = append(pod.Spec.InitContainers, drawMarked(t, "init-"+name))
	}
	for _, name := range names(2).Draw(t, "volumes") {
		pod.Spec.Volumes = append(pod.Spec.Volumes, corev1.Volume{Name: name})
	}
	for _, name := range names(2).Draw(t, "secrets") {
		pod.Spec.ImagePullSecrets = append(pod.Spec.ImagePullSecrets, corev1.LocalObjectReference{Name: name})
	}
	return defaulted(pod)
}

// drawSet draws a SidecarSet. It has no containers that the pod perhaps has. It has no pull secrets
// and metadata: those of several SidecarSets stand in the order of the policies. (SCP-5)
func drawSet(t *rapid.T, i int) *v1alpha1.SidecarSet {
	set := &v1alpha1.SidecarSet{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprint("set-", i)}, Spec: v1alpha1.SidecarSetSpec{
		Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}}}}
	set.Status.LatestRevision = rapid.SampledFrom([]string{"", "r-1"}).Draw(t, "revision")
	set.Spec.InjectionStrategy.Paused = rapid.IntRange(0, 5).Draw(t, "paused") == 0
	if anyBool.Draw(t, "another namespace") {
		set.Spec.NamespaceSelector = &metav1.LabelSelector{MatchLabels: map[string]string{"team": rapid.SampledFrom([]string{"a", "a", "b"}).Draw(t, "team")}}
	}
	for c := range rapid.IntRange(0, 3).Draw(t, "sidecars") {
		set.Spec.Containers = append(set.Spec.Containers, drawSidecar(t, fmt.Sprintf("s%d-%d", i, c)))
	}
	for c := range rapid.IntRange(0, 2).Draw(t, "init sidecars") {
		set.Spec.InitContainers = append(set.Spec.InitContainers, drawInit(t, fmt.Sprintf("init-%c%d", 'c'-rune(i+c), i)))
	}
	for _, name := range names(2).Draw(t, "volumes") {
		set.Spec.Volumes = append(set.Spec.Volumes, corev1.Volume{Name: name})
	}
	return set
}

// drawAlone adds to a SidecarSet what takes the place of what the pod has.
func drawAlone(t *rapid.T, set *v1alpha1.SidecarSet) {
	for _, name := range names(2).Draw(t, "sidecars of the pod's names") {
		set.Spec.Containers = append(set.Spec.Containers, drawSidecar(t, name))
	}
	for _, name := range names(1).Draw(t, "init sidecars of the pod's names") {
		set.Spec.InitContainers = append(set.Spec.InitContainers, drawInit(t, rapid.SampledFrom([]string{"init-" + name, "q-" + name}).Draw(t, "init name")))
	}
	for _, name := range names(2).Draw(t, "secrets") {
		set.Spec.ImagePullSecrets = append(set.Spec.ImagePullSecrets, v1alpha1.SidecarSetPullSecret{Name: name})
	}
	for range rapid.IntRange(0, 3).Draw(t, "patches") {
		set.Spec.PatchPodMetadata = append(set.Spec.PatchPodMetadata, v1alpha1.SidecarSetPatchPodMetadata{
			Annotations: map[string]string{rapid.OneOf(anyName, rapid.Just(injection.DefaultContainerAnnotation)).Draw(t, "annotation"): anyName.Draw(t, "value")},
			PatchPolicy: rapid.SampledFrom([]v1alpha1.SidecarSetPatchPolicyType{"", v1alpha1.SidecarSetRetainPatchPolicy, v1alpha1.SidecarSetOverwritePatchPolicy}).Draw(t, "policy")})
	}
}

// Of one SidecarSet, which may replace what the pod has. (SCP-1, SCP-3, SCP-6)
func TestSidecarSetPolicyAloneProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		pod, set := drawPod(t), drawSet(t, 0)
		drawAlone(t, set)
		all, err := mutators(injection.Features{}, set)
		if err != nil {
			t.Fatal(err)
		}
		if err := compare(injection.Features{}, pod, []*v1alpha1.SidecarSet{set}, all, anyBool.Draw(t, "schemaless")); err != nil {
			t.Fatal(err)
		}
	})
}

// drawInit draws an init container that shares no mounts, as no policy can. (SCP-8)
func drawInit(t *rapid.T, name string) v1alpha1.SidecarContainer {
	c := drawSidecar(t, name)
	c.ShareVolumePolicy.Type = ""
	return c
}

func drawSidecar(t *rapid.T, name string) v1alpha1.SidecarContainer {
	c := v1alpha1.SidecarContainer{Container: drawContainer(t, name)}
	if anyBool.Draw(t, "behind") {
		c.PodInjectPolicy = v1alpha1.AfterAppContainerType
	}
	if anyBool.Draw(t, "hot") {
		c.UpgradeStrategy = v1alpha1.SidecarContainerUpgradeStrategy{UpgradeType: v1alpha1.SidecarContainerHotUpgrade, HotUpgradeEmptyImage: "empty"}
	}
	if anyBool.Draw(t, "shares mounts") {
		c.ShareVolumePolicy.Type = v1alpha1.ShareVolumePolicyEnabled
	}
	for range rapid.IntRange(0, 2).Draw(t, "transfers") {
		transfer := v1alpha1.TransferEnvVar{SourceContainerName: rapid.SampledFrom([]string{"a", "b", "main", name}).Draw(t, "from"), EnvNames: names(2).Draw(t, "transferred"), EnvName: rapid.SampledFrom([]string{"", "a"}).Draw(t, "one")}
		if anyBool.Draw(t, "by metadata") {
			path := rapid.SampledFrom([]string{"metadata.labels['source']", "metadata.annotations['a']", "metadata.annotations['b']", "spec.nodeName"}).Draw(t, "path")
			transfer.SourceContainerNameFrom = &v1alpha1.SourceContainerNameSource{FieldRef: &v1alpha1.PodFieldSelector{FieldPath: path}}
		}
		c.TransferEnv = append(c.TransferEnv, transfer)
	}
	return c
}
