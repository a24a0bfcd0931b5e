package invariants

import (
	"fmt"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/podwright/podwright/inplace/rollout"
	lifecyclev1alpha1 "github.com/podwright/podwright/lifecycle/v1alpha1"
	"github.com/podwright/podwright/workloads/v1alpha1"
	"github.com/podwright/podwright/workloads/v1beta1"
)

// terms is what a spec says about pods and claims.
type terms struct {
	generation  int64
	replicas    int
	surge       int
	unavailable int
	partition   int
	paused      bool
	inPlace     bool   // a pod with other images gets those of the template, and is not deleted
	images      string // of the template
	lifecycle   lifecyclev1alpha1.Lifecycle
	claims      []string // names of the claim templates

	picked []string // pods to delete, of CloneSets

	// Of StatefulSets.
	wanted  []int // ordinals, ascending
	ordered bool  // OrderedReady
	delete  bool  // claims go when their pods are scaled in
}

// cloneSetTerms reads the spec of a CloneSet with defaults.
func cloneSetTerms(object *v1alpha1.CloneSet) terms {
	spec := &object.Spec
	replicas := *spec.Replicas
	// The API server has these numbers checked.
	surge, _ := rollout.MaxSurge(spec.UpdateStrategy.MaxSurge, replicas)
	unavailable, _ := rollout.MaxUnavailable(spec.UpdateStrategy.MaxUnavailable, replicas, surge)
	partition, _ := rollout.Partition(spec.UpdateStrategy.Partition, replicas)
	t := terms{
		replicas: int(replicas), surge: int(surge), unavailable: int(unavailable), partition: int(partition),
		paused:  spec.UpdateStrategy.Paused,
		inPlace: spec.UpdateStrategy.Type != "" && spec.UpdateStrategy.Type != v1alpha1.RecreateCloneSetUpdateStrategyType,
		images:  images(spec.Template.Spec), picked: spec.ScaleStrategy.PodsToDelete,
		claims: claimTemplates(spec.VolumeClaimTemplates),
	}
	if spec.Lifecycle != nil {
		t.lifecycle = *spec.Lifecycle
	}
	return t
}

// statefulSetTerms reads the spec of a StatefulSet with defaults.
func statefulSetTerms(object *v1beta1.StatefulSet) terms {
	spec := &object.Spec
	t := terms{
		replicas: int(*spec.Replicas), unavailable: 1, images: images(spec.Template.Spec),
		ordered: spec.PodManagementPolicy != appsv1.ParallelPodManagement, claims: claimTemplates(spec.VolumeClaimTemplates),
	}
	for ordinal := 0; len(t.wanted) < t.replicas; ordinal++ {
		if !slices.Contains(spec.ReserveOrdinals, ordinal) {
			t.wanted = append(t.wanted, ordinal)
		}
	}
	if rolling := spec.UpdateStrategy.RollingUpdate; rolling != nil {
		t.paused = rolling.Paused
		t.inPlace = rolling.PodUpdatePolicy != "" && rolling.PodUpdatePolicy != v1beta1.RecreatePodUpdateStrategyType
		if rolling.Partition != nil {
			t.partition = int(*rolling.Partition)
		}
		if rolling.MaxUnavailable != nil {
			n, _ := rollout.Count("maxUnavailable", *rolling.MaxUnavailable, *spec.Replicas, rollout.RoundDown)
			t.unavailable = max(1, int(n))
		}
	}
	if policy := spec.PersistentVolumeClaimRetentionPolicy; policy != nil {
		t.delete = policy.WhenScaled == appsv1.DeletePersistentVolumeClaimRetentionPolicyType
	}
	if spec.Lifecycle != nil {
		t.lifecycle = *spec.Lifecycle
	}
	return t
}

func claimTemplates(templates []corev1.PersistentVolumeClaim) (names []string) {
	for _, template := range templates {
		names = append(names, template.Name)
	}
	return names
}

// images are those of all containers, as text.
func images(spec corev1.PodSpec) string {
	var all []string
	for _, container := range spec.Containers {
		all = append(all, fmt.Sprintf("%s=%s", container.Name, container.Image))
	}
	return strings.Join(all, " ")
}

// at tells whether a pod has the images of the template.
func (t terms) at(pod *corev1.Pod) bool { return images(pod.Spec) == t.images }

// end is the last wanted ordinal plus one: claims of pods below it stay, also of reserved ordinals.
func (t terms) end() int {
	if len(t.wanted) == 0 {
		return 0
	}
	return t.wanted[len(t.wanted)-1] + 1
}

// wants tells whether a StatefulSet has a pod of an ordinal.
func (t terms) wants(ordinal int) bool { return slices.Contains(t.wanted, ordinal) }

// holds tells whether a hook keeps a pod from what it is about.
func holds(hook *lifecyclev1alpha1.LifecycleHook, pod *corev1.Pod) bool {
	if hook == nil {
		return false
	}
	for key, value := range hook.LabelsHandler {
		if found, labelled := pod.Labels[key]; labelled && found == value {
			return true
		}
	}
	return slices.ContainsFunc(hook.FinalizersHandler, func(name string) bool { return slices.Contains(pod.Finalizers, name) })
}
