// SPDX-License-Identifier: Apache-2.0

package injection

import (
	"cmp"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/podwright/podwright/internal/podtemplate"
	"github.com/podwright/podwright/sidecar/v1alpha1"
)

// Default sets the unset fields of a SidecarSet to their defaults, in place, also those
// that Kubernetes gives to the fields of containers and volumes. A second call changes
// nothing. Init containers have no defaults: it is what Features.Default of the zero Features does.
func Default(set *v1alpha1.SidecarSet) { Features{}.Default(set) }

// Default sets the unset fields of a SidecarSet to their defaults, in place. With InitContainerDefaults it does
// so for init containers too. (SCI-40)
func (f Features) Default(set *v1alpha1.SidecarSet) {
	spec := &set.Spec
	for i := range spec.Containers {
		defaultContainer(&spec.Containers[i], v1alpha1.BeforeAppContainerType)
	}
	if f.InitContainerDefaults {
		defaultInitContainers(spec)
	}
	volumes := corev1.PodTemplateSpec{Spec: corev1.PodSpec{Volumes: spec.Volumes}}
	podtemplate.Default(&volumes)

	strategy := &spec.UpdateStrategy
	setDefault(&strategy.Type, v1alpha1.RollingUpdateSidecarSetStrategyType)
	if strategy.Type == v1alpha1.RollingUpdateSidecarSetStrategyType {
		defaultNumber(&strategy.Partition, 0)
		defaultNumber(&strategy.MaxUnavailable, 1)
	}
	if revision := spec.InjectionStrategy.Revision; revision != nil {
		setDefault(&revision.Policy, v1alpha1.AlwaysSidecarSetInjectRevisionPolicy)
	}
	if spec.RevisionHistoryLimit == nil {
		spec.RevisionHistoryLimit = new(int32(10))
	}
	for i := range spec.PatchPodMetadata {
		setDefault(&spec.PatchPodMetadata[i].PatchPolicy, v1alpha1.SidecarSetRetainPatchPolicy)
	}
}

func defaultInitContainers(spec *v1alpha1.SidecarSetSpec) {
	for i := range spec.InitContainers {
		defaultContainer(&spec.InitContainers[i], v1alpha1.AfterAppContainerType)
	}
}

func defaultContainer(c *v1alpha1.SidecarContainer, place v1alpha1.PodInjectPolicyType) {
	// As an init container: those of a template get another pull policy from workloads.
	pod := corev1.PodTemplateSpec{Spec: corev1.PodSpec{InitContainers: []corev1.Container{c.Container}}}
	podtemplate.Default(&pod)
	c.Container = pod.Spec.InitContainers[0]
	setDefault(&c.PodInjectPolicy, place)
	setDefault(&c.UpgradeStrategy.UpgradeType, v1alpha1.SidecarContainerColdUpgrade)
	setDefault(&c.ShareVolumePolicy.Type, v1alpha1.ShareVolumePolicyDisabled)
	if c.ResourcesPolicy != nil {
		setDefault(&c.ResourcesPolicy.TargetContainersNameRegex, ".*")
	}
	for i := range c.TransferEnv {
		if from := c.TransferEnv[i].SourceContainerNameFrom; from != nil && from.FieldRef != nil {
			setDefault(&from.FieldRef.APIVersion, "v1")
		}
	}
}

func setDefault[T ~string](field *T, value T) { *field = cmp.Or(*field, value) }

func defaultNumber(field **intstr.IntOrString, value int) {
	if *field == nil {
		number := intstr.FromInt(value)
		*field = &number
	}
}
