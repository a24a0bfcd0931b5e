// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
	"sigs.k8s.io/yaml"

	"github.com/podwright/podwright/internal/caches"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

// workloadPods are the fields of pods that the planners of workloads read.
const workloadPods = Labels | Annotations | Finalizers | NodeName | Phase | Images | Containers | ObservedGeneration |
	Ready | ContainersReady | InPlaceUpdateReady | KruisePodReady | ReadinessGates

// runningPod is a pod with something of everything that matters.
func runningPod() *corev1.Pod {
	since := metav1.NewTime(time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC))
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "shop", Name: "web-0", UID: "u", ResourceVersion: "7", Generation: 2,
			Labels: map[string]string{"app": "web"}, Annotations: map[string]string{"a": "b"}, Finalizers: []string{"example.com/hold"},
		},
		Spec: corev1.PodSpec{
			NodeName: "node-1", ReadinessGates: []corev1.PodReadinessGate{{ConditionType: "example.com/gate"}},
			Containers: []corev1.Container{{Name: "main", Image: "nginx:1"}},
		},
		Status: corev1.PodStatus{
			Phase: corev1.PodRunning,
			Conditions: []corev1.PodCondition{
				{Type: "Ready", Status: "True", LastTransitionTime: since}, {Type: "ContainersReady", Status: "True", LastTransitionTime: since},
				{Type: "InPlaceUpdateReady", Status: "True", LastTransitionTime: since}, {Type: "KruisePodReady", Status: "True", LastTransitionTime: since},
				{Type: "example.com/gate", Status: "True", LastTransitionTime: since},
			},
			ContainerStatuses: []corev1.ContainerStatus{{Name: "main", Image: "nginx:1", ImageID: "sha256:1", ContainerID: "c1", Ready: true}},
		},
	}
}

// fieldNames are the names of fields by their bits.
var fieldNames = strings.Fields(`identity Owners Labels Annotations Finalizers Generation Status
	NodeName Phase Images Containers ContainerStates Waiting ObservedGeneration Ready ContainersReady InPlaceUpdateReady KruisePodReady ReadinessGates
	Restarts Scheduled Conditions EphemeralContainers Resize SidecarTerminated
	NodeReady RevisionData Placement Data Unreachable Trouble Storage Volume Address NativeSidecars SidecarSetUpgradable`)

// TestFields shows which fields differ between an object and what a strategic-merge patch makes of it, beside the whole status. What
// the planners of workloads read of a pod matters in a trimmed cache, too.
//
//	object NAME KIND     an object, as it follows
//	object NAME of=NAME  another one changed by the patch that follows
//	change NAME          the patch that follows changes it
func TestFields(t *testing.T) {
	objects := map[string]metav1.Object{"running": runningPod()}
	kinds := map[string]func() metav1.Object{
		"Pod": func() metav1.Object { return &corev1.Pod{} }, "Node": func() metav1.Object { return &corev1.Node{} },
		"PersistentVolumeClaim": func() metav1.Object { return &corev1.PersistentVolumeClaim{} }, "CloneSet": func() metav1.Object { return &v1alpha1.CloneSet{} },
		"ControllerRevision": func() metav1.Object { return &appsv1.ControllerRevision{} },
		"Secret":             func() metav1.Object { return &corev1.Secret{} }, "ConfigMap": func() metav1.Object { return &corev1.ConfigMap{} },
	}
	kindOf := map[string]string{"running": "Pod"}
	datadriven.RunTest(t, "testdata/fields.txt", func(t *testing.T, d *datadriven.TestData) string {
		name := d.CmdArgs[0].Key
		of := name
		if d.Cmd == "object" {
			if d.HasArg("of") {
				d.ScanArgs(t, "of", &of)
				kindOf[name] = kindOf[of]
			} else {
				kindOf[name] = d.CmdArgs[1].Key
				objects[name] = kinds[kindOf[name]]()
			}
		}
		before, after := objects[of], kinds[kindOf[name]]()
		patch, err := yaml.YAMLToJSON([]byte(d.Input))
		if err != nil {
			d.Fatalf(t, "%v", err)
		}
		original, err := json.Marshal(before)
		if err != nil {
			d.Fatalf(t, "%v", err)
		}
		patched, err := strategicpatch.StrategicMergePatch(original, patch, after)
		if err != nil {
			d.Fatalf(t, "%v", err)
		}
		if err := json.Unmarshal(patched, after); err != nil {
			d.Fatalf(t, "%v", err)
		}
		if d.Cmd == "object" {
			objects[name] = after
			return ""
		}
		if string(patched) == string(original) {
			d.Fatalf(t, "nothing changes")
		}
		return shownFields(t, before, after)
	})
}

// shownFields shows which fields differ.
func shownFields(t *testing.T, before, after metav1.Object) string {
	t.Helper()
	changed := Changed(before, after, Everything&^Status)
	if others := Changed(before, after, Everything&^Status&^changed) &^ identity; others != 0 {
		t.Errorf("%b differ, of what is not asked for", others)
	}
	names := []string{}
	for i, name := range fieldNames {
		if changed&(1<<i) != 0 {
			names = append(names, name)
		}
	}
	if pod, isPod := after.(*corev1.Pod); isPod && changed&workloadPods != 0 {
		trimmed := before.(*corev1.Pod).DeepCopy()
		for _, pod := range []*corev1.Pod{trimmed, pod} {
			if _, err := caches.Trim(pod); err != nil {
				t.Fatal(err)
			}
		}
		if Changed(trimmed, pod, workloadPods) != changed&(workloadPods|identity) {
			t.Errorf("a trimmed cache does not show all of %v", names)
		}
	}
	if len(names) == 0 {
		return "nothing\n"
	}
	return fmt.Sprintln(strings.Join(names, " "))
}

// No two fields of pods share a bit: a kind would be told of changes that it does not read.
func TestFieldsAreDistinct(t *testing.T) {
	var all Fields
	for i, f := range podFields {
		if f.bit&all != 0 {
			t.Errorf("field %d of pods shares bits %b with another one", i, f.bit&all)
		}
		all |= f.bit
	}
}
