// SPDX-License-Identifier: Apache-2.0

package injection

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/podwright/podwright/sidecar/injection/resources"
	"github.com/podwright/podwright/sidecar/v1alpha1"
)

// injectedEnv marks a container as injected.
var injectedEnv = corev1.EnvVar{Name: v1alpha1.SidecarInjectedEnv, Value: "true"}

// injected tells whether a container was injected.
func injected(c *corev1.Container) bool {
	return slices.ContainsFunc(c.Env, func(e corev1.EnvVar) bool { return e.Name == injectedEnv.Name && e.Value == injectedEnv.Value })
}

// ownContainers are the containers of a pod that no SidecarSet has injected, nor is
// going to replace.
func ownContainers(pod *corev1.Pod, all []matched) (own []corev1.Container) {
	names := sets.New[string]()
	for _, m := range all {
		for i := range m.Spec.Containers {
			names.Insert(NamesOf(&m.Spec.Containers[i])...)
		}
	}
	for i := range pod.Spec.Containers {
		if c := &pod.Spec.Containers[i]; !injected(c) && !names.Has(c.Name) {
			own = append(own, *c)
		}
	}
	return own
}

// sidecarNames are the names that the containers and init containers of SidecarSets have in a pod.
func sidecarNames(all []matched) sets.Set[string] {
	names := sets.New[string]()
	for _, m := range all {
		for i := range m.Spec.Containers {
			names.Insert(NamesOf(&m.Spec.Containers[i])...)
		}
		for i := range m.Spec.InitContainers {
			names.Insert(m.Spec.InitContainers[i].Name)
		}
	}
	return names
}

// NamesOf are the names under which a container of a SidecarSet is injected: of a hot one two. (SCI-12)
func NamesOf(c *v1alpha1.SidecarContainer) []string {
	if c.UpgradeStrategy.UpgradeType != v1alpha1.SidecarContainerHotUpgrade {
		return []string{c.Name}
	}
	first, second := HotContainers(c.Name)
	return []string{first, second}
}

// initContainer makes the container of an init container of a SidecarSet. (SCI-6)
func (i *injector) initContainer(sidecar *v1alpha1.SidecarContainer) (corev1.Container, error) {
	c := *sidecar.Container.DeepCopy()
	if err := i.resources(sidecar, &c); err != nil {
		return c, err
	}
	needed := i.shareMounts(sidecar, &c)
	i.shareDevices(sidecar, &c)
	c.Env = withoutDoubles(slices.Concat(c.Env, []corev1.EnvVar{injectedEnv}, i.transferred(sidecar.TransferEnv)), needed)
	return c, nil
}

// containers makes the container of a container of a SidecarSet, or both of a hot one.
// (SCI-7, SCI-12)
func (i *injector) containers(sidecar *v1alpha1.SidecarContainer) ([]corev1.Container, error) {
	c := *sidecar.Container.DeepCopy()
	if err := i.resources(sidecar, &c); err != nil {
		return nil, err
	}
	needed := i.shareMounts(sidecar, &c)
	i.shareDevices(sidecar, &c)
	c.Env = withoutDoubles(c.Env, []corev1.EnvVar{injectedEnv}, i.transferred(sidecar.TransferEnv), needed)
	if sidecar.UpgradeStrategy.UpgradeType != v1alpha1.SidecarContainerHotUpgrade {
		return []corev1.Container{c}, nil
	}
	i.hot = append(i.hot, c.Name)
	return hotContainers(c, sidecar.UpgradeStrategy.HotUpgradeEmptyImage), nil
}

// resources computes the resources of a container that has a policy for them. Its claims stay. (SCI-20)
func (i *injector) resources(sidecar *v1alpha1.SidecarContainer, c *corev1.Container) error {
	if sidecar.ResourcesPolicy == nil {
		return nil
	}
	policy, err := resources.NewPolicy(sidecar.ResourcesPolicy)
	if err != nil {
		return fmt.Errorf("resources of container %s: %w", c.Name, err)
	}
	computed, err := policy.Compute(policy.Targets(&i.pod.Spec, i.sidecars.Has))
	if err != nil {
		return fmt.Errorf("resources of container %s: %w", c.Name, err)
	}
	computed.Claims = c.Resources.Claims
	c.Resources = computed
	return nil
}

// shareDevices gives a container the block devices of the pod's own containers, if its policy says so. (SCI-10)
func (i *injector) shareDevices(sidecar *v1alpha1.SidecarContainer, c *corev1.Container) {
	if policy := sidecar.ShareVolumeDevicePolicy; policy == nil || policy.Type != v1alpha1.ShareVolumePolicyEnabled {
		return
	}
	paths := sets.New[string]()
	for _, device := range c.VolumeDevices {
		paths.Insert(device.DevicePath)
	}
	for o := range i.own {
		for _, device := range i.own[o].VolumeDevices {
			if !paths.Has(device.DevicePath) {
				paths.Insert(device.DevicePath)
				c.VolumeDevices = append(c.VolumeDevices, device)
			}
		}
	}
}

// withoutDoubles appends variables whose names do not stand in a list yet. The list
// itself does not change. (SCI-8)
func withoutDoubles(list []corev1.EnvVar, more ...[]corev1.EnvVar) []corev1.EnvVar {
	names := sets.New[string]()
	for _, e := range list {
		names.Insert(e.Name)
	}
	for _, e := range slices.Concat(more...) {
		if !names.Has(e.Name) {
			names.Insert(e.Name)
			list = append(list, e)
		}
	}
	return list
}

// transferred are the variables that are copied from the pod's own containers. (SCI-9)
func (i *injector) transferred(transfers []v1alpha1.TransferEnvVar) (env []corev1.EnvVar) {
	for _, t := range transfers {
		source := i.named(i.sourceName(&t))
		if source == nil {
			continue
		}
		names := sets.New(t.EnvNames...)
		if t.EnvName != "" {
			names.Insert(t.EnvName)
		}
		for _, name := range sets.List(names) {
			if e := variable(source, name); e != nil {
				env = append(env, *e.DeepCopy())
			}
		}
	}
	return env
}

// sourceName is the name of the container that a transfer copies from.
func (i *injector) sourceName(t *v1alpha1.TransferEnvVar) string {
	if from := t.SourceContainerNameFrom; from != nil && from.FieldRef != nil {
		return field(i.pod, from.FieldRef.FieldPath)
	}
	return t.SourceContainerName
}

var fieldPath = regexp.MustCompile(`^metadata\.(labels|annotations)\['(.*)'\]$`)

// FieldPath splits the path of a label or an annotation, metadata.labels['KEY'] or
// metadata.annotations['KEY'], into "labels" or "annotations" and the key. Of another
// path it is false. The key may be none that a pod can have.
func FieldPath(path string) (of, key string, found bool) {
	m := fieldPath.FindStringSubmatch(path)
	if m == nil {
		return "", "", false
	}
	return m[1], m[2], true
}

// field reads a label or an annotation of a pod; empty if it has none.
func field(pod *corev1.Pod, path string) string {
	switch of, key, _ := FieldPath(path); of {
	case "labels":
		return pod.Labels[key]
	case "annotations":
		return pod.Annotations[key]
	}
	return ""
}

func (i *injector) named(container string) *corev1.Container {
	at := slices.IndexFunc(i.own, func(c corev1.Container) bool { return c.Name == container })
	if at < 0 {
		return nil
	}
	return &i.own[at]
}

// variable finds a variable of a container.
func variable(c *corev1.Container, name string) *corev1.EnvVar {
	for i := range c.Env {
		if c.Env[i].Name == name {
			return &c.Env[i]
		}
	}
	return nil
}

// shareMounts adds the mounts of the pod's own containers to one of a SidecarSet, and
// returns the variables that these need. (SCI-10)
func (i *injector) shareMounts(sidecar *v1alpha1.SidecarContainer, c *corev1.Container) (needed []corev1.EnvVar) {
	if sidecar.ShareVolumePolicy.Type != v1alpha1.ShareVolumePolicyEnabled {
		return nil
	}
	paths := sets.New[string]()
	for _, mount := range c.VolumeMounts {
		paths.Insert(mount.MountPath)
	}
	for o := range i.own {
		for _, mount := range i.own[o].VolumeMounts {
			if paths.Has(mount.MountPath) {
				continue
			}
			paths.Insert(mount.MountPath)
			c.VolumeMounts = append(c.VolumeMounts, *mount.DeepCopy())
			for _, name := range references(mount.SubPathExpr) {
				if e := variable(&i.own[o], name); e != nil {
					needed = append(needed, *e.DeepCopy())
				}
			}
		}
	}
	return needed
}

var reference = regexp.MustCompile(`\$\$|\$\(([^()]+)\)`)

// references are the names of the variables that a text expands: $(NAME), of which $$ is no
// beginning of one.
func references(text string) (names []string) {
	if !strings.Contains(text, "$(") {
		return nil
	}
	for _, m := range reference.FindAllStringSubmatch(text, -1) {
		if m[1] != "" {
			names = append(names, m[1])
		}
	}
	return names
}
