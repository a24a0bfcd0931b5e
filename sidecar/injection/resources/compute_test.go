// SPDX-License-Identifier: Apache-2.0

package resources_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"sigs.k8s.io/yaml"

	"github.com/podwright/podwright/sidecar/injection/resources"
	"github.com/podwright/podwright/sidecar/v1alpha1"
)

// read reads YAML.
func read[T any](t *testing.T, text string) (out T) {
	t.Helper()
	if err := yaml.UnmarshalStrict([]byte(text), &out); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return out
}

// texts shows quantities.
func texts(list corev1.ResourceList) map[string]string {
	if list == nil {
		return nil
	}
	out := map[string]string{}
	for name, q := range list {
		out[string(name)] = q.String()
	}
	return out
}

type all = map[string]string

// TestAggregates: what containers have together. A request that is missing is 0; a limit is there only if all have one. (SCI-28)
func TestAggregates(t *testing.T) {
	const small, large = "{resources: {limits: {cpu: 200m, memory: 1Gi}, requests: {cpu: 50m}}}", "{resources: {limits: {cpu: 400m}, requests: {cpu: 100m, memory: 2Gi}}}"
	for _, test := range []struct {
		name, containers                     string
		requests, limits, largest, maxLimits all
	}{
		{"none", "[]", all{"cpu": "0", "memory": "0"}, all{}, all{"cpu": "0", "memory": "0"}, all{}},
		{"one", "[" + small + "]", all{"cpu": "50m", "memory": "0"}, all{"cpu": "200m", "memory": "1Gi"}, all{"cpu": "50m", "memory": "0"}, all{"cpu": "200m", "memory": "1Gi"}},
		{"two, the larger first", "[" + large + ", " + small + "]", all{"cpu": "150m", "memory": "2Gi"}, all{"cpu": "600m"}, all{"cpu": "100m", "memory": "2Gi"}, all{"cpu": "400m"}},
		{"two, the larger last", "[" + small + ", " + large + "]", all{"cpu": "150m", "memory": "2Gi"}, all{"cpu": "600m"}, all{"cpu": "100m", "memory": "2Gi"}, all{"cpu": "400m"}},
		{"the first without limits", "[{}, " + small + "]", all{"cpu": "50m", "memory": "0"}, all{}, all{"cpu": "50m", "memory": "0"}, all{}},
		{"a limit of 0 is one", "[{resources: {limits: {cpu: 0}}}, {resources: {limits: {cpu: 1}}}]", all{"cpu": "0", "memory": "0"}, all{"cpu": "1"}, all{"cpu": "0", "memory": "0"}, all{"cpu": "1"}},
		{"other resources", "[{resources: {limits: {ephemeral-storage: 1Gi}, requests: {example.com/gpu: 1}}}]", all{"cpu": "0", "memory": "0"}, all{}, all{"cpu": "0", "memory": "0"}, all{}},
	} {
		containers := read[[]corev1.Container](t, test.containers)
		sum, largest := resources.Sum(containers), resources.Max(containers)
		got := []all{texts(sum.Requests), texts(sum.Limits), texts(largest.Requests), texts(largest.Limits)}
		if diff := cmp.Diff([]all{test.requests, test.limits, test.largest, test.maxLimits}, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.name, diff)
		}
	}
}

// TestTargets: regular containers and native sidecars by a part of their name, without those that were injected. (SCI-25, SCI-27)
func TestTargets(t *testing.T) {
	spec := read[corev1.PodSpec](t, `{initContainers: [{name: app-native, restartPolicy: Always}, {name: app-init}, {name: log-native, restartPolicy: Always}],
		containers: [{name: app}, {name: my-app}, {name: log}], ephemeralContainers: [{name: app-debug}]}`)
	for pattern, want := range map[string]string{
		"": "app-native log-native app my-app", ".*": "app-native log-native app my-app", "app": "app-native app my-app", "^app": "app-native app", "^app$": "app", "none": "",
	} {
		p, err := resources.NewPolicy(&v1alpha1.ResourcesPolicy{TargetContainersNameRegex: pattern})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, c := range p.Targets(&spec, func(name string) bool { return name == "log" }) {
			got = append(got, c.Name)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%q: targets %q, want %q", pattern, got, want)
		}
	}
}

// TestCompute: what a sidecar gets, by side and resource. (SCI-24, SCI-25, SCI-28, SCI-29)
func TestCompute(t *testing.T) {
	const two = "[{resources: {limits: {cpu: 200m, memory: 3Gi}, requests: {cpu: 50m, memory: 1Gi}}}, {resources: {limits: {cpu: 400m, memory: 1Gi}, requests: {cpu: 100m}}}]"
	for _, test := range []struct {
		name, policy, containers string
		limits, requests         all
		err                      string
	}{
		{"sum", "{targetContainersMode: sum, resourcesExpr: {limits: {cpu: cpu, memory: memory}, requests: {cpu: cpu, memory: memory}}}", two,
			all{"cpu": "600m", "memory": "4Gi"}, all{"cpu": "150m", "memory": "1Gi"}, ""},
		{"max", "{targetContainersMode: max, resourcesExpr: {limits: {cpu: cpu, memory: memory}, requests: {cpu: cpu, memory: memory}}}", two,
			all{"cpu": "400m", "memory": "3Gi"}, all{"cpu": "100m", "memory": "1Gi"}, ""},
		{"one side", "{targetContainersMode: sum, resourcesExpr: {limits: {cpu: cpu}}}", two, all{"cpu": "600m"}, nil, ""},
		{"memory alone", "{targetContainersMode: sum, resourcesExpr: {requests: {memory: memory/2}}}", two, nil, all{"memory": "512Mi"}, ""},
		{"numbers: of cpu thousandths, of memory whole bytes", `{targetContainersMode: sum, resourcesExpr: {requests: {cpu: "0.5", memory: "1.5"}}}`, two, nil, all{"cpu": "500m", "memory": "1"}, ""},
		{"a request above its limit", "{targetContainersMode: sum, resourcesExpr: {limits: {cpu: cpu/2}, requests: {cpu: cpu*10, memory: memory*10}}}", two,
			all{"cpu": "300m"}, all{"cpu": "300m", "memory": "10Gi"}, ""},
		{"a request of its limit, and one below", "{targetContainersMode: sum, resourcesExpr: {limits: {cpu: 1m, memory: 1Gi}, requests: {cpu: 1m, memory: 1Mi}}}", two,
			all{"cpu": "1m", "memory": "1Gi"}, all{"cpu": "1m", "memory": "1Mi"}, ""},
		{"no limit", "{targetContainersMode: sum, resourcesExpr: {limits: {cpu: 1m}}}", "[{}]", nil, nil, ""},
		{"no target", "{targetContainersMode: sum, targetContainersNameRegex: ^x, resourcesExpr: {limits: {cpu: 1m}}}", "[]", nil, nil, `no containers match the regex pattern "^x"`},
		{"a limit that cannot be", "{targetContainersMode: sum, resourcesExpr: {limits: {memory: memory-9Gi}}}", two, nil, nil, "failed to evaluate memory limits expression"},
		{"a request that cannot be", "{targetContainersMode: sum, resourcesExpr: {limits: {cpu: cpu}, requests: {cpu: cpu-1}}}", two, nil, nil, "failed to evaluate cpu requests expression"},
	} {
		t.Run(test.name, func(t *testing.T) {
			policy := read[v1alpha1.ResourcesPolicy](t, test.policy)
			p, err := resources.NewPolicy(&policy)
			if err != nil {
				t.Fatal(err)
			}
			got, err := p.Compute(read[[]corev1.Container](t, test.containers))
			if (err == nil) != (test.err == "") || err != nil && !strings.Contains(err.Error(), test.err) {
				t.Fatalf("error %v, want %q", err, test.err)
			}
			if diff := cmp.Diff([]all{test.limits, test.requests}, []all{texts(got.Limits), texts(got.Requests)}); diff != "" {
				t.Errorf("limits and requests (-want +got):\n%s", diff)
			}
		})
	}
}

// TestPolicies: what cannot be read, and what has no result for any value, is told by resource and side. (SCI-22, SCI-25, SCI-26)
func TestPolicies(t *testing.T) {
	for policy, want := range map[string][2]string{
		"{targetContainersNameRegex: (}":                             {"invalid regex pattern"},
		"{resourcesExpr: {limits: {cpu: x, memory: memory}}}":        {"cpu limits expression"},
		"{resourcesExpr: {limits: {memory: cpu}}}":                   {"memory limits expression"},
		"{resourcesExpr: {requests: {memory: 1x}}}":                  {"memory requests expression"},
		"{resourcesExpr: {limits: {cpu: cpu}, requests: {cpu: 1x}}}": {"cpu requests expression"},
		"{}": {},
		"{resourcesExpr: {limits: {cpu: cpu*2}, requests: {memory: memory}}}":      {},
		"{resourcesExpr: {limits: {cpu: cpu-63}, requests: {memory: memory-1Ti}}}": {}, // for the largest
		"{resourcesExpr: {limits: {memory: 1-memory}}}":                            {}, // for the smallest
		"{resourcesExpr: {limits: {memory: 0-0.5}}}":                               {}, // whole bytes
		"{resourcesExpr: {limits: {cpu: 0-0.5}}}":                                  {"", "cpu limits expression: if cpu is 0: "},
		"{resourcesExpr: {limits: {cpu: cpu-65}}}":                                 {"", "cpu limits expression: if cpu is 0: "},
		"{resourcesExpr: {limits: {cpu: cpu}, requests: {memory: memory/0}}}":      {"", "memory requests expression: if memory is 0: "},
		"{resourcesExpr: {limits: {memory: memory*memory}, requests: {cpu: cpu}}}": {"", "memory limits expression: if memory is 0: "},
	} {
		written := read[v1alpha1.ResourcesPolicy](t, policy)
		p, err := resources.NewPolicy(&written)
		if tells(err) != tells(err, want[0]) || (err == nil) != (want[0] == "") {
			t.Errorf("%s: error %v, want %q", policy, err, want[0])
		}
		if err != nil {
			continue
		}
		if err := p.Try(); (err == nil) != (want[1] == "") || tells(err) != tells(err, want[1]) {
			t.Errorf("%s: tried: error %v, want %q", policy, err, want[1])
		}
	}
}

// tells tells whether there is an error that has all texts.
func tells(err error, texts ...string) bool {
	return err != nil && !slices.ContainsFunc(texts, func(text string) bool { return !strings.Contains(err.Error(), text) })
}

// TestBoundaries: what just fits is taken. (SCI-22, SCI-23)
func TestBoundaries(t *testing.T) {
	for _, test := range []struct{ text, value, want string }{
		{"cpu+" + strings.Repeat("0", 1019) + "1", "1", "2"},  // 1,024 bytes
		{"1024*1125899906842624", "0", "1152921504606846976"}, // 2^60
		{"cpu*2", "5e3", "10e3"},
		{"cpu*2", "3E", ""}, // beyond
		{"max(0.1, cpu)+1", "0", "1100m"},
		{"0.0009+cpu", "1", "1"},
		{"cpu-0.0009", "1", "1"},
		{"cpu*2", "0.5", "1"},
		{"0.01*0.01*10000", "0", "1"}, // numbers are not cut
		{"cpu*0.0001*10", "9", "0"},   // quantities are
		{"(1+cpu)*cpu", "1", ""},      // a number beside a quantity is one
		{"(cpu+1)*cpu", "1", ""},
	} {
		e, err := resources.Parse(test.text, "cpu")
		if err != nil {
			t.Errorf("%.40s: %v", test.text, err)
			continue
		}
		got, err := e.Evaluate(resource.MustParse(test.value), false)
		if (err == nil) != (test.want != "") || err == nil && got.Cmp(resource.MustParse(test.want)) != 0 {
			t.Errorf("%.40s of %s: %s, error %v, want %s", test.text, test.value, got.String(), err, test.want)
		}
	}
}

// TestFormats: of two equal quantities the first one is written. (SCI-23)
func TestFormats(t *testing.T) {
	for text, want := range map[string]string{"max(1000Ki, 1024k)": "1000Ki", "max(1024k, 1000Ki)": "1024k", "max(1, memory*0+1Ki)": "1Ki", "min(memory*0, 1k)": "0"} {
		e, err := resources.Parse(text, "memory")
		if err != nil {
			t.Fatal(err)
		}
		if got, err := e.Evaluate(resource.MustParse("1Gi"), true); err != nil || got.String() != want {
			t.Errorf("%s: %s, error %v, want %s", text, got.String(), err, want)
		}
	}
}
