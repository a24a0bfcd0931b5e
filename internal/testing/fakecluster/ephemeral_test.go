// SPDX-License-Identifier: Apache-2.0

package fakecluster_test

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

func TestEphemeralContainers(t *testing.T) {
	f := newFixture(t)
	pod := f.pod()
	inject := func(containers string) error {
		_, err := f.patch(types.StrategicMergePatchType, `{"metadata":{"labels":{"not":"taken"}},"spec":{"ephemeralContainers":`+containers+`}}`, "ephemeralcontainers")
		return err
	}
	for _, step := range []struct{ name, containers, refused string }{
		{"one", `[{"name":"a","image":"x"}]`, ""},
		{"another", `[{"name":"b","image":"x","targetContainerName":"main"}]`, ""},
		{"once more", `[{"name":"a","image":"x"}]`, ""},
		{"one that is changed", `[{"name":"a","image":"y"}]`, "may not be changed"},
		{"one that is removed", `[{"$patch":"delete","name":"a"}]`, "may not be removed"},
		{"one of the name of a container", `[{"name":"main","image":"x"}]`, "Duplicate"},
		{"one for a container that is not there", `[{"name":"c","image":"x","targetContainerName":"other"}]`, "Not found"},
	} {
		if err := inject(step.containers); (err == nil) != (step.refused == "") || err != nil && !strings.Contains(err.Error(), step.refused) {
			t.Errorf("%s: error %v, want %q", step.name, err, step.refused)
		}
	}
	if _, err := f.patch(types.StrategicMergePatchType, `{"metadata":{"uid":"another"},"spec":{"ephemeralContainers":[{"name":"c","image":"x"}]}}`, "ephemeralcontainers"); err == nil {
		t.Error("another pod of the name gets a container")
	}
	if _, err := f.patch(types.StrategicMergePatchType, `{"spec":{"ephemeralContainers":[{"name":"c","image":"x"}]}}`); err == nil {
		t.Error("the pod itself takes an ephemeral container")
	}
	if _, err := f.kube.CoreV1().Pods("shop").Patch(t.Context(), "web", types.StrategicMergePatchType,
		[]byte(`{"spec":{"ephemeralContainers":[{"name":"c","image":"x"}]}}`), metav1.PatchOptions{DryRun: []string{metav1.DryRunAll}}, "ephemeralcontainers"); err != nil {
		t.Errorf("a dry run: %v", err)
	}
	after := must(f.get("web"))(t)
	names := ""
	for _, c := range after.Spec.EphemeralContainers {
		names += c.Name
	}
	if len(names) != 2 || !strings.Contains(names, "a") || !strings.Contains(names, "b") || after.Labels["not"] != "" || after.Generation != pod.Generation+2 ||
		after.Status.Phase != corev1.PodPending {
		t.Errorf("containers %q, labels %v, generation %d after %d", names, after.Labels, after.Generation, pod.Generation)
	}
}
