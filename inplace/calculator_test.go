// SPDX-License-Identifier: Apache-2.0

package inplace_test

import (
	"fmt"
	"testing"

	appsv1 "k8s.io/api/apps/v1"

	"github.com/podwright/podwright/inplace"
	"github.com/podwright/podwright/internal/testing/patches"
)

// TestCalculator shows in testdata/calculator.txt which update brings pods with a revision label to demo-c, or what stands against one. The second
// answer is as good as the first. (IP-3)
func TestCalculator(t *testing.T) {
	history := []*appsv1.ControllerRevision{
		nil, raw("demo-broken", []byte("{")), rev(t, "demo-a", template()),
		rev(t, "demo-b", template("env-c1=A:metadata.name")), rev(t, "demo-c", template("c1=c1:2")),
	}
	patches.PlayRows(t, "testdata/calculator.txt", nil, func(t *testing.T, _ string, r *struct{ Label string }) string {
		c := inplace.Calculator{History: history, To: history[4]}
		update, obstacles := c.For(r.Label)
		if again, why := c.For(r.Label); again != update || fmt.Sprint(why) != fmt.Sprint(obstacles) {
			t.Errorf("%s: then update %v, obstacles %v", r.Label, again, why)
		}
		if update == nil {
			return fmt.Sprint(obstacles)
		}
		return fmt.Sprintf("%v of %s, obstacles %v", update.Images, update.Revision, obstacles)
	})
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
