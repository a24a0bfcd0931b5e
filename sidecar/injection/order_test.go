// SPDX-License-Identifier: Apache-2.0

package injection_test

import (
	"strings"
	"testing"

	"github.com/podwright/podwright/sidecar/injection"
)

// Init containers stand among those that policies have injected before, or that a template carries: in the order of their
// names, whichever came first. (SCI-6)
func TestInitContainersAmongInjected(t *testing.T) {
	const mark = "env: [{name: IS_INJECTED, value: 'true'}]"
	for _, test := range []struct{ name, pod, want string }{
		{"none", "{initContainers: [{name: own}], containers: [{name: main}]}", "own b z"},
		{"behind the pod's own", "{initContainers: [{name: own}, {name: c, " + mark + "}, {name: x, " + mark + "}], containers: [{name: main}]}", "own b c x z"},
		{"unsorted ones stay", "{initContainers: [{name: x, " + mark + "}, {name: a, " + mark + "}], containers: [{name: main}]}", "x b a z"},
		{"in front of the pod's own", "{initContainers: [{name: c, " + mark + "}, {name: own}], containers: [{name: main}]}", "c own b z"},
		{"one that is replaced", "{initContainers: [{name: own}, {name: z}], containers: [{name: main}]}", "own z b"},
	} {
		t.Run(test.name, func(t *testing.T) {
			result := inject(t, podOf(t, "{}", test.pod), setOf(t, "demo", "{initContainers: [{name: z}, {name: b}]}"))
			var got []string
			for _, c := range result.Pod.Spec.InitContainers {
				got = append(got, c.Name)
			}
			if got := strings.Join(got, " "); got != test.want {
				t.Errorf("init containers %s, want %s", got, test.want)
			}
		})
	}
}

// kubectl takes the pod's own container if users name none. (SCI-19)
func TestDefaultContainer(t *testing.T) {
	const before, behind = "{containers: [{name: log}]}", "{containers: [{name: log, podInjectPolicy: AfterAppContainer}]}"
	for _, test := range []struct{ name, metadata, pod, set, want string }{
		{"a sidecar in front", "{}", "{containers: [{name: main}, {name: more}]}", before, "main"},
		{"a sidecar behind", "{}", mainOnly, behind, ""},
		{"what the pod says", "{annotations: {kubectl.kubernetes.io/default-container: more}}", "{containers: [{name: main}, {name: more}]}", before, "more"},
		{"what the SidecarSet says", "{}", mainOnly, "{containers: [{name: log}], patchPodMetadata: [{annotations: {kubectl.kubernetes.io/default-container: log}}]}", "log"},
		{"one takes the first place", "{}", "{containers: [{name: log}, {name: main}]}", before, "main"},
		{"no container of its own", "{}", "{containers: [{name: log}]}", before, ""},
		{"init containers alone", "{}", mainOnly, "{initContainers: [{name: log}]}", ""},
		{"none is injected", "{}", "{initContainers: [{name: log}], containers: [{name: main}]}", before, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			result := inject(t, podOf(t, test.metadata, test.pod), setOf(t, "demo", test.set))
			if got := result.Pod.Annotations[injection.DefaultContainerAnnotation]; got != test.want {
				t.Errorf("default container %q, want %q", got, test.want)
			}
		})
	}
}
