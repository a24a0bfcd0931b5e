// SPDX-License-Identifier: Apache-2.0

package sidecarset

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"pgregory.net/rapid"

	"github.com/podwright/podwright/internal/podplan"
	"github.com/podwright/podwright/sidecar/v1alpha1"
)

// reading is a planner that has read the pods of a world.
func (w *world) reading() *planner {
	p := &planner{Snapshot: w.snapshot(), plan: &Plan{}}
	p.Planner = podplan.NewPlanner(&p.plan.Plan, failedUpdate)
	if err := p.checkInput(); err != nil {
		w.t.Fatal(err)
	}
	if err := p.read(); err != nil || !p.planRevisions() {
		w.t.Fatal(err, p.plan.Problems)
	}
	p.classify()
	return p
}

// TestPlainUpdates: SCS-11, SCS-13. An update that is written without maps and encoding/json has the bytes of any other.
func TestPlainUpdates(t *testing.T) {
	common := rapid.SampledFrom([]string{"", "log:v1", "log:v2", "docker://sha256:0a", "~ "})
	odd := rapid.SampledFrom([]string{"a<b", `a"b`, `a\b`, "a&b", "\u2028", "\x00", "\xff", "é", "\x7f"})
	texts := rapid.Custom(func(r *rapid.T) string {
		if rapid.IntRange(0, 39).Draw(r, "odd") == 0 {
			return odd.Draw(r, "text")
		}
		return common.Draw(r, "text")
	})
	plain := 0
	rapid.Check(t, func(r *rapid.T) {
		w := newWorld(t, `{containers: [{name: mesh, image: "mesh:v2"}, {name: log, image: "log:v2"}, {name: a, image: "a:v2"}]}`)
		w.add("a")
		pod := w.pods[0]
		for i := range pod.Spec.Containers {
			pod.Spec.Containers[i].Image = texts.Draw(r, "image")
		}
		statuses := pod.Status.ContainerStatuses
		for i := range statuses {
			statuses[i].ImageID, statuses[i].ContainerID = texts.Draw(r, "image id"), texts.Draw(r, "container id")
		}
		pod.Status.ContainerStatuses = statuses[rapid.IntRange(0, 1).Draw(r, "unreported"):]
		if rapid.IntRange(0, 9).Draw(r, "recorded") == 0 {
			pod.Annotations[v1alpha1.SidecarSetInPlaceUpdateStateAnnotation] = "{}"
		}
		if rapid.Bool().Draw(r, "not ready") {
			pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionFalse, LastTransitionTime: metav1.NewTime(w.now.In(time.FixedZone("", 3600)))}}
		}
		p := w.reading()
		fast, slow := p.change(p.pods[0]), p.change(p.pods[0])
		fast.since, slow.since = notReadySince(pod), notReadySince(pod)
		if !fast.replacePlainly() {
			if !fast.Empty() {
				r.Errorf("it is no plain one, and the patch has %v", fast.Patch)
			}
			return
		}
		plain++
		if err := slow.upgrade(); err != nil {
			r.Fatal(err)
		}
		if err := slow.record(); err != nil {
			r.Fatal(err)
		}
		if diff := cmp.Diff(slow.Patch, fast.Patch); diff != "" {
			r.Errorf("-as any other +as a plain one:\n%s", diff)
		}
	})
	if plain == 0 {
		t.Error("no update was plain")
	}
}

// TestRecordsAlone: SCS-12. Records of the SidecarSet alone are replaced without being read; others are read, and stay.
func TestRecordsAlone(t *testing.T) {
	const record = `{"updateTimestamp":"2026-01-01T00:00:00Z","hash":"h","sidecarSetName":%q,"sidecarList":["log"]}`
	own, other := fmt.Sprintf(record, "demo"), fmt.Sprintf(record, "other")
	w := newWorld(t, logs)
	w.add("a")
	for text, want := range map[string]bool{
		`{"demo":` + own + `}`:                       true,
		`{"demo":` + own + `,"other":` + other + `}`: false,
		`{"a":` + other + `,"demo":` + own + `}`:     false,
		`{"demo":` + own + `,"other":null}`:          false,
		`{"demo-2":` + other + `}`:                   false,
		`{"other":` + other + `}`:                    false,
		`{"demo":"h"}`:                               false,
		``:                                           false,
	} {
		p := w.reading()
		if got := p.ownAlone(text); got != want {
			t.Errorf("%s is the SidecarSet's alone: %t, want %t", text, got, want)
		}
		if !want {
			continue
		}
		w.pods[0].Annotations[v1alpha1.SidecarSetHashAnnotation] = text
		c := p.change(p.pods[0])
		replaced, err := c.recordsAfter(true)
		read, readErr := c.recordsAfter(false)
		if replaced != read || err != nil || readErr != nil {
			t.Errorf("replaced they are %v (%v), and read %v (%v)", replaced, err, read, readErr)
		}
	}
}
