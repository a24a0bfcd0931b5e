// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/podwright/podwright/examples/tests/testbed/mirror"
	"github.com/podwright/podwright/examples/tests/testbed/podstate"
	lifecyclev1alpha1 "github.com/podwright/podwright/lifecycle/v1alpha1"
	"github.com/podwright/podwright/workloads/v1alpha1"
	"github.com/podwright/podwright/workloads/v1beta1"
)

// userPatience is how long a user waits for an answer.
const userPatience = 3 * time.Second

// clientOf reads and writes the workloads of a kind.
type clientOf[T metav1.Object] interface {
	Get(ctx context.Context, name string, opts metav1.GetOptions) (T, error)
	Update(ctx context.Context, set T, opts metav1.UpdateOptions) (T, error)
}

// copied is what can be copied, since the record keeps what it is shown.
type copied[T any] interface {
	metav1.Object
	DeepCopy() T
}

// edit changes a workload as a user does, again and again while the control plane does not answer. It returns the version with
// the change, "" if that is refused.
func edit[T copied[T]](s *story, client clientOf[T], name, what string, change func(T)) (version string) {
	s.Helper()
	s.AwaitAsking(fmt.Sprintf("%s is changed: %s", name, what), func() string {
		ctx, cancel := s.within(userPatience)
		defer cancel()
		set, err := client.Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			return err.Error()
		}
		s.observed(set) // with the change, if an answer got lost
		changed := set.DeepCopy()
		change(changed)
		stored, err := client.Update(ctx, changed, metav1.UpdateOptions{})
		switch {
		case err == nil:
			s.observed(stored)
			version = stored.GetResourceVersion()
			s.note("%s: %s", name, what)
		case apierrors.IsInvalid(err) || apierrors.IsForbidden(err):
			s.note("%s: %s is refused: %v", name, what, err) // a pod to delete may be gone by now
		default:
			return err.Error()
		}
		return ""
	})
	return version
}

func (s *story) editCloneSet(name, what string, change func(*v1alpha1.CloneSet)) (version string) {
	s.Helper()
	return edit(s, workloads.CloneSets(s.Namespace), name, what, change)
}

func (s *story) editStatefulSet(name, what string, change func(*v1beta1.StatefulSet)) (version string) {
	s.Helper()
	return edit(s, workloads.StatefulSets(s.Namespace), name, what, change)
}

// stir changes a workload at random.
func (s *story) stir() {
	s.Helper()
	switch s.random.IntN(18) {
	case 0, 1, 2:
		s.stirCloneSet(cloneSets[s.random.IntN(len(cloneSets))])
	case 3, 4, 5:
		s.stirStatefulSet(statefulSets[s.random.IntN(len(statefulSets))])
	case 6:
		s.stirDaemonSet(daemonSets[s.random.IntN(len(daemonSets))])
	case 7:
		s.stirBroadcastJob()
	case 8, 9:
		s.stirSidecarSet(s.sidecarSetName(sidecarSets[s.random.IntN(len(sidecarSets))]))
	case 10, 11:
		s.stirUnited(unitedDeployments[s.random.IntN(len(unitedDeployments))])
	case 12:
		s.stirSpread(spreads[s.random.IntN(len(spreads))])
	case 13:
		s.stirPinned()
	case 14, 15:
		s.stirDistribution()
	case 16:
		s.stirDebugs()
	case 17:
		s.stirProbes()
	}
}

func (s *story) stirCloneSet(name string) {
	s.Helper()
	switch s.random.IntN(10) {
	default:
		chosen := s.image(name)
		s.editCloneSet(name, chosen, func(set *v1alpha1.CloneSet) { set.Spec.Template.Spec.Containers[0].Image = chosen })
	case 0, 1:
		n := int32(3 + s.random.IntN(5))
		s.editCloneSet(name, fmt.Sprintf("%d replicas", n), func(set *v1alpha1.CloneSet) { set.Spec.Replicas = &n })
	case 2, 3:
		partition := intstr.Parse([]string{"0", "1", "2", "50%"}[s.random.IntN(4)])
		s.editCloneSet(name, "partition "+partition.String(), func(set *v1alpha1.CloneSet) { set.Spec.UpdateStrategy.Partition = &partition })
	case 4:
		paused := s.random.IntN(2) == 0
		s.editCloneSet(name, fmt.Sprintf("paused %v", paused), func(set *v1alpha1.CloneSet) { set.Spec.UpdateStrategy.Paused = paused })
	case 5, 6:
		if pods := s.active(name); len(pods) > 0 {
			victim := pods[s.random.IntN(len(pods))].Name
			s.editCloneSet(name, "delete "+victim, func(set *v1alpha1.CloneSet) { set.Spec.ScaleStrategy.PodsToDelete = []string{victim} })
		}
	}
}

func (s *story) stirStatefulSet(name string) {
	s.Helper()
	rolling := func(set *v1beta1.StatefulSet) *v1beta1.RollingUpdateStatefulSetStrategy {
		return set.Spec.UpdateStrategy.RollingUpdate
	}
	switch s.random.IntN(10) {
	default:
		chosen := s.image(name)
		s.editStatefulSet(name, chosen, func(set *v1beta1.StatefulSet) { set.Spec.Template.Spec.Containers[0].Image = chosen })
	case 0, 1:
		n := int32(2 + s.random.IntN(4))
		s.editStatefulSet(name, fmt.Sprintf("%d replicas", n), func(set *v1beta1.StatefulSet) { set.Spec.Replicas = &n })
	case 2:
		partition := int32(s.random.IntN(3))
		s.editStatefulSet(name, fmt.Sprintf("partition %d", partition), func(set *v1beta1.StatefulSet) { rolling(set).Partition = &partition })
	case 3:
		paused := s.random.IntN(2) == 0
		s.editStatefulSet(name, fmt.Sprintf("paused %v", paused), func(set *v1beta1.StatefulSet) { rolling(set).Paused = paused })
	case 4, 5:
		reserved := [][]intstr.IntOrString{nil, {intstr.FromInt32(1)}, {intstr.FromInt32(0), intstr.FromInt32(2)}}[s.random.IntN(3)]
		s.editStatefulSet(name, fmt.Sprintf("reserves %v", reserved), func(set *v1beta1.StatefulSet) {
			set.Spec.ReserveOrdinals, set.Spec.ReserveOrdinalRanges = nil, reserved
		})
	}
}

// image chooses one for a workload: often the one before the last, as who rolls back.
func (s *story) image(name string) string {
	chosen := s.images[name]
	next := image(1 + s.random.IntN(4))
	if len(chosen) >= 2 && s.random.IntN(4) == 0 {
		next = chosen[len(chosen)-2]
	}
	s.images[name] = append(chosen, next)
	return next
}

// active returns the active pods of a workload, by name.
func (s *story) active(name string) (pods []*corev1.Pod) {
	for _, pod := range s.pods.All() {
		if owner := metav1.GetControllerOf(pod); owner != nil && owner.Name == name && podstate.Active(pod) {
			pods = append(pods, pod)
		}
	}
	slices.SortFunc(pods, func(a, b *corev1.Pod) int { return strings.Compare(a.Name, b.Name) })
	return pods
}

// answerHooks does what the users' own controller has to do to pods that hooks hold, until the test ends. It takes the hook's
// label from pods that wait, and gives it back to pods that are updated.
func (s *story) answerHooks() {
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	s.Cleanup(func() {
		cancel()
		<-ended
	})
	go func() {
		defer close(ended)
		for ; ctx.Err() == nil; mirror.Pause(ctx) {
			for _, pod := range s.pods.All() {
				s.answerHook(ctx, pod)
				s.endTask(ctx, pod)
				s.endEphemeral(ctx, pod)
			}
			for _, node := range s.probes.All() {
				s.probe(ctx, node)
			}
		}
	}()
}

// answerHook writes the label of a hook if the state of a pod asks for it. If the pod has changed meanwhile, or the
// control plane does not answer, there will be another look.
func (s *story) answerHook(ctx context.Context, pod *corev1.Pod) {
	if pod.DeletionTimestamp != nil {
		return
	}
	changed := pod.DeepCopy()
	switch podstate.Lifecycle(pod) {
	case lifecyclev1alpha1.StatePreparingDelete:
		delete(changed.Labels, holdDelete)
	case lifecyclev1alpha1.StatePreparingUpdate:
		delete(changed.Labels, holdUpdate)
	case lifecyclev1alpha1.StateUpdated:
		changed.Labels[holdUpdate] = "yes"
	}
	if len(changed.Labels) == len(pod.Labels) {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, userPatience)
	defer cancel()
	_, _ = bed.Core.CoreV1().Pods(s.Namespace).Update(ctx, changed, metav1.UpdateOptions{})
}
