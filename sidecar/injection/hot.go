// SPDX-License-Identifier: Apache-2.0

package injection

import (
	"encoding/json"
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"github.com/podwright/podwright/sidecar/v1alpha1"
)

// HotContainers are the names of the two containers of a hot one. (SCI-12)
func HotContainers(name string) (first, second string) { return name + "-1", name + "-2" }

// hotContainers makes both of a hot container. (SCI-12)
func hotContainers(c corev1.Container, emptyImage string) []corev1.Container {
	first, second := HotContainers(c.Name)
	return []corev1.Container{hotContainer(c, first, c.Image), hotContainer(c, second, emptyImage)}
}

func hotContainer(c corev1.Container, name, image string) corev1.Container {
	c = *c.DeepCopy()
	c.Name, c.Image = name, image
	c.Env = withoutDoubles(c.Env, []corev1.EnvVar{
		fromAnnotation(v1alpha1.SidecarSetVersionEnv, v1alpha1.SidecarSetVersionAnnotationPrefix+name),
		fromAnnotation(v1alpha1.SidecarSetVersionAltEnv, v1alpha1.SidecarSetVersionAltAnnotationPrefix+name),
	})
	return c
}

func fromAnnotation(env, annotation string) corev1.EnvVar {
	return corev1.EnvVar{Name: env, ValueFrom: &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{
		APIVersion: "v1", FieldPath: "metadata.annotations['" + annotation + "']"}}}
}

// rememberHot writes down which hot containers work, unless that is known. (SCI-12, SCI-16)
func (i *injector) rememberHot() error {
	if len(i.hot) == 0 {
		return nil
	}
	working := map[string]string{}
	const key = v1alpha1.SidecarSetWorkingHotUpgradeContainerAnnotation
	if text := i.pod.Annotations[key]; text != "" {
		if err := json.Unmarshal([]byte(text), &working); err != nil {
			return fmt.Errorf("annotation %s of the pod is no JSON object of names: %w; correct or remove it", key, err)
		}
	}
	for _, name := range i.hot {
		if working[name] != "" {
			continue
		}
		first, second := HotContainers(name)
		working[name] = first
		for _, version := range []struct{ container, is, other string }{{first, "1", "0"}, {second, "0", "1"}} {
			i.pod.Annotations[v1alpha1.SidecarSetVersionAnnotationPrefix+version.container] = version.is
			i.pod.Annotations[v1alpha1.SidecarSetVersionAltAnnotationPrefix+version.container] = version.other
		}
	}
	return i.annotate(key, working)
}
