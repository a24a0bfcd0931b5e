// SPDX-License-Identifier: Apache-2.0

package invariants

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/podwright/podwright/examples/tests/testbed/podstate"
	"github.com/podwright/podwright/internal/testing/simulation/invariants"
	"github.com/podwright/podwright/workloads/v1alpha1"
	"github.com/podwright/podwright/workloads/v1beta1"
)

// set is a workload, with what a controller may have seen of it since it was last settled.
type set struct {
	name string
	// counting are the versions whose spec counts; the last one is in force. Of a spec there is one for each current revision
	// that the status has named meanwhile.
	counting []invariants.Object
	// images are those of its pods when it was last settled.
	images map[string]bool
	// states are the pods by name after each change of one of them.
	states []map[string]*corev1.Pod
	// lumped says that there were states that were not seen.
	lumped bool
}

func newSet(name string) *set { return &set{name: name, states: []map[string]*corev1.Pod{nil}} }

// count has the spec of a version count from now on. An older one than the last is no news.
func (s *set) count(object invariants.Object) {
	object = inPlaceAlways(object)
	last := len(s.counting) - 1
	switch {
	case last < 0 || s.counting[last].GetGeneration() < object.GetGeneration():
		s.counting = append(s.counting, object)
	case s.counting[last].GetGeneration() > object.GetGeneration():
	case currentRevision(s.counting[last]) != currentRevision(object):
		s.counting = append(s.counting, object)
	default:
		s.counting[last] = object
	}
}

// inPlaceAlways says in a spec what follows if users change nothing but images: what may be updated in place must be.
func inPlaceAlways(object invariants.Object) invariants.Object {
	switch set := object.(type) {
	case *v1alpha1.CloneSet:
		if set.Spec.UpdateStrategy.Type == v1alpha1.InPlaceIfPossibleCloneSetUpdateStrategyType {
			set = set.DeepCopy()
			set.Spec.UpdateStrategy.Type = v1alpha1.InPlaceOnlyCloneSetUpdateStrategyType
		}
		return set
	case *v1beta1.StatefulSet:
		rolling := set.Spec.UpdateStrategy.RollingUpdate
		if rolling != nil && rolling.PodUpdatePolicy == v1beta1.InPlaceIfPossiblePodUpdateStrategyType {
			set = set.DeepCopy()
			set.Spec.UpdateStrategy.RollingUpdate.PodUpdatePolicy = v1beta1.InPlaceOnlyPodUpdateStrategyType
		}
		return set
	}
	return object
}

// remember keeps the pods.
func (s *set) remember(pods map[string]*corev1.Pod, gap bool) {
	s.states = append(s.states, pods)
	s.lumped = s.lumped || gap
}

// settled says that the controllers have seen what there is.
func (s *set) settled(pods map[string]*corev1.Pod) {
	s.counting = s.counting[len(s.counting)-1:]
	s.states, s.lumped = []map[string]*corev1.Pod{pods}, false
	s.images = map[string]bool{}
	for _, pod := range pods {
		s.images[images(pod.Spec)] = true
	}
}

// judge returns what is wrong with a write, by the spec that finds the least; nothing if one of those that count finds nothing.
// states are those of the pods that its author may have seen, one of which must do. Of a gap, only that is found which holds in one.
func (s *set) judge(w *invariants.Write, gap bool, states ...map[string]*corev1.Pod) (wrong []invariants.Violation) {
	for _, pods := range slices.Backward(states) {
		for _, spec := range slices.Backward(s.counting) {
			found := slices.DeleteFunc(judgeBy(spec, w, pods), func(v invariants.Violation) bool { return gap && !holdsInGap(v.Invariant, w) })
			if len(found) == 0 {
				return nil
			}
			if wrong == nil || len(found) < len(wrong) {
				wrong = found
			}
		}
	}
	return wrong
}

// judgeBy judges a write as if its author had known a spec, and pods.
func judgeBy(spec invariants.Object, w *invariants.Write, pods map[string]*corev1.Pod) []invariants.Violation {
	known := *w.Truth
	known.Workload, known.Pods = spec, pods
	w.Known, w.Observed = &known, &known
	if _, is := spec.(*v1beta1.StatefulSet); is {
		return invariants.StatefulSet(w)
	}
	return invariants.CloneSet(w, invariants.CloneSetFeatures{})
}

// lag is how many changes of the pods of a workload its controller may be behind with what a kubelet says.
const lag = 10

// views are the pods as the author of a write may have seen them, from earlier to later. The last view is just before the
// write. In the others, the author had not yet heard the last from the kubelet of the pod that is written.
func (s *set) views(w *invariants.Write) (views []map[string]*corev1.Pod) {
	before, _ := w.Before.(*corev1.Pod)
	for _, pods := range s.states[max(0, len(s.states)-lag):] {
		if before == nil {
			break
		}
		was := pods[before.Name]
		if was == nil || was.UID != before.UID || equality.Semantic.DeepEqual(was.Status, before.Status) {
			continue
		}
		seen := before.DeepCopy()
		seen.Status = *was.Status.DeepCopy()
		setGates(&seen.Status, before)
		view := maps.Clone(w.Truth.Pods)
		view[seen.Name] = seen
		views = append(views, view)
	}
	return append(views, w.Truth.Pods)
}

// podName is the name of the pod that a claim of a workload belongs to, "" if the claim has none.
func (s *set) podName(claim string) string {
	for _, spec := range s.counting {
		f, _ := factsOf(spec)
		for _, template := range f.claims {
			if last, found := strings.CutPrefix(claim, template.Name+"-"+s.name+"-"); found && !strings.Contains(last, "-") {
				return s.name + "-" + last
			}
		}
	}
	return ""
}

// facts are what a CloneSet or a StatefulSet says of its pods.
type facts struct {
	replicas, partition int32 // a partition in percent is 0
	template            *corev1.PodTemplateSpec
	claims              []corev1.PersistentVolumeClaim
	currentRevision     string
}

// factsOf reads a workload; none of what is neither.
func factsOf(object metav1.Object) (f facts, is bool) {
	switch set := object.(type) {
	case *v1alpha1.CloneSet:
		f = facts{ptr.Deref(set.Spec.Replicas, 1), 0, &set.Spec.Template, set.Spec.VolumeClaimTemplates, set.Status.CurrentRevision}
		if p := set.Spec.UpdateStrategy.Partition; p != nil {
			f.partition = p.IntVal
		}
	case *v1beta1.StatefulSet:
		f = facts{ptr.Deref(set.Spec.Replicas, 1), 0, &set.Spec.Template, set.Spec.VolumeClaimTemplates, set.Status.CurrentRevision}
		if r := set.Spec.UpdateStrategy.RollingUpdate; r != nil && r.Partition != nil {
			f.partition = *r.Partition
		}
	default:
		return f, false
	}
	return f, true
}

func currentRevision(object metav1.Object) string {
	f, _ := factsOf(object)
	return f.currentRevision
}

// asksFor tells whether one of the specs that count asks for the images of a new pod.
func (s *set) asksFor(pod *corev1.Pod) bool {
	return slices.ContainsFunc(s.counting, func(object invariants.Object) bool {
		f, is := factsOf(object)
		return is && images(f.template.Spec) == images(pod.Spec)
	})
}

// keeps tells whether the images of a new pod are those of a current revision that counts.
func (s *set) keeps(revisions map[string]*appsv1.ControllerRevision, pod *corev1.Pod) bool {
	return slices.ContainsFunc(s.counting, func(object invariants.Object) bool {
		r := revisions[currentRevision(object)]
		if r == nil {
			return false
		}
		var data struct {
			Spec struct{ Template corev1.PodTemplateSpec }
		}
		err := json.Unmarshal(r.Data.Raw, &data)
		return err == nil && images(data.Spec.Template.Spec) == images(pod.Spec)
	})
}

// images are those of all containers, as text.
func images(spec corev1.PodSpec) string {
	var all []string
	for _, container := range spec.Containers {
		all = append(all, container.Name+"="+container.Image)
	}
	return strings.Join(all, " ")
}

// describe is a line about each pod.
func describe(pods map[string]*corev1.Pod) string {
	var all []string
	for _, pod := range pods {
		all = append(all, podstate.Describe(pod, false))
	}
	slices.Sort(all)
	return strings.Join(all, "; ")
}
