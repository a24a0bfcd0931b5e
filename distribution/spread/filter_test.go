// SPDX-License-Identifier: Apache-2.0

package spread

import (
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"

	"github.com/podwright/podwright/distribution/v1alpha1"
)

// role gives a pod the label role.
func role(name string) option {
	return func(pod *corev1.Pod) { pod.Labels["role"] = name }
}

const workers = "targetFilter: {selector: {matchLabels: {role: worker}}}\n"

// WS-33: pods that the selector does not select are created as they are, and count nowhere.
func TestTargetFilterSelects(t *testing.T) {
	const two = "subsets: [{name: a, maxReplicas: 2}, {name: b}]"
	chiefs := append(some(2, "a", role("chief")), some(3, "", role("chief"))...)
	for _, test := range []struct {
		name, spec string
		pod        *corev1.Pod
		want       string
	}{
		{"one that is selected", workers + two, unnamed(role("worker")), "a"},
		{"one that is not", workers + two, unnamed(role("chief")), ""},
		{"an absent selector selects all", "targetFilter: {replicasPathList: [spec.replicas]}\n" + two, unnamed(role("chief")), "b"},
		{"an empty one selects all", "targetFilter: {selector: {}}\n" + two, unnamed(), "b"},
		{"one that cannot be read selects none", "targetFilter: {selector: {matchExpressions: [{key: role, operator: Some}]}}\n" + two, unnamed(), ""},
		{"the only subset takes no other pods", workers + "subsets: [{name: a}]", unnamed(role("chief")), ""},
	} {
		got := assign(Input{Pod: test.pod, Spread: spreadOf(t, test.spec), Workload: deployment(9), Pods: chiefs, Now: now})
		if got.Subset != test.want {
			t.Errorf("WS-33: %s: subset %q (%s), want %q", test.name, got.Subset, got.Why, test.want)
		}
	}
	result, err := Inject(Input{Pod: unnamed(role("chief")), Spread: spreadOf(t, workers+"subsets: [{name: a, tolerations: [{operator: Exists}]}]"), Workload: deployment(9), Now: now})
	if err != nil || len(result.Pod.Annotations) > 0 || len(result.Pod.Spec.Tolerations) > 0 {
		t.Errorf("WS-33: a pod that is not selected gets something: %v, %v", result, err)
	}
}

// WS-33: the controller counts what is selected, and gives the others no cost.
func TestTargetFilterCounts(t *testing.T) {
	pods := append(some(3, "a", role("worker")), some(1, "b", role("chief"))...)
	pods = append(pods, newPod("loose", "", role("chief"), cost("7")))
	ws := spreadOf(t, workers+"subsets: [{name: a, maxReplicas: 2}, {name: b, maxReplicas: 2}]")
	got := Compute(State{Spread: ws, Workload: deployment(5), Pods: pods, Node: func(string) *corev1.Node { return &corev1.Node{} }, Now: now})
	want := []v1alpha1.WorkloadSpreadSubsetStatus{{Name: "a", Replicas: 3}, {Name: "b", MissingReplicas: 2}}
	if diff := cmp.Diff(want, got.Status.SubsetStatuses); diff != "" || len(got.Adopt)+len(got.Unassigned) > 0 {
		t.Errorf("WS-33: adopts %v, unassigned %v (-want +got):\n%s", got.Adopt, got.Unassigned, diff)
	}
	for _, c := range got.Costs {
		if c.Pod.Labels["role"] != "worker" {
			t.Errorf("WS-33: pod %s costs %d", c.Pod.Name, c.Cost)
		}
	}
	if len(got.Costs) != 3 {
		t.Errorf("WS-33: %d costs, want those of 3 workers", len(got.Costs))
	}
}

// WS-34: paths, and what is wrong with them.
func TestReplicasAt(t *testing.T) {
	var content map[string]any
	if err := yaml.Unmarshal([]byte(`
spec:
  replicas: 4
  half: 0.5
  few: -1
  none: null
  name: x
  paused: false
  roles: [{name: a, replicas: 2}, {name: b, replicas: 3}]
  replicaSpecs: {Worker: {replicas: 5}, "0": {replicas: 6}}
  most: 2147483647`), &content); err != nil {
		t.Fatal(err)
	}
	numbers(content)
	for _, test := range []struct {
		paths []string
		want  int32
		err   string
	}{
		{nil, 0, ""},
		{[]string{""}, 0, ""},
		{[]string{"spec.replicas"}, 4, ""},
		{[]string{"spec.replicaSpecs.Worker.replicas", "spec.replicas"}, 9, ""},
		{[]string{"spec.roles.0.replicas", "spec.roles.1.replicas"}, 5, ""},
		{[]string{"spec.replicaSpecs.0.replicas"}, 6, ""},
		{[]string{"spec.most", "spec.most"}, math.MaxInt32, ""},
		{[]string{"spec.replicas", "spec.replica"}, 0, `spec.targetFilter.replicasPathList[1]: Invalid value: "spec.replica": spec of the workload has no "replica"`},
		{[]string{"status"}, 0, `spec.targetFilter.replicasPathList[0]: Invalid value: "status": the workload has no "status"`},
		{[]string{"spec.roles.2.replicas"}, 0, `spec.targetFilter.replicasPathList[0]: Invalid value: "spec.roles.2.replicas": spec.roles of the workload is a list of 2, and has no entry "2"`},
		{[]string{"spec.roles.-1"}, 0, `spec.targetFilter.replicasPathList[0]: Invalid value: "spec.roles.-1": spec.roles of the workload is a list of 2, and has no entry "-1"`},
		{[]string{"spec.roles.b"}, 0, `spec.targetFilter.replicasPathList[0]: Invalid value: "spec.roles.b": spec.roles of the workload is a list of 2, and has no entry "b"`},
		{[]string{"spec.replicas.0"}, 0, `spec.targetFilter.replicasPathList[0]: Invalid value: "spec.replicas.0": spec.replicas of the workload is a number, and has no "0"`},
		{[]string{"spec.name"}, 0, `spec.targetFilter.replicasPathList[0]: Invalid value: "spec.name": it is a text in the workload, and must be a whole number`},
		{[]string{"spec.half"}, 0, `spec.targetFilter.replicasPathList[0]: Invalid value: "spec.half": it is a number with a fraction in the workload, and must be a whole number`},
		{[]string{"spec.few"}, 0, `spec.targetFilter.replicasPathList[0]: Invalid value: "spec.few": it is -1 in the workload, and must be at least 0`},
		{[]string{"spec.none"}, 0, `spec.targetFilter.replicasPathList[0]: Invalid value: "spec.none": it is null in the workload, and must be a whole number`},
		{[]string{"spec.paused"}, 0, `spec.targetFilter.replicasPathList[0]: Invalid value: "spec.paused": it is true or false in the workload, and must be a whole number`},
		{[]string{"spec"}, 0, `spec.targetFilter.replicasPathList[0]: Invalid value: "spec": it is an object in the workload, and must be a whole number`},
		{[]string{"spec.roles"}, 0, `spec.targetFilter.replicasPathList[0]: Invalid value: "spec.roles": it is a list in the workload, and must be a whole number`},
	} {
		ws := &v1alpha1.WorkloadSpread{Spec: v1alpha1.WorkloadSpreadSpec{TargetFilter: &v1alpha1.TargetFilter{ReplicasPathList: test.paths}}}
		got, err := FilteredReplicas(ws, content)
		message := ""
		if err != nil {
			message = err.Error()
		}
		if got != test.want || message != test.err {
			t.Errorf("WS-34: %q: %d and error\n%s, want %d and\n%s", test.paths, got, message, test.want, test.err)
		}
	}
}

// numbers makes whole numbers of YAML what those of an object of the API server are.
func numbers(in map[string]any) {
	for key, value := range in {
		switch v := value.(type) {
		case map[string]any:
			numbers(v)
		case []any:
			for _, entry := range v {
				if inner, is := entry.(map[string]any); is {
					numbers(inner)
				}
			}
		case float64:
			if v == math.Trunc(v) {
				in[key] = int64(v)
			}
		}
	}
}

// WS-34: if it is not known how many pods are wanted, limits that are numbers hold, and percentages refuse pods.
func TestUnknownTotal(t *testing.T) {
	unknown := deployment(0)
	unknown.Unknown = nowhere()
	input := func(spec string) Input {
		return Input{Pod: unnamed(), Spread: spreadOf(t, spec), Workload: unknown, Pods: some(3, "a"), Now: now}
	}
	if got, err := Inject(input("subsets: [{name: a, maxReplicas: 3}, {name: b}]")); err != nil || got.Subset != "b" {
		t.Errorf("WS-34: numbers: %v, %v", got, err)
	}
	if got, err := Inject(input("subsets: [{name: a, maxReplicas: 4}, {name: b}]")); err != nil || got.Subset != "a" || got.Beyond {
		t.Errorf("WS-34: numbers: %v, %v", got, err)
	}
	if got, err := Inject(input("subsets: [{name: a, maxReplicas: 30%}, {name: b}]")); err == nil || !strings.Contains(err.Error(), "no \"replica\"") {
		t.Errorf("WS-34: percentages: %v, %v", got, err)
	}
	if got, err := Inject(input(workers + "subsets: [{name: a, maxReplicas: 30%}, {name: b}]")); err != nil || got.Subset != "" {
		t.Errorf("WS-33: a pod that is not selected needs no total: %v, %v", got, err)
	}
	unknown.Deleting = true
	if unknown.Wants() != 0 {
		t.Errorf("WS-1: one that is being deleted wants %d", unknown.Wants())
	}
}

// nowhere is the error of a path that leads nowhere.
func nowhere() error {
	_, err := ReplicasAt(map[string]any{"spec": map[string]any{}}, "spec.replica")
	return err
}
