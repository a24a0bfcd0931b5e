// SPDX-License-Identifier: Apache-2.0

package podprobemarker

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/podwright/podwright/lifecycle/v1alpha1"
)

const (
	selector = "selector: {matchLabels: {app: web}}\n"
	named    = "name: idle, containerName: main, podConditionType: Idle, "
)

func parse(t *testing.T, spec string) *v1alpha1.PodProbeMarker {
	t.Helper()
	m := &v1alpha1.PodProbeMarker{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "games"}}
	if err := yaml.UnmarshalStrict([]byte(spec), &m.Spec); err != nil {
		t.Fatal(err)
	}
	return m
}

// PPM-1.2 to PPM-1.5: what admission refuses.
func TestValidate(t *testing.T) {
	probe := func(p string) string { return selector + "probes: [{" + named + "probe: {" + p + "}}]" }
	policy := func(p string) string {
		return selector + "probes: [{name: idle, containerName: main, probe: {exec: {command: [x]}}, markerPolicy: [" + p + "]}]"
	}
	for _, test := range []struct {
		name, spec string
		want       []string
	}{
		{"exec", probe("exec: {command: [x]}, periodSeconds: 0, timeoutSeconds: 5"), nil},
		{"http", probe("httpGet: {port: 80, path: /idle, scheme: HTTPS, httpHeaders: [{name: Host, value: a}]}"), nil},
		{"http, by the name of a port", probe("httpGet: {port: web}"), nil},
		{"tcp", probe("tcpSocket: {port: 80}"), nil},
		{"policies", policy("{state: Succeeded, labels: {a: b}}, {state: Failed, annotations: {controller.kubernetes.io/pod-deletion-cost: '-10'}}"), nil},
		{"a condition of the kubelet", selector + "probes: [{name: idle, containerName: main, podConditionType: Ready, probe: {exec: {command: [x]}}}]", []string{"spec.probes[0].podConditionType: Invalid value"}},
		{"PPM-1.5: a condition of another controller", selector + "probes: [{name: idle, containerName: main, podConditionType: DisruptionTarget, probe: {exec: {command: [x]}}}]", []string{"spec.probes[0].podConditionType: Invalid value"}},
		{"PPM-1.5: keys that controllers own", policy("{state: Failed, labels: {lifecycle.apps.kruise.io/state: Normal}, annotations: {apps.kruise.io/inplace-update-state: '{}'}}"),
			[]string{"spec.probes[0].markerPolicy[0].labels[lifecycle.apps.kruise.io/state]: Invalid value", "spec.probes[0].markerPolicy[0].annotations[apps.kruise.io/inplace-update-state]: Invalid value"}},
		{"PPM-1.5: a pod that is to be deleted", policy("{state: Succeeded, labels: {apps.kruise.io/specified-delete: 'true'}}"), nil},

		{"no selector", "probes: [{" + named + "probe: {exec: {command: [x]}}}]", []string{"spec.selector: Required value"}},
		{"an empty selector", "selector: {}\nprobes: [{" + named + "probe: {exec: {command: [x]}}}]", []string{"spec.selector: Required value"}},
		{"an invalid selector", "selector: {matchExpressions: [{key: a, operator: Like}]}\nprobes: [{" + named + "probe: {exec: {command: [x]}}}]",
			[]string{"spec.selector.matchExpressions[0].operator: Invalid value"}},
		{"no probes", selector + "probes: []", []string{"spec.probes: Required value"}},
		{"no names", selector + "probes: [{name: '', containerName: '', podConditionType: Idle, probe: {exec: {command: [x]}}}]",
			[]string{"spec.probes[0].name: Required value", "spec.probes[0].containerName: Required value"}},
		{"the name of a condition", selector + "probes: [{name: InPlaceUpdateReady, containerName: main, podConditionType: Idle, probe: {exec: {command: [x]}}}]",
			[]string{"spec.probes[0].name: Invalid value"}},
		{"a name and a condition twice", selector + "probes: [{" + named + "probe: {exec: {command: [x]}}}, {" + named + "probe: {exec: {command: [x]}}}]",
			[]string{"spec.probes[1].name: Duplicate value", "spec.probes[1].podConditionType: Duplicate value"}},
		{"no handler", probe(""), []string{"spec.probes[0].probe: Required value"}},
		{"two handlers", probe("exec: {command: [x]}, tcpSocket: {port: 1}"), []string{"spec.probes[0].probe: Forbidden"}},
		{"grpc", probe("grpc: {port: 1}"), []string{"spec.probes[0].probe.grpc: Forbidden"}},
		{"no command", probe("exec: {}"), []string{"spec.probes[0].probe.exec.command: Required value"}},
		{"hosts", probe("httpGet: {port: 80, host: 169.254.169.254}"), []string{"spec.probes[0].probe.httpGet.host: Forbidden"}},
		{"a host of a socket", probe("tcpSocket: {port: 80, host: 10.0.0.1}"), []string{"spec.probes[0].probe.tcpSocket.host: Forbidden"}},
		{"ports", probe("tcpSocket: {port: 0}"), []string{"spec.probes[0].probe.tcpSocket.port: Invalid value"}},
		{"the name of no port", probe("httpGet: {port: a_b}"), []string{"spec.probes[0].probe.httpGet.port: Invalid value"}},
		{"a scheme, a header", probe(`httpGet: {port: 80, scheme: ftp, httpHeaders: [{name: "a b", value: "x\ny"}]}`),
			[]string{"spec.probes[0].probe.httpGet.scheme: Unsupported value", "spec.probes[0].probe.httpGet.httpHeaders[0].name: Invalid value", "spec.probes[0].probe.httpGet.httpHeaders[0].value: Invalid value"}},
		{"negative numbers", probe("exec: {command: [x]}, initialDelaySeconds: -1, timeoutSeconds: -1, periodSeconds: -1, successThreshold: -1, failureThreshold: -1"),
			[]string{"spec.probes[0].probe.initialDelaySeconds: Invalid value", "spec.probes[0].probe.timeoutSeconds: Invalid value", "spec.probes[0].probe.periodSeconds: Invalid value",
				"spec.probes[0].probe.successThreshold: Invalid value", "spec.probes[0].probe.failureThreshold: Invalid value"}},
		{"PPM-1.6: a long script", probe("exec: {command: [sh, -c, '" + strings.Repeat("x", 4<<10) + "']}"), []string{"spec.probes[0].probe: Invalid value"}},
		{"PPM-1.6: as JSON has it", probe("exec: {command: [sh, -c, '" + strings.Repeat("<", 1<<10) + "']}"), []string{"spec.probes[0].probe: Invalid value"}},
		{"PPM-1.6: several long ones", selector + "probes: [" + strings.Join(longProbes(5), ", ") + "]", []string{"spec.probes[4].probe: Invalid value"}},
		{"no result", selector + "probes: [{name: idle, containerName: main, probe: {exec: {command: [x]}}}]", []string{"spec.probes[0]: Required value"}},
		{"an illegal condition", selector + "probes: [{name: idle, containerName: main, podConditionType: a b, probe: {exec: {command: [x]}}}]",
			[]string{"spec.probes[0].podConditionType: Invalid value"}},
		{"states", policy("{state: Unknown, labels: {a: b}}, {state: Failed, labels: {a: b}}, {state: Failed, labels: {a: b}}"),
			[]string{"spec.probes[0].markerPolicy[0].state: Unsupported value", "spec.probes[0].markerPolicy[2].state: Duplicate value"}},
		{"an empty policy", policy("{state: Failed}"), []string{"spec.probes[0].markerPolicy[0]: Required value"}},
		{"illegal labels and annotations", policy("{state: Failed, labels: {a b: c, d: 'e f'}, annotations: {a b: c}}"),
			[]string{"spec.probes[0].markerPolicy[0].annotations: Invalid value", "spec.probes[0].markerPolicy[0].labels: Invalid value", "spec.probes[0].markerPolicy[0].labels: Invalid value"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			var got []string
			for _, err := range ValidateCreate(parse(t, test.spec)) {
				got = append(got, err.Field+": "+string(err.Type.String()))
			}
			if test.name == "illegal labels and annotations" {
				slices.Sort(got) // labels come in any order
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("errors (-want +got):\n%s", diff)
			}
		})
	}
}

// PPM-1.2: the selector stays, and what does not change is not judged again.
func TestValidateUpdate(t *testing.T) {
	old := parse(t, selector+"probes: [{"+named+"probe: {exec: {command: [x]}}}]")
	other := old.DeepCopy()
	other.Spec.Selector.MatchLabels["app"] = "db"
	if errs := ValidateUpdate(other, old); len(errs) != 1 || !strings.Contains(errs[0].Error(), "spec.selector: Forbidden: cannot be changed") {
		t.Error("another selector:", errs)
	}
	slower := old.DeepCopy()
	slower.Spec.Probes[0].Probe.PeriodSeconds = 60
	if errs := ValidateUpdate(slower, old); len(errs) > 0 {
		t.Error("another probe:", errs)
	}
	wrong := parse(t, "selector: {}\nprobes: []")
	if errs := ValidateUpdate(wrong.DeepCopy(), wrong); len(errs) > 0 {
		t.Error("what was wrong before, and has not changed:", errs)
	}
}

// longProbes are probes each of which is as large as most can be.
func longProbes(n int) (probes []string) {
	for i := range n {
		probes = append(probes, fmt.Sprintf("{name: p%d, containerName: main, podConditionType: example.com/p%d, probe: {exec: {command: [%s]}}}", i, i, strings.Repeat("x", 3950)))
	}
	return probes
}
