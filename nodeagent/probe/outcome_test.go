// SPDX-License-Identifier: Apache-2.0

package probe

import (
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"pgregory.net/rapid"

	"github.com/podwright/podwright/lifecycle/v1alpha1"
)

// outcome is an outcome by its name, of the container c1 or of that which stands in front, created an hour before now.
func outcome(word string) *probeOutcome {
	o := &probeOutcome{ContainerID: "c1", CreatedAt: now.Add(-time.Hour), At: now}
	container, what, found := strings.Cut(word, ":")
	if found {
		o.ContainerID, word = container, what
	}
	switch word {
	case "ok":
		o.Result = succeeded
	case "no":
		o.Result, o.Message = failed, "no"
	case "ended":
		o.Ended = true
	case "none":
	case "nowhere":
		o.ContainerID = ""
	case "young":
		o.Retry = now.Add(time.Second)
	}
	return o
}

// PPM-4.3, PPM-4.5, PPM-4.6: what is known after some runs.
func TestAfter(t *testing.T) {
	thresholds := &corev1.Probe{SuccessThreshold: 2, FailureThreshold: 3}
	for _, test := range []struct {
		name     string
		probe    Probe
		spec     *corev1.Probe
		outcomes string
		want     string
	}{
		{"no container", Probe{}, nil, "nowhere", ""},
		{"the first sight", Probe{}, nil, "none", "Unknown"},
		{"0 stands for 1", Probe{}, nil, "ok", "Succeeded"},
		{"a failure", Probe{}, nil, "ok no", "Failed (no)"},
		{"one of two", Probe{}, thresholds, "ok", "Unknown"},
		{"two of two", Probe{}, thresholds, "ok ok", "Succeeded"},
		{"not in a row", Probe{}, thresholds, "ok no ok", "Unknown"},
		{"two of three failures", Probe{}, thresholds, "ok ok no no ok", "Succeeded"},
		{"three of three failures", Probe{}, thresholds, "ok ok no no no", "Failed (no)"},
		{"what is no result does not count", Probe{}, thresholds, "ok none ok", "Succeeded"},
		{"a container that has ended", Probe{}, thresholds, "ended", "Failed (Container(main) is Non-running)"},
		{"it has ended, and does not count for the next", Probe{}, thresholds, "no no ended c2:no", "Unknown"},
		{"another container", Probe{}, nil, "ok c2:none", "Unknown"},
		{"results of another container", Probe{}, thresholds, "ok c2:ok", "Unknown"},
		{"too young", Probe{}, nil, "young", "Unknown"},
		{"an agent that starts again", Probe{State: succeeded, Since: now.Add(-time.Minute)}, thresholds, "none", "Succeeded"},
		{"and the container is newer than the report", Probe{State: succeeded, Since: now.Add(-2 * time.Hour)}, thresholds, "none", "Unknown"},
		{"and there is none", Probe{State: succeeded, Since: now.Add(-2 * time.Hour)}, thresholds, "nowhere", "Succeeded"},
	} {
		t.Run(test.name, func(t *testing.T) {
			p, spec := test.probe, test.spec
			p.Container = "main"
			if spec == nil {
				spec = &corev1.Probe{}
			}
			for _, word := range strings.Fields(test.outcomes) {
				p = p.after(outcome(word), spec)
			}
			got := string(p.State)
			if p.Message != "" {
				got += " (" + p.Message + ")"
			}
			if got != test.want {
				t.Errorf("%s, want %s", got, test.want)
			}
		})
	}
	if p := (Probe{}).after(outcome("young"), &corev1.Probe{}); !p.Retry.Equal(now.Add(time.Second)) {
		t.Errorf("retry at %v", p.Retry)
	}
	if p := (Probe{Retry: now}).after(outcome("ok"), &corev1.Probe{}); !p.Retry.IsZero() {
		t.Errorf("retry at %v, want none", p.Retry)
	}
}

// Whatever runs say, a state is what enough results in a row have said of the container that runs. It changes together with its
// times only. (PPM-4.6, PPM-4.8)
func TestAfterProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		spec := &corev1.Probe{SuccessThreshold: rapid.Int32Range(0, 3).Draw(t, "success"), FailureThreshold: rapid.Int32Range(0, 3).Draw(t, "failure")}
		p, container, row := Probe{ID: ID{Container: "main"}}, "", []v1alpha1.ProbeState{}
		for i := range rapid.IntRange(1, 20).Draw(t, "runs") {
			o := outcome(fmt.Sprint(rapid.SampledFrom([]string{"c1", "c1", "c2"}).Draw(t, "container"), ":", rapid.SampledFrom([]string{"ok", "no", "ended", "none", "nowhere"}).Draw(t, "outcome")))
			o.At = now.Add(time.Duration(i) * time.Minute)
			before := p
			p = p.after(o, spec)
			if o.ContainerID != "" && o.ContainerID != container {
				container, row = o.ContainerID, nil
			}
			if o.Ended {
				row = nil
			}
			if o.Result != "" {
				row = append(row, o.Result)
			}
			check(t, spec, &before, &p, o, row)
		}
	})
}

func check(t *rapid.T, spec *corev1.Probe, before, p *Probe, o *probeOutcome, row []v1alpha1.ProbeState) {
	if p.State == before.State && p.ContainerID == before.ContainerID && p.Since != before.Since {
		t.Fatalf("the state stays, and changes: %+v", p)
	}
	if p.Message != before.Message && !o.Ended && p.ContainerID == before.ContainerID && p.State != o.Result {
		t.Fatalf("the words are of a run that says something else: %+v", p)
	}
	if p.State == before.State {
		return
	}
	if p.Since != o.At {
		t.Fatalf("the state has changed at %v, and not now", p.Since)
	}
	need := int(max(spec.FailureThreshold, 1))
	switch {
	case o.Ended || p.State == unknown:
		return
	case p.State == succeeded:
		need = int(max(spec.SuccessThreshold, 1))
	}
	if len(row) < need {
		t.Fatalf("%s after %d results of the container, want %d", p.State, len(row), need)
	}
	for _, r := range row[len(row)-need:] {
		if r != p.State {
			t.Fatalf("%s after %v", p.State, row)
		}
	}
}
