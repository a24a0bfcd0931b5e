// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"context"
	"encoding/json"
	"fmt"
	"hash/fnv"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright/examples/tests/faults/invariants"
	"github.com/podwright/podwright/examples/tests/testbed"
	"github.com/podwright/podwright/examples/tests/testbed/mirror"
	"github.com/podwright/podwright/lifecycle/v1alpha1"
	workloadsv1alpha1 "github.com/podwright/podwright/workloads/v1alpha1"
)

// ofWorkload selects the pods of a workload, and no stranger.
func ofWorkload(name string) *metav1.LabelSelector {
	return &metav1.LabelSelector{MatchLabels: map[string]string{"app": name}, MatchExpressions: []metav1.LabelSelectorRequirement{
		{Key: workloadsv1alpha1.CloneSetInstanceIDLabel, Operator: metav1.LabelSelectorOpNotIn, Values: []string{"abcde"}}}}
}

// ephemeralJob debugs the pods of a CloneSet that is updated in place, two at a time, until endEphemeral ends its containers.
func ephemeralJob(number int) *v1alpha1.EphemeralJob {
	name := fmt.Sprint("debug", number)
	return &v1alpha1.EphemeralJob{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: v1alpha1.EphemeralJobSpec{
		Selector: ofWorkload(clonedInPlace), Parallelism: new(int32(2)), TTLSecondsAfterFinished: new(int32(100_000)),
		Template: v1alpha1.EphemeralContainerTemplateSpec{EphemeralContainers: []corev1.EphemeralContainer{{TargetContainerName: "main",
			EphemeralContainerCommon: corev1.EphemeralContainerCommon{Name: name, Image: "busybox:1"}}}}}}
}

// debugs are the EphemeralJobs of a story.
type debugs = *mirror.Mirror[*v1alpha1.EphemeralJob]

// debugged says how many there were.
func (s *story) debugged() string { return fmt.Sprint(len(s.debugs.All()), " EphemeralJobs") }

func (s *story) followDebugs() {
	s.Helper()
	jobs := lifecycles.EphemeralJobs(s.Namespace)
	s.debugs = testbed.Follow(s.Scene, mirror.Of(jobs), invariants.Observe[*v1alpha1.EphemeralJob](s.record))
}

// stirDebugs creates the next one, when the last has ended.
func (s *story) stirDebugs() {
	s.Helper()
	for _, job := range s.debugs.All() {
		if job.Status.CompletionTime == nil {
			return
		}
	}
	job := ephemeralJob(len(s.debugs.All()))
	s.AwaitAsking(job.Name+" is created", func() string {
		ctx, cancel := s.within(userPatience)
		defer cancel()
		stored, err := lifecycles.EphemeralJobs(s.Namespace).Create(ctx, job, metav1.CreateOptions{})
		if err != nil && !apierrors.IsAlreadyExists(err) { // by a request whose answer got lost
			return err.Error()
		}
		if err == nil {
			s.observed(stored)
		}
		s.note("%s is created", job.Name)
		return ""
	})
	s.Await("the watch shows "+job.Name, func() string {
		if _, found := s.debugs.Named(job.Name); !found {
			return "it does not"
		}
		return ""
	})
}

// endEphemeral is what a kubelet reports of the ephemeral containers of a pod. It has seen them. Each one runs and then ends, one in ten
// badly. If the pod has changed meanwhile, there will be another look.
func (s *story) endEphemeral(ctx context.Context, pod *corev1.Pod) {
	if len(pod.Spec.EphemeralContainers) == 0 || pod.Status.Phase != corev1.PodRunning || pod.DeletionTimestamp != nil {
		return
	}
	statuses, changed := map[string]corev1.ContainerStatus{}, false
	for _, status := range pod.Status.EphemeralContainerStatuses {
		statuses[status.Name] = status
	}
	var all []corev1.ContainerStatus
	for _, container := range pod.Spec.EphemeralContainers {
		status, started := statuses[container.Name]
		switch {
		case !started:
			status = corev1.ContainerStatus{Name: container.Name, Image: container.Image, ContainerID: "fake://" + container.Name,
				State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: metav1.Now()}}}
			changed = true
		case status.State.Running != nil:
			code := int32(0)
			hash := fnv.New32a()
			_, _ = hash.Write([]byte(pod.Name + container.Name))
			if hash.Sum32()%10 == 0 {
				code = 3
			}
			status.State = corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: code, Reason: "Completed", StartedAt: status.State.Running.StartedAt, FinishedAt: metav1.Now()}}
			changed = true
		}
		all = append(all, status)
	}
	if !changed {
		return
	}
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{"resourceVersion": pod.ResourceVersion},
		"status": map[string]any{"observedGeneration": pod.Generation, "ephemeralContainerStatuses": all}})
	if err != nil {
		panic(err) // what is marshalled are structs of the API
	}
	ctx, cancel := context.WithTimeout(ctx, userPatience)
	defer cancel()
	_, _ = bed.Core.CoreV1().Pods(s.Namespace).Patch(ctx, pod.Name, types.MergePatchType, patch, metav1.PatchOptions{}, "status")
}

// ephemeralJobUnsettled: the invariants count its pods, when it ends.
func ephemeralJobUnsettled(job *v1alpha1.EphemeralJob) string {
	if job.Status.CompletionTime == nil {
		return fmt.Sprintf("status %+v", job.Status)
	}
	return ""
}
