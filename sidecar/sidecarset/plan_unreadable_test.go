// SPDX-License-Identifier: Apache-2.0

package sidecarset

import (
	"strings"
	"testing"

	inplacev1alpha1 "github.com/podwright/podwright/inplace/v1alpha1"
)

// A strategy that cannot be read holds up all pods, and each says so. Pods that cannot be updated in place say that instead, as
// with any other strategy. (SCS-5, SCS-14)
func TestUnreadableStrategy(t *testing.T) {
	for _, strategy := range []string{
		"partition: many", "maxUnavailable: many",
		"selector: {matchExpressions: [{key: a, operator: Like}]}",
		"priorityStrategy: {weightPriority: [{weight: 1, matchSelector: {matchExpressions: [{key: a, operator: Like}]}}]}",
	} {
		w := newWorld(t, `{containers: [{name: log, image: "log:v1"}]}`)
		w.add("a")
		w.edit(`{containers: [{name: log, image: "log:v1", args: [x]}]}`)
		w.sync()
		w.add("b")
		w.edit(`{updateStrategy: {` + strategy + `}, containers: [{name: log, image: "log:v2", args: [x]}]}`)
		plan := w.sync()
		c := conditionOf(plan.Status, failedUpdate)
		if len(plan.Patch) > 0 || waits(plan, "a") != "NotUpgradable" || waits(plan, "b") != "Unreadable" || c == nil || plan.Waiting[0].Reason.Message != c.Message {
			t.Errorf("%s: %s\n%+v", strategy, plan, c)
		}
		if c := conditionOf(plan.Status, notUpgradable); c == nil || !strings.HasPrefix(c.Message, "1 pod cannot be updated in place: shop/a ") {
			t.Errorf("%s: condition %+v", strategy, c)
		}
	}
}

// A report of the node agent that cannot be read leaves open what a container runs. The pod says so and waits, the others go on. (SCS-5, SCS-24)
func TestUnreadableReportOfTheNodeAgent(t *testing.T) {
	w := newWorld(t, `{updateStrategy: {maxUnavailable: 2}, containers: [{name: log, image: "log:v1"}]}`)
	w.add("a", "b")
	w.settle()
	w.image("log", "log:crash")
	w.settle()
	w.image("log", "log:v2")
	w.pod("a").Annotations[inplacev1alpha1.RuntimeContainersMetaAnnotation] = "{"
	plan := w.plan()
	if got := strings.Join(updates(plan), " "); got != "b" || waits(plan, "a") != "Unreadable" || !strings.Contains(plan.Waiting[0].Reason.Message, inplacev1alpha1.RuntimeContainersMetaAnnotation) {
		t.Errorf("%s", plan)
	}
	if c := conditionOf(plan.Status, failedUpdate); c == nil || !strings.Contains(c.Message, "shop/a: annotation") {
		t.Errorf("condition %+v", c)
	}
}
