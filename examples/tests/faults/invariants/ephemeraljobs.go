// SPDX-License-Identifier: Apache-2.0

package invariants

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright/examples/tests/testbed/podstate"
	"github.com/podwright/podwright/internal/testing/simulation/invariants"
	lifecyclev1alpha1 "github.com/podwright/podwright/lifecycle/v1alpha1"
)

// ephemeralJob is an EphemeralJob of all pods that its selector selects, without a deadline, whose spec stays.
type ephemeralJob struct {
	latest *lifecyclev1alpha1.EphemeralJob
	due    map[types.UID]bool // the pods that were in service when it was created
}

// seeEphemeral takes note of a change, and judges what it is to EphemeralJobs.
func (j *Judge) seeEphemeral(c Change, gap bool) []invariants.Violation {
	v := &verdict{gap: gap}
	switch object := c.latest().(type) {
	case *lifecyclev1alpha1.EphemeralJob:
		v.about = "EphemeralJob " + object.Name
		j.judgeEphemeralJob(v, object)
	case *corev1.Pod:
		v.about = "pod " + podstate.Describe(object, c.New == nil)
		j.judgeInjection(v, c)
		for _, status := range object.Status.EphemeralContainerStatuses {
			if ended := status.State.Terminated; ended != nil {
				j.exitCodes[object.Name+" "+status.Name] = ended.ExitCode
			}
		}
	}
	return v.wrong
}

// judgeEphemeralJob: a job ends once. When it does, its containers have ended in every pod that it was for from the start, and it
// tells with which exit codes.
func (j *Judge) judgeEphemeralJob(v *verdict, object *lifecyclev1alpha1.EphemeralJob) {
	job := j.ephemeralJobs[object.UID]
	if job == nil {
		job = &ephemeralJob{due: map[types.UID]bool{}}
		j.ephemeralJobs[object.UID] = job
		for uid, pod := range j.injected {
			job.due[uid] = podstate.InService(pod) && selects(object, pod)
		}
	}
	was := job.latest
	job.latest = object
	if was != nil && was.Status.CompletionTime != nil {
		v.expect(was.Status.CompletionTime.Equal(object.Status.CompletionTime) && was.Status.Phase == object.Status.Phase && was.Status.Succeeded == object.Status.Succeeded,
			invariants.Status, "it has ended, with status %+v, and now it is %+v", was.Status, object.Status)
		return
	}
	if object.Status.CompletionTime == nil {
		return
	}
	for uid, pod := range j.injected {
		v.expect(!job.due[uid] || !podstate.Active(pod) || job.endedIn(pod), invariants.Settled, "it has ended, and not in pod %s", pod.Name)
	}
	st := &object.Status
	v.expect(st.Succeeded+st.Failed == st.Matches && (st.Phase == lifecyclev1alpha1.EphemeralJobFailed) == (st.Failed > 0), invariants.Status, "it has ended, with status %+v", *st)
	v.expect(len(st.PodResults) == int(st.Matches)*len(object.Spec.Template.EphemeralContainers), invariants.Status, "it has ended in %d pods, with %d results", st.Matches, len(st.PodResults))
	for _, result := range st.PodResults {
		code, ended := j.exitCodes[result.Pod+" "+result.Container]
		v.expect(ended && result.ExitCode != nil && *result.ExitCode == code, invariants.Status, "result %+v, and the exit code is %d (known: %v)", result, code, ended)
	}
}

// judgeInjection: a pod gets the containers of a job that selects it and has not ended. With that pod, these containers are
// under way in no more pods than parallelism says.
func (j *Judge) judgeInjection(v *verdict, c Change) {
	before, _ := c.Old.(*corev1.Pod)
	after, _ := c.New.(*corev1.Pod)
	if after == nil || len(after.Spec.EphemeralContainers) == 0 {
		return
	}
	for uid, names := range containersOf(after) {
		if before != nil && len(containersOf(before)[uid]) == len(names) {
			continue
		}
		job := j.ephemeralJobs[uid]
		if job == nil {
			v.expect(false, invariants.Ownership, "gets %v of a job that there is not", names)
			continue
		}
		v.expect(selects(job.latest, after), invariants.Ownership, "gets %v of EphemeralJob %s, which does not select it", names, job.latest.Name)
		v.expect(len(names) == len(job.latest.Spec.Template.EphemeralContainers), invariants.Identity, "gets %v of EphemeralJob %s", names, job.latest.Name)
		if v.gap {
			continue
		}
		v.expect(job.latest.Status.CompletionTime == nil, invariants.Needless, "gets %v of EphemeralJob %s, which has ended", names, job.latest.Name)
		under := int32(0)
		for _, pod := range j.injected {
			if len(containersOf(pod)[uid]) > 0 && podstate.Active(pod) && !job.endedIn(pod) {
				under++
			}
		}
		most := *job.latest.Spec.Parallelism
		v.expect(under <= most, invariants.Surge, "EphemeralJob %s is under way in %d pods, parallelism is %d", job.latest.Name, under, most)
	}
}

// selects tells whether a job is for a pod, whatever else is known of that.
func selects(job *lifecyclev1alpha1.EphemeralJob, pod *corev1.Pod) bool {
	selector, err := metav1.LabelSelectorAsSelector(job.Spec.Selector)
	return err == nil && job.Namespace == pod.Namespace && selector.Matches(labels.Set(pod.Labels))
}

// containersOf are the names of the ephemeral containers of a pod, by the UID of their job.
func containersOf(pod *corev1.Pod) map[types.UID][]string {
	all := map[types.UID][]string{}
	for _, container := range pod.Spec.EphemeralContainers {
		for _, env := range container.Env {
			if env.Name == lifecyclev1alpha1.EphemeralJobEnv {
				all[types.UID(env.Value)] = append(all[types.UID(env.Value)], container.Name)
			}
		}
	}
	return all
}

// endedIn tells whether a pod has the containers of a job, and all of them have ended.
func (e *ephemeralJob) endedIn(pod *corev1.Pod) bool {
	names := containersOf(pod)[e.latest.UID]
	for _, status := range pod.Status.EphemeralContainerStatuses {
		if status.State.Terminated != nil {
			names = slices.DeleteFunc(slices.Clone(names), func(name string) bool { return name == status.Name })
		}
	}
	return len(containersOf(pod)[e.latest.UID]) > 0 && len(names) == 0
}

// judgeDebugsSettled: every job has ended.
func (j *Judge) judgeDebugsSettled() (wrong []invariants.Violation) {
	for _, uid := range slices.Sorted(maps.Keys(j.ephemeralJobs)) {
		job := j.ephemeralJobs[uid].latest
		v := &verdict{about: "EphemeralJob " + job.Name}
		v.expect(job.Status.CompletionTime != nil && job.Status.ObservedGeneration == job.Generation, invariants.Settled, "generation %d, status %+v", job.Generation, job.Status)
		wrong = append(wrong, v.wrong...)
	}
	return wrong
}

// withoutEphemeral is a pod without its ephemeral containers, which are nothing to workloads; a pod without any is returned unchanged.
func withoutEphemeral(pod *corev1.Pod) *corev1.Pod {
	if len(pod.Spec.EphemeralContainers) == 0 {
		return pod
	}
	rest := pod.DeepCopy()
	rest.Spec.EphemeralContainers, rest.Status.EphemeralContainerStatuses = nil, nil
	return rest
}
