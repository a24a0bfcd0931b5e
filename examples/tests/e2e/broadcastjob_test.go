// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/podwright/podwright/examples/tests/testbed/mirror"
	"github.com/podwright/podwright/workloads/client"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

// broadcastJobFixture is a fixture of BroadcastJobs, whose nodes have the namespace for a label.
type broadcastJobFixture struct {
	*fixture[*v1alpha1.BroadcastJob]
}

func newBroadcastJobFixture(t *testing.T) *broadcastJobFixture {
	t.Helper()
	return &broadcastJobFixture{newFixture(t, steady, broadcastJobKind)}
}

var broadcastJobKind = &kind[*v1alpha1.BroadcastJob]{
	name: "BroadcastJob",
	client: func(of client.Interface, namespace string) clientOf[*v1alpha1.BroadcastJob] {
		return of.BroadcastJobs(namespace)
	},
	source: func(of client.Interface, namespace string) mirror.Source {
		return mirror.Of(of.BroadcastJobs(namespace))
	},
	state: func(job *v1alpha1.BroadcastJob) state {
		return state{observedGeneration: job.Status.ObservedGeneration, status: job.Status, unsettled: job.Status.CompletionTime == nil}
	},
}

// job is a BroadcastJob for the nodes of the test. Its pods are not restarted, and end when the test says so. Without the
// tag "forever", the simulated kubelets end them after a second.
func (s *broadcastJobFixture) job(name string, edits ...func(*v1alpha1.BroadcastJobSpec)) *v1alpha1.BroadcastJob {
	job := &v1alpha1.BroadcastJob{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec:       v1alpha1.BroadcastJobSpec{Template: template(name), FailurePolicy: v1alpha1.FailurePolicy{Type: v1alpha1.FailurePolicyTypeContinue}},
	}
	job.Spec.Template.Spec.RestartPolicy = corev1.RestartPolicyNever
	job.Spec.Template.Spec.Containers = []corev1.Container{{Name: "main", Image: "task:forever"}}
	job.Spec.Template.Spec.NodeSelector = map[string]string{s.Namespace: "yes"}
	for _, edit := range edits {
		edit(&job.Spec)
	}
	return job
}

// labelNode makes a node one of the test's, or not.
func (s *broadcastJobFixture) labelNode(name, value string) {
	s.Helper()
	patch := fmt.Appendf(nil, `{"metadata":{"labels":{%q:%s}}}`, s.Namespace, value)
	if _, err := s.Core.CoreV1().Nodes().Patch(context.Background(), name, types.MergePatchType, patch, metav1.PatchOptions{}); err != nil {
		s.Fatal(err)
	}
}

func (s *broadcastJobFixture) labelNodes(names ...string) {
	s.Helper()
	for _, name := range names {
		s.labelNode(name, `"yes"`)
		s.Cleanup(func() { s.labelNode(name, `null`) })
	}
}

// awaitPodOn waits until the pod of a node is bound to it, and returns its name.
func (s *broadcastJobFixture) awaitPodOn(node string) (name string) {
	s.Helper()
	s.Await("a pod on "+node, func() string {
		var seen []string
		for _, pod := range s.Pods.All() {
			if pod.Spec.NodeName == node && pod.DeletionTimestamp == nil {
				name = pod.Name
				return ""
			}
			seen = append(seen, pod.Name+" on "+pod.Spec.NodeName)
		}
		return strings.Join(append(seen, "no other pod"), ", ")
	})
	return name
}

// awaitStatus waits until the status of a job is that, in the words of describe.
func (s *broadcastJobFixture) awaitStatus(job, want string) {
	s.Helper()
	s.Await(job+" is "+want, func() string {
		stored, found := s.sets.Named(job)
		if !found {
			return "there is no such job"
		}
		status := &stored.Status
		got := fmt.Sprintf("%s desired=%d active=%d succeeded=%d failed=%d", status.Phase, status.Desired, status.Active, status.Succeeded, status.Failed)
		if got == want && status.ObservedGeneration == stored.Generation {
			return ""
		}
		return fmt.Sprint(got, ", generation ", stored.Generation, ", observed ", status.ObservedGeneration)
	})
}

// BJ-4, BJ-12, BJ-13, BJ-14, BJ-19: each node gets one pod, one at a time, bound by the scheduler. A pod that a user deletes
// when it has finished stays counted. In the end the job goes with its pods.
func TestBroadcastJobRunsOnEveryNode(t *testing.T) {
	t.Parallel()
	s := newBroadcastJobFixture(t)
	s.labelNodes("node-0", "node-1")
	s.create(s.job("once", func(spec *v1alpha1.BroadcastJobSpec) { spec.Parallelism = new(intstr.FromString("50%")) }))
	first := s.awaitPodOn("node-0")
	s.awaitStatus("once", "running desired=2 active=1 succeeded=0 failed=0")
	s.SetPhase(first, corev1.PodSucceeded)
	second := s.awaitPodOn("node-1")
	s.awaitStatus("once", "running desired=2 active=1 succeeded=1 failed=0")
	s.DeletePod(first)
	s.SetPhase(second, corev1.PodFailed)
	s.awaitStatus("once", "completed desired=2 active=0 succeeded=1 failed=1")
	if n := len(s.Pods.All()); n > 2 {
		t.Errorf("BJ-19: %d pods, and node-0 had one before", n)
	}
	s.edit("once", func(job *v1alpha1.BroadcastJob) { job.Spec.CompletionPolicy.TTLSecondsAfterFinished = new(int32(1)) })
	s.Await("BJ-14: the job and its pods are gone", func() string {
		if _, found := s.sets.Named("once"); found || len(s.Pods.All()) > 0 {
			return fmt.Sprintf("the job is there: %t, and %d pods", found, len(s.Pods.All()))
		}
		return ""
	})
}

// BJ-7, BJ-15, BJ-16: nodes that begin to fit get a pod, and those that cease to lose theirs; FailFast ends it. (BJ-9, BJ-11)
func TestBroadcastJobFollowsItsNodes(t *testing.T) {
	t.Parallel()
	s := newBroadcastJobFixture(t)
	s.labelNodes("node-0")
	s.create(s.job("guard", func(spec *v1alpha1.BroadcastJobSpec) { spec.CompletionPolicy.Type = v1alpha1.Never }))
	s.awaitPodOn("node-0")
	s.labelNodes("node-1", "node-2")
	third := s.awaitPodOn("node-2")
	s.awaitStatus("guard", "running desired=3 active=3 succeeded=0 failed=0")
	s.labelNode("node-0", `null`)
	s.awaitStatus("guard", "running desired=2 active=2 succeeded=0 failed=0")
	s.labelNode("node-0", `"yes"`)
	s.awaitStatus("guard", "running desired=3 active=3 succeeded=0 failed=0")
	s.edit("guard", func(job *v1alpha1.BroadcastJob) { job.Spec.FailurePolicy.Type = v1alpha1.FailurePolicyTypeFailFast })
	s.SetPhase(third, corev1.PodFailed)
	s.awaitStatus("guard", "failed desired=3 active=0 succeeded=0 failed=3")
}

// BJ-V1, BJ-V2: the webhook and the CRD.
func TestBroadcastJobAdmission(t *testing.T) {
	t.Parallel()
	s := newBroadcastJobFixture(t)
	stored := s.create(s.job("good", func(spec *v1alpha1.BroadcastJobSpec) { spec.FailurePolicy.Type = "" }))
	if spec := stored.Spec; spec.FailurePolicy.Type != v1alpha1.FailurePolicyTypeFailFast || spec.CompletionPolicy.Type != v1alpha1.Always ||
		spec.Parallelism.IntValue() != v1alpha1.DefaultBroadcastJobParallelism || spec.Template.Spec.Containers[0].ImagePullPolicy != corev1.PullAlways {
		t.Errorf("defaulted to %+v", spec)
	}
	for name, want := range map[string]string{
		"a.b":    "metadata.name must be at most 63",
		"always": "spec.template.spec.restartPolicy",
		"never":  "spec.completionPolicy.ttlSecondsAfterFinished",
	} {
		job := s.job(name)
		switch name {
		case "always":
			job.Spec.Template.Spec.RestartPolicy = ""
		case "never":
			job.Spec.CompletionPolicy = v1alpha1.CompletionPolicy{Type: v1alpha1.Never, TTLSecondsAfterFinished: new(int32(1))}
		}
		if _, err := s.client.Create(t.Context(), job, metav1.CreateOptions{}); !apierrors.IsInvalid(err) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want one about %s", name, err, want)
		}
	}
}
