// SPDX-License-Identifier: Apache-2.0

package broadcastjob

import (
	"fmt"
	"maps"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright/workloads/v1alpha1"
)

// violation is of a rule.
type violation struct{ rule, how string }

// judge knows the rules, and no planner. It looks at what the API server has stored.
type judge struct {
	*cluster
	wrong    []violation // found in the first step in which anything was
	happened []string

	results map[string]v1alpha1.BroadcastJobNodeResult // that were seen before
	pods    map[types.UID]bool                         // that were seen before
	allowed int                                        // the highest parallelism so far
	over    bool                                       // the job has ended, and no pod was under way to the API server
	paused  bool                                       // likewise, and nobody has taken it back
}

func newJudge(c *cluster) *judge {
	return &judge{cluster: c, allowed: 2, results: map[string]v1alpha1.BroadcastJobNodeResult{}, pods: map[types.UID]bool{}}
}

func (j *judge) say(what string) { j.happened = append(j.happened, what) }

func (j *judge) violate(rule, format string, args ...any) {
	j.wrong = append(j.wrong, violation{rule, fmt.Sprintf(format, args...)})
}

func runs(pod *corev1.Pod) bool {
	return pod.DeletionTimestamp == nil && pod.Status.Phase != corev1.PodSucceeded && pod.Status.Phase != corev1.PodFailed
}

// look checks what holds at any time.
func (j *judge) look() {
	j.T.Helper()
	job := j.get()
	on, active := map[string]string{}, 0
	for _, pod := range j.Pods() {
		if metav1.GetControllerOf(&pod) == nil {
			continue
		}
		node := placeOf(&pod)
		if on[node] != "" {
			j.violate("BJ-22", "node %s has the pods %s and %s", node, on[node], pod.Name)
		}
		on[node] = pod.Name
		if runs(&pod) {
			active++
		}
		if j.pods[pod.UID] {
			continue
		}
		j.pods[pod.UID] = true
		switch result := j.results[node]; {
		case result == v1alpha1.NodeSucceeded, result == v1alpha1.NodeFailed && job.Spec.FailurePolicy.Type != v1alpha1.FailurePolicyTypePause:
			j.violate("BJ-19", "node %s has %s, and is run again", node, result)
		case j.over:
			j.violate("BJ-2", "the job is over, and gets pod %s", pod.Name)
		case j.paused:
			j.violate("BJ-8", "the job is paused, and gets pod %s", pod.Name)
		}
	}
	if active > j.allowed {
		j.violate("BJ-12", "%d pods are active, of %d", active, j.allowed)
	}
	s := &job.Status
	for node, result := range j.results {
		now := s.NodeResults[node]
		if now != result && (result == v1alpha1.NodeSucceeded || now == "" && job.Spec.FailurePolicy.Type != v1alpha1.FailurePolicyTypePause) {
			j.violate("BJ-19", "node %s had %s, and has %q", node, result, now)
		}
	}
	if s.Phase == v1alpha1.PhaseCompleted && job.Spec.CompletionPolicy.Type == v1alpha1.Never {
		j.violate("BJ-15", "it never ends, and is completed")
	}
	if int(s.Succeeded+s.Failed) != len(s.NodeResults) {
		j.violate("BJ-19", "%d succeeded, %d failed, %d results", s.Succeeded, s.Failed, len(s.NodeResults))
	}
	maps.Copy(j.results, s.NodeResults)
	j.over = over(job)
}

// calm checks what holds when nobody has interfered for a while: there is nothing to do.
func (j *judge) calm() {
	j.T.Helper()
	j.look()
	job := j.get()
	if left := j.Unfinished(); left != "" {
		j.violate("BJ-1", "there is something to do: %s", left)
	}
	j.paused = job.Spec.Paused && job.Status.Phase == v1alpha1.PhasePaused
	if job.Spec.Paused && job.Status.CompletionTime == nil && !j.paused {
		j.violate("BJ-8", "the job is to pause, and is %s", job.Status.Phase)
	}
	stands := job.Spec.Paused || job.Status.Phase != v1alpha1.PhaseRunning
	active := 0
	for _, pod := range j.Pods() {
		node, err := j.Kube.CoreV1().Nodes().Get(j.T.Context(), placeOf(&pod), metav1.GetOptions{})
		j.Must(err)
		if !stands && node.Spec.Unschedulable && pod.DeletionTimestamp == nil {
			j.violate("BJ-7", "node %s is cordoned, and has pod %s", node.Name, pod.Name)
		}
		if !runs(&pod) {
			continue
		}
		if active++; job.Status.Phase == v1alpha1.PhaseFailed {
			j.violate("BJ-11", "the job has failed, and pod %s runs", pod.Name)
		}
	}
	if s := &job.Status; int(s.Active) != active || int64(s.ObservedGeneration) != job.Generation {
		j.violate("BJ-20", "%d pods are active, the status says %d, of generation %d", active, s.Active, s.ObservedGeneration)
	}
	if d := job.Spec.CompletionPolicy.ActiveDeadlineSeconds; d != nil && !job.Spec.Paused && job.Status.CompletionTime == nil { // it was calm for longer
		j.violate("BJ-10", "the deadline is over")
	}
}

// end checks how it ends when the users want it to go on, and no pod fails.
func (j *judge) end() {
	j.T.Helper()
	job := j.get()
	s := &job.Status
	deadline := job.Spec.CompletionPolicy.ActiveDeadlineSeconds != nil
	switch {
	case job.Spec.CompletionPolicy.Type == v1alpha1.Never:
		if s.Phase != v1alpha1.PhaseRunning || s.Succeeded+s.Failed != 6 || s.Desired != 6 {
			j.violate("BJ-15", "it ends as %s", j.outcome())
		}
	case s.Phase == v1alpha1.PhaseFailed:
		if !deadline && (s.Failed == 0 || job.Spec.FailurePolicy.Type != v1alpha1.FailurePolicyTypeFailFast) {
			j.violate("BJ-9", "it ends as %s", j.outcome())
		}
	case s.Phase != v1alpha1.PhaseCompleted || s.Succeeded+s.Failed != s.Desired || s.Active != 0,
		job.Spec.FailurePolicy.Type != v1alpha1.FailurePolicyTypeContinue && s.Failed > 0:
		j.violate("BJ-13", "it ends as %s", j.outcome())
	}
}
