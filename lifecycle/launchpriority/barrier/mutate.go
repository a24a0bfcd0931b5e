// SPDX-License-Identifier: Apache-2.0

package barrier

import (
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/podwright/podwright/lifecycle/v1alpha1"
)

// maxGeneratedName is how much of a generateName stays in a name: with five
// characters behind it, a pod's host name can be the same.
const maxGeneratedName = 58

// Mutate gives the containers of a pod that is about to be created their
// barriers, if the pod asks for an order. It asks by the annotation, or by
// priorities that are not all the same. Otherwise it changes nothing. It may be
// called again about the same pod, also after containers have been added.
//
// Init containers are left as they are, native sidecars too: they have an order
// of their own, before all others.
//
// The name of the ConfigMap depends on that of the pod. So a pod that has only a
// generateName gets its name here, which ends in the suffix: five random
// characters. The suffix is not used for pods that have a name.
//
// The error names every environment variable that holds no integer, by
// container. The pod is unchanged then.
func Mutate(pod *corev1.Pod, suffix string) error {
	wanted, err := priorities(pod)
	if wanted == nil || err != nil {
		return err
	}
	name := nameOf(pod, suffix)
	if name == "" {
		return nil // the API server refuses it
	}
	configMap := ConfigMapName(name)
	if excess := len(configMap) - validation.DNS1123SubdomainMaxLength; excess > 0 {
		return field.TooLong(field.NewPath("metadata", "name"), name, len(name)-excess)
	}
	pod.Name = name
	for i := range pod.Spec.Containers {
		set(&pod.Spec.Containers[i], configMap, wanted[i])
	}
	return nil
}

// nameOf is the name that the pod has or gets. (LP-6)
func nameOf(pod *corev1.Pod, suffix string) string {
	if pod.Name != "" || pod.GenerateName == "" {
		return pod.Name
	}
	return pod.GenerateName[:min(len(pod.GenerateName), maxGeneratedName)] + suffix
}

// priorities returns the priority of each container; nil if the pod asks for
// no order. (LP-2 to LP-4)
func priorities(pod *corev1.Pod) ([]int, error) {
	if len(pod.Spec.Containers) < 2 {
		return nil, nil
	}
	wanted := make([]int, len(pod.Spec.Containers))
	if pod.Annotations[v1alpha1.LaunchPriorityAnnotation] == v1alpha1.LaunchPriorityOrdered {
		for i := range wanted {
			wanted[i] = -i
		}
		return wanted, nil
	}
	var errs field.ErrorList
	for i := range wanted {
		priority, wrong := priorityOf(&pod.Spec.Containers[i])
		wanted[i], errs = priority, append(errs, wrong...)
	}
	if err := errs.ToAggregate(); err != nil {
		return nil, err
	}
	if len(slices.Compact(slices.Clone(wanted))) == 1 {
		return nil, nil
	}
	return wanted, nil
}

// priorityOf returns the priority that the user gave a container; 0 if none.
func priorityOf(c *corev1.Container) (priority int, errs field.ErrorList) {
	at := field.NewPath("spec", "containers").Key(c.Name).Child("env").Key(v1alpha1.ContainerPriorityEnv)
	for i := range c.Env {
		if c.Env[i].Name != v1alpha1.ContainerPriorityEnv {
			continue
		}
		if c.Env[i].ValueFrom != nil {
			errs = append(errs, field.Forbidden(at.Child("valueFrom"), "the launch priority must be written as a literal value, such as 100, 0 or -5"))
			continue
		}
		number, err := strconv.Atoi(c.Env[i].Value)
		if err != nil {
			errs = append(errs, field.Invalid(at.Child("value"), c.Env[i].Value, "the launch priority must be a decimal integer, such as 100, 0 or -5"))
		}
		priority = number
	}
	return priority, errs
}

// set makes a container wait for the key of its priority, and for no other.
// (LP-5)
func set(c *corev1.Container, configMap string, priority int) {
	c.Env = slices.DeleteFunc(c.Env, func(e corev1.EnvVar) bool { return e.Name == v1alpha1.ContainerBarrierEnv })
	c.Env = append(c.Env, corev1.EnvVar{
		Name: v1alpha1.ContainerBarrierEnv,
		ValueFrom: &corev1.EnvVarSource{ConfigMapKeyRef: &corev1.ConfigMapKeySelector{
			LocalObjectReference: corev1.LocalObjectReference{Name: configMap}, Key: Key(priority),
		}},
	})
}
