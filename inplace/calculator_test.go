// SPDX-License-Identifier: Apache-2.0

package inplace_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"

	"github.com/podwright/podwright/inplace"
)

func TestCalculator(t *testing.T) {
	broken := rev(t, "demo-broken", template())
	broken.Data.Raw = []byte("{")
	history := []*appsv1.ControllerRevision{
		nil, broken, rev(t, "demo-a", template()), rev(t, "demo-b", template("env-c1=A:metadata.name")), rev(t, "demo-c", template("c1=c1:2")),
	}
	for _, tt := range []struct {
		name, label string
		images      map[string]string // nil: no update
		obstacle    string
	}{
		{"IP-3: another image", "demo-a", map[string]string{"c1": "c1:2"}, ""},
		{"the label is the hash alone", "a", map[string]string{"c1": "c1:2"}, ""},
		{"IP-3: more than the image", "demo-b", nil, "only the image can be replaced"},
		{"at the revision already", "demo-c", map[string]string{}, ""},
		{"a revision that is gone", "demo-z", nil, "does not exist any more"},
		{"a pod without the label", "", nil, "does not exist any more"},
		{"a revision that cannot be read", "demo-broken", nil, "ControllerRevision default/demo-broken"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := inplace.Calculator{History: history, To: history[4]}
			for range 2 { // the second answer is as good as the first
				update, obstacles := c.For(tt.label)
				if (update == nil) != (tt.images == nil) || (len(obstacles) == 0) != (tt.images != nil) {
					t.Fatalf("update %+v, obstacles %v", update, obstacles)
				}
				if update != nil {
					if diff := cmp.Diff(tt.images, update.Images); diff != "" || update.Revision != "demo-c" {
						t.Errorf("update to %s, images (-want +got):\n%s", update.Revision, diff)
					}
				} else if !strings.Contains(obstacles[0].String(), tt.obstacle) {
					t.Errorf("obstacles %v, want %q", obstacles, tt.obstacle)
				}
			}
		})
	}
}

func TestCalculatorCalculatesOncePerRevision(t *testing.T) {
	from, to := rev(t, "demo-a", template()), rev(t, "demo-c", template("c1=c1:2"))
	c := inplace.Calculator{History: []*appsv1.ControllerRevision{from, to}, To: to}
	first, _ := c.For("demo-a")
	from.Data.Raw, to.Data.Raw = []byte("{"), []byte("{") // reading them again fails
	if second, obstacles := c.For("demo-a"); second != first || len(obstacles) > 0 {
		t.Errorf("it was calculated again: %v", obstacles)
	}
	_, unknown := c.For("demo-z")
	if _, again := c.For("demo-z"); len(again) != 1 || &again[0] != &unknown[0] {
		t.Error("why a revision gives no update was calculated again")
	}
}

func TestCalculatorTakesOptions(t *testing.T) {
	to := rev(t, "demo-c", template("env-c1=K:metadata.labels['k']", "label=k:w"))
	history := []*appsv1.ControllerRevision{rev(t, "demo-a", template("env-c1=K:metadata.labels['k']")), to}
	for _, none := range []bool{false, true} {
		c := inplace.Calculator{History: history, To: to, Options: inplace.CalculateOptions{NoEnvFromMetadata: none}}
		if got, _ := c.For("demo-a"); got.EnvFromMetadata == none {
			t.Errorf("with NoEnvFromMetadata %v containers restart for their environment: %v", none, got.EnvFromMetadata)
		}
	}
	bare := inplace.Calculator{History: history}
	if update, obstacles := bare.For("demo-a"); update != nil || len(obstacles) != 1 {
		t.Errorf("without a revision to update to: update %v, obstacles %v", update, obstacles)
	}
}
