// SPDX-License-Identifier: Apache-2.0

package invariants

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright/distribution/v1alpha1"
	workloadsv1alpha1 "github.com/podwright/podwright/workloads/v1alpha1"
)

// The subsets of pods that are in none.
const (
	nowhere = -1 // the pod names no subset of the WorkloadSpread
	dropped = -2 // it names one that the spec no longer has
)

// spreading is a WorkloadSpread and its workload at a moment. The workload has the same name. It is a CloneSet, a Deployment, a Job, or of a
// kind of the white list.
type spreading struct {
	*v1alpha1.WorkloadSpread
	state      *State
	wants      int32
	owners     map[types.UID]bool // what controls its pods
	latest     string             // the revision of new pods, as their labels may end; empty: not known
	pods       []*corev1.Pod      // of the workload, by name
	unselected int                // pods of the workload that the filter does not select
	custom     bool               // the workload is of a kind of the white list, or a Job: its pods get no costs, and none is misplaced
}

func spreadingOf(s *State) *spreading {
	ws, _ := s.Workload.(*v1alpha1.WorkloadSpread)
	if ws == nil {
		ws, _ = s.Beside["workloadspreads"].(*v1alpha1.WorkloadSpread)
	}
	if ws == nil {
		return nil
	}
	f := &spreading{WorkloadSpread: ws, state: s, owners: map[types.UID]bool{}}
	if set, _ := s.Beside["clonesets"].(*workloadsv1alpha1.CloneSet); set != nil {
		f.owners[set.UID] = true
		f.latest = set.Status.UpdateRevision
		f.wants = wanted(set, set.Spec.Replicas)
	}
	if d, _ := s.Beside["deployments"].(*appsv1.Deployment); d != nil {
		f.latest = f.addReplicaSets(d)
		f.wants = wanted(d, d.Spec.Replicas)
	}
	if job, _ := s.Beside["jobs"].(*batchv1.Job); job != nil {
		f.custom, f.owners[job.UID], f.wants = true, true, wanted(job, job.Spec.Parallelism)
	}
	if rollout := s.Beside[customResource]; rollout != nil && !f.addCustom(rollout) {
		return nil
	}
	if !f.filter() {
		return nil
	}
	for _, pod := range s.Pods {
		switch ref := metav1.GetControllerOfNoCopy(pod); {
		case ref == nil || !f.owners[ref.UID]:
		case f.selects(pod):
			f.pods = append(f.pods, pod)
		default:
			f.unselected++
		}
	}
	slices.SortFunc(f.pods, func(a, b *corev1.Pod) int { return strings.Compare(a.Name, b.Name) })
	return f
}

func wanted(object metav1.Object, replicas *int32) int32 {
	switch {
	case object.GetDeletionTimestamp() != nil:
		return 0
	case replicas == nil:
		return 1
	}
	return max(*replicas, 0)
}

// addReplicaSets has a workload own the pods of its ReplicaSets, of which the one of the highest revision is the latest.
func (f *spreading) addReplicaSets(of Object) (latest string) {
	highest := 0
	for _, object := range f.state.Further["replicasets"] {
		if !controls(of.GetUID(), object) {
			continue
		}
		f.owners[object.GetUID()] = true
		if n, err := strconv.Atoi(object.GetAnnotations()["deployment.kubernetes.io/revision"]); err == nil && n > highest {
			highest, latest = n, object.GetLabels()[templateHashLabel]
		}
	}
	return latest
}

func (f *spreading) isLatest(pod *corev1.Pod) bool { return f.isLatestHash(hashOf(pod)) }

func (f *spreading) isLatestHash(hash string) bool {
	return f.latest == "" || hash == f.latest || hash != "" && strings.HasSuffix(f.latest, "-"+hash)
}

func hashOf(pod *corev1.Pod) string {
	if hash := pod.Labels[revisionLabel]; hash != "" {
		return hash
	}
	return pod.Labels[templateHashLabel]
}

// subsetOf is the index of the subset that a pod names. (WS-4)
func (f *spreading) subsetOf(pod *corev1.Pod) int {
	var says v1alpha1.MatchedWorkloadSpread
	if json.Unmarshal([]byte(pod.Annotations[v1alpha1.MatchedWorkloadSpreadAnnotation]), &says) != nil || says.Name != f.Name || says.Subset == "" {
		return nowhere
	}
	if i := f.named(says.Subset); i >= 0 {
		return i
	}
	return dropped
}

func (f *spreading) named(subset string) int {
	return slices.IndexFunc(f.Spec.Subsets, func(s v1alpha1.WorkloadSpreadSubset) bool { return s.Name == subset })
}

// unbounded is the limit of a subset that has none.
const unbounded = int32(1 << 30)

// limit is how many pods a subset takes. (WS-2)
func (f *spreading) limit(i int) int32 {
	value := f.Spec.Subsets[i].MaxReplicas
	if value == nil {
		return unbounded
	}
	if text, isPercent := strings.CutSuffix(value.StrVal, "%"); isPercent {
		percent, err := strconv.Atoi(text)
		if err != nil {
			return 0
		}
		return (int32(percent)*f.wants + 99) / 100
	}
	return value.IntVal
}

func (f *spreading) inPercent() bool {
	return slices.ContainsFunc(f.Spec.Subsets, func(s v1alpha1.WorkloadSpreadSubset) bool {
		return s.MaxReplicas != nil && strings.HasSuffix(s.MaxReplicas.StrVal, "%")
	})
}

// closes is after how many seconds a pod has failed to be scheduled; 0 for never. (WS-17)
func (f *spreading) closes() int32 {
	strategy := &f.Spec.ScheduleStrategy
	if strategy.Type != v1alpha1.AdaptiveWorkloadSpreadScheduleStrategyType || strategy.Adaptive == nil || strategy.Adaptive.RescheduleCriticalSeconds == nil {
		return 0
	}
	return *strategy.Adaptive.RescheduleCriticalSeconds
}

func (f *spreading) schedulable(i int) *v1alpha1.WorkloadSpreadSubsetCondition {
	s := first(f.Status.SubsetStatuses, func(s *v1alpha1.WorkloadSpreadSubsetStatus) bool { return s.Name == f.Spec.Subsets[i].Name })
	if s == nil {
		return nil
	}
	return first(s.Conditions, func(c *v1alpha1.WorkloadSpreadSubsetCondition) bool { return c.Type == v1alpha1.SubsetSchedulable })
}

// open tells whether new pods are sent to a subset. (WS-17)
func (f *spreading) open(i int) bool {
	c := f.schedulable(i)
	return f.closes() == 0 || c == nil || c.Status != corev1.ConditionFalse
}

// shares fills the subsets in their order with what is wanted, of which those that are closed keep what they
// have. (WS-3)
func (f *spreading) shares(has []int32, wants int32) []int32 {
	shares := make([]int32, len(has))
	for i := range has {
		if !f.open(i) {
			shares[i] = min(has[i], f.limit(i), wants)
			wants -= shares[i]
		}
	}
	for i := range has {
		if f.open(i) {
			shares[i] = min(f.limit(i), wants)
			wants -= shares[i]
		}
	}
	return shares
}

// failedToSchedule tells whether the scheduler finds no node for a pod. (WS-17)
func failedToSchedule(pod *corev1.Pod) bool {
	c := condition(pod, corev1.PodScheduled)
	return pod.DeletionTimestamp == nil && pod.Status.Phase == corev1.PodPending && pod.Spec.NodeName == "" &&
		c != nil && c.Status == corev1.ConditionFalse && c.Reason == corev1.PodReasonUnschedulable
}

// spreadResource is the resource under which a state has all WorkloadSpreads of a history.
const spreadResource = "workloadspreads"

// WithHolder returns a state whose workload is the WorkloadSpread that has the pods, of several that name the same workload. That is the
// one that was created first, or the first by name of those that were created together. One that is being deleted comes last. (WS-22)
func WithHolder(s *State) *State {
	if s == nil || len(s.Further[spreadResource]) == 0 {
		return s
	}
	last := func(ws Object) int { return one(ws.GetDeletionTimestamp() != nil) }
	held := *s
	held.Workload = slices.MinFunc(slices.Collect(maps.Values(s.Further[spreadResource])), func(a, b Object) int {
		x, y := a.GetCreationTimestamp(), b.GetCreationTimestamp()
		return cmp.Or(last(a)-last(b), x.Compare(y.Time), strings.Compare(a.GetName(), b.GetName()))
	})
	return &held
}

// withoutPods is a WorkloadSpread whose workload another one has; nil for nil.
func withoutPods(s *State, object Object) *spreading {
	ws, _ := object.(*v1alpha1.WorkloadSpread)
	if ws == nil {
		return nil
	}
	return &spreading{WorkloadSpread: ws, state: s}
}

// customResource is the resource of the workloads of a kind of the white list, whose pods are those of ReplicaSets.
const customResource = "rollouts"

// addCustom has a workload of a kind of the white list be spread. The workload wants what spec.replicas says. It owns the pods of the
// ReplicaSets that it controls, of any revision. It returns false if it is not known how many pods are wanted. (WS-35)
func (f *spreading) addCustom(rollout Object) (known bool) {
	n, known := at(rollout, "spec.replicas")
	f.custom, f.wants = true, wanted(rollout, &n)
	f.owners[rollout.GetUID()] = true
	f.addReplicaSets(rollout)
	return known
}

// selects tells whether a pod of the workload is to be spread. (WS-33)
func (f *spreading) selects(pod *corev1.Pod) bool {
	filter := f.Spec.TargetFilter
	if filter == nil || filter.Selector == nil {
		return true
	}
	return matches(filter.Selector, pod.Labels)
}

// filter reads how many pods are wanted at the paths of the WorkloadSpread; false if nothing is there, so that it is not known. (WS-34)
func (f *spreading) filter() bool {
	if f.Spec.TargetFilter == nil || len(f.Spec.TargetFilter.ReplicasPathList) == 0 {
		return true
	}
	for _, kind := range []string{"clonesets", "deployments", "jobs", customResource} {
		object := f.state.Beside[kind]
		if object == nil {
			continue
		}
		sum := int32(0)
		for _, path := range f.Spec.TargetFilter.ReplicasPathList {
			n, found := at(object, path)
			if !found {
				return false
			}
			sum += n
		}
		if f.wants = sum; object.GetDeletionTimestamp() != nil {
			f.wants = 0
		}
	}
	return true
}

// at is the number at a path of an object; false if there is none.
func at(object Object, path string) (int32, bool) {
	text, err := json.Marshal(object)
	if err != nil {
		return 0, false
	}
	return walk(text, path)
}

func walk(text json.RawMessage, path string) (int32, bool) {
	first, rest, more := strings.Cut(path, ".")
	var fields map[string]json.RawMessage
	if json.Unmarshal(text, &fields) != nil || fields[first] == nil {
		return 0, false
	}
	if more {
		return walk(fields[first], rest)
	}
	n, err := strconv.ParseInt(string(fields[first]), 10, 32)
	return int32(n), err == nil
}
