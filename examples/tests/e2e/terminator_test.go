// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/examples/tests/testbed/podstate"
	lifecyclev1alpha1 "github.com/podwright/podwright/lifecycle/v1alpha1"
	"github.com/podwright/podwright/sidecar/terminator"
	sidecarv1alpha1 "github.com/podwright/podwright/sidecar/v1alpha1"
)

// work creates a Job whose container main ends by itself, and whose container side is a sidecar that does not. The
// environment is pairs of name and value.
func (s *cloneSetFixture) work(policy corev1.RestartPolicy, env ...string) {
	s.Helper()
	side := corev1.Container{Name: "side", Image: "side:forever"}
	for i := 0; i < len(env); i += 2 {
		side.Env = append(side.Env, corev1.EnvVar{Name: env[i], Value: env[i+1]})
	}
	job := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Name: "work"}, Spec: batchv1.JobSpec{
		BackoffLimit: new(int32(2)), // the restart of the sidecar counts
		Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{
			RestartPolicy: policy, Containers: []corev1.Container{{Name: "main", Image: "work:1"}, side},
		}},
	}}
	if _, err := s.Core.BatchV1().Jobs(s.Namespace).Create(s.Context(), job, metav1.CreateOptions{}); err != nil {
		s.Fatalf("create Job: expected no error, observed %v", err)
	}
}

// awaitComplete waits until the Job is Complete, and returns its one pod.
func (s *cloneSetFixture) awaitComplete() *corev1.Pod {
	s.Helper()
	s.AwaitAsking("Job work is Complete", func() string {
		job, err := s.Core.BatchV1().Jobs(s.Namespace).Get(s.Context(), "work", metav1.GetOptions{})
		if err != nil {
			return err.Error()
		}
		if !slices.ContainsFunc(job.Status.Conditions, func(c batchv1.JobCondition) bool {
			return c.Type == batchv1.JobComplete && c.Status == corev1.ConditionTrue
		}) {
			return fmt.Sprintf("%+v", job.Status)
		}
		return ""
	})
	pods, err := s.Core.CoreV1().Pods(s.Namespace).List(s.Context(), metav1.ListOptions{LabelSelector: batchv1.JobNameLabel + "=work"})
	if err != nil || len(pods.Items) != 1 {
		s.Fatalf("%d pods of the Job (%v), want 1", len(pods.Items), err)
	}
	if pod := &pods.Items[0]; pod.Status.Phase != corev1.PodSucceeded {
		s.Errorf("%s, want it Succeeded", podstate.Describe(pod, false))
	}
	return &pods.Items[0]
}

// awaitEvent waits for an event about a pod whose message ends with something.
func (s *cloneSetFixture) awaitEvent(pod *corev1.Pod, end string) {
	s.Helper()
	s.AwaitAsking("an event that ends with "+end, func() string {
		events, err := s.Core.CoreV1().Events(s.Namespace).List(s.Context(), metav1.ListOptions{
			FieldSelector: "reason=" + sidecarv1alpha1.SidecarTerminatorEvent + ",involvedObject.name=" + pod.Name})
		if err != nil {
			return err.Error()
		}
		for _, event := range events.Items {
			if strings.HasSuffix(event.Message, end) && event.Source.Component == sidecarv1alpha1.SidecarTerminatorEventSource {
				return ""
			}
		}
		return fmt.Sprintf("%+v", events.Items)
	})
}

// A Job is Complete whose sidecar exits with 137: the pod is given its phase. (ST-11, ST-14.2, ST-15, ST-18)
func TestJobsWithSidecarsByRequest(t *testing.T) {
	t.Parallel()
	for _, policy := range []corev1.RestartPolicy{corev1.RestartPolicyOnFailure, corev1.RestartPolicyNever} {
		t.Run(string(policy), func(t *testing.T) {
			t.Parallel()
			s := newCloneSetFixture(t)
			a := s.startAgent()
			s.work(policy, sidecarv1alpha1.TerminateSidecarEnv, "True")
			pod := s.awaitComplete()
			if c := podstate.Condition(pod, sidecarv1alpha1.SidecarTerminatedCondition); c.Status != corev1.ConditionTrue || !strings.HasPrefix(c.Message, "all main containers have succeeded") {
				t.Errorf("condition %+v", c)
			}
			var r *lifecyclev1alpha1.ContainerRecreateRequest
			// With Never it comes 30 s after the phase: the simulated kubelet never shows that it knows that. (ST-15.2)
			s.AwaitAsking("there is a request", func() string {
				var err error
				if r, err = a.requests.Get(t.Context(), terminator.RequestName(pod.UID), metav1.GetOptions{}); err != nil {
					return err.Error()
				}
				return ""
			})
			if !metav1.IsControlledBy(r, pod) || r.Labels[lifecyclev1alpha1.ContainerRecreateRequestPodUIDLabel] != string(pod.UID) || len(r.Spec.Containers) != 1 || r.Spec.Containers[0].Name != "side" {
				t.Errorf("request %+v", r)
			}
			s.awaitEvent(pod, "terminate sidecar [side] using crr")
		})
	}
}

// The image alone ends a sidecar without an agent, and nothing is written but that. (ST-10, ST-18)
func TestJobsWithSidecarsByImage(t *testing.T) {
	t.Parallel()
	s := newCloneSetFixture(t)
	s.work(corev1.RestartPolicyOnFailure, sidecarv1alpha1.TerminateSidecarWithImageEnv, "exit:1")
	pod := s.awaitComplete()
	if pod.Spec.Containers[1].Image != "exit:1" || podstate.Condition(pod, sidecarv1alpha1.SidecarTerminatedCondition).Status != "" {
		t.Errorf("image %s, conditions %+v", pod.Spec.Containers[1].Image, pod.Status.Conditions)
	}
	s.awaitEvent(pod, "terminate sidecar [side] using in-place update")
}
