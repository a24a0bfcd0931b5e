// SPDX-License-Identifier: Apache-2.0

package invariants

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/podwright/podwright/internal/testing/simulation/invariants"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

// see shows changes to a judge one by one, and returns what is wrong with the last one.
func see(j *Judge, changes ...Change) (broken []invariants.Invariant) {
	for _, change := range changes {
		broken = kinds(j.See([]Change{change}, false))
	}
	return broken
}

// kinds are the invariants that are violated.
func kinds(wrong []invariants.Violation) (broken []invariants.Invariant) {
	for _, violation := range wrong {
		broken = append(broken, violation.Invariant)
	}
	slices.Sort(broken)
	return slices.Compact(broken)
}

// on is on a node; pinned will be.
func on(node string) func(*corev1.Pod) {
	return func(p *corev1.Pod) { p.Spec.NodeName = node }
}

func pinned(node string) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		p.Spec.NodeName, p.Status = "", corev1.PodStatus{Phase: corev1.PodPending}
		p.Spec.Affinity = &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{
			NodeSelectorTerms: []corev1.NodeSelectorTerm{{MatchFields: []corev1.NodeSelectorRequirement{{Key: metav1.ObjectNameField, Operator: corev1.NodeSelectorOpIn, Values: []string{node}}}}},
		}}}
	}
}

func endedAs(phase corev1.PodPhase) func(*corev1.Pod) {
	return func(p *corev1.Pod) { p.Status.Phase = phase }
}

func TestDaemonSetsAreJudged(t *testing.T) {
	set := &v1alpha1.DaemonSet{ObjectMeta: metav1.ObjectMeta{Name: "web", UID: setUID}, Spec: v1alpha1.DaemonSetSpec{
		Template:       (&spec{image: "web:1"}).template(),
		UpdateStrategy: v1alpha1.DaemonSetUpdateStrategy{RollingUpdate: &v1alpha1.RollingUpdateDaemonSet{MaxUnavailable: new(intstr.FromInt32(1))}},
	}}
	a, b, c := pod("web-a", on("a")), pod("web-b", on("b")), pod("web-c", on("c"))
	serve := []Change{{New: set}, {New: a}, {New: b}, {New: c}}
	for _, test := range []struct {
		name    string
		changes []Change
		wrong   []invariants.Invariant
	}{
		{"a pod for a node", []Change{{New: set}, {New: a}, {New: pod("web-b", pinned("b"))}}, nil},
		{"two for one node", []Change{{New: set}, {New: a}, {New: pod("web-b", pinned("a"))}}, breaks(invariants.Surge)},
		{"a second one while the first goes", []Change{{New: set}, {New: a}, {Old: a, New: pod("web-a", on("a"), leaving)}, {New: pod("web-b", pinned("a"))}}, breaks(invariants.Surge)},
		{"a second one beside one that has ended", []Change{{New: set}, {New: pod("web-a", on("a"), endedAs(corev1.PodFailed))}, {New: pod("web-b", pinned("a"))}}, nil},
		{"an image that no spec has", []Change{{New: set}, {New: pod("web-a", on("a"), at("web:2"))}}, breaks(invariants.Partition)},
		{"nodes that never served", []Change{{New: set}, {New: pod("web-a", pinned("a"))}, {New: pod("web-b", pinned("b"))}}, nil},
		{"one is deleted", slices.Concat(serve, []Change{{Old: a, New: pod("web-a", on("a"), leaving)}}), nil},
		{"two are deleted", slices.Concat(serve, []Change{{Old: a, New: pod("web-a", on("a"), leaving)}, {Old: b, New: pod("web-b", on("b"), leaving)}}), breaks(invariants.Availability)},
		{"another one before the new one serves", slices.Concat(serve, []Change{{Old: a}, {New: pod("web-d", pinned("a"))}, {Old: b, New: pod("web-b", on("b"), out)}}), breaks(invariants.Availability)},
		{"another one when the new one serves", slices.Concat(serve, []Change{{Old: a}, {New: pod("web-d", on("a"))}, {Old: b, New: pod("web-b", on("b"), out)}}), nil},
		{"another one while one is updated in place", slices.Concat(serve, []Change{{Old: a, New: pod("web-a", on("a"), out)}, {Old: b, New: pod("web-b", on("b"), leaving)}}), breaks(invariants.Availability)},
		{"one of two comes back", slices.Concat(serve, []Change{{Old: a, New: pod("web-a", on("a"), out)}, {Old: b, New: pod("web-b", on("b"), out)}, {Old: c, New: pod("web-c", on("c"), out)}, {New: a}}), nil},
	} {
		if diff := cmp.Diff(test.wrong, see(NewJudge(), test.changes...)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.name, diff)
		}
	}
}

// ofKind makes the owner of an object one of a kind.
func ofKind[T metav1.Object](kind string, object T) T {
	owners := slices.Clone(object.GetOwnerReferences())
	owners[0].Kind = kind
	object.SetOwnerReferences(owners)
	return object
}

func TestBroadcastJobsAreJudged(t *testing.T) {
	pod := func(name string, edits ...func(*corev1.Pod)) *corev1.Pod {
		return ofKind("BroadcastJob", pod(name, edits...))
	}
	job := func(desired, succeeded, failed int32, phase v1alpha1.BroadcastJobPhase) *v1alpha1.BroadcastJob {
		return &v1alpha1.BroadcastJob{
			ObjectMeta: metav1.ObjectMeta{Name: "web", UID: setUID}, Spec: v1alpha1.BroadcastJobSpec{Parallelism: new(intstr.FromInt32(2))},
			Status: v1alpha1.BroadcastJobStatus{Desired: desired, Succeeded: succeeded, Failed: failed, Phase: phase, CompletionTime: new(metav1.Now())},
		}
	}
	running := job(3, 0, 0, v1alpha1.PhaseRunning)
	a, b := pod("web-a", on("a")), pod("web-b", on("b"))
	good, bad := pod("web-a", on("a"), endedAs(corev1.PodSucceeded)), pod("web-b", on("b"), endedAs(corev1.PodFailed))
	for _, test := range []struct {
		name           string
		changes        []Change
		wrong, settled []invariants.Invariant
	}{
		{"pods of two nodes", []Change{{New: running}, {New: a}, {New: pod("web-b", pinned("b"))}}, nil, breaks(invariants.Settled, invariants.Status)},
		{"more than parallelism", []Change{{New: running}, {New: a}, {New: b}, {New: pod("web-c", pinned("c"))}}, breaks(invariants.Surge), breaks(invariants.Settled)},
		{"one has ended", []Change{{New: running}, {New: a}, {New: b}, {Old: b, New: bad}, {New: pod("web-c", pinned("c"))}}, nil, breaks(invariants.Settled, invariants.Status)},
		{"a second pod", []Change{{New: running}, {New: a}, {New: pod("web-d", pinned("a"))}}, breaks(invariants.Identity), breaks(invariants.Settled, invariants.Status)},
		{"run again", []Change{{New: running}, {New: bad}, {New: pod("web-d", pinned("b"))}}, breaks(invariants.Identity), breaks(invariants.Settled, invariants.Status)},
		{"a second pod of a job that has not been shown", []Change{{New: a}, {New: pod("web-d", pinned("a"))}}, breaks(invariants.Identity), nil},
		{"deleted", []Change{{New: running}, {New: a}, {Old: a, New: pod("web-a", on("a"), leaving)}}, breaks(invariants.Needless), breaks(invariants.Settled, invariants.Status)},
		{"it counts right", []Change{{New: running}, {New: good}, {New: bad}, {New: job(2, 1, 1, v1alpha1.PhaseCompleted)}}, nil, nil},
		{"it counts one too many", []Change{{New: running}, {New: good}, {New: bad}, {New: job(2, 2, 0, v1alpha1.PhaseCompleted)}}, nil, breaks(invariants.Status)},
		{"it goes on", []Change{{New: running}, {New: good}, {New: bad}, {New: job(2, 1, 1, v1alpha1.PhaseRunning)}}, nil, breaks(invariants.Settled)},
		{"it forgets a node", []Change{{New: running}, {New: good}, {New: bad}, {New: job(3, 1, 1, v1alpha1.PhaseCompleted)}}, nil, breaks(invariants.Status)},
	} {
		j := NewJudge()
		if diff := cmp.Diff(test.wrong, see(j, test.changes...)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.name, diff)
		}
		if diff := cmp.Diff(test.settled, kinds(j.Settled())); diff != "" {
			t.Errorf("%s: settled (-want +got):\n%s", test.name, diff)
		}
	}
}

func TestAdvancedCronJobsAreJudged(t *testing.T) {
	at := func(second int) metav1.Time { return metav1.Date(2026, 1, 1, 0, 0, second, 0, time.UTC) }
	cronJob := func(claims int) *v1alpha1.AdvancedCronJob {
		return &v1alpha1.AdvancedCronJob{ObjectMeta: metav1.ObjectMeta{Name: "web", UID: setUID}, Status: v1alpha1.AdvancedCronJobStatus{LastScheduleTime: new(at(claims))}}
	}
	job := func(uid types.UID, scheduled, created int) *batchv1.Job {
		return ofKind("AdvancedCronJob", &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Name: "web-" + string(uid), UID: uid, CreationTimestamp: at(created), OwnerReferences: []metav1.OwnerReference{ofSet},
			Annotations: map[string]string{v1alpha1.ScheduledAtAnnotation: at(scheduled).UTC().Format(time.RFC3339)}}})
	}
	one := job("1", 5, 6)
	for _, test := range []struct {
		name       string
		changes    []Change
		wrong      []invariants.Invariant
		runs, lost int
	}{
		{"a job for each time", []Change{{New: cronJob(5)}, {New: one}, {New: cronJob(10)}, {New: job("2", 10, 10)}}, nil, 2, 0},
		{"a job changes", []Change{{New: cronJob(5)}, {New: one}, {Old: one, New: one}}, nil, 1, 0},
		{"two for one time", []Change{{New: cronJob(5)}, {New: one}, {New: job("2", 5, 7)}}, breaks(invariants.Identity), 1, 0},
		{"another one when the first is gone", []Change{{New: cronJob(5)}, {New: one}, {Old: one}, {New: job("2", 5, 9)}}, breaks(invariants.Identity), 1, 0},
		{"too early", []Change{{New: cronJob(5)}, {New: job("2", 5, 4)}}, breaks(invariants.Order), 1, 0},
		{"a time is lost", []Change{{New: cronJob(5)}, {New: cronJob(10)}, {New: job("2", 10, 10)}}, nil, 1, 1},
	} {
		j := NewJudge()
		if diff := cmp.Diff(test.wrong, see(j, test.changes...)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.name, diff)
		}
		if runs, lost := j.Runs(setUID); len(runs) != test.runs || len(lost) != test.lost {
			t.Errorf("%s: runs %v, lost %v, want %d and %d", test.name, runs, lost, test.runs, test.lost)
		}
	}
}
