// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	lifecycleclient "github.com/podwright/podwright/lifecycle/client"
	lifecyclev1alpha1 "github.com/podwright/podwright/lifecycle/v1alpha1"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

var (
	_ = unneeded("ephemeraljob-controller", onlyUnanswered, "get ephemeraljobs", "get pods")
	_ = unneeded("ephemeraljob-controller", onlyFailures, "patch events")
)

// ephemeralJobs gives the client of the namespace.
func (s *cloneSetFixture) ephemeralJobs() lifecycleclient.EphemeralJobInterface {
	s.Helper()
	c, err := lifecycleclient.NewForConfig(s.Config())
	if err != nil {
		s.Fatal(err)
	}
	return c.EphemeralJobs(s.Namespace)
}

// debug creates an EphemeralJob for all pods of the label app=web.
func (s *cloneSetFixture) debug(edits ...func(*lifecyclev1alpha1.EphemeralJob)) {
	s.Helper()
	job := &lifecyclev1alpha1.EphemeralJob{ObjectMeta: metav1.ObjectMeta{Name: "debug"}, Spec: lifecyclev1alpha1.EphemeralJobSpec{
		Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}}, Parallelism: new(int32(3)), TTLSecondsAfterFinished: new(int32(600)),
		Template: lifecyclev1alpha1.EphemeralContainerTemplateSpec{EphemeralContainers: []corev1.EphemeralContainer{{TargetContainerName: "main",
			EphemeralContainerCommon: corev1.EphemeralContainerCommon{Name: "debug", Image: "busybox:1"}}}}}}
	for _, edit := range edits {
		edit(job)
	}
	if _, err := s.ephemeralJobs().Create(s.Context(), job, metav1.CreateOptions{}); err != nil {
		s.Fatalf("create EphemeralJob: expected no error, observed %v", err)
	}
}

// awaitJob waits until the job is as wanted.
func (s *cloneSetFixture) awaitJob(moment string, holds func(*lifecyclev1alpha1.EphemeralJob) bool) *lifecyclev1alpha1.EphemeralJob {
	s.Helper()
	var job *lifecyclev1alpha1.EphemeralJob
	s.AwaitAsking("EphemeralJob debug "+moment, func() (wrong string) {
		var err error
		if job, err = s.ephemeralJobs().Get(s.Context(), "debug", metav1.GetOptions{}); err != nil || !holds(job) {
			return fmt.Sprintf("error %v, status %+v", err, job)
		}
		return ""
	})
	return job
}

// debugged lists the names of the ephemeral containers of a pod.
func debugged(pod *corev1.Pod) (names []string) {
	for i := range pod.Spec.EphemeralContainers {
		names = append(names, pod.Spec.EphemeralContainers[i].Name)
	}
	slices.Sort(names)
	return names
}

// awaitDebugged waits until every pod has so many ephemeral containers, which end then as a kubelet reports, the newest
// of them with these exit codes.
func (s *cloneSetFixture) awaitDebugged(n int, codes map[string]int32) {
	s.Helper()
	for name, code := range codes {
		pod := s.AwaitPod(name, fmt.Sprintf("with %d ephemeral containers", n), func(p *corev1.Pod) string {
			if len(p.Spec.EphemeralContainers) == n {
				return ""
			}
			return fmt.Sprint(debugged(p))
		})
		var statuses []corev1.ContainerStatus
		for _, container := range debugged(pod) {
			statuses = append(statuses, corev1.ContainerStatus{Name: container, Image: "busybox:1", ContainerID: "fake://" + container, State: corev1.ContainerState{
				Terminated: &corev1.ContainerStateTerminated{ExitCode: code, Reason: "Completed", Message: "said by " + name, StartedAt: metav1.Now(), FinishedAt: metav1.Now()}}})
		}
		s.PatchPod(name, map[string]any{"status": map[string]any{"ephemeralContainerStatuses": statuses}}, "status")
	}
}

// A job debugs the pods of a CloneSet, which is updated in place meanwhile, tells how that went, and goes. Created again,
// with unique names, it runs once more in the same pods.
func TestEphemeralJob(t *testing.T) {
	t.Parallel()
	s := newCloneSetFixture(t)
	s.run(cloneSet("web", 3, func(set *v1alpha1.CloneSet) {
		set.Spec.UpdateStrategy.Type = v1alpha1.InPlaceIfPossibleCloneSetUpdateStrategyType
	}))
	codes := map[string]int32{}
	for _, pod := range s.owned("web") {
		codes[pod.Name] = int32(len(codes)) // one succeeds
	}
	s.debug()
	s.awaitDebugged(1, codes)
	job := s.awaitJob("EJ-16: has failed", func(j *lifecyclev1alpha1.EphemeralJob) bool { return j.Status.CompletionTime != nil })
	if st := job.Status; st.Phase != lifecyclev1alpha1.EphemeralJobFailed || st.Matches != 3 || st.Succeeded != 1 || st.Failed != 2 || len(st.PodResults) != 3 {
		t.Errorf("EJ-16: status %+v", st)
	}
	for _, r := range job.Status.PodResults {
		if r.Message != "said by "+r.Pod || *r.ExitCode != codes[r.Pod] {
			t.Errorf("EJ-23: %+v", r)
		}
	}

	s.edit("web", func(set *v1alpha1.CloneSet) { set.Spec.Template.Spec.Containers[0].Image = "web:2" })
	s.awaitSettled("web")
	for name := range codes {
		s.AwaitPod(name, "EJ-25: updated in place, with its ephemeral container", func(p *corev1.Pod) string {
			if diff := cmp.Diff([]string{"debug"}, debugged(p)); diff != "" || p.Spec.Containers[0].Image != "web:2" {
				return p.Spec.Containers[0].Image + " " + diff
			}
			return ""
		})
	}

	patch, _ := json.Marshal(map[string]any{"spec": map[string]any{"ttlSecondsAfterFinished": 0}})
	if _, err := s.ephemeralJobs().Patch(t.Context(), "debug", types.MergePatchType, patch, metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	s.AwaitAsking("EJ-19, EJ-20: the job is gone", func() string {
		if _, err := s.ephemeralJobs().Get(t.Context(), "debug", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
			return fmt.Sprint("error ", err)
		}
		return ""
	})
	for name := range codes {
		codes[name] = 0
	}
	s.debug(func(j *lifecyclev1alpha1.EphemeralJob) {
		j.Annotations = map[string]string{lifecyclev1alpha1.EphemeralJobUniqueNamesAnnotation: "true"}
	})
	s.awaitDebugged(2, codes)
	if job := s.awaitJob("EJ-11: has succeeded", func(j *lifecyclev1alpha1.EphemeralJob) bool { return j.Status.CompletionTime != nil }); job.Status.Succeeded != 3 {
		t.Errorf("EJ-11: status %+v", job.Status)
	}
}

// Pod Security refuses the containers: no pod is touched, and the job says why.
func TestEphemeralJobThatIsRefused(t *testing.T) {
	t.Parallel()
	s := newCloneSetFixture(t)
	s.run(cloneSet("web", 2))
	if _, err := s.Core.CoreV1().Namespaces().Patch(t.Context(), s.Namespace, types.MergePatchType,
		[]byte(`{"metadata":{"labels":{"pod-security.kubernetes.io/enforce":"restricted"}}}`), metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	s.debug()
	job := s.awaitJob("EJ-13: is refused", func(j *lifecyclev1alpha1.EphemeralJob) bool {
		return slices.ContainsFunc(j.Status.Conditions, func(c lifecyclev1alpha1.EphemeralJobCondition) bool {
			return c.Type == lifecyclev1alpha1.EphemeralJobRefused && c.Status == corev1.ConditionTrue && strings.Contains(c.Message, "PodSecurity")
		})
	})
	for _, pod := range s.owned("web") {
		if names := debugged(pod); len(names) > 0 {
			t.Errorf("EJ-13: pod %s has %v, status %+v", pod.Name, names, job.Status)
		}
	}
	s.awaitEventOf("debug", "CreateFailed")
}

// awaitEventOf waits for an event with a reason about an object of a name.
func (s *cloneSetFixture) awaitEventOf(name, reason string) {
	s.Helper()
	s.AwaitAsking("an event "+reason+" about "+name, func() string {
		events, err := s.Core.CoreV1().Events(s.Namespace).List(s.Context(), metav1.ListOptions{FieldSelector: "reason=" + reason + ",involvedObject.name=" + name})
		if err != nil || len(events.Items) == 0 {
			return fmt.Sprintf("error %v, none", err)
		}
		return ""
	})
}
