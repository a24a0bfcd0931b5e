// SPDX-License-Identifier: Apache-2.0

package containermeta

import (
	"fmt"
	"maps"
	"strconv"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	criv1 "k8s.io/cri-api/pkg/apis/runtime/v1"
)

// TestDecode shows in testdata/decode.txt which environments are told. The runtime tells them as "recorded", and a container with zero bytes or in lines, of
// which Go strings follow.
func TestDecode(t *testing.T) {
	datadriven.RunTest(t, "testdata/decode.txt", func(t *testing.T, d *datadriven.TestData) string {
		if d.Cmd == "recorded" {
			env, told := recordedEnvironment(map[string]string{"info": d.Input})
			return fmt.Sprintf("%t %q\n", told, env)
		}
		output, err := strconv.Unquote(d.Input)
		if err != nil {
			t.Fatal(err)
		}
		return fmt.Sprintf("%q\n", map[string]func([]byte) map[string]string{"zeros": parseVariables, "lines": parseLines}[d.Cmd]([]byte(output)))
	})
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
			Containers: []*criv1.Container{created("main", "m1", 1, "hash="+hash, "restarts="+restarts)}}
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
