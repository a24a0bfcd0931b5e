// SPDX-License-Identifier: Apache-2.0

package containermeta

import (
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	criv1 "k8s.io/cri-api/pkg/apis/runtime/v1"

	inplacev1alpha1 "github.com/podwright/podwright/inplace/v1alpha1"
)

type entryList = []inplacev1alpha1.RuntimeContainer

func TestPlanReports(t *testing.T) {
	pair := []*criv1.Container{created("main", "m1", 1), created("side", "s1", 2)}
	main, side := reportedAs("main", "m1", 0x10, versionHash), reportedAs("side", "s1", 0x20, noEnvHash)
	failed := func(failures int, retry time.Duration) map[string]Environment {
		return map[string]Environment{"m1": {Err: errors.New("no env"), Failures: failures, RetryAt: now.Add(retry)}}
	}
	for _, test := range []struct {
		name       string
		pod        *corev1.Pod
		containers []*criv1.Container
		known      map[string]Environment
		features   Features
		want       entryList // nil: nothing to write
		read       []string
		waiting    string // a part of one of the reasons
		again      time.Duration
	}{
		{name: "CM-3: one entry per container, in the order of the statuses", pod: newPod("web-0", running("m1", "s1")), containers: pair,
			known: known("m1", "A=1"), want: entryList{main, side}},
		{name: "CM-3: nothing is written that stands", pod: newPod("web-0", running("m1", "s1"), reporting(main, side)), containers: pair},
		{name: "CM-3: the environment has to be read first", pod: newPod("web-0", running("m1", "s1")), containers: pair,
			want: entryList{reportedAs("main", "m1", 0x10, 0), side}, read: []string{"m1"}, waiting: "main: its environment has to be read"},
		{name: "CM-3: the newest container of a name", pod: newPod("web-0", running("m1", "s1")), containers: append([]*criv1.Container{created("main", "m0", 0, exited)}, pair...),
			known: known("m1", "A=1"), want: entryList{main, side}},
		{name: "CM-3: also where the status does not know of it", pod: newPod("web-0", running("m0", "s1"), reporting(reportedAs("main", "m0", 1, 1), side)), containers: pair,
			known: known("m1", "A=1"), want: entryList{main, side}},
		{name: "CM-3: the restart count is that of the container", pod: newPod("web-0", running("m1", "s1"), reporting(main, side)),
			containers: []*criv1.Container{created("main", "m2", 3, cri("io.kubernetes.container.restartCount", "7")), pair[1]}, known: known("m2", "A=1"),
			want: entryList{{Name: "main", ContainerID: "containerd://m2", RestartCount: 7, Hashes: main.Hashes}, side}},
		{name: "CM-3: what is reported of a living container is kept", pod: newPod("web-0", running("m1", "s1"), annotated("version", "2"),
			reporting(reportedAs("main", "m1", 99, versionHash), reportedAs("side", "s0", 1, 1))), containers: pair,
			want: entryList{reportedAs("main", "m1", 99, versionHash), side}},
		{name: "CM-3: but a hash that was unknown is filled in", pod: newPod("web-0", running("m1", "s1"), reporting(reportedAs("main", "m1", 99, 0), side)), containers: pair,
			known: known("m1", "A=1"), want: entryList{reportedAs("main", "m1", 99, versionHash), side}},
		{name: "CM-3: a status without a container of the runtime", pod: newPod("web-0", running("m1", "s1")), containers: pair[:1],
			known: known("m1", "A=1"), want: entryList{main}, waiting: "side: the pod's spec or the runtime has no container of that name"},
		{name: "CM-3: a status without a container of the spec", pod: newPod("web-0", running("m1", "s1"), func(pod *corev1.Pod) { pod.Spec.Containers = pod.Spec.Containers[:1] }), containers: pair,
			known: known("m1", "A=1"), want: entryList{main}, waiting: "side: the pod's spec"},
		{name: "CM-3: a container of the runtime without a status", pod: newPod("web-0", running("m1")), containers: append(pair, created("init", "i1", 0, exited)),
			known: known("m1", "A=1"), want: entryList{main}},
		{name: "CM-3: a hash that is not readable", pod: newPod("web-0", running("m1", "s1"), env()), containers: []*criv1.Container{created("main", "m1", 1, cri("io.kubernetes.container.hash", "")), pair[1]},
			want: entryList{reportedAs("main", "m1", 0, noEnvHash), side}, waiting: "want a hexadecimal number"},
		{name: "an annotation that is not readable is replaced", pod: newPod("web-0", running("m1", "s1"), annotated(inplacev1alpha1.RuntimeContainersMetaAnnotation, "{")), containers: pair,
			known: known("m1", "A=1"), want: entryList{main, side}},
		{name: "CM-3: no ID yet", pod: newPod("web-0", running("", "")), waiting: "no container has been created yet"},
		{name: "CM-3: another runtime", pod: newPod("web-0", running("m1"), func(pod *corev1.Pod) { pod.Status.ContainerStatuses[0].ContainerID = "cri-o://m1" }), containers: pair,
			waiting: "the pod runs in cri-o, and this node agent is connected to containerd"},
		{name: "CM-3: no container at all is not written", pod: newPod("web-0", running("m1", "s1")), waiting: "main: "},
		{name: "CM-2: deleting", pod: newPod("web-0", running("m1", "s1"), func(pod *corev1.Pod) { pod.DeletionTimestamp = &metav1.Time{Time: now} }), containers: pair, waiting: "is being deleted"},
		{name: "CM-2: finished, with a report of another agent that lacks a hash", pod: newPod("web-0", running("m1", "s1"), reporting(reportedAs("main", "m1", 0x10, 0), side), phase(corev1.PodSucceeded)), containers: pair,
			known: known("m1", "A=1"), waiting: "has finished"},
		{name: "CM-2: failed", pod: newPod("web-0", running("m1", "s1"), phase(corev1.PodFailed)), containers: pair, waiting: "has finished"},
		{name: "CM-2: no statuses", pod: newPod("web-0"), containers: pair, waiting: "has no containers yet"},
		{name: "CM-2: another owner", pod: newPod("web-0", running("m1", "s1"), func(pod *corev1.Pod) { pod.OwnerReferences[0].APIVersion = "apps/v1" }), containers: pair, waiting: "apps.kruise.io"},
		{name: "CM-2: an owner without control", pod: newPod("web-0", running("m1", "s1"), func(pod *corev1.Pod) { pod.OwnerReferences[0].Controller = nil }), containers: pair, waiting: "apps.kruise.io"},
		{name: "CM-2: another owner, and injected sidecars", pod: newPod("web-0", running("m1", "s1"), annotated(sidecarSetHashAnnotation, "{}"), func(pod *corev1.Pod) { pod.OwnerReferences = nil }), containers: pair,
			known: known("m1", "A=1"), want: entryList{main, side}},
		{name: "CM-1: without the gate there are no hashes of environments", pod: newPod("web-0", running("m1", "s1")), containers: pair, features: Features{NoEnvFromMetadata: true},
			want: entryList{reportedAs("main", "m1", 0x10, 0), reportedAs("side", "s1", 0x20, 0)}},
		{name: "CM-E1: an environment that cannot be read", pod: newPod("web-0", running("m1", "s1")), containers: pair, known: failed(2, 4*time.Second),
			want: entryList{reportedAs("main", "m1", 0x10, 0), side}, waiting: "main: its environment is not known, try 2 failed: no env", again: 4 * time.Second},
		{name: "CM-E1: it is tried again", pod: newPod("web-0", running("m1", "s1"), reporting(reportedAs("main", "m1", 0x10, 0), side)), containers: pair, known: failed(2, 0),
			read: []string{"m1"}, waiting: "has to be read"},
		{name: "CM-E1: a container without such variables needs none", pod: newPod("web-0", running("m1", "s1"), env()), containers: pair,
			want: entryList{reportedAs("main", "m1", 0x10, noEnvHash), side}},
		{name: "CM-E4: the value at the start counts, not the one of now", pod: newPod("web-0", running("m1", "s1"), annotated("version", "2")), containers: pair,
			known: known("m1", "A=1"), want: entryList{main, side}},
		{name: "CM-4.1: a variable that the container lacks", pod: newPod("web-0", running("m1", "s1")), containers: pair,
			known: known("m1", "B=1"), want: entryList{reportedAs("main", "m1", 0x10, emptyHash), side}},
		{name: "CM-E5: other fields take no part", pod: newPod("web-0", running("m1", "s1"), env(corev1.EnvVar{Name: "IP", ValueFrom: &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{FieldPath: "status.podIP"}}})),
			containers: pair, want: entryList{reportedAs("main", "m1", 0x10, noEnvHash), side}},
		{name: "CM-E6: nor do ConfigMaps", pod: newPod("web-0", running("m1", "s1"), env(corev1.EnvVar{Name: "C", ValueFrom: &corev1.EnvVarSource{ConfigMapKeyRef: &corev1.ConfigMapKeySelector{Key: "k"}}})),
			containers: pair, want: entryList{reportedAs("main", "m1", 0x10, noEnvHash), side}},
		{name: "a later literal of the same name hides a variable", pod: newPod("web-0", running("m1", "s1"), env(fromAnnotation("A", "version"), corev1.EnvVar{Name: "A", Value: "x"})), containers: pair,
			known: known("m1", "A=x"), want: entryList{main, side}},
		{name: "CM-E7: the annotation stays when the gate is closed", pod: newPod("web-0", running("m1", "s1"), reporting(main, side)), containers: pair, features: Features{NoEnvFromMetadata: true}},
	} {
		t.Run(test.name, func(t *testing.T) {
			plan := NewPlan(&Snapshot{Pod: test.pod, Runtime: "containerd", Containers: test.containers, Environments: test.known, Now: now, Features: test.features})
			var got entryList
			if plan.Report != nil {
				got = plan.Report.Containers
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("report (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(test.read, plan.Read); diff != "" {
				t.Errorf("environments to read (-want +got):\n%s", diff)
			}
			if plan.RequeueAfter != test.again || len(plan.Restarts) > 0 {
				t.Errorf("again after %s, restarts %v", plan.RequeueAfter, plan.Restarts)
			}
			checkWaiting(t, plan, test.waiting)
		})
	}
}

func phase(phase corev1.PodPhase) func(*corev1.Pod) {
	return func(pod *corev1.Pod) { pod.Status.Phase = phase }
}

// checkWaiting wants a reason that contains a text, as "container: reason", or none.
func checkWaiting(t *testing.T, plan *Plan, want string) {
	t.Helper()
	var reasons []string
	for _, waiting := range plan.Waiting {
		reasons = append(reasons, waiting.Name+": "+waiting.Reason.String())
	}
	got := strings.Join(reasons, "\n")
	if want == "" && got != "" || !strings.Contains(got, want) {
		t.Errorf("waiting for\n%s\nwant %q", got, want)
	}
}

func TestPlanRestarts(t *testing.T) {
	outdated := func(change ...func(*corev1.Pod)) *corev1.Pod {
		all := []func(*corev1.Pod){running("m1", "s1"), condition(corev1.ConditionFalse), annotated("version", "2"),
			reporting(reportedAs("main", "m1", 0x10, versionHash), reportedAs("side", "s1", 0x20, noEnvHash))}
		return newPod("web-0", append(all, change...)...)
	}
	pair := []*criv1.Container{created("main", "m1", 1), created("side", "s1", 2)}
	since := func(count int, ago time.Duration) map[string]Attempt {
		return map[string]Attempt{"m1": {Count: count, Last: now.Add(-ago)}}
	}
	restart := []Restart{{Container: "main", ID: "m1"}}
	for _, test := range []struct {
		name       string
		pod        *corev1.Pod
		containers []*criv1.Container
		attempts   map[string]Attempt
		features   Features
		want       []Restart
		waiting    string
		again      time.Duration
	}{
		{name: "CM-6: the first stop comes after 3 s", pod: outdated(), waiting: "main: it is restarted in 3s", again: 3 * time.Second},
		{name: "CM-6: that are not over", pod: outdated(), attempts: since(0, time.Second), waiting: "main: it is restarted in 2s", again: 2 * time.Second},
		{name: "CM-6: that are over", pod: outdated(), attempts: since(0, 3*time.Second), want: restart},
		{name: "CM-6: the next one after 6 s", pod: outdated(), attempts: since(1, 3*time.Second), waiting: "in 3s, since its environment comes from labels or annotations that have changed; 1 tries so far", again: 3 * time.Second},
		{name: "CM-6: up to 10 min", pod: outdated(), attempts: since(100, 9*time.Minute), waiting: "in 1m0s", again: time.Minute},
		{name: "CM-6: up to 10 min, which are over", pod: outdated(), attempts: since(100, 10*time.Minute), want: restart},
		{name: "CM-6: no update is under way", pod: outdated(condition(corev1.ConditionTrue)), attempts: since(0, time.Hour)},
		{name: "CM-6: no condition", pod: outdated(func(pod *corev1.Pod) { pod.Status.Conditions = nil }), attempts: since(0, time.Hour)},
		{name: "CM-6: the gate is closed", pod: outdated(), attempts: since(0, time.Hour), features: Features{NoEnvFromMetadata: true}},
		{name: "CM-6: the hash is as expected", pod: outdated(annotated("version", "1")), attempts: since(0, time.Hour)},
		{name: "CM-6: the hash is not known", pod: outdated(reporting(reportedAs("main", "m1", 0x10, 0), reportedAs("side", "s1", 0x20, noEnvHash))), attempts: since(0, time.Hour), waiting: "has to be read"},
		{name: "CM-6: the container has ended", pod: outdated(), containers: []*criv1.Container{created("main", "m1", 1, exited), pair[1]}, attempts: since(0, time.Hour), waiting: "main: it has ended"},
		{name: "CM-6: a newer one runs, which is not known", pod: outdated(), containers: append([]*criv1.Container{created("main", "m2", 9)}, pair...), attempts: since(0, time.Hour), waiting: "has to be read"},
		{name: "CM-6: the container is gone", pod: outdated(), containers: pair[1:], attempts: since(0, time.Hour), waiting: "main: the pod's spec or the runtime has no container"},
		{name: "CM-2: the pod is being deleted", pod: outdated(func(pod *corev1.Pod) { pod.DeletionTimestamp = &metav1.Time{Time: now} }), attempts: since(0, time.Hour), waiting: "deleted"},
		{name: "two containers of one pod", pod: outdated(func(pod *corev1.Pod) { pod.Spec.Containers[1].Env = pod.Spec.Containers[0].Env }),
			attempts: map[string]Attempt{"m1": {Last: now.Add(-time.Hour)}, "s1": {Last: now.Add(-time.Hour)}}, want: []Restart{{"main", "m1"}, {"side", "s1"}}},
	} {
		t.Run(test.name, func(t *testing.T) {
			if test.containers == nil {
				test.containers = pair
			}
			plan := NewPlan(&Snapshot{Pod: test.pod, Runtime: "containerd", Containers: test.containers, Attempts: test.attempts, Now: now, Features: test.features})
			if diff := cmp.Diff(test.want, plan.Restarts); diff != "" {
				t.Errorf("restarts (-want +got):\n%s", diff)
			}
			if plan.RequeueAfter != test.again {
				t.Errorf("again after %s, want %s", plan.RequeueAfter, test.again)
			}
			checkWaiting(t, plan, test.waiting)
		})
	}
}

func TestRetryAfter(t *testing.T) {
	var got []time.Duration
	for _, tries := range []int{-1, 0, 1, 2, 7, 8, 1000} {
		got = append(got, retryAfter(tries))
	}
	want := []time.Duration{3 * time.Second, 3 * time.Second, 6 * time.Second, 12 * time.Second, 384 * time.Second, 10 * time.Minute, 10 * time.Minute}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// A plan that has nothing to do belongs to a pod that is not reconciled.
func TestDue(t *testing.T) {
	main, side := reportedAs("main", "m1", 1, versionHash), reportedAs("side", "s1", 2, noEnvHash)
	reported := func(change ...func(*corev1.Pod)) *corev1.Pod {
		return newPod("web-0", append([]func(*corev1.Pod){running("m1", "s1"), reporting(main, side)}, change...)...)
	}
	for _, test := range []struct {
		name            string
		pod             *corev1.Pod
		features        Features
		report, restart bool
	}{
		{name: "CM-2: all is reported", pod: reported()},
		{name: "CM-2: no metadata", pod: newPod("web-0", running("m1", "s1")), report: true},
		{name: "CM-2: metadata that is not readable", pod: reported(annotated(inplacev1alpha1.RuntimeContainersMetaAnnotation, "[]")), report: true},
		{name: "CM-2: no container has an ID", pod: newPod("web-0", running("", ""))},
		{name: "CM-2: one container has none", pod: newPod("web-0", running("m1", ""), reporting(main))},
		{name: "CM-2: fewer entries than containers", pod: reported(reporting(main)), report: true},
		{name: "CM-2: more entries than containers", pod: reported(func(pod *corev1.Pod) { pod.Status.ContainerStatuses = pod.Status.ContainerStatuses[:1] }), report: true},
		{name: "CM-2: another container", pod: reported(reporting(reportedAs("main", "m0", 1, versionHash), side)), report: true},
		{name: "CM-2: a hash is missing", pod: reported(reporting(reportedAs("main", "m1", 1, 0), side)), report: true},
		{name: "CM-2: a hash is missing of a pod that has finished", pod: reported(reporting(reportedAs("main", "m1", 1, 0), side), phase(corev1.PodFailed))},
		{name: "CM-2: no metadata of a pod that has finished", pod: newPod("web-0", running("m1", "s1"), phase(corev1.PodSucceeded))},
		{name: "CM-2: a hash is missing, and the gate is closed", pod: reported(reporting(reportedAs("main", "m1", 1, 0), side)), features: Features{NoEnvFromMetadata: true}},
		{name: "CM-2: another expected hash outside of an update", pod: reported(annotated("version", "2"))},
		{name: "CM-2: another expected hash in an update", pod: reported(annotated("version", "2"), condition(corev1.ConditionFalse)), restart: true},
		{name: "CM-2: another expected hash, and the gate is closed", pod: reported(annotated("version", "2"), condition(corev1.ConditionFalse)), features: Features{NoEnvFromMetadata: true}},
		{name: "CM-2: not a pod of this kind", pod: newPod("web-0", running("m1", "s1"), func(pod *corev1.Pod) { pod.OwnerReferences = nil })},
		{name: "CM-6: a restart of a pod that is not of this kind", pod: reported(annotated("version", "2"), condition(corev1.ConditionFalse), func(pod *corev1.Pod) { pod.OwnerReferences = nil })},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := reportDue(test.pod, test.features); got != test.report {
				t.Errorf("a report is due: %v", got)
			}
			if got := restartDue(test.pod, test.features); got != test.restart {
				t.Errorf("a restart is due: %v", got)
			}
		})
	}
}

func TestNothingToPlanFor(t *testing.T) {
	for _, s := range []*Snapshot{nil, {}} {
		if plan := NewPlan(s); !reflect.DeepEqual(plan, &Plan{}) {
			t.Errorf("plan %+v, want none", plan)
		}
	}
}
