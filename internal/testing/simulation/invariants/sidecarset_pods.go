// SPDX-License-Identifier: Apache-2.0

package invariants

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	inplacev1alpha1 "github.com/podwright/podwright/inplace/v1alpha1"
	"github.com/podwright/podwright/sidecar/v1alpha1"
)

// matches tells whether a pod is one of the SidecarSet. (SCS-1, SCS-2)
func (j *sidecarSetJudge) matches(pod *corev1.Pod, s *State) bool {
	return j.selects(pod, s) && j.listed(pod) && j.complete(pod)
}

func (j *sidecarSetJudge) listed(pod *corev1.Pod) bool {
	return slices.Contains(strings.Split(pod.Annotations[v1alpha1.SidecarSetInjectedListAnnotation], ","), j.set.Name)
}

func (j *sidecarSetJudge) complete(pod *corev1.Pod) bool {
	return first(j.set.Spec.Containers, func(c *v1alpha1.SidecarContainer) bool {
		lacks := func(name string) bool { return image(&pod.Spec, name) == "" }
		return slices.ContainsFunc(namesOf(c), lacks) || hot(c) && !slices.Contains(namesOf(c), working(pod)[c.Name])
	}) == nil
}

// working says which containers of hot ones work in a pod.
func working(pod *corev1.Pod) map[string]string {
	return annotated[map[string]string](pod, v1alpha1.SidecarSetWorkingHotUpgradeContainerAnnotation)
}

// worker is the container of a hot one that works in a pod, and idle the other one.
func worker(pod *corev1.Pod, c *v1alpha1.SidecarContainer) (worker, idle string) {
	if names := namesOf(c); working(pod)[c.Name] == names[1] {
		return names[1], names[0]
	}
	return c.Name + "-1", c.Name + "-2"
}

// idles are the containers of hot ones that do not work in a pod.
func (j *sidecarSetJudge) idles(pod *corev1.Pod) map[string]bool {
	idles := map[string]bool{}
	for _, c := range j.hotOnes() {
		_, idle := worker(pod, c)
		idles[idle] = true
	}
	return idles
}

// containersOf are the names of the containers of a pod, and of the SidecarSet's native sidecars in it.
func (j *sidecarSetJudge) containersOf(pod *corev1.Pod) (names []string) {
	for _, c := range pod.Spec.Containers {
		names = append(names, c.Name)
	}
	for _, c := range j.natives() {
		if image(&pod.Spec, c.Name) != "" {
			names = append(names, c.Name)
		}
	}
	return names
}

// record is what the SidecarSet recorded in a pod, zero if that cannot be read.
func (j *sidecarSetJudge) record(pod *corev1.Pod, annotation string) v1alpha1.SidecarSetUpgradeRecord {
	return annotated[map[string]v1alpha1.SidecarSetUpgradeRecord](pod, annotation)[j.set.Name]
}

// recordedSet is the SidecarSet with what the revision holds whose hash a pod records; nil if the author did not see that.
func (j *sidecarSetJudge) recordedSet(pod *corev1.Pod) *v1alpha1.SidecarSet {
	recorded := j.record(pod, v1alpha1.SidecarSetHashAnnotation).SidecarSetHash
	for _, r := range j.Observed.Revisions {
		held := j.held(r)
		if recorded == "" || held == nil || !metav1.IsControlledBy(r, j.set) {
			continue
		}
		if hash, _, err := j.contract.Hashes(held); err == nil && hash == recorded {
			return held
		}
	}
	return nil
}

func (j *sidecarSetJudge) isUpdated(pod *corev1.Pod) bool {
	return j.record(pod, v1alpha1.SidecarSetHashAnnotation).SidecarSetHash == j.hash
}

// upgradable tells whether nothing but images differs in a pod. If an init container that ends was another image, no update runs it again,
// and hashes cover it beside a native sidecar. (SCS-40)
func (j *sidecarSetJudge) upgradable(pod *corev1.Pod) bool {
	ranOther := len(j.natives()) > 0 && j.hasOtherInit(pod, false)
	return j.record(pod, v1alpha1.SidecarSetHashWithoutImageAnnotation).SidecarSetHash == j.withoutImage && !ranOther
}

func statusOf(pod *corev1.Pod, name string) corev1.ContainerStatus {
	named := func(s *corev1.ContainerStatus) bool { return s.Name == name }
	found := cmp.Or(first(pod.Status.ContainerStatuses, named), first(pod.Status.InitContainerStatuses, named))
	return ptr.Deref(found, corev1.ContainerStatus{})
}

// took tells whether a container runs the image of its spec: the kubelets of simulations say so.
func took(pod *corev1.Pod, name string) bool {
	s := statusOf(pod, name)
	return s.Image == image(&pod.Spec, name) && s.ContainerID != ""
}

// goesOn tells whether a container was started, and has not stopped since.
func goesOn(pod *corev1.Pod, name string) bool { return statusOf(pod, name).State.Running != nil }

// took tells whether a container of the SidecarSet runs the image of its spec. If a user has spoilt the record, of a
// container that is no longer recorded it is not known that it has still to change.
func (j *sidecarSetJudge) took(pod *corev1.Pod, name string) bool {
	return took(pod, name) || j.past.sidecars.spoilt[pod.UID] && statusOf(pod, name).ContainerID != "" && !j.recorded(pod, name)
}

func (j *sidecarSetJudge) recorded(pod *corev1.Pod, name string) bool {
	_, is := j.states(pod)[j.set.Name].LastContainerStatuses[name]
	return is
}

// hasState tells whether the record says that the SidecarSet has replaced images in a pod.
func (j *sidecarSetJudge) hasState(pod *corev1.Pod) bool {
	_, is := j.states(pod)[j.set.Name]
	return is
}

func (j *sidecarSetJudge) states(pod *corev1.Pod) map[string]v1alpha1.SidecarSetInPlaceUpdateState {
	return annotated[map[string]v1alpha1.SidecarSetInPlaceUpdateState](pod, v1alpha1.SidecarSetInPlaceUpdateStateAnnotation)
}

// serving tells whether a container serves with an image, and goes on while that stands.
func (j *sidecarSetJudge) serving(pod *corev1.Pod, name string) bool {
	return j.took(pod, name) && statusOf(pod, name).Ready
}

// consistent tells whether the containers of the SidecarSet run the images of their spec. (SCS-3)
func (j *sidecarSetJudge) consistent(pod *corev1.Pod) bool {
	if len(pod.Status.ContainerStatuses) != len(pod.Spec.Containers) {
		return false
	}
	return !slices.ContainsFunc(j.inPod(pod), func(name string) bool { return !j.took(pod, name) })
}

// sidecarsServe tells whether all containers of the SidecarSet serve with the images of their spec.
func (j *sidecarSetJudge) sidecarsServe(pod *corev1.Pod) bool {
	return !slices.ContainsFunc(j.inPod(pod), func(name string) bool { return !j.serving(pod, name) })
}

// flipping tells whether a hot container that does not work is still to be emptied. It is not if it has ever been given
// an empty image. (SCS-4)
func (j *sidecarSetJudge) flipping(pod *corev1.Pod) bool {
	return slices.ContainsFunc(j.hotOnes(), func(c *v1alpha1.SidecarContainer) bool {
		_, idle := worker(pod, c)
		return !j.isEmpty(pod, idle)
	})
}

// isEmpty tells whether a container has an image that some spec had for the hot container that does not work.
func (j *sidecarSetJudge) isEmpty(pod *corev1.Pod, name string) bool {
	return j.past.sidecars.empties[unmirrored(image(&pod.Spec, name))]
}

// inService tells whether a pod serves, whatever its sidecars do.
func inService(pod *corev1.Pod) bool { return ready(pod) && !updating(pod) }

// available tells whether an update of a pod is over, and it serves. (SCS-4, SCS-8, IP-45)
func (j *sidecarSetJudge) available(pod *corev1.Pod) bool {
	return inService(pod) && j.consistent(pod) && !j.flipping(pod) && !j.starting(pod)
}

// starting tells whether a container of the SidecarSet has not come up. If a user has spoilt the record, one that is no longer
// recorded is as its kubelet says. (IP-45)
func (j *sidecarSetJudge) starting(pod *corev1.Pod) bool {
	return slices.ContainsFunc(starting(pod, j.Known.Now), func(name string) bool {
		return len(j.imagesOf(name)) > 0 && (!j.past.sidecars.spoilt[pod.UID] || j.recorded(pod, name))
	})
}

// longestUpdate is how long sidecars wait for the workload's update of a pod. (SCS-20)
const longestUpdate = 5 * time.Minute

// workloadUpdates tells whether the workload of a pod updates it in place now, and has not
// been at it for too long. It begins with the condition, before there is a state. (SCS-20)
func (j *sidecarSetJudge) workloadUpdates(pod *corev1.Pod, now time.Time) bool {
	var state inplacev1alpha1.State
	if text := pod.Annotations[inplacev1alpha1.StateAnnotation]; text != "" && json.Unmarshal([]byte(text), &state) != nil {
		return false
	}
	since, containers := state.UpdateTimestamp.Time, inGrace(pod)
	for name := range state.LastContainerStatuses {
		containers = containers || !took(pod, name)
	}
	if c := condition(pod, inplacev1alpha1.InPlaceUpdateReady); !containers && updating(pod) && c.LastTransitionTime.After(since) {
		since = c.LastTransitionTime.Time
	}
	return (containers || updating(pod)) && now.Sub(since) < longestUpdate
}

// SidecarSetInjected judges what a webhook has made of a new pod, by what its caches held: whole revisions, and records that
// say which. (SCI-1 to SCI-3, SCI-12 to SCI-14)
func (p *Past) SidecarSetInjected(cached *State, before, after *corev1.Pod) []Violation {
	var v violations
	set, ok := cached.Workload.(*v1alpha1.SidecarSet)
	if !ok {
		v.never(!equality.Semantic.DeepEqual(before, after), Ownership,
			"pod %s is changed, and no SidecarSet is known", before.Name)
		return v
	}
	j := p.newSidecarSetJudge(&v, &Write{Known: cached, Truth: cached, Observed: cached}, set)
	inNamespace := after.DeepCopy()
	inNamespace.Namespace = "default" // that of the request, which pods need not name
	if j.broken || set.Spec.InjectionStrategy.Paused || !j.selects(inNamespace, cached) {
		v.never(!equality.Semantic.DeepEqual(before, after), Ownership,
			"pod %s is changed, and the SidecarSet that is known does not inject into it", before.Name)
		return v
	}
	revision := set.Status.LatestRevision
	if set.Spec.InjectionStrategy.Revision != nil {
		wanted := j.injects(cached)
		if v.wrong(wanted == nil, History, "pod %s is allowed, and the revision that it is to get is not known", before.Name) {
			return v
		}
		var data struct{ Spec *revised }
		if json.Unmarshal(wanted.Data.Raw, &data) != nil || data.Spec == nil {
			return v // never: the controller has made it
		}
		revision, j.set.Spec.Containers, j.set.Spec.InitContainers = wanted.Name, data.Spec.Containers, data.Spec.InitContainers
		j.contract.Default(j.set)
		var err error
		if j.hash, _, err = j.contract.Hashes(j.set); err != nil {
			return v // never: the controller has made it
		}
	}
	j.checkInjected(before, after, revision)
	return v
}

// injects is the revision that the injectionStrategy names; nil if none is known. What a SidecarSet of the same name has left behind
// can be named, too, and is the last of those with a custom version. (SCI-3)
func (j *sidecarSetJudge) injects(s *State) *appsv1.ControllerRevision {
	if own := j.wanted(s); own != nil {
		return own
	}
	return j.named(s, func(r *appsv1.ControllerRevision) bool { return r.Labels[v1alpha1.SidecarSetNameLabel] == j.set.Name })
}

// checkInjected: a pod has the containers of one revision, whose hash and name its record has, and its own as they were.
func (j *sidecarSetJudge) checkInjected(before, after *corev1.Pod, revision string) {
	want, has := imagesByName(before), imagesByName(after)
	for c := range each(j.set.Spec.Containers) {
		names := namesOf(c)
		if want[names[0]] = c.Image; hot(c) {
			want[names[1]] = c.UpgradeStrategy.HotUpgradeEmptyImage
		}
	}
	j.never(!maps.Equal(want, has), InPlace, "pod %s is created with the images %v, want %v", before.Name, has, want)
	j.never(!maps.Equal(before.Labels, after.Labels), InPlace,
		"pod %s is created with the labels %v, want %v", before.Name, after.Labels, before.Labels)
	record := j.record(after, v1alpha1.SidecarSetHashAnnotation)
	if len(j.set.Spec.Containers) > 0 && (!j.listed(after) || record.SidecarSetHash != j.hash || record.SidecarSetControllerRevision != revision) {
		j.add(History, "pod %s is created with the record %+v, want hash %s of revision %q", before.Name, record, j.hash, revision)
	}
}

func imagesByName(pod *corev1.Pod) map[string]string {
	images := map[string]string{}
	for _, c := range pod.Spec.Containers {
		images[c.Name] = c.Image
	}
	return images
}

// native tells whether an init container goes on while the containers of its pod run.
func native(c *corev1.Container) bool {
	return ptr.Deref(c.RestartPolicy, "") == corev1.ContainerRestartPolicyAlways
}

// natives are the native sidecars of the SidecarSet that count as containers. They are never upgraded hot. (SCI-42)
func (j *sidecarSetJudge) natives() (natives []v1alpha1.SidecarContainer) {
	for _, c := range j.set.Spec.InitContainers {
		if j.contract.Natives && native(&c.Container) {
			c.UpgradeStrategy = v1alpha1.SidecarContainerUpgradeStrategy{}
			natives = append(natives, c)
		}
	}
	return natives
}

// inPod are the names of the SidecarSet's containers that a pod has. A native sidecar may be newer than the pod.
func (j *sidecarSetJudge) inPod(pod *corev1.Pod) (names []string) {
	for c := range each(j.all) {
		for _, name := range namesOf(c) {
			if image(&pod.Spec, name) != "" {
				names = append(names, name)
			}
		}
	}
	return names
}

// hasOtherInit tells whether an init container of a pod has another image than the spec has: one that is native, or one that is not.
func (j *sidecarSetJudge) hasOtherInit(pod *corev1.Pod, isNative bool) bool {
	return slices.ContainsFunc(j.set.Spec.InitContainers, func(of v1alpha1.SidecarContainer) bool {
		return native(&of.Container) == isNative &&
			slices.ContainsFunc(pod.Spec.InitContainers, func(c corev1.Container) bool { return c.Name == of.Name && unmirrored(c.Image) != of.Image })
	})
}

// SidecarsOfTwo judges a write of the controllers of two SidecarSets whose containers have the same names in pods. Images tell whose
// they are: those of the set that is called mark begin with "mark-". No container gets an image of another set. (SCS-28)
func SidecarsOfTwo(mark string) func(*Write) []Violation {
	return func(w *Write) []Violation {
		var v violations
		checkPrecise(&v, w)
		before, after := w.pods()
		if w.Resource != "pods" {
			return v
		}
		if v.wrong(before == nil || after == nil, Ownership, "%s of pod %s", w.Verb, w.name()) {
			return v
		}
		for _, c := range slices.Concat(before.Spec.InitContainers, before.Spec.Containers) {
			is := image(&after.Spec, c.Name)
			v.never(is != c.Image && strings.HasPrefix(is, mark+"-") != strings.HasPrefix(c.Image, mark+"-"), Ownership,
				"gives container %s of pod %s the image %s of another SidecarSet, and it has %s", c.Name, before.Name, is, c.Image)
		}
		v.never(len(after.Spec.Volumes) != len(before.Spec.Volumes), Ownership, "changes the volumes of pod %s", before.Name)
		return v
	}
}
