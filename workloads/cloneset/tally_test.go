// SPDX-License-Identifier: Apache-2.0

package cloneset

import (
	"fmt"
	"math"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/inplace/rollout"
	lifecyclev1alpha1 "github.com/podwright/podwright/lifecycle/v1alpha1"
)

// TestTally holds the arithmetic to testdata/tally.txt, which says how to read it.
func TestTally(t *testing.T) {
	datadriven.RunTest(t, "testdata/tally.txt", func(t *testing.T, d *datadriven.TestData) string {
		var given struct {
			tally
			Unavailable unavailablePods
		}
		if d.Cmd == "moves" {
			given.ScaleMaxUnavailable = math.MaxInt32 // if it is not given
		}
		for _, arg := range d.CmdArgs {
			set(t, reflect.ValueOf(&given).Elem(), arg.Key, strings.Join(arg.Vals, ""))
		}
		var reason *rollout.Reason
		switch d.Cmd {
		case "moves":
			return nonZero(reflect.ValueOf(given.diff()))
		case "update":
			return answer(given.selectForUpdate(line(d.Input), given.Unavailable))
		case "delete":
			return answer(given.selectForDeletion(line(d.Input)))
		case "scale-down":
			reason = given.scaleDownBlocked()
		case "create":
			reason = given.createBlocked()
		}
		if reason == nil {
			return "nothing"
		}
		return reason.String()
	})
}

// set sets a field of a struct by its path.
func set(t *testing.T, v reflect.Value, path, value string) {
	t.Helper()
	for name := range strings.SplitSeq(path, ".") {
		v = v.FieldByName(name)
	}
	if v.Kind() == reflect.Bool {
		v.SetBool(true)
		return
	}
	n, err := strconv.ParseInt(value, 10, 32)
	if err != nil {
		t.Fatal(err)
	}
	v.SetInt(n)
}

// nonZero shows the fields of a struct that are not 0.
func nonZero(v reflect.Value) string {
	var words []string
	for i := range v.NumField() {
		if !v.Field(i).IsZero() {
			words = append(words, fmt.Sprintf("%s=%v", v.Type().Field(i).Name, v.Field(i)))
		}
	}
	if len(words) == 0 {
		return "nothing"
	}
	return strings.Join(words, " ")
}

// newCandidate makes a pod that serves or not, and has done so for minReadySeconds or not.
func newCandidate(name string, serves, available bool) *pod {
	shared := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name}}
	if serves {
		shared.Status = corev1.PodStatus{Phase: corev1.PodRunning, Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}}
	}
	p := &pod{}
	p.Observe(shared)
	p.Available = available
	return p
}

// line makes a candidate of each letter: "+" is available, "~" waits for minReadySeconds, "-" does not serve, and "p" is prepared.
// The names are the positions.
func line(letters string) (candidates []*pod) {
	for i, letter := range letters {
		candidate := newCandidate(strconv.Itoa(i), letter == '+' || letter == '~', letter == '+')
		if letter == 'p' {
			candidate.State = lifecyclev1alpha1.StatePreparingUpdate
		}
		candidates = append(candidates, candidate)
	}
	return candidates
}

// answer prints what was selected, and for each reason the pods that wait.
func answer(s selection) string {
	names := make([]string, len(s.now))
	for i, pod := range s.now {
		names[i] = pod.Name
	}
	lines := []string{strings.TrimSpace("now: " + strings.Join(names, " "))}
	var last *rollout.Reason
	for _, w := range s.waits {
		if w.Reason != last {
			last = w.Reason
			lines = append(lines, fmt.Sprintf("%s %d/%d %q:", last.Rule, last.Observed, last.Limit, last))
		}
		lines[len(lines)-1] += " " + w.Pod.Name
	}
	return strings.Join(lines, "\n")
}
