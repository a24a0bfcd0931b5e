// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/podwright/podwright/examples/tests/testbed"
	"github.com/podwright/podwright/examples/tests/testbed/mirror"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

// podRuns takes note of the pods that BroadcastJobs have run.
type podRuns struct {
	lock    sync.Mutex
	seen    map[types.UID]bool
	counted map[string]bool // "job on node" whose result stands in the status
	errs    []string
}

func onNode(pod *corev1.Pod) string {
	return pod.Labels[v1alpha1.BroadcastJobNameLabel] + " on " + pod.Spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms[0].MatchFields[0].Values[0]
}

// observe is told of every change of a pod.
func (r *podRuns) observe(all map[types.UID]*corev1.Pod, _, pod **corev1.Pod, _ string, _ bool) {
	if pod == nil || (*pod).Labels[v1alpha1.BroadcastJobNameLabel] == "" {
		return
	}
	r.lock.Lock()
	defer r.lock.Unlock()
	if r.seen[(*pod).UID] {
		return
	}
	r.seen[(*pod).UID] = true
	at := onNode(*pod)
	if r.counted[at] {
		r.errs = append(r.errs, "BJ-19: "+at+" is run again, though its result stands")
	}
	for uid, other := range all {
		if uid != (*pod).UID && other.Labels[v1alpha1.BroadcastJobNameLabel] != "" && onNode(other) == at {
			r.errs = append(r.errs, "BJ-22: "+at+" has two pods")
		}
	}
}

func (r *podRuns) count(what string) {
	r.lock.Lock()
	defer r.lock.Unlock()
	r.counted[what] = true
}

func (r *podRuns) look() (n int, errs []string) {
	r.lock.Lock()
	defer r.lock.Unlock()
	return len(r.seen), r.errs
}

// kills is how often the manager is killed.
const kills = 10

// The manager is killed again and again while BroadcastJobs run, an AdvancedCronJob ticks, and users delete finished pods.
// No node has two pods or is run twice, all results are counted, and no scheduled time has two jobs. (BJ-13, BJ-19, BJ-22,
// ACJ-3, ACJ-13.2)
func testJobsOutliveTheManager(t *testing.T, b *bed) {
	pods, ticks := &podRuns{seen: map[types.UID]bool{}, counted: map[string]bool{}}, &runs{uids: map[string]types.UID{}}
	s := b.NewScene(t, pods.observe)
	jobs, broadcast, cronJobs := b.Core.BatchV1().Jobs(s.Namespace), b.workloads.BroadcastJobs(s.Namespace), b.workloads.AdvancedCronJobs(s.Namespace)
	testbed.Follow(s, mirror.Of(jobs), func(_ map[types.UID]*batchv1.Job, _, job **batchv1.Job, _ string, _ bool) {
		if job != nil {
			ticks.observe(*job)
		}
	})
	stored := testbed.Follow[*v1alpha1.BroadcastJob](s, mirror.Of(broadcast), nil)
	nodes, err := b.Core.CoreV1().Nodes().List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	fit := 0
	for _, node := range nodes.Items {
		if !node.Spec.Unschedulable {
			fit++
		}
	}
	if _, err := cronJobs.Create(t.Context(), newCronJob("@every 2s"), metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	images := map[string]string{"good": "task:1", "bad": "task:fail"}
	for name, image := range images {
		job := &v1alpha1.BroadcastJob{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: v1alpha1.BroadcastJobSpec{
			Parallelism: new(intstr.FromInt32(1)), FailurePolicy: v1alpha1.FailurePolicy{Type: v1alpha1.FailurePolicyTypeContinue}, Template: template(name)}}
		job.Spec.Template.Spec.RestartPolicy = corev1.RestartPolicyNever
		job.Spec.Template.Spec.Containers = []corev1.Container{{Name: "main", Image: image}}
		if _, err := broadcast.Create(t.Context(), job, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), testbed.Patience)
		defer cancel()
		if err := b.webhooksAreCalled(ctx); err != nil {
			t.Errorf("the manager at the end of the test: %v", err)
		}
	})
	writes := func() int {
		created, _ := pods.look()
		ticked, _ := ticks.count()
		return created + ticked
	}
	for range kills {
		before := writes()
		s.Await("a pod or a job more", func() string {
			if writes() == before {
				return "none"
			}
			return ""
		})
		b.Manager.Kill()
		for _, job := range stored.All() {
			for node := range job.Status.NodeResults {
				pods.count(job.Name + " on " + node)
			}
			for _, pod := range s.Pods.All() { // users tidy up
				if pod.Labels[v1alpha1.BroadcastJobNameLabel] == job.Name && job.Status.NodeResults[pod.Spec.NodeName] != "" {
					s.DeletePod(pod.Name)
				}
			}
		}
		if err := b.Manager.Start(); err != nil {
			t.Fatal(err)
		}
	}
	for name, want := range map[string]string{
		"good": fmt.Sprintf("completed desired=%d active=0 succeeded=%d failed=0", fit, fit),
		"bad":  fmt.Sprintf("completed desired=%d active=0 succeeded=0 failed=%d", fit, fit),
	} {
		s.Await(name+" is "+want, func() string {
			job, found := stored.Named(name)
			if !found {
				return "there is no such job"
			}
			st := &job.Status
			if got := fmt.Sprintf("%s desired=%d active=%d succeeded=%d failed=%d", st.Phase, st.Desired, st.Active, st.Succeeded, st.Failed); got != want {
				return got
			}
			return ""
		})
	}
	if created, errs := pods.look(); len(errs) > 0 || created < 2*fit {
		t.Errorf("%d pods were created on %d nodes: %v", created, fit, errs)
	}
	last := time.Now()
	s.AwaitAsking("ACJ-3: it ticks on", func() string {
		cronJob, err := cronJobs.Get(t.Context(), "web", metav1.GetOptions{})
		if err != nil {
			return err.Error()
		}
		if at := cronJob.Status.LastScheduleTime; at == nil || at.Time.Before(last) {
			return fmt.Sprintf("%+v", cronJob.Status)
		}
		return ""
	})
	if n, errs := ticks.count(); len(errs) > 0 {
		t.Errorf("ACJ-13.2: %d jobs, %v", n, errs)
	}
}
