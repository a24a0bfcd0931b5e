// SPDX-License-Identifier: Apache-2.0

package ephemeraljob

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright"
	"github.com/podwright/podwright/internal/controller"
	"github.com/podwright/podwright/internal/testing/fakecluster/mutation"
	"github.com/podwright/podwright/internal/testing/readers"
	"github.com/podwright/podwright/lifecycle/v1alpha1"
)

// situations are jobs in the midst of something, so that between them the planner reads
// all that it ever reads.
func situations(t *testing.T) mutation.Planner[Snapshot] {
	settled := place(t, newJob(), "p1:running p2")
	settled.Job.Status = *NewPlan(settled).Status
	return mutation.Planner[Snapshot]{Describe: func(s *Snapshot) string { return describe(NewPlan(s)) }, Situations: map[string]*Snapshot{
		"settled":  settled,
		"running":  place(t, jobOf(t, "spec: {parallelism: 2}"), "p1:running p2 p3:taken p4:exit1"),
		"waiting":  place(t, jobOf(t, "spec: {parallelism: 3}"), "p1:waiting p2:injected p3:unstartable p4"),
		"almost":   place(t, jobOf(t, "spec: {activeDeadlineSeconds: 90}"), "p1:exit0 p2:running"),
		"unique":   place(t, jobOf(t, `metadata: {annotations: {ephemeraljobs.podwright.io/unique-names: "true"}}`), "p1:taken p2"),
		"paused":   place(t, jobOf(t, "spec: {paused: true, replicas: 1}"), "p1:running p2"),
		"error":    place(t, jobOf(t, "spec: {template: {ephemeralContainers: []}}"), "p1"),
		"finished": place(t, jobOf(t, "status: {completionTime: '2026-01-01T11:50:00Z'}"), "p1:exit0"),
	}}
}

// describe is everything that a plan says, whatever object it says it about.
func describe(p *Plan) string {
	data, err := json.Marshal([]any{p.AddFinalizer, p.RemoveFinalizer, p.Containers, p.TryFirst, p.Status, p.DeleteJob, p.Events, p.RequeueAfter})
	out := []string{fmt.Sprintf("%s %v", data, err)}
	for _, t := range p.Targets {
		out = append(out, fmt.Sprint(t.Pod.Name, t.State))
	}
	for _, pod := range p.Inject {
		out = append(out, "+"+pod.Name)
	}
	for _, w := range slices.Concat(p.Waiting, p.Skipped) {
		out = append(out, w.String())
	}
	return strings.Join(out, "\n")
}

// EJ-24: whatever changes about a pod, if that changes the plan, the job is enqueued.
func TestEverythingThatThePlannerReadsOfAPodMatters(t *testing.T) {
	reads := mutation.Reads{}
	can := regexp.MustCompile(mutation.Metadata + `|^\.Spec\.NodeName|^\.Spec\.EphemeralContainers$|^\.Status`)
	mutation.CheckLists(t, reads, situations(t), mutation.Plan[corev1.Pod]{Copy: (*corev1.Pod).DeepCopy, Can: can, Matters: mutation.Declared[corev1.Pod](podFields)},
		func(s *Snapshot) *[]*corev1.Pod { return &s.Pods })
	reads.Require(t, ".ObjectMeta.DeletionTimestamp", ".ObjectMeta.Labels[app]", ".Spec.EphemeralContainers", ".Status.Phase",
		".Status.EphemeralContainerStatuses[].Name", ".Status.EphemeralContainerStatuses[].State.Running", ".Status.EphemeralContainerStatuses[].State.Waiting.Reason",
		".Status.EphemeralContainerStatuses[].State.Terminated.ExitCode", ".Status.EphemeralContainerStatuses[].State.Terminated.Message")
}

// EJ-24: so it is with the job itself, whose generation stands for its spec.
func TestEverythingThatThePlannerReadsOfAJobMatters(t *testing.T) {
	reads := mutation.Reads{}
	can := regexp.MustCompile(strings.Replace(mutation.Metadata, "ResourceVersion|", "", 1) + `|^\.Status`)
	for name, s := range situations(t).Situations {
		t.Run(name, func(t *testing.T) {
			mutation.Plan[v1alpha1.EphemeralJob]{Copy: (*v1alpha1.EphemeralJob).DeepCopy, Can: can,
				Matters: mutation.Declared[v1alpha1.EphemeralJob](controller.Workload | controller.Finalizers), Of: func(job *v1alpha1.EphemeralJob) string {
					with := *s
					with.Job = job
					return describe(NewPlan(&with))
				}}.Check(t, reads, s.Job)
		})
	}
	reads.Require(t, ".ObjectMeta.DeletionTimestamp", ".ObjectMeta.Finalizers", ".ObjectMeta.Annotations["+v1alpha1.EphemeralJobUniqueNamesAnnotation+"]",
		".ObjectMeta.Generation", ".Status.StartTime", ".Status.CompletionTime", ".Status.Matches")
}

// EJ-24: heartbeats and what else changes about a pod concern no job.
func TestEventsThatDoNotMatter(t *testing.T) {
	pod := situations(t).Situations["waiting"].Pods[0]
	for name, change := range map[string]func(*corev1.Pod){
		"an annotation":          func(p *corev1.Pod) { p.Annotations = map[string]string{"a": "b"} },
		"an address":             func(p *corev1.Pod) { p.Status.PodIP = "10.0.0.1" },
		"readiness":              func(p *corev1.Pod) { p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady}} },
		"its own containers":     func(p *corev1.Pod) { p.Status.ContainerStatuses = []corev1.ContainerStatus{{RestartCount: 1}} },
		"how one ran before":     func(p *corev1.Pod) { p.Status.EphemeralContainerStatuses[0].RestartCount = 3 },
		"the images of the spec": func(p *corev1.Pod) { p.Spec.Containers[0].Image = "web:2" },
	} {
		after := pod.DeepCopy()
		if change(after); controller.Changed(pod, after, podFields) != 0 {
			t.Errorf("%s matters", name)
		}
	}
}

// EJ-24: whom a pod concerns.
func TestPodsConcernTheJobsThatSelectThem(t *testing.T) {
	var jobs []metav1.Object
	for name, fields := range map[string]string{
		"web": "{}", "all": "spec: {selector: {matchLabels: null}}", "none": "spec: {selector: null}",
		"db": "spec: {selector: {matchLabels: {app: db}}}", "elsewhere": "metadata: {namespace: bank}",
		"unreadable": "spec: {selector: {matchExpressions: [{key: '', operator: Like}]}}",
		"finished":   "status: {completionTime: '2026-01-01T12:00:00Z'}", "leaving": "metadata: {deletionTimestamp: '2026-01-01T12:00:00Z'}",
	} {
		job := jobOf(t, fields)
		job.Name = name
		jobs = append(jobs, job)
	}
	o := Options{ControllerOptions: podwright.ControllerOptions{Reader: readers.Memory{resourceEphemeralJobs: jobs}}}
	web, db := newPod("p1", 0), newPod("p1", 0)
	db.Labels["app"] = "db"
	mutation.CheckEvents(t, o.podChanged,
		mutation.On("it appears", nil, web, "default/all default/web"),
		mutation.On("it goes", web, nil, "default/all default/web"),
		mutation.On("it changes", web, web, "default/all default/web"),
		mutation.On("other labels", web, db, "default/all default/db default/web"),
	)
}
