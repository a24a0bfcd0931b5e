// SPDX-License-Identifier: Apache-2.0

package ephemeraljob

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/podwright/podwright/lifecycle/v1alpha1"
)

// EJ-10: what is injected.
func TestContainers(t *testing.T) {
	job := jobOf(t, `spec: {template: {ephemeralContainers: [{name: debug, image: busybox, targetContainerName: main, tty: true,
		env: [{name: KRUISE_EJOB_ID, value: mine}, {name: A, value: b}]}]}}`)
	before := job.DeepCopy()
	want := []corev1.EphemeralContainer{{TargetContainerName: "main", EphemeralContainerCommon: corev1.EphemeralContainerCommon{
		Name: "debug", Image: "busybox", TTY: true, Env: []corev1.EnvVar{{Name: "A", Value: "b"}, {Name: "KRUISE_EJOB_ID", Value: "job"}}}}}
	if diff := cmp.Diff(want, NewPlan(place(t, job, "p1")).Containers); diff != "" {
		t.Errorf("containers (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(before, job); diff != "" {
		t.Errorf("the plan has changed the job:\n%s", diff)
	}
}

// EJ-12: the patch of a pod.
func TestPatch(t *testing.T) {
	data, err := patchOf(newPod("p1", 0), []corev1.EphemeralContainer{container("debug")})
	if err != nil {
		t.Fatal(err)
	}
	var got any
	if err := json.Unmarshal(data, &got); err != nil {
		t.Fatal(err)
	}
	want := map[string]any{"metadata": map[string]any{"uid": "p1"}, "spec": map[string]any{"ephemeralContainers": []any{
		map[string]any{"name": "debug", "image": "busybox", "resources": map[string]any{}}}}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("patch (-want +got):\n%s", diff)
	}
}

// EJ-7, EJ-11: names that no other job has, and containers under either name.
func TestUniqueNames(t *testing.T) {
	job := jobOf(t, `{metadata: {annotations: {ephemeraljobs.podwright.io/unique-names: "true"}}, spec: {template: {ephemeralContainers: [{name: debug}, {name: trace}]}}}`)
	names := namesFor(job)
	const debug, trace = "debug-h2zw9", "trace-h2zw9"
	if !strings.HasPrefix(names[0], "debug-") || len(names[0]) != len(debug) || !strings.HasPrefix(names[1], "trace-") || len(names[1]) != len(trace) {
		t.Errorf("names %v", names)
	}
	again := job.DeepCopy()
	again.UID = "created again"
	if namesFor(again)[0] == names[0] {
		t.Error("a job that is created again uses the names of the first one")
	}
	long := strings.Repeat("a", 63)
	if name := uniqueName(long, "job"); len(validation.IsDNS1123Label(name)) > 0 || name == uniqueName(long[:57]+"bbbbbb", "job") {
		t.Errorf("%q is no name of a container, or that of another one", name)
	}
	// The annotation comes, or goes: what has been injected is known all the same.
	s := place(t, job, "p1:running,exit0 p2")
	delete(job.Annotations, v1alpha1.EphemeralJobUniqueNamesAnnotation)
	if plan := NewPlan(s); fmt.Sprint(plan.Targets[0].State, plan.Inject) != "Running[]" || plan.Targets[1].State != NotInjected {
		t.Errorf("targets %v", plan.Targets)
	}
	if names := namesFor(job); names[0] != "debug" || names[1] != "trace" {
		t.Errorf("names %v", names)
	}
}

// EJ-23: there is room for so many.
func TestRoomForResults(t *testing.T) {
	var words []string
	for i := range v1alpha1.MaxEphemeralJobPodResults + 5 {
		words = append(words, fmt.Sprintf("p%04d:exit%d", i, i%2))
	}
	s := place(t, newJob(), strings.Join(words, " "))
	for _, pod := range s.Pods {
		pod.Status.EphemeralContainerStatuses[0].State.Terminated.Message = strings.Repeat("ä", 600)
	}
	status := NewPlan(s).Status
	if len(status.PodResults) != v1alpha1.MaxEphemeralJobPodResults || status.OmittedPodResults != 5 || *status.PodResults[0].ExitCode != 1 {
		t.Errorf("%d results, %d omitted", len(status.PodResults), status.OmittedPodResults)
	}
	total := 0
	for _, r := range status.PodResults {
		if strings.Trim(r.Message, "ä") != "" || len(r.Message) > v1alpha1.MaxEphemeralJobMessage {
			t.Fatalf("message %q", r.Message)
		}
		total += len(r.Message)
	}
	if total > v1alpha1.MaxEphemeralJobMessages || total < v1alpha1.MaxEphemeralJobMessages-v1alpha1.MaxEphemeralJobMessage {
		t.Errorf("the messages have %d bytes", total)
	}
	if data, err := json.Marshal(status); err != nil || len(data) > 500*1024 {
		t.Errorf("error %v, the status has %d bytes", err, len(data))
	}
	if got := lastOf("a" + strings.Repeat("b", 1024)); got != strings.Repeat("b", 1024) {
		t.Errorf("of a long message %q is kept", got)
	}
}
