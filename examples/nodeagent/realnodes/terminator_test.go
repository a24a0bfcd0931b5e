// SPDX-License-Identifier: Apache-2.0

package realnodes

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/examples/tests/cluster/registry"
	"github.com/podwright/podwright/examples/tests/testbed"
	"github.com/podwright/podwright/examples/tests/testbed/podstate"
	lifecyclev1alpha1 "github.com/podwright/podwright/lifecycle/v1alpha1"
	"github.com/podwright/podwright/sidecar/terminator"
	sidecarv1alpha1 "github.com/podwright/podwright/sidecar/v1alpha1"
)

const (
	endsWith143 = "trap 'exit 143' TERM; while :; do sleep 0.1; done"
	// grace is that of Jobs, in seconds.
	grace = 4
)

// job creates a Job of one pod with two containers. The container main ends with a code. The
// container side is a sidecar that does something when it is told to stop. Main ends after side is
// prepared for that: a shell that has no trap yet does not hear that it shall stop.
func (s *scene) job(name string, policy corev1.RestartPolicy, code int, side string, edits ...func(*corev1.PodSpec)) {
	s.Helper()
	image, _ := s.image("shell", registry.Image{})
	spec := corev1.PodSpec{
		NodeName: bed.Agents[0].Node.Name, RestartPolicy: policy, TerminationGracePeriodSeconds: new(int64(grace)),
		Containers: shells(image, fmt.Sprint("main=until [ -e /shared/up ]; do sleep 0.1; done; sleep 2; exit ", code),
			"side="+strings.Replace(side, ";", "; : > /shared/up;", 1)),
		Volumes: []corev1.Volume{{Name: "shared", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}}},
	}
	for i := range spec.Containers {
		spec.Containers[i].VolumeMounts = []corev1.VolumeMount{{Name: "shared", MountPath: "/shared"}}
	}
	spec.Containers[1].Env = []corev1.EnvVar{{Name: sidecarv1alpha1.TerminateSidecarEnv, Value: "true"}}
	for _, edit := range edits {
		edit(&spec)
	}
	limit := int32(0)
	if policy == corev1.RestartPolicyOnFailure { // the restart of the sidecar counts
		limit = 2
	}
	job := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: batchv1.JobSpec{BackoffLimit: new(limit), Template: corev1.PodTemplateSpec{Spec: spec}}}
	if _, err := bed.Core.BatchV1().Jobs(s.Namespace).Create(s.Context(), job, metav1.CreateOptions{}); err != nil {
		s.Fatal(err)
	}
	s.Cleanup(func() {
		background := metav1.DeletePropagationBackground
		_ = bed.Core.BatchV1().Jobs(s.Namespace).Delete(context.Background(), name, metav1.DeleteOptions{PropagationPolicy: &background})
		_ = bed.Core.CoreV1().Pods(s.Namespace).DeleteCollection(context.Background(), metav1.DeleteOptions{GracePeriodSeconds: new(int64(0))},
			metav1.ListOptions{LabelSelector: batchv1.JobNameLabel + "=" + name})
	})
}

// finished waits until a Job has a condition, and returns the time of that and its one pod.
func (s *scene) finished(name string, condition batchv1.JobConditionType) (at time.Time, pod *corev1.Pod) {
	s.Helper()
	s.AwaitAsking("Job "+name+" is "+string(condition), func() string {
		job, err := bed.Core.BatchV1().Jobs(s.Namespace).Get(s.Context(), name, metav1.GetOptions{})
		if err != nil {
			return err.Error()
		}
		for _, c := range job.Status.Conditions {
			if c.Type == condition && c.Status == corev1.ConditionTrue {
				at = c.LastTransitionTime.Time
				return ""
			}
		}
		return fmt.Sprintf("%+v", job.Status)
	})
	pods, err := bed.Core.CoreV1().Pods(s.Namespace).List(s.Context(), metav1.ListOptions{LabelSelector: batchv1.JobNameLabel + "=" + name})
	if err != nil || len(pods.Items) != 1 {
		s.Fatalf("Job %s has %d pods (%v), want 1", name, len(pods.Items), err)
	}
	return at, &pods.Items[0]
}

// sideEnds waits until the sidecar of a pod has exited with a code, and returns what it said.
func (s *scene) sideEnds(pod *corev1.Pod, code int32) (message string) {
	s.Helper()
	pod = s.AwaitPod(pod.Name, fmt.Sprint("side has exited with ", code), func(pod *corev1.Pod) string {
		if ended := podstate.ContainerStatus(pod, "side").State.Terminated; ended == nil || ended.ExitCode != code {
			return fmt.Sprintf("%s %+v", podstate.Describe(pod, false), podstate.ContainerStatus(pod, "side"))
		}
		return ""
	})
	return podstate.ContainerStatus(pod, "side").State.Terminated.Message
}

// requested tells whether there is a request for a pod.
func (s *scene) requested(pod *corev1.Pod) bool {
	s.Helper()
	_, err := lifecycle.ContainerRecreateRequests(s.Namespace).Get(s.Context(), terminator.RequestName(pod.UID), metav1.GetOptions{})
	if err != nil && !apierrors.IsNotFound(err) {
		s.Fatal(err)
	}
	return err == nil
}

// serving waits until the agent of the node serves requests: it begins with that some time
// after the CRD is installed.
func serving(t *testing.T) {
	t.Helper()
	s := newScene(t)
	pod := s.pod("web", []string{"main=" + endsAtOnce})
	s.completed(s.recreate(pod, lifecyclev1alpha1.ContainerRecreateRequestStrategy{}, "main"), pod)
}

// A Job ends as its main container does, whatever its sidecar exits with when it is stopped. The
// pod keeps that phase, however late the kubelet learns of it. (ST-12 to ST-15)
func TestJobsWithSidecars(t *testing.T) {
	t.Parallel()
	serving(t)
	for _, policy := range []corev1.RestartPolicy{corev1.RestartPolicyOnFailure, corev1.RestartPolicyNever} {
		for _, side := range []struct {
			name, command string
			code          int32
		}{
			{"zero", endsAtOnce, 0},
			{"143", endsWith143, 143},
			{"137", doesNotEnd, 137},
		} {
			t.Run(fmt.Sprintf("%s, %s", policy, side.name), func(t *testing.T) {
				t.Parallel()
				s := newScene(t)
				s.job("work", policy, 0, side.command)
				at, pod := s.finished("work", batchv1.JobComplete)
				mainEnded := podstate.ContainerStatus(pod, "main").State.Terminated.FinishedAt.Time
				t.Logf("%s, %s: Complete %s after the end of main", policy, side.name, at.Sub(mainEnded)) // how soon is up to the kubelet, too
				s.sideEnds(pod, side.code)
				s.AwaitPod(pod.Name, "stays Succeeded", func(pod *corev1.Pod) string {
					if pod.Status.Phase != corev1.PodSucceeded || podstate.Condition(pod, corev1.PodReadyToStartContainers).Status != corev1.ConditionFalse {
						return podstate.Describe(pod, false) // until the kubelet is done with it
					}
					return ""
				})
				written := podstate.Condition(pod, sidecarv1alpha1.SidecarTerminatedCondition).Status == corev1.ConditionTrue
				if want := policy == corev1.RestartPolicyNever || side.code != 0; written != want {
					t.Errorf("the phase was written: %t, want %t: %+v", written, want, pod.Status.Conditions)
				}
				// With Never the kubelet stops the sidecar when it learns of the phase, perhaps before the request is created. (ST-15.1)
				if policy == corev1.RestartPolicyOnFailure && !s.requested(pod) {
					t.Error("ST-11: there is no request")
				}
				if marked := pod.Annotations[sidecarv1alpha1.SidecarPhaseWrittenAnnotation] != ""; marked != written {
					t.Errorf("ST-13.1: the phase was written: %t, annotations %v", written, pod.Annotations)
				}
			})
		}
	}
}

// A Job whose main container fails has failed, and its sidecar ends as well. (ST-E3)
func TestJobThatFails(t *testing.T) {
	testbed.Long(t)
	t.Parallel()
	s := newScene(t)
	s.job("work", corev1.RestartPolicyNever, 3, endsAtOnce)
	_, pod := s.finished("work", batchv1.JobFailed)
	s.sideEnds(pod, 0)
	if podstate.Condition(pod, sidecarv1alpha1.SidecarTerminatedCondition).Status != "" {
		t.Errorf("ST-15: the kubelet would have come to the same phase: %+v", pod.Status.Conditions)
	}
}

// The preStop hook of the sidecar runs before it is stopped, also when the kubelet stops
// it for the phase of its pod.
func TestSidecarHookRuns(t *testing.T) {
	testbed.Long(t)
	t.Parallel()
	for _, policy := range []corev1.RestartPolicy{corev1.RestartPolicyOnFailure, corev1.RestartPolicyNever} {
		t.Run(string(policy), func(t *testing.T) {
			t.Parallel()
			s := newScene(t)
			s.job("work", policy, 0, endsAtOnce, func(spec *corev1.PodSpec) {
				spec.Containers[1].Lifecycle = &corev1.Lifecycle{PreStop: &corev1.LifecycleHandler{Exec: &corev1.ExecAction{
					Command: []string{"sh", "-c", "sleep 1; echo flushed > /dev/termination-log"}}}}
			})
			_, pod := s.finished("work", batchv1.JobComplete)
			if got := s.sideEnds(pod, 0); got != "flushed\n" {
				t.Errorf("the hook has left %q", got)
			}
		})
	}
}

// Nothing is done about a Job whose sidecars are native. (ST-1)
func TestNativeSidecar(t *testing.T) {
	testbed.Long(t)
	t.Parallel()
	s := newScene(t)
	s.job("work", corev1.RestartPolicyNever, 0, doesNotEnd, func(spec *corev1.PodSpec) {
		always := corev1.ContainerRestartPolicyAlways
		native := spec.Containers[1]
		native.RestartPolicy = &always
		spec.InitContainers, spec.Containers = []corev1.Container{native}, spec.Containers[:1]
	})
	_, pod := s.finished("work", batchv1.JobComplete)
	if s.requested(pod) || podstate.Condition(pod, sidecarv1alpha1.SidecarTerminatedCondition).Status != "" {
		t.Errorf("it was helped: %+v", pod.Status.Conditions)
	}
}
