// SPDX-License-Identifier: Apache-2.0

package invariants

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/internal/testing/simulation/invariants"
	lifecyclev1alpha1 "github.com/podwright/podwright/lifecycle/v1alpha1"
)

// debugs is a version of an EphemeralJob of the pods of the workload, in one at a time.
func debugs(edits ...func(*lifecyclev1alpha1.EphemeralJob)) *lifecyclev1alpha1.EphemeralJob {
	job := &lifecyclev1alpha1.EphemeralJob{ObjectMeta: metav1.ObjectMeta{Name: "debug", UID: "debug", Generation: 1}, Spec: lifecyclev1alpha1.EphemeralJobSpec{
		Selector: selector, Parallelism: new(int32(1)), Template: lifecyclev1alpha1.EphemeralContainerTemplateSpec{EphemeralContainers: []corev1.EphemeralContainer{
			{EphemeralContainerCommon: corev1.EphemeralContainerCommon{Name: "debug"}}}}}}
	for _, edit := range edits {
		edit(job)
	}
	return job
}

// completed has ended in so many pods with success, and in those with results.
func completed(succeeded int32, results ...lifecyclev1alpha1.EphemeralJobPodResult) func(*lifecyclev1alpha1.EphemeralJob) {
	return func(job *lifecyclev1alpha1.EphemeralJob) {
		st := &job.Status
		st.CompletionTime, st.ObservedGeneration, st.Matches, st.Succeeded, st.PodResults = new(metav1.Unix(1, 0)), 1, int32(len(results)), succeeded, results
		st.Failed, st.Phase = st.Matches-succeeded, lifecyclev1alpha1.EphemeralJobSucceeded
		if st.Failed > 0 {
			st.Phase = lifecyclev1alpha1.EphemeralJobFailed
		}
	}
}

func resultIn(pod string, code int32) lifecyclev1alpha1.EphemeralJobPodResult {
	return lifecyclev1alpha1.EphemeralJobPodResult{Pod: pod, Container: "debug", ExitCode: &code}
}

// debugged has the containers of a job; exited with an exit code.
func debugged(p *corev1.Pod) {
	p.Spec.EphemeralContainers = []corev1.EphemeralContainer{{EphemeralContainerCommon: corev1.EphemeralContainerCommon{
		Name: "debug", Env: []corev1.EnvVar{{Name: lifecyclev1alpha1.EphemeralJobEnv, Value: "debug"}}}}}
}

func exited(code int32) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		debugged(p)
		p.Status.EphemeralContainerStatuses = []corev1.ContainerStatus{{Name: "debug", State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: code}}}}
	}
}

func TestEphemeralJobsAreJudged(t *testing.T) {
	injected := func(name string) Change { return Change{Old: pod(name), New: pod(name, debugged)} }
	ended := func(name string, code int32) Change {
		return Change{Old: pod(name, debugged), New: pod(name, exited(code))}
	}
	there := func(changes ...Change) []Change {
		return append([]Change{{New: pod("web-a")}, {New: pod("web-b")}, {New: debugs()}}, changes...)
	}
	over := Change{New: debugs(completed(1, resultIn("web-a", 0), resultIn("web-b", 2)))}
	for _, test := range []struct {
		name    string
		changes []Change
		wrong   []invariants.Invariant
	}{
		{"injected", there(injected("web-a")), nil},
		{"one by one", there(injected("web-a"), ended("web-a", 0), injected("web-b")), nil},
		{"two at a time", there(injected("web-a"), injected("web-b")), breaks(invariants.Surge)},
		{"into a pod that is not selected", there(Change{Old: pod("web-a", other), New: pod("web-a", other, debugged)}), breaks(invariants.Ownership)},
		{"of no job", []Change{{New: pod("web-a")}, injected("web-a")}, breaks(invariants.Ownership)},
		{"ended", there(injected("web-a"), ended("web-a", 0), injected("web-b"), ended("web-b", 2), over), nil},
		{"ended before a pod has", there(injected("web-a"), ended("web-a", 0), injected("web-b"), over), breaks(invariants.Settled, invariants.Status)},
		{"ended without a pod", there(injected("web-a"), ended("web-a", 0), Change{New: debugs(completed(1, resultIn("web-a", 0)))}), breaks(invariants.Settled)},
		{"with another exit code", there(injected("web-a"), ended("web-a", 0), injected("web-b"), ended("web-b", 3), over), breaks(invariants.Status)},
		{"ends twice", there(over, Change{New: debugs()}), breaks(invariants.Status)},
		{"goes on after its end", there(ended("web-b", 2), over, injected("web-a")), breaks(invariants.Needless)},
	} {
		if diff := cmp.Diff(test.wrong, see(NewJudge(), test.changes...)); diff != "" {
			t.Errorf("%s: violated (-want +got):\n%s", test.name, diff)
		}
	}
	j := NewJudge()
	see(j, Change{New: debugs()})
	if diff := cmp.Diff(breaks(invariants.Settled), kinds(j.Settled())); diff != "" {
		t.Errorf("it has not ended: violated (-want +got):\n%s", diff)
	}
}

// other is no pod of the workload.
func other(p *corev1.Pod) { p.Labels["app"], p.OwnerReferences = "other", nil }

// A pod that gets ephemeral containers is unchanged to its workload.
func TestEphemeralContainersAreNothingToWorkloads(t *testing.T) {
	scenario{name: "injected", there: objects(debugs()), old: pod("web-a"), new: pod("web-a", debugged)}.check(t, (*spec).cloneSet)
	scenario{name: "ended", there: objects(debugs()), old: pod("web-a", debugged), new: pod("web-a", exited(0))}.check(t, (*spec).statefulSet)
}
