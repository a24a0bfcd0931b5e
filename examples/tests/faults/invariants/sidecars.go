// SPDX-License-Identifier: Apache-2.0

package invariants

import (
	"encoding/json"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/podwright/podwright/examples/tests/testbed/podstate"
	inplacev1alpha1 "github.com/podwright/podwright/inplace/v1alpha1"
	"github.com/podwright/podwright/internal/testing/simulation/invariants"
	"github.com/podwright/podwright/sidecar/v1alpha1"
)

// sidecarSet is a SidecarSet that is there before its pods, and whose webhook always answers. Its selector stays.
type sidecarSet struct {
	// counting are the versions whose spec counts, with their defaults; the last one is in force.
	counting []*v1alpha1.SidecarSet
	asked    map[string]bool    // images that users have asked for, by container
	taken    map[types.UID]bool // pods that served when they were updated, and were not available since
}

// takeSidecarSet takes note of a version of a SidecarSet.
func (j *Judge) takeSidecarSet(object *v1alpha1.SidecarSet) {
	s := j.sidecarSets[object.UID]
	if s == nil {
		s = &sidecarSet{asked: map[string]bool{}, taken: map[types.UID]bool{}}
		j.sidecarSets[object.UID] = s
	}
	for _, c := range object.Spec.Containers {
		for _, name := range namesOf(&c) {
			s.asked[name+"="+c.Image] = true
			s.asked[name+"="+c.UpgradeStrategy.HotUpgradeEmptyImage] = isHot(&c)
		}
	}
	switch last := len(s.counting) - 1; {
	case last < 0 || s.counting[last].Generation < object.Generation:
		s.counting = append(s.counting, object)
	case s.counting[last].Generation == object.Generation:
		s.counting[last] = object
	}
}

func (s *sidecarSet) latest() *v1alpha1.SidecarSet { return s.counting[len(s.counting)-1] }

func (s *sidecarSet) name() string { return s.latest().Name }

func (s *sidecarSet) selects(pod *corev1.Pod) bool {
	selector, err := metav1.LabelSelectorAsSelector(s.latest().Spec.Selector)
	return err == nil && selector.Matches(labels.Set(pod.Labels))
}

// matching are the pods that the SidecarSet selects and that go on.
func (s *sidecarSet) matching(all map[types.UID]*corev1.Pod) (pods []*corev1.Pod) {
	for _, pod := range all {
		if s.selects(pod) && podstate.Active(pod) {
			pods = append(pods, pod)
		}
	}
	return pods
}

// judgeSidecars judges what a change of a pod is to the SidecarSets that select it, and what it restarts.
func (j *Judge) judgeSidecars(v *verdict, c Change) {
	before, _ := c.Old.(*corev1.Pod)
	after, _ := c.New.(*corev1.Pod)
	j.judgeRestarts(v, before, after)
	for _, s := range j.sidecarSets {
		switch pod := c.latest().(*corev1.Pod); {
		case !s.selects(pod):
			continue
		case after == nil || !podstate.Active(after):
			delete(s.taken, pod.UID)
			continue
		case before == nil:
			s.judgeInjected(v, after)
		case !v.gap:
			s.judgeUpdate(v, before, after, len(s.matching(j.injected)))
		}
		if s.available(after) || s.running(after) && updatedByWorkload(after) {
			delete(s.taken, after.UID)
		}
	}
}

// judgeInjected: a new pod has all that the SidecarSet injects.
func (s *sidecarSet) judgeInjected(v *verdict, pod *corev1.Pod) {
	listed := strings.Split(pod.Annotations[v1alpha1.SidecarSetInjectedListAnnotation], ",")
	v.expect(slices.Contains(listed, s.name()), invariants.Identity, "created without SidecarSet %s, which selects it", s.name())
	for _, name := range s.containers() {
		v.expect(s.asked[name+"="+podstate.Image(pod, name)], invariants.Partition, "created with %s=%s, which no SidecarSet asks for", name, podstate.Image(pod, name))
	}
}

// judgeUpdate judges a write of a pod by the controller of the SidecarSet: it is one that changes its record or its containers.
func (s *sidecarSet) judgeUpdate(v *verdict, before, after *corev1.Pod, matched int) {
	updated := s.recorded(before) != s.recorded(after)
	changed := updated
	for _, name := range s.containers() {
		if is := podstate.Image(after, name); is != podstate.Image(before, name) {
			changed = true
			v.expect(s.asked[name+"="+is], invariants.Partition, "%s becomes %s, which no SidecarSet asks for", name, is)
		}
	}
	if !changed {
		return
	}
	v.expect(sameBesides(withoutSidecars(before), withoutSidecars(after)), invariants.InPlace, "SidecarSet %s changes more than its containers", s.name())
	v.expect(podstate.Condition(before, inplacev1alpha1.InPlaceUpdateReady).Status != corev1.ConditionFalse, invariants.Exclusive,
		"SidecarSet %s changes it while its workload updates it in place", s.name())
	for i := range s.latest().Spec.Containers {
		if c := &s.latest().Spec.Containers[i]; isHot(c) && works(before, c, before) {
			v.expect(works(after, c, before), invariants.Hot, "none of the containers of %s goes on", c.Name)
		}
	}
	if updated {
		s.judgeTaken(v, before, matched)
	}
}

// judgeTaken: the update of a pod that serves begins while it is allowed, and while updates keep fewer pods than maxUnavailable
// out of service.
func (s *sidecarSet) judgeTaken(v *verdict, pod *corev1.Pod, matched int) {
	paused, limit := true, 0
	for _, set := range s.counting {
		paused = paused && set.Spec.UpdateStrategy.Paused
		n, err := scaled(set.Spec.UpdateStrategy.MaxUnavailable, 1, matched, true)
		v.expect(err == nil, invariants.Spec, "maxUnavailable of SidecarSet %s: %v", s.name(), err)
		limit = max(limit, n)
	}
	v.expect(!paused, invariants.Paused, "updated while SidecarSet %s is paused", s.name())
	if !podstate.Ready(pod) {
		return
	}
	others := len(s.taken)
	if s.taken[pod.UID] {
		others--
	}
	v.expect(others < limit, invariants.Availability, "updated while %d pods are out of service by updates, maxUnavailable of SidecarSet %s is %d", others, s.name(), limit)
	s.taken[pod.UID] = true
}

// available tells whether a pod serves and no update of the SidecarSet is left to be done.
func (s *sidecarSet) available(pod *corev1.Pod) bool {
	return podstate.Ready(pod) && s.consistent(pod)
}

// updatedByWorkload tells whether the workload of a pod has taken it out of service for an update of its own. That
// update does not count for a SidecarSet.
func updatedByWorkload(pod *corev1.Pod) bool {
	return podstate.Condition(pod, inplacev1alpha1.InPlaceUpdateReady).Status == corev1.ConditionFalse
}

// consistent tells whether the containers of the SidecarSet serve with the images of their spec, and one of those that are hot
// is empty.
func (s *sidecarSet) consistent(pod *corev1.Pod) bool {
	for i := range s.latest().Spec.Containers {
		c, empty := &s.latest().Spec.Containers[i], 0
		for _, name := range namesOf(c) {
			if podstate.Image(pod, name) == c.UpgradeStrategy.HotUpgradeEmptyImage {
				empty++
			}
		}
		if isHot(c) && empty != 1 {
			return false
		}
	}
	return s.running(pod)
}

// running tells whether the containers of the SidecarSet serve with the images of their spec.
func (s *sidecarSet) running(pod *corev1.Pod) bool {
	return !slices.ContainsFunc(s.containers(), func(name string) bool { return !runs(pod, name, podstate.Image(pod, name)) })
}

// settled: so many pods as the partition leaves have what the SidecarSet asks for, all are available, and it counts them exactly.
func (s *sidecarSet) settled(v *verdict, pods map[types.UID]*corev1.Pod) {
	s.counting = s.counting[len(s.counting)-1:]
	set, matched, updated := s.latest(), 0, 0
	for _, pod := range s.matching(pods) {
		matched++
		v.expect(s.available(pod), invariants.Settled, "not available: %s", podstate.Describe(pod, false))
		if s.asIs(pod) {
			updated++
		}
	}
	left, err := scaled(set.Spec.UpdateStrategy.Partition, 0, matched, false)
	v.expect(err == nil, invariants.Spec, "partition: %v", err)
	v.expect(updated >= matched-left, invariants.Settled, "%d pods of %d are updated, partition %d", updated, matched, left)
	status := &set.Status
	v.expect(int(status.MatchedPods) == matched && int(status.UpdatedPods) == updated && int(status.ReadyPods) == matched && int(status.UpdatedReadyPods) == updated,
		invariants.Status, "counts %d matched, %d updated, %d ready, %d both; of %d pods %d are updated",
		status.MatchedPods, status.UpdatedPods, status.ReadyPods, status.UpdatedReadyPods, matched, updated)
}

// asIs tells whether a pod has the images that the SidecarSet asks for now: users change nothing else of its containers.
func (s *sidecarSet) asIs(pod *corev1.Pod) bool {
	return !slices.ContainsFunc(s.latest().Spec.Containers, func(c v1alpha1.SidecarContainer) bool {
		return !slices.ContainsFunc(namesOf(&c), func(name string) bool { return podstate.Image(pod, name) == c.Image })
	})
}

// scaled is a number or a percentage of pods that may be left out.
func scaled(value *intstr.IntOrString, otherwise, of int, roundUp bool) (int, error) {
	if value == nil {
		return otherwise, nil
	}
	return intstr.GetScaledValueFromIntOrPercent(value, of, roundUp)
}

// judgeSidecarsSettled judges what has become of the SidecarSets.
func (j *Judge) judgeSidecarsSettled() (wrong []invariants.Violation) {
	for _, s := range j.sidecarSets {
		v := &verdict{about: "SidecarSet " + s.name()}
		s.settled(v, j.injected)
		wrong = append(wrong, v.wrong...)
	}
	return wrong
}

// recorded is the hash of the SidecarSet's containers that a pod has.
func (s *sidecarSet) recorded(pod *corev1.Pod) string {
	var records map[string]v1alpha1.SidecarSetUpgradeRecord
	_ = json.Unmarshal([]byte(pod.Annotations[v1alpha1.SidecarSetHashAnnotation]), &records) // otherwise there are none
	return records[s.name()].SidecarSetHash
}

// containers are those of the SidecarSet, as they are called in pods.
func (s *sidecarSet) containers() (names []string) {
	for _, c := range s.latest().Spec.Containers {
		names = append(names, namesOf(&c)...)
	}
	return names
}

func isHot(c *v1alpha1.SidecarContainer) bool {
	return c.UpgradeStrategy.UpgradeType == v1alpha1.SidecarContainerHotUpgrade
}

func namesOf(c *v1alpha1.SidecarContainer) []string {
	if !isHot(c) {
		return []string{c.Name}
	}
	return []string{c.Name + "-1", c.Name + "-2"}
}

// works tells whether one of the containers of a hot one serves in a pod. It goes by what the kubelet reports of another version of
// that pod.
func works(pod *corev1.Pod, c *v1alpha1.SidecarContainer, reported *corev1.Pod) bool {
	return slices.ContainsFunc(namesOf(c), func(name string) bool {
		image := podstate.Image(pod, name)
		return image != c.UpgradeStrategy.HotUpgradeEmptyImage && runs(reported, name, image)
	})
}

// runs tells whether a container is ready, with an image.
func runs(pod *corev1.Pod, name, image string) bool {
	status := podstate.ContainerStatus(pod, name)
	return status.Ready && status.Image == image
}

// sameBesides tells whether a change of a pod is about its status alone, or nothing.
func sameBesides(before, after *corev1.Pod) bool {
	return equality.Semantic.DeepEqual(before.Spec, after.Spec) && !relabelled(before, after) &&
		equality.Semantic.DeepEqual(before.OwnerReferences, after.OwnerReferences) && (before.DeletionTimestamp == nil) == (after.DeletionTimestamp == nil)
}

// withoutSidecars is a pod without what SidecarSets have made of it; a pod of which they have made nothing is returned unchanged.
func withoutSidecars(pod *corev1.Pod) *corev1.Pod {
	if pod.Annotations[v1alpha1.SidecarSetInjectedListAnnotation] == "" {
		return pod
	}
	rest, injected := pod.DeepCopy(), map[string]bool{}
	rest.Spec.Containers = slices.DeleteFunc(rest.Spec.Containers, func(c corev1.Container) bool {
		injected[c.Name] = slices.ContainsFunc(c.Env, func(e corev1.EnvVar) bool { return e.Name == v1alpha1.SidecarInjectedEnv })
		return injected[c.Name]
	})
	rest.Status.ContainerStatuses = slices.DeleteFunc(rest.Status.ContainerStatuses, func(s corev1.ContainerStatus) bool { return injected[s.Name] })
	for key := range rest.Annotations {
		if strings.Contains(key, "sidecarset") {
			delete(rest.Annotations, key)
		}
	}
	return rest
}

// ofWorkloads returns what is left of changes without what they are to kinds that inject or probe.
func ofWorkloads(changes []Change) (left []Change) {
	for _, c := range changes {
		before, _ := c.Old.(*corev1.Pod)
		after, _ := c.New.(*corev1.Pod)
		if before != nil {
			before = withoutProbes(withoutEphemeral(withoutSidecars(before)))
			c.Old = before
		}
		if after != nil {
			after = withoutProbes(withoutEphemeral(withoutSidecars(after)))
			c.New = after
		}
		if before == nil || after == nil || !sameBesides(before, after) || !equality.Semantic.DeepEqual(before.Status, after.Status) {
			left = append(left, c)
		}
	}
	return left
}

// despiteSidecars are pods of a workload as who knows them that has not heard that an injected container is not ready.
func (j *Judge) despiteSidecars(pods map[string]*corev1.Pod) map[string]*corev1.Pod {
	known := map[string]*corev1.Pod{}
	for name, pod := range pods {
		known[name] = pod
		if j.lacksSidecars(pod) {
			pod = pod.DeepCopy()
			setCondition(&pod.Status, corev1.PodCondition{Type: corev1.PodReady, Status: corev1.ConditionTrue})
			known[name] = pod
		}
	}
	return known
}

// lacksSidecars tells whether nothing but injected containers can keep a pod of a workload from being ready.
func (j *Judge) lacksSidecars(pod *corev1.Pod) bool {
	whole := j.injected[pod.UID]
	return whole != nil && len(whole.Spec.Containers) > len(pod.Spec.Containers) && readyBut(pod)
}

// readyBut tells whether all that makes a pod ready is, in what it has.
func readyBut(pod *corev1.Pod) bool {
	for _, gate := range pod.Spec.ReadinessGates {
		if podstate.Condition(pod, gate.ConditionType).Status != corev1.ConditionTrue {
			return false
		}
	}
	return pod.Status.Phase == corev1.PodRunning && len(pod.Status.ContainerStatuses) == len(pod.Spec.Containers) &&
		!slices.ContainsFunc(pod.Status.ContainerStatuses, func(s corev1.ContainerStatus) bool { return !s.Ready })
}
