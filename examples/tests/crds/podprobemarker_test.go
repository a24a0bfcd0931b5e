// SPDX-License-Identifier: Apache-2.0

package crds

import (
	"strings"
	"testing"

	"github.com/podwright/podwright/lifecycle/probe/podprobemarker"
	"github.com/podwright/podwright/lifecycle/v1alpha1"
)

// podProbeMarker is a PodProbeMarker as YAML with these lines in its spec.
func podProbeMarker(lines string) string {
	return "apiVersion: apps.kruise.io/v1alpha1\nkind: PodProbeMarker\nmetadata: {name: games, namespace: shop}\nspec:\n  " +
		strings.ReplaceAll(lines, "\n", "\n  ")
}

const (
	markedPods = "selector: {matchLabels: {app: web}}\n"
	execProbe  = "probe: {exec: {command: [x]}}"
)

// PPM-1.1 to PPM-1.5: the rules of the definition and the webhook refuse the same.
func TestPodProbeMarker(t *testing.T) {
	v := newValidator(t, "podprobemarkers.apps.kruise.io", "v1alpha1")
	probe := func(p string) string {
		return markedPods + "probes: [{name: idle, containerName: main, podConditionType: Idle, probe: {" + p + "}}]"
	}
	policy := func(p string) string {
		return markedPods + "probes: [{name: idle, containerName: main, " + execProbe + ", markerPolicy: [" + p + "]}]"
	}
	const (
		states   = "spec.probes: the states of markerPolicy must be Succeeded or Failed, each once at most"
		handlers = "spec.probes: every probe needs exactly one handler: exec, httpGet or tcpSocket"
		host     = "spec.probes: host must be absent: a probe goes to the pod"
		numbers  = "spec.probes: seconds and thresholds must be 0 or more"
	)
	for _, test := range []struct{ name, spec, want string }{
		{"exec", probe("exec: {command: [x]}, periodSeconds: 0"), ""},
		{"http", probe("httpGet: {port: web, path: /}"), ""},
		{"tcp", probe("tcpSocket: {port: 80}"), ""},
		{"one policy", policy("{state: Failed, labels: {a: b}}"), ""},
		{"two policies", policy("{state: Failed, labels: {a: b}}, {state: Succeeded, annotations: {a: b}}"), ""},
		{"an empty selector", "selector: {}\nprobes: [{name: idle, containerName: main, podConditionType: Idle, " + execProbe + "}]", "spec.selector: must not be empty: it would select every pod of the namespace"},
		{"an operator", "selector: {matchExpressions: [{key: a, operator: Like}]}\nprobes: [{name: idle, containerName: main, podConditionType: Idle, " + execProbe + "}]",
			"spec.selector.matchExpressions: every operator must be In or NotIn with values, or Exists or DoesNotExist without values"},
		{"no probes", markedPods + "probes: []", "spec.probes: there must be at least one"},
		{"no name", markedPods + "probes: [{name: '', containerName: main, podConditionType: Idle, " + execProbe + "}]", "spec.probes: every probe needs a name and a containerName"},
		{"no container", markedPods + "probes: [{name: a, containerName: '', podConditionType: Idle, " + execProbe + "}]", "spec.probes: every probe needs a name and a containerName"},
		{"a native name", markedPods + "probes: [{name: Ready, containerName: main, podConditionType: Idle, " + execProbe + "}]", "spec.probes: no probe may have the name of a condition that Kubernetes or podwright writes"},
		{"no handler", probe("periodSeconds: 1"), handlers},
		{"two handlers", probe("exec: {command: [x]}, tcpSocket: {port: 1}"), handlers},
		{"grpc", probe("grpc: {port: 1}"), handlers},
		{"no command", probe("exec: {}"), "spec.probes: exec needs a command"},
		{"a host", probe("httpGet: {port: 80, host: 169.254.169.254}"), host},
		{"a host of a socket", probe("tcpSocket: {port: 80, host: a}"), host},
		{"a negative period", probe("exec: {command: [x]}, periodSeconds: -1"), numbers},
		{"a negative threshold", probe("exec: {command: [x]}, failureThreshold: -1"), numbers},
		{"no result", markedPods + "probes: [{name: a, containerName: main, " + execProbe + "}]", "spec.probes: every probe needs podConditionType or markerPolicy: nothing would become of its result"},
		{"the state Unknown", policy("{state: Unknown, labels: {a: b}}"), states},
		{"a state twice", policy("{state: Failed, labels: {a: b}}, {state: Failed, labels: {a: b}}"), states},
		{"three policies", policy("{state: Failed, labels: {a: b}}, {state: Succeeded, labels: {a: b}}, {state: Failed, labels: {a: b}}"), states},
		{"an empty policy", policy("{state: Failed, labels: {a: b}}, {state: Succeeded}"), "spec.probes: every markerPolicy needs labels or annotations"},
	} {
		t.Run(test.name, func(t *testing.T) {
			var want []string
			if test.want != "" {
				want = []string{test.want}
			}
			object := podProbeMarker(test.spec)
			got := v.judge(t, object, "")
			check(t, want, got)
			agree(t, object, got, podprobemarker.ValidateCreate(read[v1alpha1.PodProbeMarker](t, object)))
		})
	}
	check(t, []string{"spec: a PodProbeMarker needs a spec with selector and probes"},
		v.judge(t, "{apiVersion: apps.kruise.io/v1alpha1, kind: PodProbeMarker, metadata: {name: games}}", ""))
	old := podProbeMarker(probe("exec: {command: [x]}"))
	check(t, nil, v.judge(t, podProbeMarker(probe("exec: {command: [other]}")), old))
	check(t, []string{"spec.selector: cannot be changed: create another PodProbeMarker"},
		v.judge(t, strings.Replace(old, "app: web", "app: db", 1), old))
}

// What the rules cannot say, or must not cost, is the webhook's alone. (PPM-1.1)
func TestPodProbeMarkerRulesThatOnlyTheWebhookHas(t *testing.T) {
	v := newValidator(t, "podprobemarkers.apps.kruise.io", "v1alpha1")
	for name, spec := range map[string]string{
		"a name twice":              markedPods + "probes: [{name: a, containerName: m, podConditionType: A, " + execProbe + "}, {name: a, containerName: m, podConditionType: B, " + execProbe + "}]",
		"a condition twice":         markedPods + "probes: [{name: a, containerName: m, podConditionType: A, " + execProbe + "}, {name: b, containerName: m, podConditionType: A, " + execProbe + "}]",
		"an illegal condition type": markedPods + "probes: [{name: a, containerName: m, podConditionType: a b, " + execProbe + "}]",
		"an illegal label":          markedPods + "probes: [{name: a, containerName: m, " + execProbe + ", markerPolicy: [{state: Failed, labels: {a b: c}}]}]",
		"an illegal port":           markedPods + "probes: [{name: a, containerName: m, podConditionType: A, probe: {tcpSocket: {port: 0}}}]",
	} {
		t.Run(name, func(t *testing.T) {
			object := podProbeMarker(spec)
			check(t, nil, v.judge(t, object, ""))
			if errs := podprobemarker.ValidateCreate(read[v1alpha1.PodProbeMarker](t, object)); len(errs) == 0 {
				t.Error("the webhook allows it")
			}
		})
	}
}
