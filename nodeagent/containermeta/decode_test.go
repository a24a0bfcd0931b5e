// SPDX-License-Identifier: Apache-2.0

package containermeta

import (
	"maps"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	criv1 "k8s.io/cri-api/pkg/apis/runtime/v1"
)

func TestRecordedEnvironment(t *testing.T) {
	for _, test := range []struct {
		name, info string
		want       map[string]string
		ok         bool
	}{
		{"CM-E3: containerd: what the OCI runtime was told", `{"pid":7,"config":{"envs":[{"key":"A","value":"0"}]},"runtimeSpec":{"process":{"env":["PATH=/bin","A=1"]}}}`,
			map[string]string{"PATH": "/bin", "A": "1"}, true},
		{"CM-E3: CRI-O", `{"sandboxID":"x","pid":7,"runtimeSpec":{"process":{"env":["A=1"]}},"privileged":false}`, map[string]string{"A": "1"}, true},
		{"what the kubelet asked for", `{"config":{"envs":[{"key":"A","value":"a=b"},{"key":"E"}]}}`, map[string]string{"A": "a=b", "E": ""}, true},
		{"CM-E2: line breaks and blanks", `{"runtimeSpec":{"process":{"env":["A= 1\n2 ","B=","C=x=y","D"]}}}`, map[string]string{"A": " 1\n2 ", "B": "", "C": "x=y"}, true},
		{"the last one of a name counts", `{"runtimeSpec":{"process":{"env":["A=1","A=2"]}}}`, map[string]string{"A": "2"}, true},
		{"no variables", `{"runtimeSpec":{"process":{}}}`, map[string]string{}, true},
		{"nothing told", ``, nil, false},
		{"something else told", `{"pid":7,"runtimeSpec":{}}`, nil, false},
		{"not readable", `{"runtimeSpec":{"process":{"env":"A=1"}}}`, nil, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, ok := recordedEnvironment(map[string]string{"info": test.info})
			if diff := cmp.Diff(test.want, got); ok != test.ok || diff != "" {
				t.Errorf("told %v, environment (-want +got):\n%s", ok, diff)
			}
		})
	}
}

func TestParse(t *testing.T) {
	for _, test := range []struct {
		name, output string
		parse        func([]byte) map[string]string
		want         map[string]string
	}{
		{"CM-E2: zero bytes", "A= 1\n B=2 \x00C=\x00", parseVariables, map[string]string{"A": " 1\n B=2 ", "C": ""}},
		{"zero bytes: nothing", "", parseVariables, map[string]string{}},
		{"CM-4.1: lines", "PATH=/bin\nA=1\nB=\n", parseLines, map[string]string{"PATH": "/bin", "A": "1", "B": ""}},
		{"CM-4.1: split at the first =", "A=x=y\n", parseLines, map[string]string{"A": "x=y"}},
		{"CM-E2: blanks are kept", "A= 1 \n", parseLines, map[string]string{"A": " 1 "}},
		{"CM-E2: a value of two lines", "A=1\ntwo\n\nB=2\n", parseLines, map[string]string{"A": "1\ntwo\n", "B": "2"}},
		{"a name with a dot", "a.b-c=1\n", parseLines, map[string]string{"a.b-c": "1"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, test.parse([]byte(test.output))); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

func FuzzRecordedEnvironment(f *testing.F) {
	f.Add(`{"runtimeSpec":{"process":{"env":["A=1"]}}}`)
	f.Add(`{"config":{"envs":[{"key":"A","value":"0"}]}}`)
	f.Add(`{"config":null,"runtimeSpec":{"process":null}}`)
	f.Fuzz(func(t *testing.T, info string) {
		if env, ok := recordedEnvironment(map[string]string{"info": info}); ok != (env != nil) {
			t.Errorf("told %v: %v", ok, env)
		}
	})
}

// Whatever a container holds, env -0 tells it unchanged.
func FuzzParse(f *testing.F) {
	f.Add("1", "2\n3")
	f.Add(" ", "=")
	f.Fuzz(func(t *testing.T, a, b string) {
		if strings.Contains(a+b, "\x00") {
			return
		}
		want := map[string]string{"A": a, "B": b}
		if got := parseVariables([]byte("A=" + a + "\x00B=" + b + "\x00")); !maps.Equal(want, got) {
			t.Errorf("got %q, want %q", got, want)
		}
		parseLines([]byte(a + b))
		if strings.ContainsAny(a+b, "\n") {
			return
		}
		if got := parseLines([]byte("A=" + a + "\nB=" + b + "\n")); !maps.Equal(want, got) {
			t.Errorf("lines: got %q, want %q", got, want)
		}
	})
}

// What stands in an annotation, of the pod or of a container, breaks no plan,
// and a plan that is applied leaves nothing to do.
func FuzzPlan(f *testing.F) {
	f.Add(`{"containers":[{"name":"main","containerID":"containerd://m1","hashes":{"plainHash":1}}]}`, "10", "0", "1", true)
	f.Add(`{"containers":null}`, "", "-1", "\n", false)
	f.Add(`[]`, "zz", "x", "", true)
	f.Fuzz(func(t *testing.T, annotation, hash, restarts, value string, update bool) {
		status := map[bool]string{false: "True", true: "False"}[update]
		pod := running(newPod("web-0", "updated="+status, "bad-report="+annotation), "m1")
		s := &Snapshot{Pod: pod, Runtime: "containerd", Now: now, Environments: known("m1", "A="+value),
			Containers: []*criv1.Container{created("main", "m1", 1, cri("io.kubernetes.container.hash", hash), cri("io.kubernetes.container.restartCount", restarts))}}
		plan := NewPlan(s)
		if plan.Report == nil {
			return
		}
		report(pod, plan.Report.Containers...)
		if again := NewPlan(s); again.Report != nil || reportDue(pod, Features{}) {
			t.Errorf("reported %+v, and then %+v", plan.Report, again.Report)
		}
	})
}
